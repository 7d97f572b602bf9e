package record_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/record"
)

// An audit says whose it is, also when it is opened without saying so, and over files
// that were moved away; one of another holder is refused, and stays as it is.
func TestAnAuditOfAnotherHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	open := func(holder string) error {
		audit, err := record.OpenAudit(path, record.Options{Holder: holder, MaxFile: 512})
		if err != nil {
			return err
		}
		return audit.Close()
	}
	require.NoError(t, open("usr_1"))
	for range 8 {
		require.NoError(t, open(""), "nobody asks")
	}
	require.NoError(t, open("usr_1"))
	other := (*record.HolderError)(nil)
	require.ErrorAs(t, open("usr_2"), &other)
	assert.Equal(t, record.HolderError{Path: path, Holder: "usr_1", Wanted: "usr_2"}, *other)
	require.EqualError(t, other, `record: the audit `+path+` is of account holder "usr_1", not of "usr_2": give each its own file`)
	require.NoError(t, open("usr_1"), "it is as it was")

	names, err := record.Files(path)
	require.NoError(t, err)
	assert.Greater(t, len(names), 1)
	report, err := record.VerifyFile(path)
	require.NoError(t, err)
	assert.Equal(t, "usr_1", report.Holder)
}

// An audit that names nobody is taken over by whoever does.
func TestAnAuditWithoutAHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	for _, holder := range []string{"", "usr_1", "usr_1"} {
		audit, err := record.OpenAudit(path, record.Options{Holder: holder})
		require.NoError(t, err)
		require.NoError(t, audit.Close())
	}
	_, err := record.OpenAudit(path, record.Options{Holder: "usr_2"})
	require.ErrorContains(t, err, `is of account holder "usr_1"`)
}
