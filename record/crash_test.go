package record

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// reopened opens a directory's audit, writes an order, and closes it.
func reopened(t *testing.T, path string, o Options) {
	t.Helper()
	a, err := OpenAudit(path, o)
	require.NoError(t, err)
	tellWrite(a.Hooks(), "ETH")
	require.NoError(t, a.Close())
}

// A crash cuts the file anywhere behind its last whole line. Whatever is left of the
// next one, the file is left as it is, and the chain goes on in a new one that says so.
func TestATornLastLine(t *testing.T) {
	_, contents := written(t, 0)
	all := lines(contents[0])
	before := bytes.Join(all[:9], nil)
	var cuts []int
	for cut := 0; cut < len(all[9])-1; cut += 1 + cut/8 {
		cuts = append(cuts, cut)
	}
	for _, cut := range append(cuts, len(all[9])-1) { // the last lacks the newline alone
		torn := append(bytes.Clone(before), all[9][:cut]...)
		path := filepath.Join(t.TempDir(), "audit.jsonl")
		require.NoError(t, os.WriteFile(path, torn, 0o600))

		report, err := VerifyFile(path)
		assert.Equal(t, 9, report.Lines)
		if cut == 0 {
			require.NoError(t, err)
		} else {
			is := (*TornError)(nil)
			require.ErrorAs(t, err, &is)
			assert.Equal(t, TornError{Torn: *tornOf(all[9][:cut]), Line: 10}, *is)
			require.EqualError(t, is, fmt.Sprintf("record: line 10 is torn: %d bytes of it are there, and no end", cut))
		}

		reopened(t, path, Options{})
		report, err = VerifyFile(path)
		require.NoError(t, err)
		after := contentsOf(t, path)
		if cut == 0 {
			assert.Equal(t, 1, report.Files)
			continue
		}
		require.Equal(t, 2, report.Files)
		assert.Equal(t, 9+1+6, report.Lines)
		assert.Equal(t, torn, after[0], "nothing of the torn file is changed")
		first, _, err := parseLine(bytes.TrimSpace(lines(after[1])[0]))
		require.NoError(t, err)
		assert.Equal(t, KindSegment, first.Kind)
		assert.Equal(t, tornOf(all[9][:cut]), first.Torn)

		// It is part of the chain now: to change what is torn is tampering.
		after[0][len(after[0])-1] ^= 1
		tampered := (*TamperedError)(nil)
		_, err = verify(after...)
		require.ErrorAs(t, err, &tampered)
		_, err = verify(before, after[1])
		require.ErrorAs(t, err, &tampered)
	}
}

func TestACrashWhileAFileIsBegun(t *testing.T) {
	for name, left := range map[string][]byte{
		"there is none":       nil,
		"it is empty":         {},
		"its line is torn":    []byte(`{"hash":"00`),
		"it has zeros":        make([]byte, 300),
		"less than the start": []byte(`{"ha`),
	} {
		for _, torn := range []bool{false, true} {
			path, contents := written(t, 2000)
			files := len(contents)
			require.Greater(t, files, 2)
			if torn {
				// The file before was torn, so that a new one was to be begun.
				appendTo(t, path, `{"hash":"tor`)
			}
			last, _, err := parseLine(bytes.TrimSpace(lines(contents[files-1])[0]))
			require.NoError(t, err)
			require.NoError(t, os.Rename(path, segmentName(path, last.Seq)))
			if left != nil {
				require.NoError(t, os.WriteFile(path, left, 0o600))
			}
			before, err := VerifyFile(path)
			if torn || len(left) > 0 {
				is := (*TornError)(nil)
				require.ErrorAs(t, err, &is, name)
			} else {
				require.NoError(t, err, name)
			}
			reopened(t, path, Options{})
			report, err := VerifyFile(path)
			require.NoError(t, err, name)
			assert.Equal(t, files+1, report.Files, name)
			assert.Equal(t, before.Lines+7, report.Lines, name)
		}
	}
}

func TestACrashInTheVeryFirstLine(t *testing.T) {
	for _, left := range []string{"", "{", `{"hash":"0123`, "\x00\x00\x00"} {
		path := filepath.Join(t.TempDir(), "audit.jsonl")
		require.NoError(t, os.WriteFile(path, []byte(left), 0o600))
		reopened(t, path, Options{})
		report, err := VerifyFile(path)
		require.NoError(t, err)
		assert.Equal(t, 1, report.Files)
		assert.Equal(t, uint64(1), report.First)
	}
}

// Whatever is not an audit is not overwritten, and one that was changed is not
// appended to.
func TestWhatIsNotOpened(t *testing.T) {
	_, contents := written(t, 0)
	all := lines(contents[0])
	changed := bytes.Replace(contents[0], []byte("SOL"), []byte("SUL"), 1)
	for name, text := range map[string][]byte{
		"a note":          []byte("buy milk"),
		"a list":          []byte("buy milk\nand bread\n"),
		"one that is cut": bytes.Join(all[3:], nil),
		"one changed":     changed,
		"changed, torn":   append(bytes.Clone(changed), `{"ha`...),
	} {
		path := filepath.Join(t.TempDir(), "audit.jsonl")
		require.NoError(t, os.WriteFile(path, text, 0o600))
		_, err := OpenAudit(path, Options{})
		tampered := (*TamperedError)(nil)
		require.ErrorAs(t, err, &tampered, name)
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, text, after, name)
		_, err = OpenAudit(path, Options{})
		require.ErrorAs(t, err, &tampered, "and it is not left locked")
	}
}

func TestAKilledProcessShows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	a, err := OpenAudit(path, Options{})
	require.NoError(t, err)
	tellWrite(a.Hooks(), "BTC")
	require.NoError(t, a.chain.file.Close()) // the system takes file and lock
	require.NoError(t, a.lock.Close())
	report, err := VerifyFile(path)
	require.NoError(t, err, "what was written is there, whole")
	assert.False(t, report.Closed)
	reopened(t, path, Options{})
	assert.Equal(t, "segment opened begun sent attempt done opened begun sent attempt done closed", kinds(eventsOf(t, path)))
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	_, err = f.WriteString(text)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}
