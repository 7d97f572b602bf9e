package client_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
	"github.com/tradingapi/trading-go/tradingtest"
)

// A write is looked up by its client order id, while it is pending and afterwards, also by a client
// that is started again, and nothing is sent for it.
func TestClientOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
		store := journal.NewMemory()
		first := tradingtest.Client(t, sim, trading.WithJournal(store), trading.WithRecovery(trading.Recovery{WithoutBackground: true}))
		order := trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.01"), Leverage: trading.Dec("2")}
		none, err := first.ClientOrder(t.Context(), "acc_1", trading.OpOrder, "a")
		require.NoError(t, err)
		require.Nil(t, none)
		_, err = first.Live.Account("acc_1").PlaceOrder(t.Context(), order, trading.WithClientOrderID("a"))
		require.NoError(t, err)
		sim.Fault("POST /orders", tradingsim.DropResponse())
		_, err = first.Live.Account("acc_1").PlaceOrder(t.Context(), order, trading.WithClientOrderID("b"), trading.WithSendTTL(0), trading.WithResolveTimeout(0))
		require.Equal(t, trading.Unknown, trading.OutcomeOf(err))
		_, err = first.Live.Account("acc_1").PlaceOrder(t.Context(), trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.0001"), Leverage: trading.Dec("2")},
			trading.WithClientOrderID("c"), trading.AllowPending())
		require.ErrorIs(t, err, trading.CodeMinNotional)
		time.Sleep(time.Second)
		_ = first.Close() // it reports what is pending
		second := tradingtest.Client(t, sim, trading.WithJournal(store), trading.WithRecovery(trading.Recovery{WithoutBackground: true}))
		sent := len(sim.Requests())
		a, err := second.ClientOrder(t.Context(), "acc_1", trading.OpOrder, "a")
		require.NoError(t, err)
		assert.Equal(t, []any{false, trading.Applied}, []any{a.Pending, a.Outcome})
		assert.Contains(t, a.Answer.String(), `"success":true`)
		c, err := second.ClientOrder(t.Context(), "acc_1", trading.OpOrder, "c")
		require.NoError(t, err)
		assert.Equal(t, []any{false, trading.NotApplied, trading.CodeMinNotional}, []any{c.Pending, c.Outcome, c.Code})
		b, err := second.ClientOrder(t.Context(), "acc_1", trading.OpOrder, "b")
		require.NoError(t, err)
		assert.Equal(t, []any{true, "b"}, []any{b.Pending, b.ClientOrderID})
		assert.Len(t, sim.Requests(), sent)
		require.NoError(t, second.Acknowledge(t.Context(), b.ID, trading.Applied, "it shows"))
		b, err = second.ClientOrder(t.Context(), "acc_1", trading.OpOrder, "b")
		require.NoError(t, err)
		assert.Equal(t, []any{false, trading.Applied, "it shows"}, []any{b.Pending, b.Outcome, b.Note})
	})
}
