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
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
)

// What a live order comes to after one bad attempt: the outcome, how often it was
// executed, and how often it was sent. What sending leaves in doubt is found out while
// the caller waits, as far as an account that others may trade can show it.
// T3: a refusal is stored under its key, so going on takes a new one; T11: one that
// is not stored keeps the key. What is reported is the key that was sent last.
func TestTrap_T3_AnOrderAfterOneAttempt(t *testing.T) {
	for _, row := range []struct {
		name     string
		fault    tradingsim.Fault
		outcome  trading.Outcome
		executed int
		attempts int
		is       error
		replayed bool
		newly    bool // under a new key
	}{
		{"none", tradingsim.Pass(), trading.Applied, 1, 1, nil, false, false},
		{"never connected", tradingsim.RefuseConnection(), trading.Applied, 1, 2, nil, false, false},
		{"lost on the way", tradingsim.DropRequest(), trading.Applied, 1, 2, nil, false, false},
		{"its reply lost", tradingsim.DropResponse(), trading.Applied, 1, 2, nil, true, false},
		{"its reply cut short", tradingsim.TruncateResponse(), trading.Applied, 1, 2, nil, true, false},
		{"a page in its stead", tradingsim.GatewayError(502), trading.Applied, 1, 2, nil, false, false},
		{"a page in its reply's stead", tradingsim.GatewayErrorAfter(502), trading.Applied, 1, 2, nil, true, false},
		{"a page with 200", tradingsim.GatewayErrorAfter(200), trading.Applied, 1, 2, nil, true, false},
		{"internal_error before", tradingsim.Fail(500, "internal_error"), trading.NotApplied, 0, 1, trading.CodeInternalError, false, false},
		{"T5 internal_error after", tradingsim.FailAfter(500, "internal_error"), trading.Unknown, 1, 1, trading.CodeInternalError, false, false},
		{"equity_unavailable", tradingsim.Fail(503, "equity_unavailable"), trading.Applied, 1, 2, nil, false, false},
		{"PRICE_UNAVAILABLE", tradingsim.Fail(503, "PRICE_UNAVAILABLE"), trading.Applied, 1, 2, nil, false, false},
		{"T11 no_price 503", tradingsim.Fail(503, "no_price"), trading.Applied, 1, 2, nil, false, false},
		{"idempotency_unavailable", tradingsim.Fail(503, "idempotency_unavailable"), trading.Applied, 1, 2, nil, false, false},
		{"T8 idempotency_in_flight", tradingsim.Fail(409, "idempotency_in_flight"), trading.Applied, 1, 2, nil, false, false},
		{"T9 idempotency_result_unknown", tradingsim.Fail(409, "idempotency_result_unknown"), trading.NotApplied, 0, 1, trading.CodeIdempotencyResultUnknown, false, false},
		{"idempotency_key_reused", tradingsim.Fail(422, "idempotency_key_reused"), trading.NotApplied, 0, 1, trading.CodeIdempotencyKeyReused, false, false},
		{"STALE_PRICE", tradingsim.Fail(409, "STALE_PRICE"), trading.Applied, 1, 2, nil, false, true},
		{"T11 NO_PRICE", tradingsim.Fail(409, "NO_PRICE"), trading.Applied, 1, 2, nil, false, true},
		{"T11 no_price 400", tradingsim.Fail(400, "no_price"), trading.Applied, 1, 2, nil, false, true},
		{"MIN_NOTIONAL", tradingsim.Fail(400, "MIN_NOTIONAL"), trading.NotApplied, 0, 1, trading.ErrRiskCap, false, false},
		{"T38 DAILY_DRAWDOWN_BREACH", tradingsim.Fail(403, "DAILY_DRAWDOWN_BREACH"), trading.NotApplied, 0, 1, trading.ErrLossLimit, false, false},
		{"T4 rate_limited", tradingsim.RateLimit(2 * time.Second), trading.Applied, 1, 2, nil, false, false},
		{"T93 rate_limited beyond its lifetime", tradingsim.RateLimit(time.Minute), trading.NotApplied, 0, 1, trading.CodeRateLimited, false, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			rig.LiveTest(t, nil, nil, func(r rig.Rig) {
				r.Sim.Fault("POST /orders", row.fault)
				var meta trading.Meta
				result, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), trading.ResponseInto(&meta))
				assert.Equal(r.T, row.outcome, trading.OutcomeOf(err), "%v", err)
				assert.Equal(r.T, row.executed, r.Ran(trading.OpOrder))
				assert.Equal(r.T, row.attempts, meta.Attempts)
				require.ErrorIs(r.T, err, row.is)
				if err != nil {
					assert.Nil(r.T, result)
					return
				}
				assert.Equal(r.T, row.replayed, result.Meta.Replayed)
				keys, bodies := r.KeysOf(trading.OpOrder), r.BodiesOf(trading.OpOrder)
				assert.Equal(r.T, row.newly, keys[0] != keys[len(keys)-1])
				assert.Equal(r.T, bodies[0], bodies[len(bodies)-1], "T12: the same bytes")
				assert.Equal(r.T, keys[len(keys)-1], string(result.Meta.Key))
			})
		})
	}
}

