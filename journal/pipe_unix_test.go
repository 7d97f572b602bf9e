//go:build unix

package journal_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/journal"
)

// TestPipe has a pipe without another end in place of a journal and of its lock.
func TestPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bot.journal")
	for _, pipe := range []string{path + ".lock", path} {
		require.NoError(t, syscall.Mkfifo(pipe, 0o600))
		_, err := journal.Open(path)
		require.ErrorContains(t, err, pipe)
		assert.ErrorContains(t, err, "must be a regular file")
	}
}
