package doubt

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

// The journal of an order in doubt does not take what an order beside it did. It has the end of that one no sooner: after a
// restart what that has bought is not taken for the first's.
func TestANoteThatAJournalDidNotTake(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		disk, opts := rig.NewDisk(), []trading.Option{rig.Sole, trading.WithRecovery(trading.Recovery{WithoutBackground: true})}
		r = r.Restart(disk, opts...)
		r.ReadAll()
		r.ReadAll()
		lost := rig.IntentOf(r.T, r.Doubtful(tradingsim.DropRequest(), rig.Buy("0.05")))
		disk.FailOn(func(record journal.Record) error {
			if rig.IsOf(record, "beside") {
				return errors.New("it hangs")
			}
			return nil
		})
		r.Open(rig.Buy("0.05"), trading.AllowPending())
		disk.FailOn(nil)
		r = r.Restart(disk, opts...)
		_, _ = r.Recover(r.T.Context())
		of, _ := r.ResolveID(r.T.Context(), lost)
		assert.NotEqual(r.T, trading.Applied, of.Outcome, "%v", of.Err)
		require.Equal(r.T, 1, r.Ran(trading.OpOrder))
	})
}

// The same of settings of levels: an older one is carried out behind a newer one, whose end its journal does not take.
func TestTheEndOfNewerLevelsThatAJournalDidNotTake(t *testing.T) {
	rig.DiskTest(t, nil, func(r rig.Rig, disk *rig.Disk) {
		r.Open(rig.Buy("0.1"))
		r.Sim.Fault(string(trading.OpTPSL), tradingsim.Hang(10*time.Second))
		require.Equal(r.T, trading.Unknown, trading.OutcomeOf(r.Levels(rig.Both("70000", "60000"), rig.InDoubt...)))
		disk.FailOn(func(record journal.Record) error {
			if rig.IsOf(record, "newerEnd") {
				return errors.New("it hangs")
			}
			return nil
		})
		require.NoError(r.T, r.Levels(rig.Both("71000", "61000")))
		disk.FailOn(nil)
		r = r.Restart(disk)
		_, _ = r.Recover(r.T.Context())
		time.Sleep(time.Minute)
		r.RequireLevels("71000", "61000")
	})
}