// The one fault that the contract leaves open: a 5xx after the work, its answer
// lost. The same key runs again, and the answer's position tells.
func TestTheContractsOwnDoubleIsNoticed(t *testing.T) {
	lost := tradingsim.Together(tradingsim.FailAfter(500, "internal_error"), tradingsim.DropResponse())
	for name, row := range map[string]struct {
		fault    tradingsim.Fault
		known    bool
		order    trading.Order
		executed int
		twice    trading.Opt[bool]
	}{
		"ran twice":            {lost, true, rig.Buy("0.05"), 2, trading.Some(true)},
		"a sale ran twice":     {lost, true, rig.Sell("0.05"), 2, trading.Some(true)},
		"a sale ran once":      {tradingsim.DropRequest(), true, rig.Sell("0.05"), 1, trading.Some(false)},
		"ran once":             {tradingsim.DropRequest(), true, rig.Buy("0.05"), 1, trading.Some(false)},
		"replayed":             {tradingsim.DropResponse(), true, rig.Buy("0.05"), 1, trading.Opt[bool]{}},
		"no doubt":             {tradingsim.Pass(), true, rig.Buy("0.05"), 1, trading.Opt[bool]{}},
		"nothing known before": {lost, false, rig.Buy("0.05"), 2, trading.Opt[bool]{}},
	} {
		t.Run(name, func(t *testing.T) {
			rig.LiveTest(t, nil, nil, func(r rig.Rig) {
				if row.known {
					r.ReadAll()
				}
				if row.executed > 1 {
					r.Excepts(rig.FailedAfterWork)
				}
				r.Sim.Fault("POST /orders", row.fault)
				result := r.Open(row.order)
				assert.Equal(r.T, row.executed, r.Ran(trading.OpOrder))
				assert.True(r.T, row.twice.Equal(result.ExecutedTwice), "%s", result.ExecutedTwice)

				r.Sim.Fault("POST /orders", row.fault)
				_, _ = r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), trading.WithSendTTL(0))
				assert.LessOrEqual(r.T, r.Ran(trading.OpOrder), row.executed+1, "with a lifetime of 0 there is no exception")
			})
		})
	}
}

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
						assert.Equal(r.T, trading.AdviseResolve, trading.AdviceOf(err))
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

// Nothing is read before an order of an account that others may trade: no look could tell whether it ran.
func TestNothingIsReadBeforeAnOrderThatNothingIsDeclaredOf(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		r.Open(rig.Buy("0.05"))
		var sent []string
		for _, request := range r.Sim.Requests() {
			if sent = append(sent, request.Operation); request.Operation == string(trading.OpOrder) {
				break
			}
		}
		assert.Equal(r.T, []string{string(trading.OpHealth), string(trading.OpOrder)}, sent)
	})
}

// Nothing more is done about an order that no look tells of, until somebody asks.
func TestAskingGoesOn(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		r.Sim.Fault(string(trading.OpOrder), tradingsim.FailAfter(409, "idempotency_result_unknown"))
		_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"))
		require.Equal(r.T, trading.Unknown, trading.OutcomeOf(err), "%v", err)
		time.Sleep(24 * time.Hour)
		before := r.Reads()
		time.Sleep(time.Hour)
		require.Equal(r.T, before, r.Reads())
		_, err = r.ResolveID(r.T.Context(), rig.IntentOf(r.T, err))
		require.ErrorIs(r.T, err, trading.ErrUndetermined)
		assert.Greater(r.T, r.Reads(), before)
	})
}

