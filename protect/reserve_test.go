package protect

import (
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
)

// TestReservationEndsByALook: what an entry has reserved counts once, when a look that
// was begun a lag after the answer has shown it.
func TestReservationEndsByALook(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		require.NoError(t, r.buy("2"))
		require.Equal(t, 1, r.state().Reserved)
		require.ErrorIs(t, r.buy("3"), ErrRoom)
		r.wait(4 * time.Second)
		require.Equal(t, 1, r.state().Reserved)
		r.wait(8 * time.Second)
		require.Equal(t, 0, r.state().Reserved)
		require.NoError(t, r.buy("1.9"), "the first is counted once")
	}, tradingsim.WithLag(4*time.Second))
}

// TestRefusedEntryReservesNothing: an order that the service refuses gives its room back.
func TestRefusedEntryReservesNothing(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.sim.SetFillError("BTC", "PER_POSITION_CAP")
		require.Error(t, r.buy("4"))
		r.sim.SetFillError("BTC", "")
		require.Equal(t, 0, r.state().Reserved)
		require.NoError(t, r.buy("4"))
	})
}

// TestUnknownEntryStaysReserved until its outcome is known, and no longer.
func TestUnknownEntryStaysReserved(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		bot := r.carry(trading.WithResolveTimeout(0), trading.WithSendTTL(0))
		r.sim.Fault("POST /orders", tradingsim.DropRequest())
		_, err := bot.Live.Account(acc).PlaceOrder(t.Context(), order(trading.Long, "4", "BTC"))
		require.Equal(t, trading.Unknown, trading.OutcomeOf(err))
		require.Equal(t, 1, r.state().Reserved)
		require.ErrorIs(t, r.buy("2"), ErrRoom)
		_, err = bot.Resolve(t.Context(), err)
		require.NoError(t, err)
		r.wait(time.Second)
		require.Equal(t, 0, r.state().Reserved)
		require.NoError(t, r.buy("4"))
	})
}

// TestWhatFillsBeforeALook: what has filled is not among the orders any more, and not in the
// positions yet. It counts whoever has placed it, and so does the part of a run that has filled.
func TestWhatFillsBeforeALook(t *testing.T) {
	for name, place := range map[string]func(r *rig) error{
		"a limit": func(r *rig) error {
			_, err := r.acc.PlaceLimit(r.t.Context(), bid("3", "49900"))
			return err
		},
		"a limit that was placed elsewhere": func(r *rig) error {
			_, err := connect(r.t, r.sim).Live.Account(acc).PlaceLimit(r.t.Context(), bid("3", "49900"))
			return err
		},
		"a part of a run": func(r *rig) error {
			_, err := r.acc.PlacePro(r.t.Context(), order(trading.Long, "3", "BTC"), trading.Ladder{From: dec("49900"), To: dec("49000"), Rungs: 2})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, r *rig) {
				require.NoError(t, place(r))
				r.wait(40 * time.Second)
				require.ErrorIs(t, r.buy("2"), ErrRoom)
				r.sim.SetLag("GET /positions", 5*time.Second)
				r.set("49900")
				r.wait(time.Second)
				require.False(t, r.flat(), "it has filled")
				w := r.p.watchers[acc]
				l, err := w.read(t.Context())
				require.NoError(t, err)
				w.take(l)
				require.ErrorIs(t, r.buy("2"), ErrRoom)
			})
		})
	}
}

// TestAdopt counts what an earlier run of a bot has left.
func TestAdopt(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.sim.Fault("POST /orders", tradingsim.DropRequest())
		writes := journal.NewMemory()
		first := connect(t, r.sim, trading.WithJournal(writes), trading.WithResolveTimeout(0), trading.WithSendTTL(0), trading.WithRecovery(trading.Recovery{WithoutBackground: true}))
		_, err := first.Live.Account(acc).PlaceOrder(t.Context(), order(trading.Long, "4", "BTC"))
		require.Equal(t, trading.Unknown, trading.OutcomeOf(err))
		left, err := first.Pending(t.Context())
		require.NoError(t, err)
		require.Len(t, left, 1)
		require.NoError(t, r.p.Adopt(left...))
		require.ErrorIs(t, r.buy("2"), ErrRoom)
	})
}

// TestRunUnderWay: what a run has bought is held, and does not count once more.
func TestRunUnderWay(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		_, err := r.acc.PlacePro(t.Context(), order(trading.Long, "2", "BTC"), trading.TWAP{Duration: 10 * time.Minute})
		require.NoError(t, err)
		r.wait(5*time.Minute + 20*time.Second)
		require.Equal(t, "1", r.sim.Position("acc_1", "BTC").String())
		require.ErrorIs(t, r.buy("2.5"), ErrRoom, "4.5 in all")
		require.NoError(t, r.buy("2.1"), "4.1 in all")
	})
}

// TestConditionalAndLadder count with what they may become.
func TestConditionalAndLadder(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		_, err := r.acc.PlacePro(t.Context(), order(trading.Long, "4", "BTC"), trading.Conditional{Trigger: dec("51000")})
		require.NoError(t, err)
		r.wait(15 * time.Second)
		require.Equal(t, 1, r.state().Reserved, "it is still there")
		require.ErrorIs(t, r.buy("1"), ErrRoom)
		_, err = r.acc.PlacePro(t.Context(), order(trading.Long, "1", "BTC"), trading.Ladder{From: dec("49000"), To: dec("48000"), Rungs: 2})
		require.ErrorIs(t, err, ErrRoom)
	})
}

