package protect

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
)

// TestFiftyConcurrentEntries: fifty entries at once, through five clients, each small
// enough alone. Together they never exceed the room.
func TestFiftyConcurrentEntries(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.sim.FaultEach(tradingsim.Always("POST /orders", tradingsim.Delay(time.Second))) // all are judged before the first is done
		var bots []*trading.Account
		for range 5 {
			bots = append(bots, r.carry(trading.WithHealthGate(trading.HealthGate{Off: true})).Live.Account(acc))
		}
		r.wait(29 * time.Second) // the marks are too old by now
		before := r.sim.Report().Requests["GET /sandbox/prices"]
		var mu sync.Mutex
		var wg sync.WaitGroup
		passed, refused := 0, 0
		for i := range 50 {
			wg.Go(func() {
				_, err := bots[i%5].PlaceOrder(t.Context(), order(trading.Long, "0.5", "BTC")) // $25,000
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					passed++
					return
				}
				require.ErrorIs(t, err, ErrRoom)
				refused++
			})
		}
		wg.Wait()
		// 4,500 ÷ (500 + 22.50) are 8: each loses 2 percent and two fees at worst.
		require.Equal(t, 8, passed)
		require.Equal(t, 42, refused)
		require.Equal(t, "4", r.sim.Position("acc_1", "BTC").String())
		require.Less(t, r.sim.Report().Requests["GET /sandbox/prices"]-before, 5, "they share one read")
		require.Len(t, r.kinds(Refused), 1, "one of them is told, and the rest are counted")
	})
}

// TestGuardNeedsItsHooks: a client with the guard alone places no entry, and exits.
func TestGuardNeedsItsHooks(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		require.NoError(t, r.buy("1"))
		half := connect(t, r.sim, trading.WithGuard(r.p.Guard())).Live.Account(acc)
		_, err := half.PlaceOrder(t.Context(), order(trading.Long, "0.1", "BTC"))
		require.ErrorIs(t, err, ErrNotJudged)
		_, err = half.ClosePosition(t.Context(), "BTC", trading.All)
		require.NoError(t, err)
	})
}

// TestWhatIsNotJudged is refused: an edit of a run, and anything beside a run or an order
// that was placed elsewhere and does not tell what it is.
func TestWhatIsNotJudged(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		run, err := r.acc.PlacePro(t.Context(), order(trading.Long, "1", "BTC"), trading.TWAP{Duration: 10 * time.Minute})
		require.NoError(t, err)
		_, err = r.acc.EditRun(t.Context(), run.ID, dec("2"))
		require.ErrorIs(t, err, ErrNotJudged)
		r.wait(20 * time.Second)
		require.NoError(t, r.buy("0.1"), "its own run is known")
		require.ErrorIs(t, r.buy("3.4"), ErrRoom, "and counts with its total")
		_, err = r.acc.CancelRun(t.Context(), run.ID)
		require.NoError(t, err)

		other := connect(t, r.sim).Live.Account(acc)
		_, err = other.PlacePro(t.Context(), order(trading.Long, "1", "BTC"), trading.TWAP{Duration: 10 * time.Minute})
		require.NoError(t, err)
		r.wait(40 * time.Second)
		require.ErrorIs(t, r.buy("0.1"), ErrNotJudged)
	})
}

// TestOppositeOrderRacesOurClose: while the account is flattened or held, a plain opposite
// order, which was to reduce, is refused: behind the close it would open.
func TestOppositeOrderRacesOurClose(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		require.NoError(t, r.buy("1"))
		r.wait(10 * time.Second)
		r.sim.Fault("POST /positions/close", tradingsim.Delay(2*time.Second))
		require.NoError(t, r.p.Flatten(acc, "a test"))
		time.Sleep(500 * time.Millisecond) // the close is on its way
		_, err := r.acc.PlaceOrder(t.Context(), order(trading.Short, "1", "BTC"))
		require.ErrorIs(t, err, ErrHalted)
		require.ErrorContains(t, err, "use a reduce-only order or a close")
		reduce := order(trading.Short, "1", "BTC")
		reduce.ReduceOnly = true
		_, err = r.acc.PlaceOrder(t.Context(), reduce) // passes, and never opens
		require.NoError(t, err)
		r.wait(30 * time.Second)
		require.Equal(t, Held, r.state().State)
		require.True(t, r.flat())
	})
}

