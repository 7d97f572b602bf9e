package trading_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

// live joins a client and a simulated live account for one test, in process.
func live(t *testing.T, sim *tradingsim.Sim, opts ...trading.Option) (*trading.Client, *trading.Account) {
	t.Helper()
	client, err := trading.New(sim.URL(), append([]trading.Option{
		trading.WithSandboxKey(sim.SandboxKey()),
		trading.WithLiveKey(sim.LiveKey()),
		trading.WithTransport(sim.Transport()),
	}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return client, client.Live.Account("acc_1")
}

func newSim(opts ...tradingsim.Option) *tradingsim.Sim {
	return tradingsim.New(append([]tradingsim.Option{tradingsim.WithMark("BTC", "64000")}, opts...)...)
}

// executed counts what the API has executed on the live account.
func executed(sim *tradingsim.Sim) int {
	n := 0
	for _, e := range sim.Ledger() {
		if e.Actor == "api" && e.Account == "acc_1" && e.Operation == "POST /orders" {
			n++
		}
	}
	return n
}

// What a live order comes to after one bad attempt: the outcome, how often it was
// executed, and how often it was sent. Every row is one of the design's table.
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
		{"lost on the way", tradingsim.LoseRequest(), trading.Applied, 1, 2, nil, false},
		{"its reply lost", tradingsim.LoseReply(), trading.Applied, 1, 2, nil, true},
		{"its reply cut short", tradingsim.TruncateReply(), trading.Applied, 1, 2, nil, true},
		{"a page in its stead", tradingsim.EdgePage(502), trading.Applied, 1, 2, nil, false},
		{"a page in its reply's stead", tradingsim.EdgePageAfter(502), trading.Applied, 1, 2, nil, true},
		{"a page with 200", tradingsim.EdgePageAfter(200), trading.Applied, 1, 2, nil, true},
		{"internal_error before", tradingsim.Fail(500, "internal_error"), trading.Unknown, 0, 1, trading.CodeInternalError, false},
		{"T5 internal_error after", tradingsim.FailAfter(500, "internal_error"), trading.Unknown, 1, 1, trading.CodeInternalError, false},
		{"equity_unavailable", tradingsim.Fail(503, "equity_unavailable"), trading.Applied, 1, 2, nil, false},
		{"PRICE_UNAVAILABLE", tradingsim.Fail(503, "PRICE_UNAVAILABLE"), trading.Applied, 1, 2, nil, false},
		{"no_price 503", tradingsim.Fail(503, "no_price"), trading.Applied, 1, 2, nil, false},
		{"idempotency_unavailable", tradingsim.Fail(503, "idempotency_unavailable"), trading.Applied, 1, 2, nil, false},
		{"T8 idempotency_in_flight", tradingsim.Fail(409, "idempotency_in_flight"), trading.Applied, 1, 2, nil, false},
		{"T9 idempotency_result_unknown", tradingsim.Fail(409, "idempotency_result_unknown"), trading.Unknown, 0, 1, trading.CodeIdempotencyResultUnknown, false},
		{"idempotency_key_reused", tradingsim.Fail(422, "idempotency_key_reused"), trading.NotApplied, 0, 1, trading.CodeIdempotencyKeyReused, false},
		{"STALE_PRICE", tradingsim.Fail(409, "STALE_PRICE"), trading.Applied, 1, 2, nil, false},
		{"MIN_NOTIONAL", tradingsim.Fail(400, "MIN_NOTIONAL"), trading.NotApplied, 0, 1, trading.ErrRiskCap, false},
		{"T38 DAILY_DRAWDOWN_BREACH", tradingsim.Fail(403, "DAILY_DRAWDOWN_BREACH"), trading.NotApplied, 0, 1, trading.ErrLossLimit, false},
		{"rate_limited", tradingsim.RateLimit(2 * time.Second), trading.Applied, 1, 2, nil, false},
		{"T93 rate_limited beyond its lifetime", tradingsim.RateLimit(time.Minute), trading.NotApplied, 0, 1, trading.CodeRateLimited, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sim := newSim()
				_, account := live(t, sim)
				sim.Fault("POST /orders", row.fault)
				var meta trading.Meta
				result, err := account.PlaceOrder(context.Background(), order, trading.ResponseInto(&meta))
				assert.Equal(t, row.outcome, trading.OutcomeOf(err), "%v", err)
				assert.Equal(t, row.executed, executed(sim))
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
		sim := newSim()
		_, account := live(t, sim)
		sim.SetTrouble("BTC", "STALE_PRICE")
		go func() {
			time.Sleep(50 * time.Millisecond)
			sim.SetTrouble("BTC", "")
		}()
		result, err := account.PlaceOrder(context.Background(), order)
		require.NoError(t, err)
		assert.Equal(t, 2, result.Meta.Attempts)
		keys := map[string]bool{}
		for _, request := range sim.Requests() {
			if request.Operation == "POST /orders" {
				keys[request.Header.Get("Idempotency-Key")] = true
			}
		}
		assert.Len(t, keys, 2, "a refusal is stored under its key")

		sim.SetTrouble("BTC", "STALE_PRICE")
		_, err = account.PlaceOrder(context.Background(), order, trading.WithIdempotencyKey("mine"))
		require.ErrorIs(t, err, trading.CodeStalePrice, "a given key is never replaced")
		assert.Equal(t, trading.NotApplied, trading.OutcomeOf(err))
	})
}

func TestEntriesWaitBesideAnUnknownWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		sim := newSim(tradingsim.WithMark("ETH", "3200"))
		client, account := live(t, sim)
		sim.Fault("POST /orders", tradingsim.FailAfter(500, "internal_error"))
		_, err := account.PlaceOrder(ctx, order)
		require.Equal(t, trading.Unknown, trading.OutcomeOf(err))
		var write *trading.WriteError
		require.ErrorAs(t, err, &write)
		require.NotEmpty(t, write.Intent)

		_, err = account.PlaceOrder(ctx, order)
		require.ErrorIs(t, err, trading.ErrUnsettled, "the naive retry would be a second order")
		assert.Equal(t, trading.NotApplied, trading.OutcomeOf(err))
		other := order
		other.Symbol, other.Size = "ETH", trading.Dec("1")
		_, err = account.PlaceOrder(ctx, other)
		require.NoError(t, err, "another symbol")
		_, err = account.ClosePosition(ctx, "BTC", trading.Percent(trading.Dec("50")))
		require.NoError(t, err, "an exit")

		require.NoError(t, client.Acknowledge(ctx, write.Intent, trading.Applied, "seen in the terminal"))
		_, err = account.PlaceOrder(ctx, order)
		require.NoError(t, err)
	})
}

// readAll reads what a baseline consists of.
func readAll(t *testing.T, account *trading.Account) {
	t.Helper()
	ctx := context.Background()
	_, err := account.Positions(ctx)
	require.NoError(t, err)
	_, err = account.Trades(ctx)
	require.NoError(t, err)
	_, err = account.OpenOrders(ctx)
	require.NoError(t, err)
}

func TestResolve(t *testing.T) {
	for _, row := range []struct {
		name      string
		fault     tradingsim.Fault
		sole      bool
		foreign   bool // somebody else trades meanwhile
		opts      []trading.CallOption
		outcome   trading.Outcome
		basis     trading.Basis
		placed    int
		resolve   []trading.CallOption
		undecided bool
	}{
		{name: "never arrived", fault: tradingsim.LoseRequest(), opts: []trading.CallOption{trading.WithLifetime(0)},
			outcome: trading.NotApplied, basis: trading.BasisFence},
		{name: "executed, nobody else trades", fault: tradingsim.LoseReply(), sole: true, opts: []trading.CallOption{trading.WithLifetime(0)},
			outcome: trading.Applied, basis: trading.BasisReads, placed: 1},
		{name: "executed, others may trade", fault: tradingsim.LoseReply(), opts: []trading.CallOption{trading.WithLifetime(0)},
			undecided: true, placed: 1},
		{name: "never arrived, and somebody traded", fault: tradingsim.LoseRequest(), foreign: true, opts: []trading.CallOption{trading.WithLifetime(0)},
			undecided: true},
		{name: "500 before", fault: tradingsim.Fail(500, "internal_error"), outcome: trading.NotApplied, basis: trading.BasisFence},
		{name: "500 after, nobody else trades", fault: tradingsim.FailAfter(500, "internal_error"), sole: true,
			outcome: trading.Applied, basis: trading.BasisReads, placed: 1},
		{name: "still wanted, executed", fault: tradingsim.LoseReply(), opts: []trading.CallOption{trading.WithLifetime(0)},
			resolve: []trading.CallOption{trading.WithLifetime(time.Minute)}, outcome: trading.Applied, basis: trading.BasisReplay, placed: 1},
		{name: "still wanted, never arrived", fault: tradingsim.LoseRequest(), opts: []trading.CallOption{trading.WithLifetime(0)},
			resolve: []trading.CallOption{trading.WithLifetime(time.Minute)}, outcome: trading.Applied, basis: trading.BasisAnswer, placed: 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := context.Background()
				sim := newSim()
				var opts []trading.Option
				if row.sole {
					opts = append(opts, trading.SoleActor("acc_1"))
				}
				_, account := live(t, sim, opts...)
				readAll(t, account)
				sim.Fault("POST /orders", row.fault)
				_, err := account.PlaceOrder(ctx, order, row.opts...)
				require.Equal(t, trading.Unknown, trading.OutcomeOf(err), "%v", err)
				if row.foreign {
					sim.Trade("acc_1", "long", "0.05", "BTC")
				}

				verdict, err := account.Resolve(ctx, err, row.resolve...)
				assert.Equal(t, row.placed, executed(sim), "Resolve places nothing unasked")
				if row.undecided {
					require.ErrorIs(t, err, trading.ErrUndetermined)
					assert.Equal(t, trading.Unknown, verdict.Outcome)
					assert.NotEmpty(t, verdict.Readings)
					_, err = account.PlaceOrder(ctx, order)
					require.ErrorIs(t, err, trading.ErrUnsettled)
					return
				}
				require.NoError(t, err)
				assert.Equal(t, row.outcome, verdict.Outcome)
				assert.Equal(t, row.basis, verdict.Basis)
				_, err = account.PlaceOrder(ctx, order)
				require.NoError(t, err, "the symbol is open again")
			})
		})
	}
}

