package doubt

import (
	"context"
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

// How old a write is that an earlier run left, only the service's clock says, and what has no
// age is not asked for its stored answer. So the first write of a run has the service's time
// read: an entry waits for that, an exit does not. What is lost beside it, and killed before
// its first attempt ends, has none: the limit that docs/outcomes.md names.
func TestTheAgeOfARunsFirstWrite(t *testing.T) {
	exit := func(r rig.Rig) error { return rig.ExitCall(r, rig.InDoubt...) }
	entry := func(r rig.Rig) error { return rig.EntryCall(r, rig.InDoubt...) }
	for name, row := range map[string]struct {
		op    trading.Operation
		call  func(rig.Rig) error
		noted bool // what came of its first attempt
		asked bool
	}{
		"an exit":                            {trading.OpClose, exit, true, true},
		"an exit, killed while it is asked":  {trading.OpClose, exit, false, false},
		"an entry":                           {trading.OpOrder, entry, true, true},
		"an entry, killed while it is asked": {trading.OpOrder, entry, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			rig.DiskTest(t, nil, func(r rig.Rig, d *rig.Disk) {
				r.Open(rig.Buy("0.1"))
				time.Sleep(time.Minute)
				r = r.Restart(d, trading.WithRecovery(trading.Recovery{WithoutBackground: true}))
				before := r.Ran(row.op)
				r.Sim.Fault(string(row.op), tradingsim.Together(tradingsim.Delay(time.Second), tradingsim.DropResponse()))
				r.Sim.Fault(string(trading.OpTrades), tradingsim.Delay(time.Second/2)) // so it is there before the answer, and not before the send
				if !row.noted {
					d.FailOn(func(of journal.Record) error {
						if rig.IsOf(of, "fact") {
							return errors.New("killed")
						}
						return nil
					})
				}
				require.Equal(r.T, trading.Unknown, trading.OutcomeOf(row.call(r)))
				d.FailOn(nil)
				r = r.Restart(d)
				sent, began := r.Sent(row.op), time.Now()
				ctx, cancel := context.WithTimeout(r.T.Context(), time.Hour)
				defer cancel()
				found, err := r.Recover(ctx)
				require.Len(r.T, found, 1)
				assert.Equal(r.T, before+1, r.Ran(row.op))
				assert.Equal(r.T, row.asked, r.Sent(row.op) == sent+1, "for its stored answer")
				if row.asked {
					require.NoError(r.T, err)
					assert.Equal(r.T, trading.Applied, found[0].Outcome)
					assert.Equal(r.T, trading.EvidenceReplay, found[0].Evidence)
					assert.Less(r.T, time.Since(began), 15*time.Second)
				} else {
					assert.Equal(r.T, trading.Unknown, found[0].Outcome)
				}
			})
		})
	}
}
