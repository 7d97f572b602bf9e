package trading_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

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

// Two base URLs can lead to one service: a decision that was taken by one is not
// taken again by the other.
func TestADecisionIsTakenOnceWhateverTheBaseURL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim, intents := newSim(), newSharedJournal()
		decision := trading.WithDecision("breakout", "2026-11-20T10:15")
		for _, base := range []string{"https://one.test/v1", "https://two.test/v1"} {
			client, err := trading.New(base, trading.WithJournal(intents),
				trading.WithLiveKey(sim.LiveKey()), trading.WithTransport(sim.Transport()))
			require.NoError(t, err)
			result, err := client.Live.Account("acc_1").PlaceOrder(context.Background(), order, decision)
			require.NoError(t, err)
			assert.Equal(t, base != "https://one.test/v1", result.Meta.Replayed)
			require.NoError(t, client.Close())
		}
		assert.Equal(t, 1, executed(sim))
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
		sim.Fault("POST /orders", tradingsim.DropRequest())
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
