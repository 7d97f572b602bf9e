package protect

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

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

// TestForeignLimits: orders of others count with what their records tell, and refuse
// entries where they tell too little.
func TestForeignLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		limit := order(trading.Long, "4", "BTC")
		limit.LimitPrice = trading.At(dec("49000"))
		_, err := connect(t, r.sim).Live.Account(acc).PlaceLimit(t.Context(), limit)
		require.NoError(t, err)
		r.wait(40 * time.Second)
		require.ErrorIs(t, r.buy("1"), ErrRoom)
		require.NoError(t, r.buy("0.1"))

		bare := `{"orders":[{"id":"ord_1"}],"runs":[]}`
		r.sim.FaultEach(func(op string) tradingsim.Fault {
			if op == "GET /accounts/{accountId}/orders" {
				return tradingsim.Raw(200, nil, bare)
			}
			return nil
		})
		r.wait(40 * time.Second)
		require.ErrorIs(t, r.buy("0.1"), ErrNotJudged)
	})
}

// TestAdoptWhatCannotBeJudged refuses entries while it is pending.
func TestAdoptWhatCannotBeJudged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
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
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		w := r.p.watchers[acc]
		held := may(trading.Long, "1", "BTC", "")
		w.mu.Lock()
		w.reserved[held] = struct{}{}
		w.mu.Unlock()
		ticket := &ticket{}
		require.True(t, ticket.hold(held, w))
		w.resolved(trading.Resolution{Intent: trading.Intent{ID: "i1", Account: acc}, Outcome: trading.NotApplied})
		ticket.done(trading.Done{Outcome: trading.Unknown, Err: &trading.WriteError{Intent: "i1", Outcome: trading.Unknown, Err: ErrRoom}})
		require.Equal(t, 0, r.state().Reserved)
		require.False(t, ticket.hold(held, w), "nothing is reserved for a call that has ended")
	})
}

// TestStepThatPanics refuses entries until a step succeeds again.
func TestStepThatPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
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
		id := idIn(body)
		require.LessOrEqual(t, len(id), 3*len(body)+3)
		o := order(trading.Long, "1", "BTC")
		for _, op := range []trading.Operation{trading.OpOrder, trading.OpConditional, trading.OpLadder} {
			r, err := reservationOf(&ticket{body: body}, trading.Write{Operation: op, Order: &o})
			require.True(t, (r == nil) != (err == nil))
		}
	})
}
