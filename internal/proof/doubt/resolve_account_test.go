package doubt

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

// T19: a market order has no id to be found by. What the account held before it is
// what it is told by: without that an order that ran is not known to have run.
func TestTrap_T19_Baselines(t *testing.T) {
	for _, known := range []bool{true, false} {
		opts := []trading.Option{rig.Sole, trading.WithRecovery(trading.Recovery{WithoutProbe: true})}
		if !known {
			opts = append(opts, trading.WithRecovery(trading.Recovery{WithoutBaseline: true}))
		}
		rig.LiveTest(t, nil, opts, func(r rig.Rig) {
			r.Sim.Trade("acc_1", "long", "0.1", "BTC")
			time.Sleep(10 * time.Second)
			if known {
				r.ReadAll()
				r.ReadAll() // a position is a baseline once two reads agree on it
			}
			lost := r.Doubtful(tradingsim.DropResponse(), rig.Buy("0.05"))
			resolution, err := r.Within(time.Hour, lost)
			assert.Equal(r.T, 1, r.Ran(trading.OpOrder))
			if known {
				require.NoError(r.T, err)
				assert.Equal(r.T, trading.Applied, resolution.Outcome)
				return
			}
			assert.Equal(r.T, trading.Unknown, resolution.Outcome, "%v", err)
			for _, says := range []string{"what the account held right before the write is not known", "read the account, and acknowledge the write"} {
				require.ErrorContains(r.T, err, says)
			}
		})
	}
}

// T20: two looks that differ prove nothing; a verdict waits until the account rests.
func TestTrap_T20_ARestlessAccount(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		r.ReadAll()
		lost := r.Doubtful(tradingsim.DropRequest(), rig.Buy("0.05"))
		for range 15 {
			r.Sim.Trade("acc_1", "long", "0.001", "BTC")
			time.Sleep(2 * time.Second)
		}
		assert.Len(r.T, r.PendingIDs(), 1, "nothing is decided while somebody trades")
		resolution, err := r.Within(10*time.Minute, lost)
		require.NoError(r.T, err)
		assert.Equal(r.T, trading.NotApplied, resolution.Outcome, "0.015 is no fill of 0.05")
	})
}

// T21, T9: where others may trade the account, a trace that fits may be theirs; an
// account that is declared has nobody else.
func TestTrap_T21_OthersMayHaveTraded(t *testing.T) {
	for name, fault := range map[string]tradingsim.Fault{
		"never arrived":                 tradingsim.DropRequest(),
		"T9 idempotency_result_unknown": tradingsim.Fail(409, "idempotency_result_unknown"),
	} {
		t.Run(name, func(t *testing.T) {
			rig.LiveTest(t, nil, nil, func(r rig.Rig) {
				r.ReadAll()
				lost := r.Doubtful(fault, rig.Buy("0.05"))
				r.Sim.Trade("acc_1", "long", "0.05", "BTC") // a person in the terminal
				resolution, err := r.Within(time.Hour, lost)
				require.ErrorIs(r.T, err, trading.ErrUndetermined)
				assert.Equal(r.T, trading.Unknown, resolution.Outcome)
				assert.Zero(r.T, r.Ran(trading.OpOrder))
				require.ErrorIs(r.T, rig.EntryCall(r), trading.ErrPendingWrite, "Unknown never decays into failure")
			})
		})
	}
}
