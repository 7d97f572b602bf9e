package rig_test

import (
	"testing"

	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/journal/journaltest"
)

// The disk that tests crash on is a journal like any other.
func TestDisk(t *testing.T) {
	journaltest.Run(t, func(*testing.T) journal.Store { return rig.NewDisk().Open() },
		journaltest.Reopen(func(_ *testing.T, s journal.Store) journal.Store { return s.(*rig.Handle).Disk.Open() }))
}
