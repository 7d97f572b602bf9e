package live

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
)

// A fence is in the journal before it is sent: while that cannot be written, nothing is
// found out, and the write stays in doubt.
func TestAFenceThatCannotBeNoted(t *testing.T) {
	broken := errors.New("disk full")
	rig.DiskTest(t, nil, func(r rig.Rig, d *rig.Disk) {
		r.ReadAll()
		d.FailOn(func(record journal.Record) error {
			if rig.IsOf(record, "fact") {
				return broken
			}
			return nil
		})
		err := r.Doubtful(tradingsim.DropRequest(), rig.Buy("0.05"))
		time.Sleep(time.Minute)
		assert.Zero(r.T, r.Sent(trading.OpCancelOrder))
		require.ErrorIs(r.T, rig.EntryCall(r), trading.ErrPendingWrite)
		d.FailOn(nil)
		resolution, err := r.Resolved(err)
		require.NoError(r.T, err)
		assert.Equal(r.T, trading.NotApplied, resolution.Outcome)
		require.NoError(r.T, rig.EntryCall(r))
	})
}

// An outcome that the journal has not taken when the run ends is found out again by the next one.
func TestAnOutcomeThatCannotBeWritten(t *testing.T) {
	rig.DiskTest(t, nil, func(r rig.Rig, d *rig.Disk) {
		r.ReadAll()
		d.FailOn(func(record journal.Record) error {
			if rig.IsOf(record, "end") {
				return errors.New("disk full")
			}
			return nil
		})
		resolution, err := r.Resolved(r.Doubtful(tradingsim.DropRequest(), rig.Buy("0.05")))
		require.NoError(r.T, err)
		assert.Equal(r.T, trading.NotApplied, resolution.Outcome)
		rig.CloseClient(r.T, r.Client)
		d.FailOn(nil)
		r = rig.Join(r.T, r.Sim, trading.WithJournal(d.Open()))
		found, err := r.Recover(r.T.Context())
		require.NoError(r.T, err)
		require.Len(r.T, found, 1)
		assert.Equal(r.T, trading.NotApplied, found[0].Outcome)
		assert.Empty(r.T, d.Pending())
	})
}
