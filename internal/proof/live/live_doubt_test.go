package live

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/proof/rig"
	"github.com/tradingapi/trading-go/journal"
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
				rig.LiveTest(t, nil, rig.SendingOnly, func(r rig.Rig) {
					r.Sim.Fault("POST /orders", first, row.second)
					var meta trading.Meta
					_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), trading.ResponseInto(&meta))
					ran := r.Ran(trading.OpOrder)
					if executed {
						// A stored first answer is in front of whatever the rules would say.
						assert.Equal(r.T, 1, ran, "once, whatever the second answer is")
						assert.NotEqual(r.T, trading.NotApplied, trading.OutcomeOf(err), "%v", err)
					} else {
						assert.Equal(r.T, row.outcome, trading.OutcomeOf(err), "%v", err)
						assert.Equal(r.T, row.again, ran)
						assert.Equal(r.T, row.attempts, meta.Attempts)
					}
					if trading.OutcomeOf(err) == trading.Unknown {
						assert.Equal(r.T, trading.AdviseRead, trading.AdviceOf(err))
						time.Sleep(2 * time.Minute) // a refused key and a closed budget are asked first
						_, err = r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"))
						require.ErrorIs(r.T, err, trading.ErrPendingWrite)
					}
					keys := r.KeysOf(trading.OpOrder)
					bodies := r.BodiesOf(trading.OpOrder)
					for i := range keys {
						assert.Equal(r.T, keys[0], keys[i], "never a new key in doubt")
						assert.Equal(r.T, bodies[0], bodies[i], "T12: the same bytes")
					}
				})
			})
		}
	}
}

// T6: nothing is sent after the send TTL, which the waits count into; 0 sends once.
// T18: a resend is a late command, so a late one is not given.
func TestTrap_T18_NothingIsSentAfterTheTTL(t *testing.T) {
	for _, row := range []struct {
		name string
		opts []trading.CallOption
		call func(rig.Rig, ...trading.CallOption) error
		op   trading.Operation
		ttl  time.Duration
	}{
		{"an entry", nil, rig.EntryCall, trading.OpOrder, 10 * time.Second},
		{"an exit", nil, rig.ExitCall, trading.OpClose, 2 * time.Minute},
		{"an entry of a minute", []trading.CallOption{trading.WithSendTTL(time.Minute)}, rig.EntryCall, trading.OpOrder, time.Minute},
		{"T6 the longest", []trading.CallOption{trading.WithSendTTL(12 * time.Minute)}, rig.EntryCall, trading.OpOrder, 12 * time.Minute},
		{"once", []trading.CallOption{trading.WithSendTTL(0)}, rig.EntryCall, trading.OpOrder, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			rig.LiveTest(t, nil, nil, func(r rig.Rig) {
				r.Open(rig.Buy("0.1"))
				time.Sleep(time.Minute)
				r.Sim.FaultEach(func(op string) tradingsim.Fault {
					if op == string(row.op) {
						return tradingsim.DropRequest()
					}
					return nil
				})
				began, before := time.Now(), len(r.Sim.Requests())
				err := row.call(r, append(row.opts, trading.WithResolveTimeout(0), trading.WithRetry(trading.Retry{Attempts: 1_000_000}))...)
				assert.Equal(r.T, trading.Unknown, trading.OutcomeOf(err))
				assert.LessOrEqual(r.T, time.Since(began), row.ttl+time.Second, "the health may be read once more")
				sent := 0
				for _, request := range r.Sim.Requests()[before:] {
					if request.Operation == string(row.op) {
						sent++
						assert.LessOrEqual(r.T, request.At.Sub(began), row.ttl)
					}
				}
				if row.ttl == 0 {
					assert.Equal(r.T, 1, sent)
				} else {
					assert.Greater(r.T, sent, 3)
				}
			})
		})
	}
	_, err := trading.New("https://api.example.test/v1", trading.WithSendTTL(12*time.Minute+1))
	require.Error(t, err, "T6: a key can be claimed again after 15 minutes")
}

// A write is judged old before its first send too.
func TestAnOldWriteIsNotSentOnce(t *testing.T) {
	slow := func(ctx context.Context, w trading.Write) error { time.Sleep(15 * time.Second); return nil }
	rig.LiveTest(t, nil, []trading.Option{trading.WithGuard(slow)}, func(r rig.Rig) {
		err := rig.EntryCall(r)
		require.ErrorIs(r.T, err, trading.ErrExpired)
		assert.Equal(r.T, trading.NotApplied, trading.OutcomeOf(err))
		assert.Zero(r.T, r.Sent(trading.OpOrder))
	})
}

