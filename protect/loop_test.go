package protect

import (
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

// balance is what the account has.
func (r *rig) balance() string {
	report, _ := r.sim.Report().Account("acc_1")
	return report.Balance.StringFixed(2)
}

// fall lets BTC fall by $10 a second, to a price or until the account is flat.
func (r *rig) fall(to int) {
	for price := 50000; price > to && !r.flat(); price -= 10 {
		r.set(itoa(price))
		r.wait(time.Second)
	}
}

// TestAWildMarketNeedsMoreRoom: what an account holds needs more room once its market moves, as much as it moves.
func TestAWildMarketNeedsMoreRoom(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		_, err := r.client.Live.Account(acc).PlaceOrder(t.Context(), order(trading.Long, "0.5", "BTC"))
		require.NoError(t, err, "which no guard has seen")
		r.wait(2 * time.Minute)
		needs := func() decimal.Decimal { need, _ := r.state().Need.Get(); return need }
		calm := needs()
		require.True(t, calm.IsPositive())
		for range 60 {
			for _, price := range []string{"50400", "50000"} {
				r.set(price)
				r.wait(2 * time.Second)
			}
		}
		require.True(t, needs().GreaterThan(calm.Mul(dec("1.5"))), "%s, in calm %s", needs(), calm)

		r.close()
		r.wait(30 * time.Second)
		require.NoError(t, r.buy("0.5"))
		r.wait(10 * time.Second)
		require.True(t, needs().LessThan(calm.Mul(dec("1.1"))), "%s of a market that is new to it, in calm %s", needs(), calm)
		require.WithinDuration(t, time.Now(), r.state().Seen, time.Minute)
	})
}

// TestDriftIsFlattened: a position without a stop drifts towards the floor, and is
// closed while there is room.
func TestDriftIsFlattened(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		require.Equal(t, OK, r.state().State, r.state().Refusal)
		require.NoError(t, r.buy("4")) // $200,000
		r.wait(10 * time.Second)
		require.Equal(t, OK, r.state().State)
		r.fall(48000)
		require.True(t, r.flat())
		r.wait(20 * time.Second)
		require.Equal(t, Held, r.state().State)
		report, _ := r.sim.Report().Account("acc_1")
		require.Equal(t, "ACTIVE", report.Status)
		require.True(t, report.Balance.GreaterThan(dec("95000")), report.Balance.String())
		require.True(t, report.Balance.LessThan(dec("97500")), report.Balance.String())
		require.ErrorIs(t, r.buy("0.1"), ErrHalted)
		require.NoError(t, r.p.Resume(acc))
		r.wait(2 * time.Second)
		require.Equal(t, OK, r.state().State, r.state().Refusal)
		var states []State
		for _, e := range r.kinds(Changed) {
			states = append(states, e.To)
		}
		require.Equal(t, []State{OK, Warned, SoftHalt, Flattening, Held, Starting, OK}, states)
	})
}

// TestSoftHaltEnds when there has been room for a minute.
func TestSoftHaltEnds(t *testing.T) {
	bubble(t, func(o *Options) { o.Limits.SoftHaltAt = dec("4000") }, func(t *testing.T, r *rig) {
		require.NoError(t, r.buy("4"))
		r.wait(10 * time.Second)
		for price := 50000; price > 49700; price -= 10 { // $1,200 gone
			r.set(itoa(price))
			r.wait(time.Second)
		}
		r.wait(5 * time.Second)
		require.Equal(t, SoftHalt, r.state().State)
		require.ErrorIs(t, r.buy("0.1"), ErrHalted)
		for price := 49700; price < 50600; price += 10 {
			r.set(itoa(price))
			r.wait(time.Second / 4)
		}
		r.wait(5 * time.Second)
		require.Equal(t, SoftHalt, r.state().State)
		for i := range 70 {
			r.set(itoa(50600 + i%2))
			r.wait(time.Second)
		}
		require.True(t, r.state().State.AllowsEntry(), "%s", r.state().State)
	})
}

// TestBotExhaustsItsKey: the bot spends its key's rate limit and every class of the
// holder's but closes, and protection, on a key of its own, closes.
func TestBotExhaustsItsKey(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		require.NoError(t, r.buy("4"))
		r.wait(10 * time.Second)
		wild := connect(t, r.sim, trading.WithRateLimits(trading.RateLimits{Off: true}), trading.WithRetry(trading.Retry{Attempts: 1})).Live.Account(acc)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for range 900 {
				_, _ = wild.State(t.Context())
				time.Sleep(50 * time.Millisecond)
			}
		}()
		r.fall(48500)
		<-done
		require.True(t, r.flat())
		require.Positive(t, r.sim.Report().Refusals["rate_limited"])
		require.True(t, dec(r.balance()).GreaterThan(dec("95000")), r.balance())
	})
}