func TestALateCopyCannotRunAfterTheFence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		sim := newSim()
		_, account := live(t, sim)
		readAll(t, account)
		sim.Fault("POST /orders", tradingsim.ArriveLate(time.Minute))
		_, err := account.PlaceOrder(ctx, order, trading.WithLifetime(0))
		require.Equal(t, trading.Unknown, trading.OutcomeOf(err))
		verdict, err := account.Resolve(ctx, err)
		require.NoError(t, err)
		assert.Equal(t, trading.NotApplied, verdict.Outcome)
		time.Sleep(2 * time.Minute) // the copy arrives
		readAll(t, account)
		assert.Zero(t, executed(sim))
	})
}

func TestRecoverAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		sim := newSim()
		intents := newSharedJournal()
		first, account := live(t, sim, trading.WithJournal(intents))
		readAll(t, account)
		sim.Fault("POST /orders", tradingsim.LoseRequest())
		_, err := account.PlaceOrder(ctx, order, trading.WithLifetime(0))
		require.Equal(t, trading.Unknown, trading.OutcomeOf(err))
		require.NoError(t, first.Close()) // and the program is gone

		second, account := live(t, sim, trading.WithJournal(intents))
		_, err = account.PlaceOrder(ctx, order)
		require.ErrorIs(t, err, trading.ErrUnsettled, "what an earlier run left holds entries back")
		verdicts, err := second.Recover(ctx)
		require.NoError(t, err)
		require.Len(t, verdicts, 1)
		assert.Equal(t, trading.NotApplied, verdicts[0].Outcome)
		assert.Zero(t, executed(sim))
		_, err = account.PlaceOrder(ctx, order)
		require.NoError(t, err)

		verdicts, err = second.Recover(ctx)
		require.NoError(t, err)
		assert.Empty(t, verdicts, "twice is once")
	})
}

func TestDecisionsAreTakenOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		sim := newSim()
		intents := newSharedJournal()
		decision := trading.WithDecision("breakout", "2026-11-20T10:15")
		_, account := live(t, sim, trading.WithJournal(intents))
		result, err := account.PlaceOrder(ctx, order, decision)
		require.NoError(t, err)
		assert.False(t, result.Meta.Replayed)

		// The same decision, recomputed: the journal answers, and nothing is sent.
		again, err := account.PlaceOrder(ctx, order, decision)
		require.NoError(t, err)
		assert.True(t, again.Meta.Replayed)
		assert.Zero(t, again.Meta.Attempts)
		assert.Equal(t, result.Fill.Price, again.Fill.Price)

		// After a restart without a journal the service answers.
		_, account = live(t, sim)
		again, err = account.PlaceOrder(ctx, order, decision)
		require.NoError(t, err)
		assert.True(t, again.Meta.Replayed)
		assert.Equal(t, 1, executed(sim))

		// In other bytes, it is not known to have been refused.
		moved := order
		moved.Size = trading.Dec("0.06")
		_, account = live(t, sim)
		_, err = account.PlaceOrder(ctx, moved, decision)
		require.ErrorIs(t, err, trading.CodeIdempotencyKeyReused)
		assert.Equal(t, trading.Unknown, trading.OutcomeOf(err))
		assert.Equal(t, 1, executed(sim))
	})
}

