package live

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/proof/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

// live joins a client and a simulated live account for one test, in process.
func live(t *testing.T, sim *tradingsim.Sim, opts ...trading.Option) (*trading.Client, *trading.Account) {
	t.Helper()
	client := rig.ClientOf(t, sim, opts...)
	return client, client.Live.Account("acc_1")
}

// What a live order comes to after one bad attempt: the outcome, how often it was
// executed, and how often it was sent. What sending leaves in doubt is found out while
// the caller waits, as far as an account that others may trade can show it.
func TestLiveOrderAfterOneAttempt(t *testing.T) {
	for _, row := range []struct {
		name     string
		fault    tradingsim.Fault
		outcome  trading.Outcome
		executed int
		attempts int
		is       error
		replayed bool
	}{
		{"none", tradingsim.Pass(), trading.Applied, 1, 1, nil, false},
		{"never connected", tradingsim.RefuseConnection(), trading.Applied, 1, 2, nil, false},
		{"lost on the way", tradingsim.DropRequest(), trading.Applied, 1, 2, nil, false},
		{"its reply lost", tradingsim.DropResponse(), trading.Applied, 1, 2, nil, true},
		{"its reply cut short", tradingsim.TruncateResponse(), trading.Applied, 1, 2, nil, true},
		{"a page in its stead", tradingsim.GatewayError(502), trading.Applied, 1, 2, nil, false},
		{"a page in its reply's stead", tradingsim.GatewayErrorAfter(502), trading.Applied, 1, 2, nil, true},
		{"a page with 200", tradingsim.GatewayErrorAfter(200), trading.Applied, 1, 2, nil, true},
		{"internal_error before", tradingsim.Fail(500, "internal_error"), trading.NotApplied, 0, 1, trading.CodeInternalError, false},
		{"T5 internal_error after", tradingsim.FailAfter(500, "internal_error"), trading.Unknown, 1, 1, trading.CodeInternalError, false},
		{"equity_unavailable", tradingsim.Fail(503, "equity_unavailable"), trading.Applied, 1, 2, nil, false},
		{"PRICE_UNAVAILABLE", tradingsim.Fail(503, "PRICE_UNAVAILABLE"), trading.Applied, 1, 2, nil, false},
		{"no_price 503", tradingsim.Fail(503, "no_price"), trading.Applied, 1, 2, nil, false},
		{"idempotency_unavailable", tradingsim.Fail(503, "idempotency_unavailable"), trading.Applied, 1, 2, nil, false},
		{"T8 idempotency_in_flight", tradingsim.Fail(409, "idempotency_in_flight"), trading.Applied, 1, 2, nil, false},
		{"T9 idempotency_result_unknown", tradingsim.Fail(409, "idempotency_result_unknown"), trading.NotApplied, 0, 1, trading.CodeIdempotencyResultUnknown, false},
		{"idempotency_key_reused", tradingsim.Fail(422, "idempotency_key_reused"), trading.NotApplied, 0, 1, trading.CodeIdempotencyKeyReused, false},
		{"STALE_PRICE", tradingsim.Fail(409, "STALE_PRICE"), trading.Applied, 1, 2, nil, false},
		{"MIN_NOTIONAL", tradingsim.Fail(400, "MIN_NOTIONAL"), trading.NotApplied, 0, 1, trading.ErrRiskCap, false},
		{"T38 DAILY_DRAWDOWN_BREACH", tradingsim.Fail(403, "DAILY_DRAWDOWN_BREACH"), trading.NotApplied, 0, 1, trading.ErrLossLimit, false},
		{"rate_limited", tradingsim.RateLimit(2 * time.Second), trading.Applied, 1, 2, nil, false},
		{"T93 rate_limited beyond its lifetime", tradingsim.RateLimit(time.Minute), trading.NotApplied, 0, 1, trading.CodeRateLimited, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sim := rig.NewSim()
				_, account := live(t, sim)
				sim.Fault("POST /orders", row.fault)
				var meta trading.Meta
				result, err := account.PlaceOrder(context.Background(), rig.Buy("0.05"), trading.ResponseInto(&meta))
				assert.Equal(t, row.outcome, trading.OutcomeOf(err), "%v", err)
				assert.Equal(t, row.executed, rig.Executed(sim))
				assert.Equal(t, row.attempts, meta.Attempts)
				if row.is != nil {
					require.ErrorIs(t, err, row.is)
				}
				if err == nil {
					assert.Equal(t, row.replayed, result.Meta.Replayed)
				} else {
					assert.Nil(t, result)
				}
			})
		})
	}
}

func TestStoredRefusalTakesANewKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := rig.NewSim()
		_, account := live(t, sim)
		sim.SetFillError("BTC", "STALE_PRICE")
		go func() {
			time.Sleep(50 * time.Millisecond)
			sim.SetFillError("BTC", "")
		}()
		result, err := account.PlaceOrder(context.Background(), rig.Buy("0.05"))
		require.NoError(t, err)
		assert.Equal(t, 2, result.Meta.Attempts)
		keys := map[string]bool{}
		for _, request := range sim.Requests() {
			if request.Operation == "POST /orders" {
				keys[request.Header.Get("Idempotency-Key")] = true
			}
		}
		assert.Len(t, keys, 2, "a refusal is stored under its key")

		sim.SetFillError("BTC", "STALE_PRICE")
		_, err = account.PlaceOrder(context.Background(), rig.Buy("0.05"), trading.WithIdempotencyKey("mine"))
		require.ErrorIs(t, err, trading.CodeStalePrice, "a given key is never replaced")
		assert.Equal(t, trading.Unknown, trading.OutcomeOf(err), "without a journal an earlier run may have used it")
	})
}

func TestEntriesWaitBesideAnUnknownWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		sim := rig.NewSim(tradingsim.WithMark("ETH", "3200"))
		client, account := live(t, sim)
		sim.Fault("POST /orders", tradingsim.FailAfter(500, "internal_error"))
		_, err := account.PlaceOrder(ctx, rig.Buy("0.05"))
		require.Equal(t, trading.Unknown, trading.OutcomeOf(err))
		var write *trading.WriteError
		require.ErrorAs(t, err, &write)
		require.NotEmpty(t, write.Intent)

		_, err = account.PlaceOrder(ctx, rig.Buy("0.05"))
		require.ErrorIs(t, err, trading.ErrPendingWrite, "the naive retry would be a second order")
		assert.Equal(t, trading.NotApplied, trading.OutcomeOf(err))
		other := rig.Buy("0.05")
		other.Symbol, other.Size = "ETH", trading.Dec("1")
		_, err = account.PlaceOrder(ctx, other)
		require.NoError(t, err, "another symbol")
		_, err = account.ClosePosition(ctx, "BTC", trading.Percent(trading.Dec("50")))
		require.NoError(t, err, "an exit")

		require.NoError(t, client.Acknowledge(ctx, write.Intent, trading.Applied, "seen in the terminal"))
		_, err = account.PlaceOrder(ctx, rig.Buy("0.05"))
		require.NoError(t, err)
	})
}

// readAll reads what a baseline consists of.
func readAll(t *testing.T, account *trading.Account) {
	t.Helper()
	ctx := context.Background()
	time.Sleep(6 * time.Second) // behind the lag of whatever an earlier run wrote
	_, err := account.State(ctx)
	require.NoError(t, err)
	_, err = account.Positions(ctx)
	require.NoError(t, err)
	_, err = account.Trades(ctx)
	require.NoError(t, err)
	_, err = account.OpenOrders(ctx)
	require.NoError(t, err)
}

func TestA429ClosesItsClassAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		sim := rig.NewSim(tradingsim.WithUserLimits(2, 20))
		_, account := live(t, sim)
		for range 2 {
			_, err := account.PlaceOrder(ctx, rig.Buy("0.05"))
			require.NoError(t, err)
		}
		_, err := account.PlaceOrder(ctx, rig.Buy("0.05"))
		require.ErrorIs(t, err, trading.CodeRateLimited)
		sent := len(sim.Requests())
		_, err = account.PlaceOrder(ctx, rig.Buy("0.05"))
		require.ErrorIs(t, err, trading.CodeRateLimited)
		assert.Len(t, sim.Requests(), sent, "the class is closed for every caller")
		_, err = account.ClosePosition(ctx, "BTC", trading.Percent(trading.Dec("50")))
		require.NoError(t, err, "closes are another class")
		time.Sleep(time.Minute)
		_, err = account.PlaceOrder(ctx, rig.Buy("0.05"))
		require.NoError(t, err)
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
			synctest.Test(t, func(t *testing.T) {
				sim := rig.NewSim()
				_, account := live(t, sim)
				if row.known {
					readAll(t, account)
				}
				sim.Fault("POST /orders", row.fault)
				result, err := account.PlaceOrder(context.Background(), rig.Buy("0.05"))
				require.NoError(t, err)
				assert.Equal(t, row.executed, rig.Executed(sim))
				assert.True(t, row.twice.Equal(result.ExecutedTwice), "%s", result.ExecutedTwice)

				sim.Fault("POST /orders", row.fault)
				_, _ = account.PlaceOrder(context.Background(), rig.Buy("0.05"), trading.WithSendTTL(0))
				assert.LessOrEqual(t, rig.Executed(sim), row.executed+1, "with a lifetime of 0 there is no exception")
			})
		})
	}
}