// TestForeignLimits: orders of others count with what their records tell, and refuse
// entries where they tell too little.
func TestForeignLimits(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		limit := bid("4", "49000")
		_, err := connect(t, r.sim).Live.Account(acc).PlaceLimit(t.Context(), limit)
		require.NoError(t, err)
		r.wait(40 * time.Second)
		require.ErrorIs(t, r.buy("1"), ErrRoom)
		require.NoError(t, r.buy("0.1"))

		bare := `{"orders":[{"id":"ord_9"}],"runs":[]}`
		r.sim.FaultEach(tradingsim.Always("GET /accounts/{accountId}/orders", tradingsim.Raw(200, nil, bare)))
		r.wait(40 * time.Second)
		require.ErrorIs(t, r.buy("0.1"), ErrNotJudged)
	})
}

// TestAdoptWhatCannotBeJudged refuses entries while it is pending.
func TestAdoptWhatCannotBeJudged(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		left := trading.PendingWrite{Intent: trading.Intent{
			ID: "i1", Environment: trading.EnvLive, Account: acc, Symbol: "BTC", Operation: trading.OpOrder, Entry: true, Body: []byte("{"),
		}}
		require.Error(t, r.p.Adopt(left))
		require.ErrorContains(t, r.buy("0.1"), "i1")
		r.p.watchers[acc].resolved(trading.Resolution{Intent: left.Intent, Outcome: trading.NotApplied})
		require.NoError(t, r.buy("0.1"))
	})
}

// TestOutcomeBeforeTheEnd: a write is resolved in the moment between its call's patience
// and its end. Its reservation ends all the same.
func TestOutcomeBeforeTheEnd(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		w := r.p.watchers[acc]
		held := may(trading.Long, "1", "BTC", "")
		w.mu.Lock()
		w.reserved.Add(held)
		w.mu.Unlock()
		call := &ticket{}
		require.True(t, call.hold(held, w))
		w.resolved(trading.Resolution{Intent: trading.Intent{ID: "i1", Account: acc}, Outcome: trading.NotApplied})
		call.done(trading.Done{Outcome: trading.Unknown, Err: &trading.WriteError{Intent: "i1", Outcome: trading.Unknown, Err: ErrRoom}})
		require.Equal(t, 0, r.state().Reserved)
		require.False(t, call.hold(held, w), "nothing is reserved for a call that has ended")

		run := may(trading.Long, "1", "BTC", "")
		run.Waits = true
		w.mu.Lock()
		w.reserved.Add(run)
		w.mu.Unlock()
		call = &ticket{}
		require.True(t, call.hold(run, w))
		w.resolved(trading.Resolution{Intent: trading.Intent{ID: "i2", Account: acc}, Outcome: trading.Applied, Answer: trading.Body(`{"runId":"run_9"}`)})
		call.done(trading.Done{Outcome: trading.Unknown, Err: &trading.WriteError{Intent: "i2", Outcome: trading.Unknown, Err: ErrRoom}})
		require.Equal(t, "run_9", run.Order, "else the run counts as somebody else's")
	})
}

// TestSame: an order of an earlier run is taken over by the write that may do the same, in every respect.
func TestSame(t *testing.T) {
	change := func(change func(r *reservation)) *reservation {
		r := &reservation{Symbol: "BTC", Side: trading.Long, Size: dec("1"), Of: terms{price: trading.Some(dec("50000")), stop: trading.At(dec("49000"))}}
		change(r)
		return r
	}
	one := change(func(*reservation) {})
	require.True(t, same(one, change(func(r *reservation) { r.Size = dec("1.0") })))
	for name, other := range map[string]func(r *reservation){
		"symbol":      func(r *reservation) { r.Symbol = "ETH" },
		"side":        func(r *reservation) { r.Side = trading.Short },
		"size":        func(r *reservation) { r.Size = dec("2") },
		"price":       func(r *reservation) { r.Of.price = trading.Some(dec("50001")) },
		"no price":    func(r *reservation) { r.Of.price = trading.Opt[decimal.Decimal]{} },
		"a limit":     func(r *reservation) { r.Of.limit = true },
		"stop":        func(r *reservation) { r.Of.stop = trading.Level{} },
		"it gets out": func(r *reservation) { r.Exit = true },
	} {
		require.False(t, same(one, change(other)), name)
	}
}

// TestFloorsSeen: the balance of a day is that with which it began, or with which its floor has moved. A floor that
// a read does not have stays.
func TestFloorsSeen(t *testing.T) {
	had := floors{Daily: trading.Some(dec("95")), Global: trading.Some(dec("90")), Opening: trading.Some(dec("100"))}
	for name, row := range map[string]struct {
		before        floors
		daily, global trading.Opt[decimal.Decimal]
		newDay        bool
		want          [3]string // daily, global, opening
	}{
		"as before":          {had, trading.Some(dec("95.0")), trading.Some(dec("90")), false, [3]string{"95", "90", "100"}},
		"a new day":          {had, trading.Some(dec("95")), trading.Some(dec("90")), true, [3]string{"95", "90", "120"}},
		"the floor moves":    {had, trading.Some(dec("96")), trading.Some(dec("90")), false, [3]string{"96", "90", "120"}},
		"none in a read":     {had, trading.Opt[decimal.Decimal]{}, trading.Opt[decimal.Decimal]{}, false, [3]string{"95", "90", "100"}},
		"the first":          {floors{}, trading.Some(dec("95")), trading.Some(dec("90")), false, [3]string{"95", "90", "none"}},
		"the first of a day": {floors{}, trading.Some(dec("95")), trading.Some(dec("90")), true, [3]string{"95", "90", "120"}},
	} {
		got := row.before.seen(&trading.AccountState{Balance: dec("120"), DailyLossFloor: row.daily, GlobalLossFloor: row.global}, row.newDay)
		require.Equal(t, row.want, [3]string{got.Daily.String(), got.Global.String(), got.Opening.String()}, name)
	}
}
