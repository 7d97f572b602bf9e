package journal

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What is written over the file of a journal that is open, in place, is found out by the next append that is to be
// durable: a backup that is copied back, and a rotation of logs that cuts the file.
func TestAFileThatIsWrittenOver(t *testing.T) {
	for name, over := range map[string]func(t *testing.T, path string){
		"an older copy": func(t *testing.T, path string) {
			copyOver(t, path+".older", path)
		},
		"a copy of an earlier life": func(t *testing.T, path string) {
			other := filepath.Join(t.TempDir(), "j")
			l, err := Open(other)
			require.NoError(t, err)
			require.NoError(t, l.Append(t.Context(), true, Record{Intent: "earlier"}))
			require.NoError(t, l.Close())
			copyOver(t, other, path)
		},
		"its first bytes": func(t *testing.T, path string) {
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			require.NoError(t, err)
			_, err = f.WriteAt(make([]byte, headerSize), 0)
			require.NoError(t, err)
			require.NoError(t, f.Close())
		},
		"it is cut": func(t *testing.T, path string) { require.NoError(t, os.Truncate(path, 0)) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "j")
			l, err := Open(path)
			require.NoError(t, err)
			require.NoError(t, l.Append(t.Context(), true, Record{Intent: "1"}))
			copyOver(t, path, path+".older")
			require.NoError(t, l.Append(t.Context(), true, Record{Intent: "2"}))
			require.NoError(t, l.Append(t.Context(), true, Record{Intent: "3"}))
			require.NoError(t, l.lock(t.Context())) // the mark follows the answer
			l.unlockTurn()
			over(t, path)
			require.ErrorIs(t, l.Append(t.Context(), true, Record{Intent: "4"}), ErrFailed)
			assert.ErrorIs(t, l.Close(), ErrFailed)
		})
	}
}

// Beside these nothing leaves; beside a journal that merely failed an exit does.
func TestWhatFences(t *testing.T) {
	for err, want := range map[error]bool{ErrFenced: true, ErrLostHistory: true, ErrFailed: false} {
		assert.Equal(t, want, IsFencing(fmt.Errorf("the journal: %w", err)), err)
	}
}

// copyOver copies a file as cp does: over what is there.
func copyOver(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(to, text, 0o600))
}