// TestTooLateSendsNothing: where closing itself would reach the floor, nothing is sent
// unless that is asked for.
func TestTooLateSendsNothing(t *testing.T) {
	for _, closes := range []bool{false, true} {
		bubble(t, func(o *Options) { o.CloseTooLate = closes }, func(t *testing.T, r *rig) {
			require.NoError(t, r.buy("4"))
			r.wait(10 * time.Second)
			for _, price := range []string{"49200", "48800", "48785"} { // one jump, in the same second
				r.set(price)
			}
			for i := range 20 {
				r.set(itoa(48784 + i%2)) // $46 above the floor, and closing costs $146
				r.wait(time.Second)
			}
			require.Equal(t, closes, r.flat())
			if closes {
				return
			}
			require.Equal(t, TooLate, r.state().State)
			for _, e := range r.sim.Ledger() {
				require.NotEqual(t, "POST /positions/close", e.Operation)
			}
			r.set("49000") // there is room to close again
			r.wait(5 * time.Second)
			require.True(t, r.flat())
			require.True(t, dec(r.balance()).GreaterThan(dec("95000")), r.balance())
		})
	}
}

// TestWithoutFlatten: nothing is closed by itself; entries are refused, and taken again
// once there is room. What a person asks for is done.
func TestWithoutFlatten(t *testing.T) {
	bubble(t, func(o *Options) { o.WithoutFlatten = true }, func(t *testing.T, r *rig) {
		require.NoError(t, r.buy("4"))
		r.wait(10 * time.Second)
		r.fall(48880) // $430 of room, and the position needs over $1,100
		r.wait(20 * time.Second)
		require.Equal(t, SoftHalt, r.state().State)
		require.Equal(t, "4", r.sim.Position("acc_1", "BTC").String())
		require.ErrorIs(t, r.buy("0.1"), ErrHalted)
		for i := range 900 { // until the jump itself is forgotten
			r.set(itoa(50000 + i%7))
			r.wait(time.Second)
		}
		require.True(t, r.state().State.AllowsEntry(), "%s", r.state().Reason)
		require.NoError(t, r.p.Flatten(acc, "a test"))
		r.wait(20 * time.Second)
		require.True(t, r.flat())
	})
}

// TestEverythingEndsFlat: a run under way, a conditional and a limit that fills while the
// account is flattened leave nothing.
func TestEverythingEndsFlat(t *testing.T) {
	bubble(t, func(o *Options) { o.ResumeNextDay = true }, func(t *testing.T, r *rig) {
		require.NoError(t, r.buy("0.5"))
		_, err := r.acc.PlacePro(t.Context(), order(trading.Long, "0.5", "BTC"), trading.TWAP{Duration: 20 * time.Minute})
		require.NoError(t, err)
		_, err = r.acc.PlacePro(t.Context(), order(trading.Long, "0.5", "BTC"), trading.Conditional{Trigger: dec("50010")})
		require.NoError(t, err)
		limit := bid("0.5", "49990")
		_, err = r.acc.PlaceLimit(t.Context(), limit)
		require.NoError(t, err)
		r.wait(35 * time.Second)
		r.sim.Fault("POST /orders/cancel", tradingsim.Delay(4*time.Second))
		r.sim.Fault("POST /runs/cancel", tradingsim.Delay(4*time.Second), tradingsim.Delay(4*time.Second))
		require.NoError(t, r.p.Flatten(acc, "a test"))
		time.Sleep(500 * time.Millisecond)
		r.set("49980") // the limit fills
		time.Sleep(500 * time.Millisecond)
		r.set("50020") // and the conditional
		r.wait(time.Minute)
		require.Equal(t, Held, r.state().State)
		require.True(t, r.flat())
		open, err := r.acc.OpenOrders(t.Context())
		require.NoError(t, err)
		require.Empty(t, open.Limits)
		require.Empty(t, open.Runs)
		require.ErrorContains(t, r.buy("0.1"), "asked for")
		r.wait(26 * time.Hour) // what a person has flattened stays so
		require.Equal(t, Held, r.state().State)
	})
}

// TestHangingCancel: a cancel that hangs for six seconds delays the close by less than 100 ms.
func TestHangingCancel(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		require.NoError(t, r.buy("1"))
		limit := bid("0.5", "49000")
		_, err := r.acc.PlaceLimit(t.Context(), limit)
		require.NoError(t, err)
		r.wait(30 * time.Second)
		r.sim.Fault("POST /orders/cancel", tradingsim.Delay(6*time.Second))
		began := time.Now()
		require.NoError(t, r.p.Flatten(acc, "a test"))
		r.wait(time.Minute)
		ledger := r.sim.Ledger()
		closed := ledger[len(ledger)-1]
		for _, e := range ledger {
			if e.Operation == "POST /positions/close" {
				closed = e
			}
		}
		require.Equal(t, "POST /positions/close", closed.Operation)
		require.Less(t, closed.At.Sub(began), 100*time.Millisecond)
	})
}