func TestADecisionGoesOnBehindADeadTry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		sim := newSim()
		decision := trading.WithDecision("breakout", "2026-11-20T10:15")
		small := order
		small.Size = trading.Dec("0.0001") // $6.40
		intents := newSharedJournal()
		_, account := live(t, sim, trading.WithJournal(intents))
		_, err := account.PlaceOrder(ctx, small, decision)
		require.ErrorIs(t, err, trading.CodeMinNotional)
		assert.Equal(t, trading.NotApplied, trading.OutcomeOf(err))
		sim.SetMark("BTC", "128000")

		_, account = live(t, sim, trading.WithJournal(intents)) // a restart
		result, err := account.PlaceOrder(ctx, small, decision)
		require.NoError(t, err, "the journal has the refusal, so the decision goes on under the next key")
		assert.Equal(t, 1, result.Meta.Attempts)
		assert.Equal(t, 1, executed(sim))
	})
}

// Without a journal that outlives the process, an earlier run may have sent the
// decision: a refusal, fresh or repeated, does not say that it was not executed.
func TestADecisionWithoutAJournalBeginsInDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		sim := newSim()
		decision := trading.WithDecision("breakout", "2026-11-20T10:15")
		small := order
		small.Size = trading.Dec("0.0001")
		for range 2 { // fresh, and repeated after a restart
			_, account := live(t, sim)
			_, err := account.PlaceOrder(ctx, small, decision)
			require.ErrorIs(t, err, trading.CodeMinNotional)
			assert.Equal(t, trading.Unknown, trading.OutcomeOf(err))
		}
		assert.Zero(t, executed(sim))
	})
}

func TestA429ClosesItsClassAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		sim := newSim(tradingsim.WithUserLimits(2, 20))
		_, account := live(t, sim)
		for range 2 {
			_, err := account.PlaceOrder(ctx, order)
			require.NoError(t, err)
		}
		_, err := account.PlaceOrder(ctx, order)
		require.ErrorIs(t, err, trading.CodeRateLimited)
		sent := len(sim.Requests())
		_, err = account.PlaceOrder(ctx, order)
		require.ErrorIs(t, err, trading.CodeRateLimited)
		assert.Len(t, sim.Requests(), sent, "the class is closed for every caller")
		_, err = account.ClosePosition(ctx, "BTC", trading.Percent(trading.Dec("50")))
		require.NoError(t, err, "closes are another class")
		time.Sleep(time.Minute)
		_, err = account.PlaceOrder(ctx, order)
		require.NoError(t, err)
	})
}

func TestResolveOnThePaperAccount(t *testing.T) {
	for _, row := range []struct {
		name      string
		fault     tradingsim.Fault
		outcome   trading.Outcome
		stopped   bool // a stop fires meanwhile
		undecided bool
	}{
		{"never arrived", tradingsim.LoseRequest(), trading.NotApplied, false, false},
		{"executed", tradingsim.LoseReply(), trading.Applied, false, false},
		{"never arrived, and a stop fired", tradingsim.LoseRequest(), trading.Unknown, true, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := context.Background()
				sim := newSim()
				client, _ := live(t, sim)
				var trader trading.Trader = client.Sandbox
				held := order
				if row.stopped {
					held.StopLoss = trading.At(trading.Dec("63000"))
				}
				_, err := trader.PlaceOrder(ctx, held)
				require.NoError(t, err)
				time.Sleep(10 * time.Second) // reads lag
				_, err = trader.Positions(ctx)
				require.NoError(t, err)
				_, err = trader.Trades(ctx)
				require.NoError(t, err)

				sim.Fault("POST /sandbox/orders", row.fault)
				_, err = trader.PlaceOrder(ctx, order)
				require.Equal(t, trading.Unknown, trading.OutcomeOf(err))
				if row.stopped {
					sim.SetMark("BTC", "62000")
				}
				verdict, err := trader.Resolve(ctx, err)
				if row.undecided {
					require.ErrorIs(t, err, trading.ErrUndetermined)
				} else {
					require.NoError(t, err)
				}
				assert.Equal(t, row.outcome, verdict.Outcome)
			})
		})
	}
}

