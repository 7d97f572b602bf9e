package tradingsim_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

// Each kind of read can lag apart from the others, and begin to at any moment.
func TestEachReadLagsApart(t *testing.T) {
	const lag = 5 * time.Second
	shown := map[string]func(bot) int{
		"GET /positions":                   func(b bot) int { return b.get("/positions?accountId=acc_1").ok().len("positions") },
		"GET /trades":                      func(b bot) int { return b.get("/trades?accountId=acc_1").ok().len("trades") },
		"GET /accounts/{accountId}/orders": func(b bot) int { return b.get("/accounts/acc_1/orders").ok().len("orders") },
		"GET /accounts/{accountId}/runs":   func(b bot) int { return b.get("/accounts/acc_1/runs").ok().len("history") },
		"GET /sandbox/positions":           func(b bot) int { return b.get("/sandbox/positions").ok().len("positions") },
		"GET /sandbox/trades":              func(b bot) int { return b.get("/sandbox/trades").ok().len("trades") },
	}
	for late := range shown {
		for _, before := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
				live, paper := liveBot(t, sim), sandboxBot(t, sim)
				if before {
					sim.SetLag(late, lag)
				}
				time.Sleep(time.Minute)
				live.post("/orders", liveBTC).ok()
				live.post("/positions/close", `{"accountId":"acc_1","symbol":"BTC","closePercent":50}`).ok()
				live.post("/orders/limit", with(liveBTC, `"limitPrice":60000`)).ok()
				live.post("/orders/swarm", with(liveBTC, `"totalOrders":2`)).ok()
				live.post("/runs/cancel", `{"accountId":"acc_1","runId":"run_1"}`).ok()
				paper.post("/sandbox/orders", buyBTC).ok()
				paper.post("/sandbox/positions/close", `{"symbol":"BTC","pct":50}`).ok()
				sim.SetLag(late, lag)
				for _, wait := range []time.Duration{lag - time.Second, time.Second} {
					time.Sleep(wait)
					for operation, count := range shown {
						b := live
						if strings.Contains(operation, "sandbox") {
							b = paper
						}
						want := 1
						if operation == late && wait > time.Second {
							want = 0
						}
						require.Equal(t, want, count(b), "%s of %s, which lags", operation, late)
					}
				}
				sim.SetLag("*", 0)
			})
		}
	}
	sim := tradingsim.New()
	for _, operation := range []string{"POST /orders", "GET /health", "GET /nope"} {
		require.Panics(t, func() { sim.SetLag(operation, lag) })
	}
}

// A lag can end, and the reads show the present at once.
func TestALagThatEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim, b := liveSim(t, tradingsim.WithLag(time.Hour))
		b.post("/orders", liveBTC).ok()
		require.Equal(t, 0, b.get("/positions?accountId=acc_1").ok().len("positions"))
		sim.SetLag("*", 0)
		require.Equal(t, 1, b.get("/positions?accountId=acc_1").ok().len("positions"))
	})
}

// The contract shows few members of a closed trade; the others can be left out.
func TestTradesWithoutTheFieldsThatAreNotShown(t *testing.T) {
	every := []string{"symbol", "side", "size", "leverage", "openedAt", "closedAt"}
	for name, c := range map[string]struct {
		opt  tradingsim.Option
		gone []string
	}{
		"all shown":         {tradingsim.WithoutTradeFields(), nil},
		"no size":           {tradingsim.WithoutTradeFields("size"), []string{"size"}},
		"no times":          {tradingsim.WithoutTradeFields("openedAt", "closedAt"), []string{"openedAt", "closedAt"}},
		"interpretation 53": {tradingsim.WithInterpretation(53), every},
	} {
		t.Run(name, func(t *testing.T) {
			sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"), c.opt)
			live, paper := liveBot(t, sim), sandboxBot(t, sim)
			live.otherInterpretation, paper.otherInterpretation = true, true
			live.post("/orders", liveBTC).ok()
			live.post("/positions/close", `{"accountId":"acc_1","symbol":"BTC"}`).ok()
			paper.post("/sandbox/orders", buyBTC).ok()
			paper.post("/sandbox/positions/close", `{"symbol":"BTC"}`).ok()
			for _, g := range []got{live.get("/trades?accountId=acc_1").ok(), paper.get("/sandbox/trades").ok()} {
				row, _ := g.at("trades.0").(map[string]any)
				for _, field := range every {
					if slices.Contains(c.gone, field) {
						require.NotContains(t, row, field)
					} else {
						require.Contains(t, row, field)
					}
				}
				require.Equal(t, "64000", g.text("trades.0.entryPrice"))
				require.Equal(t, "64000", g.text("trades.0.exitPrice"), "at the entry: nothing tells the side")
				require.Equal(t, "0", g.text("trades.0.realizedPnL"))
				require.Equal(t, "57.6", g.text("trades.0.fee"))
				require.Equal(t, "market", g.text("trades.0.orderType"))
			}
			require.Contains(t, live.post("/orders", liveBTC).ok().at("position"), "size", "only trades leave it out")
		})
	}
	require.Panics(t, func() { tradingsim.WithoutTradeFields("fee") })
}