// TestOrderBehindAClose: while a close is under way an opposite order opens all of its size,
// and without one only what it exceeds the position by.
func TestOrderBehindAClose(t *testing.T) {
	for exit, closes := range map[string]func(*rig) error{
		"": nil,
		"POST /positions/close": func(r *rig) error {
			_, err := r.acc.ClosePosition(r.t.Context(), "BTC", trading.All)
			return err
		},
		"POST /orders": func(r *rig) error {
			reduce := order(trading.Short, "4", "BTC")
			reduce.ReduceOnly = true
			_, err := r.acc.PlaceOrder(r.t.Context(), reduce)
			return err
		},
	} {
		bubble(t, nil, func(t *testing.T, r *rig) {
			require.NoError(t, r.buy("4"))
			r.wait(15 * time.Second)
			closing := closes != nil
			if closing {
				r.sim.Fault(exit, tradingsim.Delay(3*time.Second))
				go func() { _ = closes(r) }()
				time.Sleep(500 * time.Millisecond)
			}
			_, err := r.acc.PlaceOrder(t.Context(), order(trading.Short, "7", "BTC"))
			if closing {
				require.ErrorIs(t, err, ErrRoom)
			} else {
				require.NoError(t, err)
			}
			r.wait(10 * time.Second)
		})
	}
}

// TestStaleFactsAreRead: after the loop has slept, an entry is judged by what is read for
// it; where nothing can be read within two seconds it is refused.
func TestStaleFactsAreRead(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.bot = r.carry(trading.WithHealthGate(trading.HealthGate{Off: true}))
		r.acc = r.bot.Live.Account(acc)
		r.wait(25 * time.Second) // flat, it looks each 30 s
		require.False(t, r.p.watchers[acc].fresh())
		require.NoError(t, r.buy("0.1"))
		r.close()
		r.wait(85 * time.Second)
		require.False(t, r.p.watchers[acc].fresh())
		w := r.p.watchers[acc]
		w.mu.Lock()
		w.look.began = instant{w.look.began.wall.Add(-time.Minute), w.look.began.mono - time.Minute}
		w.mu.Unlock()
		r.sim.FaultEach(func(op string) tradingsim.Fault {
			if strings.HasPrefix(op, "GET /") {
				return tradingsim.Delay(1500 * time.Millisecond) // each in time, and all of them not
			}
			return nil
		})
		began := time.Now()
		require.ErrorIs(t, r.buy("0.1"), ErrNotJudged)
		require.Equal(t, 2*time.Second, time.Since(began))
	})
}

// TestGuardTakesTheLowerEquity: where the service shows less than the marks do, an entry is
// judged by the service.
func TestGuardTakesTheLowerEquity(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		less := func(by string) {
			w := r.p.watchers[acc]
			w.mu.Lock()
			defer w.mu.Unlock()
			state := *w.look.state
			state.Equity = state.Equity.Sub(dec(by))
			w.look.state = &state
		}
		less("2000")
		require.ErrorIs(t, r.buy("4"), ErrRoom)
		less("-4000") // more than the marks show is not believed
		require.ErrorIs(t, r.buy("4.4"), ErrRoom)
		require.NoError(t, r.buy("4"))
	})
}

// TestOldAccountIsRead: an entry is judged by a look of 40 seconds and by marks of 5, which
// with their lag are 45 and 10, and by no older ones.
func TestOldAccountIsRead(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		w := r.p.watchers[acc]
		fresh := func(account, marks time.Duration) bool {
			now := w.p.now()
			w.mu.Lock()
			w.look.began = instant{now.wall.Add(-account), now.mono - account}
			w.mu.Unlock()
			w.p.market.read = instant{now.wall.Add(-marks), now.mono - marks}
			return w.fresh()
		}
		require.True(t, fresh(40*time.Second, 5*time.Second-1))
		require.False(t, fresh(40*time.Second, 5*time.Second))
		require.False(t, fresh(40*time.Second+1, 0))
		require.NoError(t, w.refresh(t.Context()))
		require.True(t, w.fresh())
	})
}

// TestUnpricedMarket: a mark of more than 5 seconds, which with its lag are 10, is moved
// against the position by what its age allows.
func TestUnpricedMarket(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		require.NoError(t, r.buy("1"))
		r.wait(10 * time.Second)
		w := r.p.watchers[acc]
		w.mu.Lock()
		defer w.mu.Unlock()
		now := w.p.now()
		at := func(age time.Duration) (string, bool) {
			began := instant{now.wall.Add(-age), now.mono - age}
			w.look.began = began
			w.p.market.prices["BTC"] = price{value: dec("50000"), at: began, changed: began}
			held, assumed := w.holdings(now)
			require.Len(t, held, 1)
			return held[0].mark.StringFixed(2), assumed
		}
		mark, assumed := at(5 * time.Second)
		require.False(t, assumed)
		require.Equal(t, "50000.00", mark)
		mark, assumed = at(7 * time.Second) // 12 s: 0.5 percent × √1.8
		require.True(t, assumed)
		require.Equal(t, "49664.59", mark)
	})
}

// TestPanicRefuses: a computation that fails refuses the entry, and the bot lives on.
func TestPanicRefuses(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		w := r.p.watchers[acc]
		w.mu.Lock()
		state := w.look.state
		w.look.state = nil
		w.mu.Unlock()
		require.ErrorIs(t, r.buy("0.1"), ErrNotJudged)
		w.mu.Lock()
		w.look.state = state
		w.mu.Unlock()
		require.NoError(t, r.buy("0.1"))
	})
}

