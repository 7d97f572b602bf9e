package trading_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
)

// sendingOnly leaves in doubt what sending leaves in doubt.
var sendingOnly = []trading.Option{trading.WithResolveTimeout(0), trading.WithoutBackground()}

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
		{name: "429 beyond the send TTL", second: tradingsim.RateLimit(time.Minute), attempts: 2},
		{name: "no_price 503", second: refusal(503, "no_price"), outcome: trading.Applied, attempts: 3, again: 1},
		{name: "equity_unavailable", second: refusal(503, "equity_unavailable"), outcome: trading.Applied, attempts: 3, again: 1},
		{name: "idempotency_unavailable", second: refusal(503, "idempotency_unavailable"), outcome: trading.Applied, attempts: 3, again: 1},
		{name: "idempotency_in_flight", second: refusal(409, "idempotency_in_flight"), outcome: trading.Applied, attempts: 3, again: 1},
		{name: "idempotency_result_unknown", second: refusal(409, "idempotency_result_unknown"), attempts: 2},
		{name: "idempotency_key_reused", second: refusal(422, "idempotency_key_reused"), attempts: 2},
		{name: "internal_error", second: refusal(500, "internal_error"), attempts: 2},
		{name: "unavailable", second: refusal(503, "unavailable"), attempts: 2},
		{name: "a code nobody knows", second: refusal(418, "TEAPOT"), attempts: 2},
		{name: "a page", second: tradingsim.GatewayError(502), outcome: trading.Applied, attempts: 3, again: 1},
		{name: "a page with 200", second: tradingsim.GatewayError(200), outcome: trading.Applied, attempts: 3, again: 1},
		{name: "{}", second: tradingsim.Raw(200, nil, `{}`), outcome: trading.Applied, attempts: 3, again: 1},
		{name: "lost too", second: tradingsim.DropRequest(), outcome: trading.Applied, attempts: 3, again: 1},
		{name: "no connection", second: tradingsim.RefuseConnection(), outcome: trading.Applied, attempts: 3, again: 1},
		{name: "a redirect", second: redirect, attempts: 2},
	} {
		for _, executed := range []bool{false, true} {
			name := row.name + ", first not executed"
			first := tradingsim.DropRequest()
			if executed {
				name = row.name + ", first executed"
				first = tradingsim.DropResponse()
			}
			t.Run(name, func(t *testing.T) {
				liveTest(t, nil, sendingOnly, func(r rig) {
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
						require.ErrorIs(r.t, err, trading.ErrPendingWrite)
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
		r.sim.Fault("POST /orders", tradingsim.DropResponse())
		var meta trading.Meta
		_, err := r.account().PlaceOrder(r.t.Context(), buy("0.0001"), trading.ResponseInto(&meta))
		require.ErrorIs(r.t, err, trading.CodeMinNotional)
		assert.Equal(r.t, trading.NotApplied, trading.OutcomeOf(err))
		assert.True(r.t, meta.Replayed)
		assert.Equal(r.t, 2, meta.Attempts)
	})
}

// T6: nothing is sent after the send TTL, which the waits count into; 0 sends once.
// T18: a resend is a late command, so a late one is not given.
func TestTrap_T18_NothingIsSentAfterTheTTL(t *testing.T) {
	for _, row := range []struct {
		name string
		opts []trading.CallOption
		call func(rig, ...trading.CallOption) error
		op   trading.Operation
		ttl  time.Duration
	}{
		{"an entry", nil, entryCall, trading.OpOrder, 10 * time.Second},
		{"an exit", nil, exitCall, trading.OpClose, 2 * time.Minute},
		{"an entry of a minute", []trading.CallOption{trading.WithSendTTL(time.Minute)}, entryCall, trading.OpOrder, time.Minute},
		{"T6 the longest", []trading.CallOption{trading.WithSendTTL(12 * time.Minute)}, entryCall, trading.OpOrder, 12 * time.Minute},
		{"once", []trading.CallOption{trading.WithSendTTL(0)}, entryCall, trading.OpOrder, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			liveTest(t, nil, nil, func(r rig) {
				r.open(buy("0.1"))
				time.Sleep(time.Minute)
				r.sim.FaultEach(func(op string) tradingsim.Fault {
					if op == string(row.op) {
						return tradingsim.DropRequest()
					}
					return nil
				})
				began, before := time.Now(), len(r.sim.Requests())
				err := row.call(r, append(row.opts, trading.WithResolveTimeout(0), trading.WithRetry(trading.Retry{Attempts: 1_000_000}))...)
				assert.Equal(r.t, trading.Unknown, trading.OutcomeOf(err))
				assert.LessOrEqual(r.t, time.Since(began), row.ttl+time.Second, "the health may be read once more")
				sent := 0
				for _, request := range r.sim.Requests()[before:] {
					if request.Operation == string(row.op) {
						sent++
						assert.LessOrEqual(r.t, request.At.Sub(began), row.ttl)
					}
				}
				if row.ttl == 0 {
					assert.Equal(r.t, 1, sent)
				} else {
					assert.Greater(r.t, sent, 3)
				}
			})
		})
	}
	_, err := trading.New("https://api.example.test/v1", trading.WithSendTTL(12*time.Minute+1))
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
		resolution, resolveErr := r.resolve(err)
		require.NoError(r.t, resolveErr)
		assert.Equal(r.t, trading.Applied, resolution.Outcome)
		r.open(buy("0.05")) // nothing is pending
	})
}

