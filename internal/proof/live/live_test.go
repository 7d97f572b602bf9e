package live

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/proof/rig"
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

func TestEntriesWaitBesideAnUnknownWrite(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		r.Sim.Fault("POST /orders", tradingsim.FailAfter(500, "internal_error"))
		_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"))
		require.Equal(r.T, trading.Unknown, trading.OutcomeOf(err))
		intent := rig.IntentOf(r.T, err)

		_, err = r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"))
		require.ErrorIs(r.T, err, trading.ErrPendingWrite, "the naive retry would be a second order")
		assert.Equal(r.T, trading.NotApplied, trading.OutcomeOf(err))
		r.Open(rig.Buy("1", func(o *trading.Order) { o.Symbol = "ETH" })) // another symbol
		_, err = r.Account().ClosePosition(r.T.Context(), "BTC", trading.Percent(trading.Dec("50")))
		require.NoError(r.T, err, "an exit")

		require.NoError(r.T, r.Acknowledge(r.T.Context(), intent, trading.Applied, "seen in the terminal"))
		r.Open(rig.Buy("0.05"))
	})
}

func TestA429ClosesItsClassAlone(t *testing.T) {
	rig.LiveTest(t, []tradingsim.Option{tradingsim.WithUserLimits(2, 20)}, nil, func(r rig.Rig) {
		for range 2 {
			r.Open(rig.Buy("0.05"))
		}
		require.ErrorIs(r.T, rig.EntryCall(r), trading.CodeRateLimited)
		sent := len(r.Sim.Requests())
		require.ErrorIs(r.T, rig.EntryCall(r), trading.CodeRateLimited)
		assert.Len(r.T, r.Sim.Requests(), sent, "the class is closed for every caller")
		_, err := r.Account().ClosePosition(r.T.Context(), "BTC", trading.Percent(trading.Dec("50")))
		require.NoError(r.T, err, "closes are another class")
		time.Sleep(time.Minute)
		r.Open(rig.Buy("0.05"))
	})
}

// The one fault that the contract leaves open: a 5xx after the work, its answer
// lost. The same key runs again, and the answer's position tells.
func TestTheContractsOwnDoubleIsNoticed(t *testing.T) {
	lost := tradingsim.Together(tradingsim.FailAfter(500, "internal_error"), tradingsim.DropResponse())
	for name, row := range map[string]struct {
		fault    tradingsim.Fault
		known    bool
		executed int
		twice    trading.Opt[bool]
	}{
		"ran twice":            {lost, true, 2, trading.Some(true)},
		"ran once":             {tradingsim.DropRequest(), true, 1, trading.Some(false)},
		"replayed":             {tradingsim.DropResponse(), true, 1, trading.Opt[bool]{}},
		"no doubt":             {tradingsim.Pass(), true, 1, trading.Opt[bool]{}},
		"nothing known before": {lost, false, 2, trading.Opt[bool]{}},
	} {
		t.Run(name, func(t *testing.T) {
			rig.LiveTest(t, nil, nil, func(r rig.Rig) {
				if row.known {
					r.ReadAll()
				}
				r.Sim.Fault("POST /orders", row.fault)
				result := r.Open(rig.Buy("0.05"))
				assert.Equal(r.T, row.executed, r.Ran(trading.OpOrder))
				assert.True(r.T, row.twice.Equal(result.ExecutedTwice), "%s", result.ExecutedTwice)

				r.Sim.Fault("POST /orders", row.fault)
				_, _ = r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), trading.WithSendTTL(0))
				assert.LessOrEqual(r.T, r.Ran(trading.OpOrder), row.executed+1, "with a lifetime of 0 there is no exception")
			})
		})
	}
}
