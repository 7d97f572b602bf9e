package trading_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

// What an order comes to whose first attempt was lost, by what the second is
// answered with. Doubt sticks: only a success or a repeated first answer settles
// the call; any other answer speaks for its own attempt alone.
func TestSecondAnswersInDoubt(t *testing.T) {
	refusal := tradingsim.Fail
	redirect := tradingsim.Raw(308, http.Header{"Location": {"/v1/orders"}}, "")
	for _, row := range []struct {
		name   string
		second tradingsim.Fault
		// If the first was not executed: what it comes to, and how often it was sent
		// and executed.
		outcome  trading.Outcome
		attempts int
		again    int
	}{
		{name: "2xx or its replay", second: tradingsim.Pass(), outcome: trading.Applied, attempts: 2, again: 1},
		{name: "a plain refusal", second: refusal(400, "MIN_NOTIONAL"), attempts: 2},
		{name: "a loss limit", second: refusal(403, "DAILY_DRAWDOWN_BREACH"), attempts: 2},
		{name: "account_locked", second: refusal(403, "account_locked"), attempts: 2},
		{name: "STALE_PRICE, which elsewhere gets a new key", second: refusal(409, "STALE_PRICE"), attempts: 2},
		{name: "no_price 400", second: refusal(400, "no_price"), attempts: 2},
		{name: "invalid_api_key", second: refusal(401, "invalid_api_key"), attempts: 2},
		{name: "429", second: tradingsim.RateLimit(time.Second), outcome: trading.Applied, attempts: 3, again: 1},
		{name: "429 beyond the lifetime", second: tradingsim.RateLimit(time.Minute), attempts: 2},
		{name: "no_price 503", second: refusal(503, "no_price"), outcome: trading.Applied, attempts: 3, again: 1},
		{name: "equity_unavailable", second: refusal(503, "equity_unavailable"), outcome: trading.Applied, attempts: 3, again: 1},
		{name: "idempotency_unavailable", second: refusal(503, "idempotency_unavailable"), outcome: trading.Applied, attempts: 3, again: 1},
		{name: "idempotency_in_flight", second: refusal(409, "idempotency_in_flight"), outcome: trading.Applied, attempts: 3, again: 1},
		{name: "idempotency_result_unknown", second: refusal(409, "idempotency_result_unknown"), attempts: 2},
		{name: "idempotency_key_reused", second: refusal(422, "idempotency_key_reused"), attempts: 2},
		{name: "internal_error", second: refusal(500, "internal_error"), attempts: 2},
		{name: "unavailable", second: refusal(503, "unavailable"), attempts: 2},
		{name: "a code nobody knows", second: refusal(418, "TEAPOT"), attempts: 2},
		{name: "a page", second: tradingsim.EdgePage(502), outcome: trading.Applied, attempts: 3, again: 1},
		{name: "a page with 200", second: tradingsim.EdgePage(200), outcome: trading.Applied, attempts: 3, again: 1},
		{name: "{}", second: tradingsim.Raw(200, nil, `{}`), outcome: trading.Applied, attempts: 3, again: 1},
		{name: "lost too", second: tradingsim.LoseRequest(), outcome: trading.Applied, attempts: 3, again: 1},
		{name: "no connection", second: tradingsim.RefuseConnection(), outcome: trading.Applied, attempts: 3, again: 1},
		{name: "a redirect", second: redirect, attempts: 2},
	} {
		for _, executed := range []bool{false, true} {
			name := row.name + ", first not executed"
			first := tradingsim.LoseRequest()
			if executed {
				name = row.name + ", first executed"
				first = tradingsim.LoseReply()
			}
			t.Run(name, func(t *testing.T) {
				liveTest(t, nil, nil, func(r rig) {
					r.sim.Fault("POST /orders", first, row.second)
					var meta trading.Meta
					_, err := r.account().PlaceOrder(r.t.Context(), buy("0.05"), trading.ResponseInto(&meta))
					ran := r.ran(trading.OpOrder)
					if executed {
						// A stored first answer is in front of whatever the rules would say.
						assert.Equal(r.t, 1, ran, "once, whatever the second answer is")
						assert.NotEqual(r.t, trading.NotApplied, trading.OutcomeOf(err), "%v", err)
					} else {
						assert.Equal(r.t, row.outcome, trading.OutcomeOf(err), "%v", err)
						assert.Equal(r.t, row.again, ran)
						assert.Equal(r.t, row.attempts, meta.Attempts)
					}
					if trading.OutcomeOf(err) == trading.Unknown {
						assert.Equal(r.t, trading.AdviseRead, trading.AdviceOf(err))
						time.Sleep(2 * time.Minute) // a refused key and a closed budget are asked first
						_, err = r.account().PlaceOrder(r.t.Context(), buy("0.05"))
						require.ErrorIs(r.t, err, trading.ErrUnsettled)
					}
					keys := r.keysOf(trading.OpOrder)
					bodies := r.bodiesOf(trading.OpOrder)
					for i := range keys {
						assert.Equal(r.t, keys[0], keys[i], "never a new key in doubt")
						assert.Equal(r.t, bodies[0], bodies[i], "T12: the same bytes")
					}
				})
			})
		}
	}
}