// A journal that fails: entries are refused before a byte is sent, exits go out and
// say so, and reads do not notice.
func TestAJournalThatFails(t *testing.T) {
	broken := errors.New("disk full")
	liveTest(t, nil, nil, func(r rig) {
		d := newDisk()
		r = r.restart(d)
		r.open(buy("0.1"))
		d.failOn(func(journal.Record) error { return broken })
		err := entryCall(r)
		require.ErrorIs(r.t, err, broken)
		require.ErrorIs(r.t, err, trading.ErrJournal)
		assert.Equal(r.t, trading.NotApplied, trading.OutcomeOf(err))
		assert.Equal(r.t, 1, r.sent(trading.OpOrder), "nothing was sent")

		result, err := r.account().ClosePosition(r.t.Context(), "BTC", trading.Percent(dec("50")))
		require.NoError(r.t, err)
		require.ErrorIs(r.t, result.Meta.Unjournaled, broken)
		reduce, err := r.account().PlaceOrder(r.t.Context(), sell("0.01", func(o *trading.Order) { o.ReduceOnly = true }))
		require.NoError(r.t, err)
		require.ErrorIs(r.t, reduce.Meta.Unjournaled, broken)

		d.failOn(nil)
		r.open(buy("0.05"))
		assert.Empty(r.t, d.pending())
	})
}

// A fence is in the journal before it is sent: while that cannot be written, nothing is
// found out, and the write stays in doubt.
func TestAFenceThatCannotBeNoted(t *testing.T) {
	broken := errors.New("disk full")
	liveTest(t, nil, nil, func(r rig) {
		d := newDisk()
		r = r.restart(d)
		r.readAll()
		d.failOn(func(record journal.Record) error {
			if isOf(record, "fact") {
				return broken
			}
			return nil
		})
		err := r.doubtful(tradingsim.DropRequest(), buy("0.05"))
		time.Sleep(time.Minute)
		assert.Zero(r.t, r.sent(trading.OpCancelOrder))
		require.ErrorIs(r.t, entryCall(r), trading.ErrPendingWrite)
		d.failOn(nil)
		resolution, err := r.resolve(err)
		require.NoError(r.t, err)
		assert.Equal(r.t, trading.NotApplied, resolution.Outcome)
		require.NoError(r.t, entryCall(r))
	})
}

// An outcome that the journal did not take is found out again by the next run.
func TestAnOutcomeThatCannotBeWritten(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		d := newDisk()
		r = r.restart(d)
		r.readAll()
		d.failOn(func(record journal.Record) error {
			if isOf(record, "end") {
				return errors.New("disk full")
			}
			return nil
		})
		resolution, err := r.resolve(r.doubtful(tradingsim.DropRequest(), buy("0.05")))
		require.NoError(r.t, err)
		assert.Equal(r.t, trading.NotApplied, resolution.Outcome)
		d.failOn(nil)
		r = r.restart(d)
		found, err := r.Recover(r.t.Context())
		require.NoError(r.t, err)
		require.Len(r.t, found, 1)
		assert.Equal(r.t, trading.NotApplied, found[0].Outcome)
		assert.Empty(r.t, d.pending())
	})
}
