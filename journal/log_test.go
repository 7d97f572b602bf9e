package journal_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/journal/journaltest"
)

// kept remembers the path of a log.
type kept struct {
	*journal.Log
	path string
}

func open(t testing.TB, path string) *kept {
	t.Helper()
	l, err := journal.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	return &kept{l, path}
}

func TestLog(t *testing.T) {
	journaltest.Run(t, func(t *testing.T) journal.Store { return open(t, filepath.Join(t.TempDir(), "bot.journal")) },
		journaltest.Reopen(func(t *testing.T, s journal.Store) journal.Store {
			require.NoError(t, s.(*kept).Close())
			return open(t, s.(*kept).path)
		}))
}

func TestMemory(t *testing.T) {
	journaltest.Run(t, func(*testing.T) journal.Store { return journal.NewMemory() })
}
