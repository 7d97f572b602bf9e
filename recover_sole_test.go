package trading_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

var sole = trading.SoleActor(acc)

// A change of the account is taken for a write only if no other write of this
// program can be the cause of it: the rows are what else went on beside an order
// that never arrived. The verdict may be "not told", and must not be Applied.
func TestOwnWritesAreNotTakenForTheLostOne(t *testing.T) {
	ctx := context.Background()
	place := func(r rig) error {
		_, err := r.account().PlaceOrder(ctx, buy("0.05"), trading.WithLifetime(0))
		return err
	}
	limit := func(symbol string) func(r rig) error {
		return func(r rig) error {
			o := buy("0.05", func(o *trading.Order) { o.Symbol, o.Type, o.LimitPrice = symbol, trading.LimitOrder, at("1000") })
			_, err := r.account().PlaceLimit(ctx, o, trading.WithLifetime(0))
			return err
		}
	}
	twap := func(symbol string) func(r rig) error {
		return func(r rig) error {
			o := buy("5", func(o *trading.Order) { o.Symbol = symbol })
			if symbol == "BTC" {
				o.Size = dec("0.05")
			}
			_, err := r.account().PlaceTWAP(ctx, o, trading.TWAP{Duration: time.Minute}, trading.WithLifetime(0))
			return err
		}
	}
	halve := func(r rig) error {
		_, err := r.account().ClosePosition(ctx, "ETH", trading.Percent(dec("50")), trading.WithLifetime(0))
		return err
	}
	for _, row := range []struct {
		name    string
		op      trading.Operation
		lost    func(rig) error
		beside  func(rig)
		resting bool // before
	}{
		{"the same order once more", trading.OpOrder, place, func(r rig) { r.open(buy("0.05"), trading.SkipUnsettled()) }, false},
		{"a limit in another market", trading.OpLimit, limit("BTC"), func(r rig) { require.NoError(r.t, limit("ETH")(r)) }, false},
		{"a run in another market", trading.OpTWAP, twap("BTC"), func(r rig) { require.NoError(r.t, twap("ETH")(r)) }, false},
		{"the same close once more", trading.OpClose, halve, func(r rig) { require.NoError(r.t, halve(r)) }, false},
		{"a run from before", trading.OpOrder, place, func(rig) { time.Sleep(40 * time.Second) }, true},
	} {
		for _, restart := range []bool{false, true} {
			name := row.name
			if restart {
				name += ", and a restart"
			}
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					sim := tradingsim.New()
					intents := newSharedJournal()
					r := join(t, sim, sole, trading.WithJournal(intents))
					r.open(buy("1", func(o *trading.Order) { o.Symbol = "ETH" }))
					if row.resting {
						_, err := r.account().PlaceTWAP(ctx, buy("0.1"), trading.TWAP{Duration: time.Minute})
						require.NoError(t, err)
					}
					r.readAll()
					sim.Fault(string(row.op), tradingsim.DropRequest())
					err := row.lost(r)
					require.Equal(t, trading.Unknown, trading.OutcomeOf(err), "%v", err)
					row.beside(r)
					var verdict trading.Verdict
					if restart {
						r = join(t, sim, sole, trading.WithJournal(intents))
						verdicts, _ := r.Recover(ctx)
						require.Len(t, verdicts, 1)
						verdict = verdicts[0]
					} else {
						found, _ := r.verdict(err)
						verdict = *found
					}
					assert.NotEqual(t, trading.Applied, verdict.Outcome, "it never arrived")
				})
			})
		}
	}
}

// Two orders at once, of which one is lost: neither readings nor fence may take
// the other for it.
func TestTwoOrdersAtOnceOneOfThemLost(t *testing.T) {
	for _, restart := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			sim := tradingsim.New()
			intents := newSharedJournal()
			r := join(t, sim, sole, trading.WithJournal(intents))
			r.readAll()
			sim.Fault("POST /orders", tradingsim.Together(tradingsim.DropRequest(), tradingsim.DelayResponse(time.Second)),
				tradingsim.DelayResponse(time.Second))
			errs := make(chan error, 2)
			for range 2 {
				go func() {
					_, err := r.account().PlaceOrder(t.Context(), buy("0.05"), trading.WithLifetime(0))
					errs <- err
				}()
			}
			err := <-errs
			if err == nil {
				err = <-errs
			} else {
				require.NoError(t, <-errs)
			}
			require.Equal(t, trading.Unknown, trading.OutcomeOf(err))
			require.Equal(t, 1, r.ran(trading.OpOrder))
			if restart {
				r = join(t, sim, sole, trading.WithJournal(intents))
				verdicts, _ := r.Recover(t.Context())
				require.Len(t, verdicts, 1)
				assert.NotEqual(t, trading.Applied, verdicts[0].Outcome)
				return
			}
			verdict, _ := r.verdict(err)
			assert.NotEqual(t, trading.Applied, verdict.Outcome)
		})
	}
}
