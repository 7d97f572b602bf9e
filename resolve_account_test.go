package trading_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

// within resolves an error, waiting for so long.
func (r rig) within(d time.Duration, err error) (*trading.Resolution, error) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), d)
	defer cancel()
	resolution, err := r.Resolve(ctx, err)
	require.NotNil(r.t, resolution)
	return resolution, err
}

// T19: a market order has no id to be found by. What the account held before it is
// what it is told by: without that an order that ran is not known to have run.
func TestTrap_T19_Baselines(t *testing.T) {
	for _, known := range []bool{true, false} {
		opts := []trading.Option{sole, trading.WithoutProbe()}
		if !known {
			opts = append(opts, trading.WithoutBaseline())
		}
		liveTest(t, nil, opts, func(r rig) {
			r.sim.Trade("acc_1", "long", "0.1", "BTC")
			time.Sleep(10 * time.Second)
			if known {
				r.readAll()
				r.readAll() // a position is a baseline once two reads agree on it
			}
			lost := r.doubtful(tradingsim.DropResponse(), buy("0.05"))
			resolution, err := r.within(time.Hour, lost)
			assert.Equal(r.t, 1, r.ran(trading.OpOrder))
			if known {
				require.NoError(r.t, err)
				assert.Equal(r.t, trading.Applied, resolution.Outcome)
				return
			}
			assert.Equal(r.t, trading.Unknown, resolution.Outcome, "%v", err)
			for _, says := range []string{"what the account held right before the write is not known", "read the account, and acknowledge the write"} {
				require.ErrorContains(r.t, err, says)
			}
		})
	}
}

// T20: two looks that differ prove nothing; a verdict waits until the account rests.
func TestTrap_T20_ARestlessAccount(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		r.readAll()
		lost := r.doubtful(tradingsim.DropRequest(), buy("0.05"))
		for range 15 {
			r.sim.Trade("acc_1", "long", "0.001", "BTC")
			time.Sleep(2 * time.Second)
		}
		assert.Len(r.t, r.pendingIDs(), 1, "nothing is decided while somebody trades")
		resolution, err := r.within(10*time.Minute, lost)
		require.NoError(r.t, err)
		assert.Equal(r.t, trading.NotApplied, resolution.Outcome, "0.015 is no fill of 0.05")
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
			liveTest(t, nil, nil, func(r rig) {
				r.readAll()
				lost := r.doubtful(fault, buy("0.05"))
				r.sim.Trade("acc_1", "long", "0.05", "BTC") // a person in the terminal
				resolution, err := r.within(time.Hour, lost)
				require.ErrorIs(r.t, err, trading.ErrUndetermined)
				assert.Equal(r.t, trading.Unknown, resolution.Outcome)
				assert.Zero(r.t, r.ran(trading.OpOrder))
				require.ErrorIs(r.t, entryCall(r), trading.ErrPendingWrite, "Unknown never decays into failure")
			})
		})
	}
}