// The one fault that the contract leaves open: a 5xx after the work, its answer
// lost. The same key runs again, and the answer's position tells.
func TestTheContractsOwnDoubleIsNoticed(t *testing.T) {
	lost := tradingsim.Together(tradingsim.FailAfter(500, "internal_error"), tradingsim.LoseReply())
	for name, row := range map[string]struct {
		fault    tradingsim.Fault
		known    bool
		executed int
		twice    trading.Opt[bool]
	}{
		"ran twice":            {lost, true, 2, trading.Some(true)},
		"ran once":             {tradingsim.LoseRequest(), true, 1, trading.Some(false)},
		"replayed":             {tradingsim.LoseReply(), true, 1, trading.Opt[bool]{}},
		"no doubt":             {tradingsim.Pass(), true, 1, trading.Opt[bool]{}},
		"nothing known before": {lost, false, 2, trading.Opt[bool]{}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sim := newSim()
				_, account := live(t, sim)
				if row.known {
					readAll(t, account)
				}
				sim.Fault("POST /orders", row.fault)
				result, err := account.PlaceOrder(context.Background(), order)
				require.NoError(t, err)
				assert.Equal(t, row.executed, executed(sim))
				assert.True(t, row.twice.Equal(result.Twice), "%s", result.Twice)

				sim.Fault("POST /orders", row.fault)
				_, _ = account.PlaceOrder(context.Background(), order, trading.WithLifetime(0))
				assert.LessOrEqual(t, executed(sim), row.executed+1, "with a lifetime of 0 there is no exception")
			})
		})
	}
}

// A caller who still wants the order does not get it twice: what the service failed
// with would run again, and what is held is not sent again.
func TestResolveDoesNotSendWhatWouldRunAgain(t *testing.T) {
	for name, row := range map[string]struct {
		fault    tradingsim.Fault
		executed int
		outcome  trading.Outcome
	}{
		"failed after the work":  {tradingsim.FailAfter(500, "internal_error"), 1, trading.Applied},
		"failed before the work": {tradingsim.Fail(500, "internal_error"), 0, trading.NotApplied},
		"failed part-way":        {tradingsim.Fail(409, "idempotency_result_unknown"), 0, trading.NotApplied},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := context.Background()
				sim := newSim()
				_, account := live(t, sim, trading.SoleActor("acc_1"))
				readAll(t, account)
				sim.Fault("POST /orders", row.fault)
				_, err := account.PlaceOrder(ctx, order)
				require.Equal(t, trading.Unknown, trading.OutcomeOf(err))
				verdict, err := account.Resolve(ctx, err, trading.WithLifetime(time.Minute))
				require.NoError(t, err)
				assert.Equal(t, row.outcome, verdict.Outcome)
				assert.Equal(t, row.executed, executed(sim))
			})
		})
	}
}

func TestADecisionIsTakenOncePerService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		intents := newSharedJournal()
		decision := trading.WithDecision("breakout", "2026-11-20T10:15")
		for range 2 {
			sim := newSim()
			client, err := trading.New("https://"+uuid.NewString()+".test/v1", trading.WithJournal(intents),
				trading.WithLiveKey(sim.LiveKey()), trading.WithTransport(sim.Transport()))
			require.NoError(t, err)
			result, err := client.Live.Account("acc_1").PlaceOrder(context.Background(), order, decision)
			require.NoError(t, err)
			assert.False(t, result.Meta.Replayed)
			assert.Equal(t, 1, executed(sim))
			require.NoError(t, client.Close())
		}
	})
}

// A decision that is pending is Unknown to whoever takes it again, and the error
// leads to what became of it.
func TestAPendingDecisionCanBeResolved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		sim := newSim()
		intents := newSharedJournal()
		decision := trading.WithDecision("breakout", "2026-11-20T10:15")
		_, account := live(t, sim, trading.WithJournal(intents))
		readAll(t, account)
		sim.Fault("POST /orders", tradingsim.LoseRequest())
		_, err := account.PlaceOrder(ctx, order, decision, trading.WithLifetime(0))
		require.Equal(t, trading.Unknown, trading.OutcomeOf(err))

		_, account = live(t, sim, trading.WithJournal(intents)) // a restart
		_, err = account.PlaceOrder(ctx, order, decision)
		require.ErrorIs(t, err, trading.ErrUnsettled)
		require.Equal(t, trading.Unknown, trading.OutcomeOf(err), "of the decision")
		verdict, err := account.Resolve(ctx, err)
		require.NoError(t, err)
		assert.Equal(t, trading.NotApplied, verdict.Outcome)
		result, err := account.PlaceOrder(ctx, order, decision)
		require.NoError(t, err)
		assert.False(t, result.Meta.Replayed)
		assert.Equal(t, 1, executed(sim))
	})
}
