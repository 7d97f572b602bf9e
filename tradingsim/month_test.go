package tradingsim_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

// TestThirtyDaysInABubble lets a small bot trade the sandbox for a month of
// virtual time, twice: the same seed gives the same history.
func TestThirtyDaysInABubble(t *testing.T) {
	var histories [2][]tradingsim.Execution
	var reports [2]tradingsim.Report
	for i := range histories {
		synctest.Test(t, func(t *testing.T) {
			sim := tradingsim.New(tradingsim.WithFeed("BTC", tradingsim.RandomWalk(1, "64000", 2)))
			b := sandboxBot(t, sim)
			for end := time.Now().Add(30 * 24 * time.Hour); time.Now().Before(end); time.Sleep(10 * time.Minute) {
				if b.get("/sandbox/positions").ok().len("positions") > 0 {
					continue
				}
				price := b.get("/sandbox/prices?symbol=BTC").ok().number("price")
				g := b.post("/sandbox/orders", fmt.Sprintf(
					`{"symbol":"BTC","side":"long","size":0.1,"leverage":5,"takeProfitPrice":%s,"stopLossPrice":%s}`,
					price.Mul(dec("1.01")), price.Mul(dec("0.99"))))
				if g.Status != 200 {
					g.refused(403, "account_locked")
					b.post("/sandbox/reset", "").ok()
				}
			}
			histories[i], reports[i] = sim.Ledger(), sim.Report()
		})
	}
	require.Greater(t, len(histories[0]), 20)
	require.Equal(t, histories[0], histories[1])
	require.Equal(t, reports[0], reports[1])
	require.Equal(t, reports[0].Refusals["account_locked"], reports[0].Accounts[0].Resets)
}
