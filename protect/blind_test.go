package protect

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

// TestOneBadReading: one torn, zero or null reading flattens nothing, and two do.
func TestOneBadReading(t *testing.T) {
	torn := `{"account":{"id":"acc_1","status":"ACTIVE","phase":1,"balance":95300,"equity":95300,"profitTarget":110000,"dailyLossFloor":95000,"globalLossFloor":90000}}`
	zero := `{"account":{"id":"acc_1","status":"ACTIVE","phase":1,"balance":99910,"equity":0,"profitTarget":110000,"dailyLossFloor":95000,"globalLossFloor":90000}}`
	half := `{"prices":{"BTC":25000,"ETH":2000}}`
	null := `{"prices":{"ETH":2000}}`
	noMark := `{"positions":[{"symbol":"BTC","side":"long","size":4,"leverage":5,"entryPrice":50000,"markPrice":null,"unrealizedPnL":null,"takeProfitPrice":null,"stopLossPrice":null}]}`
	for _, reading := range []struct {
		what, operation, body string
		also, alsoBody        string
		room                  string // beside the reading, by the program's own floor
		need                  int    // readings
	}{
		{"torn", "GET /accounts/{accountId}", torn, "", "", "95000", 2},
		{"zero", "GET /accounts/{accountId}", zero, "", "", "95000", 2},
		{"a mark of half", "GET /sandbox/prices", half, "", "", "95000", 2},
		{"null", "GET /sandbox/prices", null, "GET /positions", noMark, "98000", 12},
	} {
		for n, want := range map[int]bool{1: false, reading.need: true} {
			t.Run(reading.what, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := newRig(t, func(o *Options) {
						o.Floors = map[trading.AccountID]decimal.Decimal{acc: dec(reading.room)}
					})
					bot := connect(t, r.sim).Live.Account(acc)
					_, err := bot.PlaceOrder(t.Context(), order(trading.Long, "4", "BTC"))
					require.NoError(t, err)
					r.wait(40 * time.Second)
					require.False(t, r.flat())
					bad := make([]tradingsim.Fault, n)
					worse := make([]tradingsim.Fault, n)
					for i := range bad {
						bad[i] = tradingsim.Raw(200, nil, reading.body)
						worse[i] = tradingsim.Raw(200, nil, reading.alsoBody)
					}
					r.sim.Fault(reading.operation, bad...)
					if reading.also != "" {
						r.sim.Fault(reading.also, worse...)
					}
					r.wait(40 * time.Second)
					require.Equal(t, want, r.flat(), "%d readings: %s", n, r.state().State)
				})
			})
		}
	}
}

// TestTornLookIsReadAgain: the two equities of a look differ by more than 0.1 percent of
// what is held. It is read again at once, and nothing is done on it.
func TestTornLookIsReadAgain(t *testing.T) {
	for equity, again := range map[string]bool{"96500": true, "99710": false} { // $200,000 are held
		bubble(t, nil, func(t *testing.T, r *rig) {
			require.NoError(t, r.buy("4"))
			r.wait(60 * time.Second)
			body := `{"account":{"id":"acc_1","status":"ACTIVE","phase":1,"balance":99910,"equity":` + equity +
				`,"profitTarget":110000,"dailyLossFloor":95000,"globalLossFloor":90000}}`
			asked := map[time.Time]int{}
			r.sim.FaultEach(func(op string) tradingsim.Fault {
				if op != "GET /accounts/{accountId}" {
					return nil
				}
				if asked[time.Now()]++; len(asked) == 1 && asked[time.Now()] == 1 {
					return tradingsim.Raw(200, nil, body)
				}
				return nil
			})
			r.wait(20 * time.Second)
			most := 0
			for _, n := range asked {
				most = max(most, n)
			}
			require.Equal(t, again, most == 2, equity)
			for _, e := range r.kinds(Changed) {
				require.NotContains(t, []State{SoftHalt, Flattening}, e.To)
			}
		})
	}
}

