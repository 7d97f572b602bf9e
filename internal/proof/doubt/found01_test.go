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

// An order runs, and nobody finds out about it: it stays unknown, and its market opens again. The
// baseline of a later order has it in it, so after a restart that one's journal is no evidence of
// the first: it stays unknown, and its id is taken.
func TestFound01_GivenUpBeforeARestart(t *testing.T) {
	for name, row := range map[string]struct {
		opts   []trading.Option
		before func(r rig.Rig) (after func())
	}{
		"beside an equal order that is lost": {nil, func(r rig.Rig) func() {
			r.ReadAll()
			_ = r.Doubtful(tradingsim.Crash(), rig.Buy("0.05"), trading.AllowPending())
			return func() {}
		}},
		"without a baseline": {[]trading.Option{trading.WithRecovery(trading.Recovery{WithoutBaseline: true})}, func(rig.Rig) func() { return func() {} }},
		"beside a resting limit": {nil, func(r rig.Rig) func() {
			r.ReadAll()
			o := rig.Buy("0.05")
			o.LimitPrice = rig.At("60000")
			rests, err := r.Account().PlaceLimit(r.T.Context(), o)
			require.NoError(r.T, err)
			return func() {
				_, err := r.Account().CancelOrder(r.T.Context(), rests.Order.ID)
				require.NoError(r.T, err)
				r.ReadAll()
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			rig.LiveTest(t, nil, nil, func(r rig.Rig) {
				disk, opts := rig.NewDisk(), append(row.opts, rig.Sole)
				r = r.Restart(disk, opts...)
				after := row.before(r)
				r.Sim.Fault("POST /orders", tradingsim.FailAfter(500, "internal_error"))
				_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), rig.Breakout, trading.AllowPending())
				require.Equal(r.T, trading.Unknown, trading.OutcomeOf(err), "%v", err)
				first := rig.IntentOf(r.T, err)
				time.Sleep(40 * time.Minute)
				pending, err := r.Pending(r.T.Context())
				require.NoError(r.T, err)
				for _, w := range pending {
					require.True(r.T, w.MarketOpen, w.Reason)
				}
				after()
				r.ReadAll()
				later := rig.IntentOf(r.T, r.Doubtful(tradingsim.CrashAfter(), rig.Buy("0.07")))

				r = r.Restart(disk, opts...)
				_, _ = r.Recover(r.T.Context())
				of, _ := r.ResolveID(r.T.Context(), first)
				assert.Equal(r.T, trading.Unknown, of.Outcome, "%v", of.Err)
				of, _ = r.ResolveID(r.T.Context(), later)
				assert.Equal(r.T, trading.Applied, of.Outcome, "%v", of.Err)
				_, err = r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), rig.Breakout)
				assert.Equal(r.T, trading.Unknown, trading.OutcomeOf(err), "%v", err)
				assert.Equal(r.T, 2, r.Ran(trading.OpOrder))
			})
		})
	}
}