// A repeated refusal is what became of the attempt whose answer was lost.
func TestAReplayedRefusalSettles(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		r.sim.Fault("POST /orders", tradingsim.LoseReply())
		var meta trading.Meta
		_, err := r.account().PlaceOrder(r.t.Context(), buy("0.0001"), trading.ResponseInto(&meta))
		require.ErrorIs(r.t, err, trading.CodeMinNotional)
		assert.Equal(r.t, trading.NotApplied, trading.OutcomeOf(err))
		assert.True(r.t, meta.Replayed)
		assert.Equal(r.t, 2, meta.Attempts)
	})
}

// T6: nothing is sent after the lifetime, which the waits count into; 0 sends once.
// T18: a resend is a late command, so a late one is not given.
func TestTrap_T18_NothingIsSentAfterTheLifetime(t *testing.T) {
	for _, row := range []struct {
		name     string
		opts     []trading.CallOption
		call     func(rig, ...trading.CallOption) error
		op       trading.Operation
		lifetime time.Duration
	}{
		{"an entry", nil, entryCall, trading.OpOrder, 10 * time.Second},
		{"an exit", nil, exitCall, trading.OpClose, 2 * time.Minute},
		{"an entry of a minute", []trading.CallOption{trading.WithLifetime(time.Minute)}, entryCall, trading.OpOrder, time.Minute},
		{"T6 the longest", []trading.CallOption{trading.WithLifetime(12 * time.Minute)}, entryCall, trading.OpOrder, 12 * time.Minute},
		{"once", []trading.CallOption{trading.WithLifetime(0)}, entryCall, trading.OpOrder, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			liveTest(t, nil, nil, func(r rig) {
				r.open(buy("0.1"))
				time.Sleep(time.Minute)
				r.sim.FaultEach(func(op string) tradingsim.Fault {
					if op == string(row.op) {
						return tradingsim.LoseRequest()
					}
					return nil
				})
				began, before := time.Now(), len(r.sim.Requests())
				err := row.call(r, append(row.opts, trading.WithRetry(trading.Retry{Attempts: 1_000_000}))...)
				assert.Equal(r.t, trading.Unknown, trading.OutcomeOf(err))
				assert.LessOrEqual(r.t, time.Since(began), row.lifetime)
				sent := 0
				for _, request := range r.sim.Requests()[before:] {
					if request.Operation == string(row.op) {
						sent++
						assert.LessOrEqual(r.t, request.At.Sub(began), row.lifetime)
					}
				}
				if row.lifetime == 0 {
					assert.Equal(r.t, 1, sent)
				} else {
					assert.Greater(r.t, sent, 3)
				}
			})
		})
	}
	_, err := trading.New("https://api.example.test/v1", trading.WithLifetime(12*time.Minute+1))
	require.Error(t, err, "T6: a key can be claimed again after 15 minutes")
}

func entryCall(r rig, opts ...trading.CallOption) error {
	_, err := r.account().PlaceOrder(r.t.Context(), buy("0.05"), opts...)
	return err
}

func exitCall(r rig, opts ...trading.CallOption) error {
	_, err := r.account().ClosePosition(r.t.Context(), "BTC", trading.All, opts...)
	return err
}

// A write is judged old before its first send too.
func TestAnOldWriteIsNotSentOnce(t *testing.T) {
	slow := func(ctx context.Context, w trading.Write) error { time.Sleep(15 * time.Second); return nil }
	liveTest(t, nil, []trading.Option{trading.WithGuard(slow)}, func(r rig) {
		err := entryCall(r)
		require.ErrorIs(r.t, err, trading.ErrExpired)
		assert.Equal(r.t, trading.NotApplied, trading.OutcomeOf(err))
		assert.Zero(r.t, r.sent(trading.OpOrder))
	})
}

// T15: a replay is of the past: its position is no baseline, and its status not the
// account's.
func TestTrap_T15_AReplayIsOfThePast(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		closing := func() *trading.CloseResult {
			result, err := r.account().ClosePosition(r.t.Context(), "BTC", trading.Percent(dec("50")), trading.WithIdempotencyKey("c"))
			require.NoError(r.t, err)
			return result
		}
		r.open(buy("0.1"))
		assert.False(r.t, closing().Meta.Replayed)
		r.sim.SetStatus("acc_1", "PASSED")
		_, err := r.account().State(r.t.Context())
		require.NoError(r.t, err)
		again := closing()
		assert.True(r.t, again.Meta.Replayed)
		assert.Equal(r.t, trading.StatusActive, again.Status, "as it was then")
		err = entryCall(r)
		assert.True(r.t, refusalOf(r.t, err).Local, "the account is known to have passed")
		equalDec(r.t, "0.05", r.sim.Position("acc_1", "BTC"))
	})
}

