package journaltest_test

import (
	"testing"

	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/journal/journaltest"
)

// The test of a store of one's own.
func ExampleRun() {
	_ = func(t *testing.T) {
		journaltest.Run(t, func(*testing.T) journal.Store { return journal.NewMemory() }) // yours
	}
}