// A refusal whose answer was lost is what the order came to; that no answer came is said beside it.
func TestALostRefusal(t *testing.T) {
	rig.LiveTest(t, nil, []trading.Option{trading.WithRetry(trading.Retry{Attempts: 1})}, func(r rig.Rig) {
		r.Sim.Fault(string(trading.OpOrder), tradingsim.DropResponse())
		_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.0001"))
		assert.Equal(r.T, trading.NotApplied, trading.OutcomeOf(err))
		require.ErrorIs(r.T, err, trading.CodeMinNotional)
		require.ErrorAs(r.T, err, new(*trading.TransportError))
		assert.Equal(r.T, 2, r.Sent(trading.OpOrder))
	})
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
				r.Sim.FaultEach(tradingsim.Always(string(row.op), tradingsim.DropRequest()))
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

// A write is judged old before its first send too. With a TTL of 0 that begins within the time of an attempt.
func TestAnOldWriteIsNotSentOnce(t *testing.T) {
	for takes, opts := range map[time.Duration][]trading.CallOption{15 * time.Second: nil, 6 * time.Second: {trading.WithSendTTL(0)}} {
		slow := func(context.Context, trading.Write) error { time.Sleep(takes); return nil }
		rig.LiveTest(t, nil, []trading.Option{trading.WithGuard(slow)}, func(r rig.Rig) {
			err := rig.EntryCall(r, opts...)
			require.ErrorIs(r.T, err, trading.ErrExpired)
			assert.Equal(r.T, trading.NotApplied, trading.OutcomeOf(err))
			assert.Zero(r.T, r.Sent(trading.OpOrder))
		})
	}
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

// A journal that fails: entries are refused before a byte is sent, exits go out and
// say so, and reads do not notice.
func TestAJournalThatFails(t *testing.T) {
	broken := errors.New("disk full")
	rig.DiskTest(t, nil, func(r rig.Rig, d *rig.Disk) {
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

// T4: whether a 429 is stored or not, a call that waits for it is executed once.
func TestTrap_T4_A429StoredOrNot(t *testing.T) {
	for _, reading := range []int{0, 6} {
		var options []tradingsim.Option
		if reading > 0 {
			options = append(options, tradingsim.WithInterpretation(reading))
		}
		rig.LiveTest(t, options, nil, func(r rig.Rig) {
			r.Sim.Fault("POST /orders", tradingsim.RateLimit(2*time.Second))
			result := r.Open(rig.Buy("0.05"))
			assert.Equal(r.T, 1, r.Ran(trading.OpOrder))
			keys := r.KeysOf(trading.OpOrder)
			assert.Equal(r.T, keys[0], keys[1], "first under the same key: a late copy beside a new one would be a second order")
			if reading > 0 {
				require.Len(r.T, keys, 3)
				assert.NotEqual(r.T, keys[1], keys[2], "a 429 that is repeated is stored, and its key dead")
			}
			assert.False(r.T, result.Meta.Replayed)
		})
	}
}

// A key that the caller gave is never replaced, and is used for every attempt. Without a journal an
// earlier run may have used it.
func TestGivenKeysAreNeverReplaced(t *testing.T) {
	for name, fault := range map[string]tradingsim.Fault{
		"stored":     tradingsim.Fail(409, "STALE_PRICE"),
		"not stored": tradingsim.Fail(503, "no_price"),
		"lost":       tradingsim.DropRequest(),
	} {
		for journaled, refused := range map[bool]trading.Outcome{false: trading.Unknown, true: trading.NotApplied} {
			rig.LiveTest(t, nil, nil, func(r rig.Rig) {
				if journaled {
					r = r.Restart(rig.NewDisk())
				}
				r.Sim.Fault("POST /orders", fault)
				_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), trading.WithIdempotencyKey("mine"))
				if name == "stored" {
					require.ErrorIs(r.T, err, trading.CodeStalePrice)
					assert.Equal(r.T, refused, trading.OutcomeOf(err))
					_, err = r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), trading.WithIdempotencyKey("mine"))
					require.ErrorIs(r.T, err, trading.CodeStalePrice, "although the price is back")
					assert.True(r.T, rig.RefusalOf(r.T, err).Meta.Replayed)
				} else {
					require.NoError(r.T, err)
				}
				for _, key := range r.KeysOf(trading.OpOrder) {
					assert.Equal(r.T, "mine", key)
				}
			})
		}
	}
}

// T13: two bots whose keys collide get no order of the other's.
// T14: the same key and the same bytes bring back the other's order, which is told.
func TestTrap_T14_AReplayOnTheFirstSendIsMarked(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		first := r.Open(rig.Buy("0.05"), trading.WithIdempotencyKey("shared"))
		assert.False(r.T, first.Meta.Replayed)
		other := rig.Join(r.T, r.Sim)
		second := other.Open(rig.Buy("0.05"), trading.WithIdempotencyKey("shared"))
		assert.True(r.T, second.Meta.Replayed)
		assert.Equal(r.T, 1, second.Meta.Attempts)
		_, err := other.Account().PlaceOrder(r.T.Context(), rig.Buy("0.06"), trading.WithIdempotencyKey("shared"))
		require.ErrorIs(r.T, err, trading.CodeIdempotencyKeyReused)
		assert.Equal(r.T, 1, r.Ran(trading.OpOrder))
	})
}