// TestRoomIsNeverExceeded: the bot's entries of any size, side and kind, at random, never
// leave a worst case below what is kept; recomputed here from the ledger alone.
func TestRoomIsNeverExceeded(t *testing.T) {
	for seed := range 10 {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, r *rig) {
				for i := range 30 {
					n := seed*31 + i*17
					side := trading.Long
					if n%3 == 0 {
						side = trading.Short
					}
					_, _ = r.acc.PlaceOrder(t.Context(), order(side, decimal.New(int64(n%40+1), -1).String(), "BTC"))
					held := r.sim.Position("acc_1", "BTC").Abs()
					report, _ := r.sim.Report().Account("acc_1")
					left := report.Equity.Decimal.Sub(dec("95000")).Sub(held.Mul(dec("50000.01")).Mul(dec("0.02045")))
					require.True(t, left.GreaterThan(dec("499")), "%s is left with %s BTC", left, held)
					r.wait(time.Duration(n%9) * time.Second)
				}
			})
		})
	}
}

// A bot that declares the account has the journal of the protection's client, or the closes
// of that would pass for lost orders of the bot.
func TestEdge52_ADeclaredAccountNeedsOneJournal(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.bot = r.carry(trading.WithExclusiveAccounts(acc), trading.WithJournal(journal.NewMemory()))
		_, err := r.bot.Live.Account(acc).PlaceOrder(t.Context(), trading.Order{
			Symbol: "BTC", Side: trading.Long, Size: dec("0.01"), Leverage: dec("5"),
		})
		require.ErrorContains(t, err, "give both clients the same journal")
		require.Equal(t, trading.NotApplied, trading.OutcomeOf(err))
	})
}

// TestMainBesideABot: Main runs beside a bot that carries nothing: it tells, and flattens.
func TestMainBesideABot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New(tradingsim.WithMarket(tradingsim.Market{Symbol: "BTC", Price: "50000"}))
		defer sim.Close()
		ctx, cancel := context.WithCancel(t.Context())
		var out bytes.Buffer
		ended := make(chan error, 1)
		o := Options{Client: connect(t, sim), Accounts: []trading.AccountID{acc}, Dir: t.TempDir()}
		go func() { ended <- Main(ctx, o, func(e Event) { fmt.Fprintln(&out, e) }) }()
		time.Sleep(time.Second)
		_, err := connect(t, sim).Live.Account(acc).PlaceOrder(t.Context(), order(trading.Long, "6", "BTC"))
		require.NoError(t, err)
		for price := 50000; price > 48000; price -= 10 {
			sim.SetMark("BTC", itoa(price))
			time.Sleep(time.Second)
		}
		require.True(t, sim.Position("acc_1", "BTC").IsZero())
		cancel()
		require.NoError(t, <-ended)
		for _, line := range []string{"from starting to ok", "to flattening: room is $", "from flattening to held"} {
			require.Contains(t, out.String(), line)
		}
		require.Equal(t, strings.Count(out.String(), "\n"), strings.Count(out.String(), "account acc_1"))
	})
}

// TestStepThatPanics refuses entries until a step succeeds again.
func TestStepThatPanics(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		require.NoError(t, r.buy("1"))
		r.wait(9 * time.Second) // the next steps read marks alone
		w := r.p.watchers[acc]
		w.mu.Lock()
		w.look.state = nil
		w.mu.Unlock()
		r.wait(2500 * time.Millisecond)
		require.Len(t, r.kinds(Alert), 1)
		r.wait(30 * time.Second)
		require.True(t, r.state().Entries, r.state().Refusal)
	})
}

// TestSlowReader loses the oldest events, and is told how many.
func TestSlowReader(t *testing.T) {
	var h hub
	r := h.join()
	for i := range mostEvents + 5 {
		h.emit(Event{Reason: itoa(i)})
	}
	got := h.take(r)
	require.Len(t, got, mostEvents)
	require.Equal(t, 5, got[0].Missed)
	require.Equal(t, "5", got[0].Reason)
	require.Empty(t, h.take(r))
	h.leave(r)
	h.emit(Event{})
	require.Empty(t, r.queue)
}

func TestEventText(t *testing.T) {
	e := Event{
		Account: acc, Kind: Changed, From: OK, To: Warned, Reason: "a reason",
		Room: trading.Some(dec("12.345")), Need: trading.Some(dec("1")),
	}
	require.Equal(t, "account acc_1: changed from ok to warned: a reason (room $12.35, needed $1.00)", e.String())
}

// FuzzAnswer: no answer panics.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"success":true,"runId":"run_1"}`))
	f.Add([]byte(`{"success":true,"order":{"id":"ord_1"}}`))
	f.Add([]byte(`{"order":null}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		o := order(trading.Long, "1", "BTC")
		for _, op := range []trading.Operation{trading.OpOrder, trading.OpConditional, trading.OpLadder} {
			r, err := reservationOf(&ticket{body: body}, trading.Write{Operation: op, Order: &o})
			require.True(t, (r == nil) != (err == nil))
		}
	})
}
