package trading_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

// Each of these is the shortest schedule of a crash in which the client once said
// what the ledger does not.

// Of two sends that nobody answered, a repeated refusal is the end of one alone.
func TestARepeatedRefusalSettlesOneSend(t *testing.T) {
	lost := func(f tradingsim.Fault) tradingsim.Fault { return tradingsim.Together(f, tradingsim.LoseReply()) }
	refused := lost(tradingsim.Fail(400, "MIN_NOTIONAL"))
	for _, row := range []struct {
		name     string
		faults   []tradingsim.Fault
		outcome  trading.Outcome
		executed int
	}{
		{"one", []tradingsim.Fault{refused}, trading.NotApplied, 0},
		{"two, the first of them executed", []tradingsim.Fault{lost(tradingsim.FailAfter(500, "internal_error")), refused}, trading.Unknown, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := context.Background()
				sim := newSim()
				_, account := live(t, sim)
				readAll(t, account)
				sim.Fault("POST /orders", row.faults...)
				_, err := account.PlaceOrder(ctx, order)
				require.ErrorIs(t, err, trading.CodeMinNotional)
				assert.Equal(t, row.outcome, trading.OutcomeOf(err))
				assert.Equal(t, row.executed, executed(sim))
				verdict, err := account.Resolve(ctx, err)
				assert.Equal(t, row.outcome, verdict.Outcome, "%v", err)
			})
		})
	}
}

// A resting order that somebody cancels leaves nothing behind, so that nothing is
// no proof, unless there is nobody.
func TestWhatRestedMayBeGone(t *testing.T) {
	limit := order
	limit.LimitPrice = trading.At(trading.Dec("60000"))
	for _, sole := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			ctx := context.Background()
			sim := newSim()
			opts := []trading.Option{}
			if sole {
				opts = append(opts, trading.SoleActor("acc_1"))
			}
			_, account := live(t, sim, opts...)
			readAll(t, account)
			if sole {
				sim.Fault("POST /orders/limit", tradingsim.Fail(500, "internal_error"))
			} else {
				sim.Fault("POST /orders/limit", tradingsim.FailAfter(500, "internal_error"))
			}
			_, err := account.PlaceLimit(ctx, limit)
			require.Equal(t, trading.Unknown, trading.OutcomeOf(err))
			cancelAll(t, sim)
			verdict, err := account.Resolve(ctx, err)
			if sole {
				require.NoError(t, err)
				assert.Equal(t, trading.NotApplied, verdict.Outcome)
				return
			}
			require.ErrorIs(t, err, trading.ErrUndetermined)
			assert.Equal(t, trading.Unknown, verdict.Outcome)
		})
	}
}

// cancelAll cancels what rests, as somebody else would.
func cancelAll(t *testing.T, sim *tradingsim.Sim) {
	t.Helper()
	client, err := trading.New(sim.URL(), trading.WithLiveKey(sim.NewLiveKey()), trading.WithTransport(sim.Transport()))
	require.NoError(t, err)
	defer client.Close()
	account := client.Live.Account("acc_1")
	open, err := account.OpenOrders(context.Background())
	require.NoError(t, err)
	for _, o := range open.Limits {
		_, err := account.CancelOrder(context.Background(), o.ID)
		require.NoError(t, err)
	}
}

// What is refused for the API key is refused in front of the idempotency key, which
// can run still: beside a new one a late copy would be a second order.
func TestARefusedAPIKeySpendsNoIdempotencyKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		sim := newSim()
		decision := trading.WithDecision("breakout", "2026-11-20T10:15")
		_, account := live(t, sim, trading.WithJournal(newSharedJournal()))
		sim.SetAccess(false)
		_, err := account.PlaceOrder(ctx, order, decision)
		require.ErrorIs(t, err, trading.CodeAPIAccessDenied)
		sim.SetAccess(true)
		time.Sleep(time.Minute) // the key's breaker
		_, err = account.PlaceOrder(ctx, order, decision)
		require.NoError(t, err)
		keys := map[string]bool{}
		for _, r := range sim.Requests() {
			if r.Operation == "POST /orders" {
				keys[r.Header.Get("Idempotency-Key")] = true
			}
		}
		assert.Len(t, keys, 1)
	})
}

// The account shows one close. Which of two it was, nobody can tell.
func TestAChangeIsNotTheProofOfTwoWrites(t *testing.T) {
	for _, restart := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			ctx := context.Background()
			sim := newSim()
			sim.Trade("acc_1", "long", "0.2", "BTC")
			intents := newSharedJournal()
			opts := []trading.Option{trading.WithJournal(intents), trading.SoleActor("acc_1")}
			client, account := live(t, sim, opts...)
			readAll(t, account)
			sim.Fault("POST /positions/close", tradingsim.LoseRequest())
			_, err := account.ClosePosition(ctx, "BTC", trading.All, trading.WithLifetime(0))
			require.Equal(t, trading.Unknown, trading.OutcomeOf(err))
			lost := err
			_, err = account.ClosePosition(ctx, "BTC", trading.All)
			require.NoError(t, err)
			if restart {
				require.NoError(t, client.Close())
				client, _ = live(t, sim, opts...)
				verdicts, err := client.Recover(ctx)
				require.ErrorIs(t, err, trading.ErrUndetermined)
				require.Len(t, verdicts, 1)
				return
			}
			verdict, err := account.Resolve(ctx, lost)
			require.ErrorIs(t, err, trading.ErrUndetermined)
			assert.Equal(t, trading.Unknown, verdict.Outcome)
		})
	}
}

// What rested before the write may have filled meanwhile, by as much.
func TestARestingOrderMayHaveDoneIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		sim := newSim()
		_, account := live(t, sim, trading.SoleActor("acc_1"))
		run := order
		run.Size = trading.Dec("0.5") // ten clips of as much as the order
		_, err := account.PlaceTWAP(ctx, run, trading.TWAP{Duration: 5 * time.Minute})
		require.NoError(t, err)
		time.Sleep(10 * time.Second)
		readAll(t, account)
		sim.Fault("POST /orders", tradingsim.LoseRequest())
		_, err = account.PlaceOrder(ctx, order, trading.WithLifetime(0))
		require.Equal(t, trading.Unknown, trading.OutcomeOf(err))
		time.Sleep(10 * time.Second) // before the next clip but one
		verdict, err := account.Resolve(ctx, err)
		require.ErrorIs(t, err, trading.ErrUndetermined)
		assert.Equal(t, trading.Unknown, verdict.Outcome)
		assert.Zero(t, executed(sim))
	})
}

// Who leaves while what is still wanted is on its way learns nothing of it, and
// reads nothing that is still written to.
func TestLeavingWhileWhatIsWantedIsOnItsWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := newSim()
		_, account := live(t, sim)
		sim.Fault("POST /orders", tradingsim.LoseRequest(), tradingsim.Delay(3*time.Second))
		_, err := account.PlaceOrder(context.Background(), order, trading.WithLifetime(0))
		require.Equal(t, trading.Unknown, trading.OutcomeOf(err))
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		verdict, err := account.Resolve(ctx, err, trading.WithLifetime(time.Minute))
		require.ErrorIs(t, err, trading.ErrUndetermined)
		assert.Equal(t, trading.Unknown, verdict.Outcome)
		time.Sleep(10 * time.Second)
		assert.Equal(t, 1, executed(sim))
	})
}