// TestExposureWhileHeld is flattened at once three times. After that entries are given up, and
// only the line is kept at which closing is urgent.
func TestExposureWhileHeld(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		require.NoError(t, r.p.Flatten(acc, "a test"))
		r.wait(20 * time.Second)
		rogue := connect(t, r.sim).Live.Account(acc)
		for i := range 3 {
			require.Len(t, r.kinds(Alert), i, "after %d times", i)
			var err error
			if i == 1 { // what only waits is exposure too
				limit := bid("1", "40000")
				_, err = rogue.PlaceLimit(t.Context(), limit)
			} else {
				_, err = rogue.PlaceOrder(t.Context(), order(trading.Long, "1", "BTC"))
			}
			require.NoError(t, err)
			r.wait(time.Minute)
			require.True(t, r.flat())
			open, err := rogue.OpenOrders(t.Context())
			require.NoError(t, err)
			require.Empty(t, open.Limits)
			require.Equal(t, Held, r.state().State)
		}
		require.Len(t, r.kinds(Alert), 3)
		require.Contains(t, r.kinds(Alert)[0].Reason, "stop the bot")
		require.Contains(t, r.kinds(Alert)[2].Reason, "entries are given up")

		_, err := rogue.PlaceOrder(t.Context(), order(trading.Long, "5", "BTC"))
		require.NoError(t, err)
		r.wait(time.Minute)
		require.False(t, r.flat(), "the fourth is left alone")
		require.Len(t, r.kinds(Alert), 3)
		r.fall(49100)
		require.True(t, r.flat(), "until it is urgent")
		state, err := rogue.State(t.Context())
		require.NoError(t, err)
		require.Equal(t, trading.StatusActive, state.Status)
	})
}

// TestPassWhileFlattening: the account passes by the close itself. That is clean.
func TestPassWhileFlattening(t *testing.T) {
	for _, options := range [][]tradingsim.Option{nil, {tradingsim.WithInterpretation(55)}} {
		bubble(t, nil, func(t *testing.T, r *rig) {
			require.NoError(t, r.buy("4"))
			r.wait(5 * time.Second)
			r.set("52700")
			r.wait(5 * time.Second)
			require.NoError(t, r.p.Flatten(acc, "a test"))
			r.wait(30 * time.Second)
			require.True(t, r.flat())
			require.Equal(t, Passed, r.state().State)
			require.ErrorIs(t, r.buy("0.1"), ErrHalted)
			require.Error(t, r.p.Resume(acc))
		}, options...)
	}
}

// TestWhatItReads: the marks every two seconds while something is open, the account as
// often as the room asks for; on the paper account nothing.
func TestWhatItReads(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		requests := func(d time.Duration) map[string]int {
			before := r.sim.Report().Requests
			r.wait(d)
			more := map[string]int{}
			for op, n := range r.sim.Report().Requests {
				more[op] = n - before[op]
			}
			return more
		}
		r.wait(time.Minute)
		flat := requests(5 * time.Minute)
		require.Equal(t, 10, flat["GET /accounts/{accountId}"], "each 30 s")
		require.Equal(t, 10, flat["GET /sandbox/prices"])
		require.Equal(t, 3, requests(3 * time.Hour)["GET /sandbox/markets"], "each hour")
		require.NoError(t, r.buy("1"))
		r.wait(time.Minute)
		open := requests(5 * time.Minute)
		require.Equal(t, 150, open["GET /sandbox/prices"], "each 2 s")
		require.InDelta(t, 20, open["GET /accounts/{accountId}"], 2, "each 15 s, at the next step")
		require.NoError(t, r.p.Flatten(acc, "a test"))
		r.wait(time.Minute)
		require.True(t, r.flat())
		for op := range r.sim.Report().Requests {
			if strings.Contains(op, "/sandbox/") {
				require.Contains(t, []string{"GET /sandbox/prices", "GET /sandbox/markets"}, op)
			}
		}
	})
}

// TestManyAccounts: however many accounts there are, and however near their floors, looks
// take at most half of the key's 600 requests a minute.
func TestManyAccounts(t *testing.T) {
	for accounts, want := range map[int]time.Duration{1: 2 * time.Second, 10: 6 * time.Second, 50: 30 * time.Second} {
		p := &Protection{watchers: map[trading.AccountID]*watcher{}}
		for i := range accounts {
			p.watchers[trading.AccountID(itoa(i))] = nil
		}
		w := &watcher{p: p, interval: shortest}
		require.Equal(t, want, w.pace())
	}
}

// TestAFlatteningThatIsNotHeardIsNoLoss: the service answers nothing, so nobody knows that the account is lost.
func TestAFlatteningThatIsNotHeardIsNoLoss(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		require.NoError(t, r.buy("1"))
		r.wait(10 * time.Second)
		r.sim.FaultEach(func(string) tradingsim.Fault { return tradingsim.DropRequest() })
		require.NoError(t, r.p.Flatten(acc, "a test"))
		r.wait(10 * time.Minute)
		require.Equal(t, Stuck, r.state().State, r.state().Reason)
		r.sim.FaultEach(nil)
		r.wait(10 * time.Minute)
		require.Equal(t, Held, r.state().State, r.state().Reason)
		require.True(t, r.flat())
	})
}
