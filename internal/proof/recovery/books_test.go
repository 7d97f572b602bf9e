package recovery

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

// TestReadsBesideAWriteInDoubt resolves a write by its stored answer after a read has
// shown it already: it must not count twice against the next one.
func TestReadsBesideAWriteInDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New(tradingsim.WithLag(3 * time.Second))
		bot := start(t, sim, newJournal(), true)
		account := bot.account()
		time.Sleep(10 * time.Second)
		_, err := account.PlaceOrder(t.Context(), trading.Order{Symbol: "BTC", Side: trading.Short, Size: dec("0.02"), Leverage: dec("2")})
		require.NoError(t, err)
		time.Sleep(time.Minute)

		// Its answer and the first question about it are lost.
		sim.Fault("POST /orders", tradingsim.DropResponse(), tradingsim.DropResponse())
		ctx, leave := context.WithTimeout(t.Context(), aLittle)
		defer leave()
		_, err = account.PlaceOrder(ctx, size("BTC"))
		require.Equal(t, trading.Unknown, trading.OutcomeOf(err))
		for range 4 { // the last in time before it is resolved
			time.Sleep(2400 * time.Millisecond)
			_, _ = account.Positions(t.Context())
			_, _ = account.Trades(t.Context())
			_, _ = account.OpenOrders(t.Context())
		}
		require.Empty(t, bot.resolved())
		time.Sleep(2 * time.Second)
		require.Equal(t, trading.Applied, bot.resolved()[0].Outcome)
		sim.Fault("POST /orders", tradingsim.FailAfter(500, "internal_error"))
		_, err = account.PlaceOrder(t.Context(), size("BTC"))
		require.Equal(t, "0", sim.Position("acc_1", "BTC").String())
		assert.NotEqual(t, trading.NotApplied, trading.OutcomeOf(err), "it was executed: %v", err)
	})
}