// TestNoSecondReading: the reading that is to confirm fails. At 0.7 of the need the account
// is flattened all the same, and above it is not.
func TestNoSecondReading(t *testing.T) {
	for share, want := range map[string]bool{"0.69": true, "0.75": false} {
		bubble(t, nil, func(t *testing.T, r *rig) {
			require.NoError(t, r.buy("4")) // needs $150 to close, and $1,000 for a shock
			r.wait(60 * time.Second)
			looks := 0
			r.sim.FaultEach(func(op string) tradingsim.Fault {
				if op != "GET /accounts/{accountId}" {
					return nil
				}
				if looks++; looks == 1 {
					return nil
				}
				return tradingsim.Fail(500, "internal_error")
			})
			s := r.state()
			equity, _ := s.Equity.Get()
			need, _ := s.Need.Get()
			w := r.p.watchers[acc]
			w.mu.Lock()
			w.record.Floors.Own = trading.Some(equity.Sub(need.Mul(dec(share))))
			w.look.torn = true // so that the next look is a full one, the only one that succeeds
			w.mu.Unlock()
			r.wait(20 * time.Second)
			require.GreaterOrEqual(t, looks, 2)
			require.Equal(t, want, r.flat(), share)
		})
	}
}

// TestMarketsThatCannotBeReadAgain: what was read of them holds.
func TestMarketsThatCannotBeReadAgain(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.wait(10 * time.Second)
		r.sim.FaultEach(tradingsim.Always(string(trading.OpMarkets), tradingsim.GatewayError(502)))
		r.wait(marketsAge + 10*time.Minute)
		require.False(t, r.state().Blind)
		require.NoError(t, r.buy("0.1"))
	})
}

// TestBlind: a dead service blinds; entries are refused, nothing is sent on a guess, and
// sight comes back.
func TestBlind(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		require.NoError(t, r.buy("4"))
		r.wait(5 * time.Second)
		r.sim.FaultEach(func(string) tradingsim.Fault { return tradingsim.GatewayError(502) })
		r.wait(40 * time.Second)
		require.True(t, r.state().Blind)
		require.False(t, r.state().Entries)
		require.ErrorContains(t, r.buy("0.1"), "not safe to trade") // which the health gate says first
		r.sim.FaultEach(func(string) tradingsim.Fault { return nil })
		r.wait(5 * time.Second)
		require.False(t, r.state().Blind)
		require.False(t, r.flat())
		require.Len(t, r.kinds(BlindBegan), 1)
		require.Len(t, r.kinds(BlindEnded), 1)
	})
}

// TestFlattenBlind closes what cannot be watched, where that is asked for.
func TestFlattenBlind(t *testing.T) {
	bubble(t, func(o *Options) { o.FlattenBlind = 50 * time.Second }, func(t *testing.T, r *rig) {
		require.NoError(t, r.buy("4"))
		r.wait(5 * time.Second)
		r.sim.FaultEach(tradingsim.Always("GET /accounts/{accountId}", tradingsim.Fail(500, "internal_error")))
		r.wait(40 * time.Second)
		require.False(t, r.flat())
		r.wait(40 * time.Second)
		require.True(t, r.flat())
	})
}

// TestDeadFeed: marks that stand still for a minute are no sight.
func TestDeadFeed(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		require.NoError(t, r.buy("1"))
		r.set("50000")
		r.wait(100 * time.Second)
		require.True(t, r.state().Blind)
		r.set("50001")
		r.wait(5 * time.Second)
		require.False(t, r.state().Blind)
	})
}

// TestUnhealthyIsNoSight: what the service calls degraded is not taken for a good look.
func TestUnhealthyIsNoSight(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.sim.SetHealth("degraded", "stale")
		r.wait(100 * time.Second)
		require.True(t, r.state().Blind)
		began := r.kinds(BlindBegan)
		require.Len(t, began, 1)
		require.Equal(t, "status degraded, feed stale", began[0].Reason)
	})
}
