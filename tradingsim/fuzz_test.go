package tradingsim_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

var sandboxPaths = []string{"/sandbox/orders", "/sandbox/positions/close", "/sandbox/positions/tpsl", "/sandbox/reset"}

// FuzzWrites sends anything to any write, with a position open: the answer is
// always one of the contract, and the money adds up.
func FuzzWrites(f *testing.F) {
	paths := append(append([]string{}, sandboxPaths...), livePaths...)
	for i := range paths {
		f.Add(uint8(i), []byte(buyBTC))
		f.Add(uint8(i), []byte(with(liveBTC, `"durationMs":60000,"totalOrders":3,"startPrice":1,"endPrice":2,"triggerPrice":3,"limitPrice":4`)))
	}
	f.Add(uint8(0), []byte(`{"symbol":"BTC","side":"short","size":1e-30,"takeProfitPrice":1e30}`))
	f.Add(uint8(1), []byte(`{"symbol":"BTC","pct":1.000000000000000000001}`))
	f.Add(uint8(2), []byte(`{"symbol":"BTC","stopLossPrice":null,"closePct":null}`))
	f.Fuzz(func(t *testing.T, which uint8, body []byte) {
		sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
		paper, live := sandboxBot(t, sim), liveBot(t, sim)
		paper.post("/sandbox/orders", buyBTC).ok()
		live.post("/orders", liveBTC).ok()
		b, path := live, paths[int(which)%len(paths)]
		if int(which)%len(paths) < len(sandboxPaths) {
			b = paper
		}
		g := b.post(path, string(body))
		require.Contains(t, []int{200, 400, 403, 404, 409, 503}, g.Status, g.Text)
		sim.SetMark("BTC", "64001")
		if path != "/sandbox/reset" { // which wipes the account, and not the ledger
			audit(t, sim, paper)
		}
		live.get("/accounts/acc_1/orders").ok()
	})
}
