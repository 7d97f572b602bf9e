package tradingtest_test

import (
	"testing"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
	"github.com/tradingapi/trading-go/tradingtest"
)

// A bot's own test: an order whose reply is lost is executed once.
func Example() {
	_ = func(t *testing.T) {
		sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
		account := tradingtest.Client(t, sim).Live.Account("acc_1")
		sim.Fault("POST /orders", tradingsim.DropResponse())
		_, err := account.PlaceOrder(t.Context(), trading.Order{
			Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.01"), Leverage: trading.Dec("2"),
		})
		if err != nil || len(sim.Ledger()) != 1 {
			t.Errorf("%v, executed %d times", err, len(sim.Ledger()))
		}
	}
}