// T13: keys of one's own never collide, whatever the number of clients.
func TestTrap_T13_KeysAreTheCallsOwn(t *testing.T) {
	seen := map[trading.Key]bool{}
	for range 100_000 {
		key := trading.NewKey()
		require.False(t, seen[key])
		seen[key] = true
	}
}

// T7: a named write that is pending since before a weekend is not sent under a key
// that the service has forgotten, exit or not.
func TestTrap_T7_APendingWriteGrowsOld(t *testing.T) {
	rig.DiskTest(t, nil, func(r rig.Rig, d *rig.Disk) {
		r.Open(rig.Buy("0.1"))
		closing := func(opts ...trading.CallOption) error {
			opts = append(opts, trading.WithClientOrderID("exit 7"))
			_, err := r.Account().ClosePosition(r.T.Context(), "BTC", trading.Percent(rig.Dec("50")), opts...)
			return err
		}
		r.Sim.Fault("POST /positions/close", tradingsim.DropResponse())
		require.Equal(r.T, trading.Unknown, trading.OutcomeOf(closing(trading.WithSendTTL(0), trading.WithResolveTimeout(0))))
		require.Error(r.T, r.Close())
		time.Sleep(60 * time.Hour)
		r = r.Restart(d)
		for _, opts := range [][]trading.CallOption{nil, {trading.WithSendTTL(0)}, {trading.WithSendTTL(12 * time.Minute)}} {
			assert.Equal(r.T, trading.Unknown, trading.OutcomeOf(closing(opts...)))
		}

		// Once its key is fenced, its bytes are not sent under it either.
		_, err := r.Recover(r.T.Context())
		require.ErrorIs(r.T, err, trading.ErrUndetermined)
		assert.Equal(r.T, trading.Unknown, trading.OutcomeOf(closing()))
		assert.Equal(r.T, 1, r.Sent(trading.OpClose))
		assert.Equal(r.T, 1, r.Ran(trading.OpClose))
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

// An order whose second send a guard holds back is found out about all the same: then what held it back is no error.
func TestAnOrderThatIsFoundOutAboutBehindAGuard(t *testing.T) {
	asked := 0
	guard := trading.WithGuard(func(context.Context, trading.Write) error {
		if asked++; asked > 1 {
			return errors.New("not now")
		}
		return nil
	})
	rig.LiveTest(t, nil, []trading.Option{guard}, func(r rig.Rig) {
		r.Sim.Fault(string(trading.OpOrder), tradingsim.DropResponse())
		result := r.Open(rig.Buy("0.05"))
		assert.True(r.T, result.Meta.Replayed)
		assert.Equal(r.T, 2, asked)
		assert.Equal(r.T, 1, r.Ran(trading.OpOrder))
	})
}