// T15: a replay is of the past: its position is no baseline, and its status not the
// account's.
func TestTrap_T15_AReplayIsOfThePast(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		closing := func() *trading.CloseResult {
			result, err := r.Account().ClosePosition(r.T.Context(), "BTC", trading.Percent(rig.Dec("50")), trading.WithIdempotencyKey("c"))
			require.NoError(r.T, err)
			return result
		}
		r.Open(rig.Buy("0.1"))
		assert.False(r.T, closing().Meta.Replayed)
		r.Sim.SetStatus("acc_1", "PASSED")
		_, err := r.Account().State(r.T.Context())
		require.NoError(r.T, err)
		again := closing()
		assert.True(r.T, again.Meta.Replayed)
		assert.Equal(r.T, trading.StatusActive, again.Status, "as it was then")
		err = rig.EntryCall(r)
		assert.True(r.T, rig.RefusalOf(r.T, err).Local, "the account is known to have passed")
		rig.EqualDec(r.T, "0.05", r.Sim.Position("acc_1", "BTC"))
	})
}

// A 2xx that cannot be decoded was executed: an error that says so, with the
// answer, and no second attempt.
func TestAnUnreadableSuccessWasExecuted(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		r.Sim.Fault("POST /orders", tradingsim.RawAfter(200, nil, `{"success":true,"fill":"soon"}`))
		result, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"))
		assert.Nil(r.T, result)
		var unreadable *trading.DecodeError
		require.ErrorAs(r.T, err, &unreadable)
		assert.Equal(r.T, trading.Applied, trading.OutcomeOf(err))
		assert.JSONEq(r.T, `{"success":true,"fill":"soon"}`, string(unreadable.Meta.Body))
		assert.Equal(r.T, 1, r.Ran(trading.OpOrder))
		assert.Equal(r.T, 1, r.Sent(trading.OpOrder))
		resolution, resolveErr := r.Resolved(err)
		require.NoError(r.T, resolveErr)
		assert.Equal(r.T, trading.Applied, resolution.Outcome)
		r.Open(rig.Buy("0.05")) // nothing is pending
	})
}

// A journal that fails: entries are refused before a byte is sent, exits go out and
// say so, and reads do not notice.
func TestAJournalThatFails(t *testing.T) {
	broken := errors.New("disk full")
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		d := rig.NewDisk()
		r = r.Restart(d)
		r.Open(rig.Buy("0.1"))
		d.FailOn(func(journal.Record) error { return broken })
		err := rig.EntryCall(r)
		require.ErrorIs(r.T, err, broken)
		require.ErrorIs(r.T, err, trading.ErrJournal)
		assert.Equal(r.T, trading.NotApplied, trading.OutcomeOf(err))
		assert.Equal(r.T, 1, r.Sent(trading.OpOrder), "nothing was sent")

		result, err := r.Account().ClosePosition(r.T.Context(), "BTC", trading.Percent(rig.Dec("50")))
		require.NoError(r.T, err)
		require.ErrorIs(r.T, result.Meta.Unjournaled, broken)
		reduce, err := r.Account().PlaceOrder(r.T.Context(), rig.Sell("0.01", func(o *trading.Order) { o.ReduceOnly = true }))
		require.NoError(r.T, err)
		require.ErrorIs(r.T, reduce.Meta.Unjournaled, broken)

		d.FailOn(nil)
		r.Open(rig.Buy("0.05"))
		assert.Empty(r.T, d.Pending())
	})
}

// A fence is in the journal before it is sent: while that cannot be written, nothing is
// found out, and the write stays in doubt.
func TestAFenceThatCannotBeNoted(t *testing.T) {
	broken := errors.New("disk full")
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		d := rig.NewDisk()
		r = r.Restart(d)
		r.ReadAll()
		d.FailOn(func(record journal.Record) error {
			if rig.IsOf(record, "fact") {
				return broken
			}
			return nil
		})
		err := r.Doubtful(tradingsim.DropRequest(), rig.Buy("0.05"))
		time.Sleep(time.Minute)
		assert.Zero(r.T, r.Sent(trading.OpCancelOrder))
		require.ErrorIs(r.T, rig.EntryCall(r), trading.ErrPendingWrite)
		d.FailOn(nil)
		resolution, err := r.Resolved(err)
		require.NoError(r.T, err)
		assert.Equal(r.T, trading.NotApplied, resolution.Outcome)
		require.NoError(r.T, rig.EntryCall(r))
	})
}

// An outcome that the journal did not take is found out again by the next run.
func TestAnOutcomeThatCannotBeWritten(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		d := rig.NewDisk()
		r = r.Restart(d)
		r.ReadAll()
		d.FailOn(func(record journal.Record) error {
			if rig.IsOf(record, "end") {
				return errors.New("disk full")
			}
			return nil
		})
		resolution, err := r.Resolved(r.Doubtful(tradingsim.DropRequest(), rig.Buy("0.05")))
		require.NoError(r.T, err)
		assert.Equal(r.T, trading.NotApplied, resolution.Outcome)
		d.FailOn(nil)
		r = r.Restart(d)
		found, err := r.Recover(r.T.Context())
		require.NoError(r.T, err)
		require.Len(r.T, found, 1)
		assert.Equal(r.T, trading.NotApplied, found[0].Outcome)
		assert.Empty(r.T, d.Pending())
	})
}
