package journal

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A gap is noted beside a journal that takes nothing any more.
func TestAFailedLogNotesAGap(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	l, err := Open(path)
	require.NoError(t, err)
	l.fail(assert.AnError)
	require.ErrorIs(t, l.Append(t.Context(), true, Record{Intent: "1"}), ErrFailed)
	require.NoError(t, l.SetGap(true))
	require.ErrorIs(t, l.Close(), ErrFailed)
	l, err = Open(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	missing, err := l.Gap()
	require.NoError(t, err)
	assert.True(t, missing)
}

// A gap is there after a power cut.
func TestAGapSurvivesAPowerCut(t *testing.T) {
	d := newSimDisk()
	l := openSim(t, d, usual)
	require.NoError(t, l.SetGap(true))
	l = openSim(t, d.powerCut(nil, 0, 0), usual)
	missing, err := l.Gap()
	require.NoError(t, err)
	assert.True(t, missing)
}