// A 2xx that cannot be decoded was executed: an error that says so, with the
// answer, and no second attempt.
func TestAnUnreadableSuccessWasExecuted(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		r.sim.Fault("POST /orders", tradingsim.RawAfter(200, nil, `{"success":true,"fill":"soon"}`))
		result, err := r.account().PlaceOrder(r.t.Context(), buy("0.05"))
		assert.Nil(r.t, result)
		var unreadable *trading.DecodeError
		require.ErrorAs(r.t, err, &unreadable)
		assert.Equal(r.t, trading.Applied, trading.OutcomeOf(err))
		assert.JSONEq(r.t, `{"success":true,"fill":"soon"}`, string(unreadable.Meta.Body))
		assert.Equal(r.t, 1, r.ran(trading.OpOrder))
		assert.Equal(r.t, 1, r.sent(trading.OpOrder))
		verdict, verdictErr := r.verdict(err)
		require.NoError(r.t, verdictErr)
		assert.Equal(r.t, trading.Applied, verdict.Outcome)
		r.open(buy("0.05")) // nothing is unsettled
	})
}

// A journal that fails: entries are refused before a byte is sent, exits go out and
// say so, and reads do not notice.
func TestAJournalThatFails(t *testing.T) {
	broken := errors.New("disk full")
	synctest.Test(t, func(t *testing.T) {
		intents := newSharedJournal()
		r := newRig(t, nil, trading.WithJournal(intents))
		r.open(buy("0.1"))
		intents.fail = func(trading.Intent) error { return broken }
		before := len(r.sim.Requests())
		err := entryCall(r)
		require.ErrorIs(t, err, broken)
		require.ErrorIs(t, err, trading.ErrJournal)
		assert.Equal(t, trading.NotApplied, trading.OutcomeOf(err))
		assert.Len(t, r.sim.Requests(), before, "nothing was sent")

		result, err := r.account().ClosePosition(t.Context(), "BTC", trading.Percent(dec("50")))
		require.NoError(t, err)
		require.ErrorIs(t, result.Meta.Unjournaled, broken)
		reduce, err := r.account().PlaceOrder(t.Context(), sell("0.01", func(o *trading.Order) { o.ReduceOnly = true }))
		require.NoError(t, err)
		require.ErrorIs(t, reduce.Meta.Unjournaled, broken)

		// One in doubt cannot be resolved by the journal, and says where it shows.
		r.sim.Fault("POST /positions/close", tradingsim.LoseReply())
		err = exitCall(r, trading.WithLifetime(0))
		require.Equal(t, trading.Unknown, trading.OutcomeOf(err))
		verdict, err := r.verdict(err)
		assert.Nil(t, verdict)
		require.ErrorIs(t, err, trading.ErrUndetermined)

		intents.fail = nil
		r.open(buy("0.05"))
		for in, err := range intents.Pending(t.Context()) {
			t.Errorf("%s is pending (%v)", in.Operation, err)
		}
	})
}

// A verdict that the journal does not take is not given: after a restart it would
// be forgotten.
func TestAVerdictThatCannotBeWritten(t *testing.T) {
	broken := errors.New("disk full")
	liveTest(t, nil, nil, func(r rig) {
		intents := newSharedJournal()
		r = join(r.t, r.sim, trading.WithJournal(intents))
		r.readAll()
		err := r.doubtful(tradingsim.LoseRequest(), buy("0.05"))
		intents.fail = func(trading.Intent) error { return broken } // the note before the fence
		verdict, verdictErr := r.verdict(err)
		require.ErrorIs(r.t, verdictErr, broken)
		require.ErrorIs(r.t, verdict.Err, trading.ErrUndetermined)
		assert.Zero(r.t, r.sent(trading.OpCancelOrder), "the fence is noted before it is sent")
		intents.fail, intents.failSettle = nil, broken
		verdict, verdictErr = r.verdict(err)
		require.ErrorIs(r.t, verdictErr, broken)
		assert.Equal(r.t, trading.Unknown, verdict.Outcome)
		require.ErrorIs(r.t, entryCall(r), trading.ErrUnsettled)
		intents.failSettle = nil
		verdict, verdictErr = r.verdict(err)
		require.NoError(r.t, verdictErr)
		assert.Equal(r.t, trading.NotApplied, verdict.Outcome)
		require.NoError(r.t, entryCall(r))
	})
}
