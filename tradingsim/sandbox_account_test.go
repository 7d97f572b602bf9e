package tradingsim_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

func TestBreachAtAFloorLocksTheAccount(t *testing.T) {
	for _, c := range []struct {
		name, mark string
		locked     bool
	}{
		{"above the floor", "59028.9", false},
		{"at the floor", "59028.8", true}, // 100000 - 28.8 - 4971.2 = 95000
		{"below the floor", "50000", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			sim, b := paperSim(t)
			b.post("/sandbox/orders", buyBTC).ok()
			sim.SetMark("BTC", c.mark)
			g := b.get("/sandbox/account").ok()
			if !c.locked {
				require.Equal(t, "active", g.text("account.status"))
				return
			}
			require.Equal(t, "locked", g.text("account.status"))
			require.Equal(t, "true", g.text("account.isLocked"))
			require.Equal(t, 0, b.get("/sandbox/positions").ok().len("positions"), "a breach liquidates")
			require.Equal(t, "market", b.get("/sandbox/trades").ok().text("trades.0.orderType"))
			b.post("/sandbox/orders", buyBTC).refused(403, "account_locked")
			b.post("/sandbox/positions/close", `{"symbol":"BTC"}`).refused(403, "account_locked")
			b.post("/sandbox/positions/tpsl", `{"symbol":"BTC","stopLossPrice":1}`).refused(403, "account_locked")

			g = b.post("/sandbox/reset", "").ok()
			require.Equal(t, "active", g.text("account.status"))
			require.Equal(t, "100000", g.text("account.balance"))
			require.Equal(t, 0, b.get("/sandbox/trades").ok().len("trades"))
			b.post("/sandbox/orders", `{"symbol":"BTC","side":"long","size":0.1}`).ok()
		})
	}
}

func TestAWriteMeetsTheBreachFirst(t *testing.T) {
	sim, b := paperSim(t)
	b.post("/sandbox/orders", buyBTC).ok()
	sim.SetMark("BTC", "50000")
	b.post("/sandbox/positions/close", `{"symbol":"BTC"}`).refused(403, "account_locked")
}

func TestAWriteIsJudgedAfterwards(t *testing.T) {
	// The fees of a large order alone reach a floor that is close.
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"),
		tradingsim.WithSandbox(tradingsim.Sandbox{DailyLossFloor: "99975"}))
	g := sandboxBot(t, sim).post("/sandbox/orders", buyBTC).ok()
	require.Equal(t, "locked", g.text("account.status"))
	require.Equal(t, "null", g.text("position"))
}

func TestPassClosesTheBook(t *testing.T) {
	// 100000 - 28.8 + (m - 64000) - m × 0.00045 ≥ 110000 from m = 74062.09… on.
	for _, c := range []struct {
		name, mark, status string
		opts               []tradingsim.Option
		trades             bool
	}{
		{name: "not after exit fees", mark: "74062", status: "active"},
		{name: "after exit fees", mark: "74063", status: "passed"},
		{name: "the other interpretation trades on", mark: "74063", status: "active", trades: true,
			opts: []tradingsim.Option{tradingsim.WithInterpretation(19)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			sim, b := paperSim(t, c.opts...)
			b.post("/sandbox/orders", buyBTC).ok()
			sim.SetMark("BTC", c.mark)
			g := b.get("/sandbox/account").ok()
			require.Equal(t, c.status, g.text("account.status"))
			require.Equal(t, "false", g.text("account.isLocked"))
			if c.status == "passed" {
				require.Equal(t, "market", b.get("/sandbox/trades").ok().text("trades.0.orderType"))
				b.post("/sandbox/orders", buyBTC).refused(403, "account_locked")
			}
			if c.trades {
				require.Equal(t, 1, b.get("/sandbox/trades").ok().len("trades"))
				b.post("/sandbox/orders", buyBTC).ok()
			}
		})
	}
}

func TestAnUnpricedPositionSuspendsTheJudgment(t *testing.T) {
	opts := []tradingsim.Option{tradingsim.WithMark("BTC", "64000"), tradingsim.WithMark("ETH", "3200")}
	prepare := func(sim *tradingsim.Sim) bot {
		b := sandboxBot(t, sim)
		b.post("/sandbox/orders", buyBTC).ok()
		b.post("/sandbox/orders", `{"symbol":"ETH","side":"long","size":1}`).ok()
		sim.SetMark("BTC", "50000")
		sim.SetMark("ETH", "")
		return b
	}
	g := prepare(tradingsim.New(opts...)).get("/sandbox/account").ok()
	require.Equal(t, "active", g.text("account.status"))
	require.Equal(t, "-14000", g.text("account.unrealizedPnL"), "the unpriced position counts for nothing")

	g = prepare(tradingsim.New(append(opts, tradingsim.WithInterpretation(17))...)).get("/sandbox/account").ok()
	require.Equal(t, "locked", g.text("account.status"))
}

func TestIdleSandboxIsDeleted(t *testing.T) {
	bubble(t, paperSim, func(t *testing.T, _ *tradingsim.Sim, b bot) {
		first := b.post("/sandbox/orders", buyBTC).ok().text("account.id")

		time.Sleep(30*24*time.Hour - time.Second)
		b.post("/sandbox/orders", `{}`).refused(400, "bad_symbol") // no write
		require.Equal(t, first, b.get("/sandbox/account").ok().text("account.id"))
		time.Sleep(time.Second)
		g := b.get("/sandbox/account").ok()
		require.NotEqual(t, first, g.text("account.id"))
		require.Equal(t, "100000", g.text("account.balance"))
		require.Equal(t, 0, b.get("/sandbox/trades").ok().len("trades"))
	})
}

func TestEveryWriteKeepsTheSandbox(t *testing.T) {
	for _, write := range []struct{ path, body string }{
		{"/sandbox/orders", `{"symbol":"BTC","side":"long","size":0.1}`},
		{"/sandbox/positions/close", `{"symbol":"BTC","pct":1}`},
		{"/sandbox/positions/tpsl", `{"symbol":"BTC","stopLossPrice":1}`},
		{"/sandbox/reset", ``},
	} {
		bubble(t, paperSim, func(t *testing.T, _ *tradingsim.Sim, b bot) {
			first := b.post("/sandbox/orders", buyBTC).ok().text("account.id")
			time.Sleep(20 * 24 * time.Hour)
			b.post(write.path, write.body).ok()
			time.Sleep(20 * 24 * time.Hour)
			require.Equal(t, first, b.get("/sandbox/account").ok().text("account.id"), write.path)
		})
	}
}

func TestDailyFloorMovesUnderTheOtherInterpretation(t *testing.T) {
	for interpretation, want := range map[int]string{0: "95000", 20: "98743.85"} {
		synctest.Test(t, func(t *testing.T) {
			sim := tradingsim.New(reading(interpretation, tradingsim.WithMark("BTC", "64000"))...)
			paper, live := sandboxBot(t, sim), liveBot(t, sim)
			paper.post("/sandbox/orders", buyBTC).ok()
			live.post("/orders", liveBTC).ok()
			sim.SetMark("BTC", "68000.3")
			paper.post("/sandbox/positions/close", `{"symbol":"BTC"}`).ok() // 100000 + 4000.3 - 28.8 - 30.600135
			live.post("/positions/close", `{"accountId":"acc_1","symbol":"BTC"}`).ok()
			time.Sleep(23 * time.Hour)
			require.Equal(t, "95000", paper.get("/sandbox/account").ok().text("account.dailyLossFloor"))
			require.Equal(t, "95000", live.get("/accounts/acc_1").ok().text("account.dailyLossFloor"))
			time.Sleep(time.Hour)
			require.Equal(t, want, paper.get("/sandbox/account").ok().text("account.dailyLossFloor"))
			require.Equal(t, want, live.get("/accounts/acc_1").ok().text("account.dailyLossFloor"))
		})
	}
}

// The floor of a new day is seen a lag after the first request of that day.
func TestADailyFloorThatLags(t *testing.T) {
	bubble(t, paperSim, func(t *testing.T, _ *tradingsim.Sim, b bot) {
		floor := func() string { return b.get("/sandbox/account").ok().text("account.dailyLossFloor") }
		b.post("/sandbox/orders", buyBTC).ok()
		time.Sleep(24 * time.Hour)
		require.Equal(t, "95000", floor())
		time.Sleep(3 * time.Second)
		require.Equal(t, "94972.64", floor())
	}, tradingsim.WithInterpretation(20), tradingsim.WithLag(3*time.Second))
}

func TestOneSandboxAHolder(t *testing.T) {
	for interpretation, want := range map[int]int{0: 1, 30: 0} {
		sim, b := paperSim(t, reading(interpretation)...)
		b.post("/sandbox/orders", buyBTC).ok()
		b.key = sim.NewSandboxKey()
		require.Equal(t, want, b.get("/sandbox/positions").ok().len("positions"))
	}
}

func TestNoMarkHasFourShapes(t *testing.T) {
	sim, b := paperSim(t, tradingsim.WithMark("DEAD", ""))
	b.post("/sandbox/orders", buyBTC).ok()
	sim.SetMark("BTC", "")

	require.Equal(t, "null", b.get("/sandbox/markets").ok().text("markets.0.markPrice"))
	g := b.get("/sandbox/positions").ok()
	require.Equal(t, "null", g.text("positions.0.markPrice"))
	require.Equal(t, "null", g.text("positions.0.unrealizedPnL"))
	require.Equal(t, "64000", g.text("positions.0.notionalValue"), "at the entry")
	require.Empty(t, b.get("/sandbox/prices").ok().at("prices"))
	b.get("/sandbox/prices?symbol=BTC").refused(404, "no_price")

	b.get("/sandbox/prices?symbol=NOPE").refused(400, "bad_symbol")
	b.get("/sandbox/prices?symbol=").refused(400, "bad_symbol")
}

func TestPricesAndMarkets(t *testing.T) {
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000.10"),
		tradingsim.WithMarket(tradingsim.Market{Symbol: "TSLA", Label: "Tesla", Category: "stocks", Price: "0.0000001", Disabled: true}))
	b := sandboxBot(t, sim)
	g := b.get("/sandbox/prices?symbol=BTC").ok()
	require.Equal(t, "BTC", g.text("symbol"))
	require.Equal(t, "64000.1", g.text("price"))
	require.Contains(t, b.get("/sandbox/prices").ok().Text, `"prices":{"BTC":64000.1,"TSLA":0.0000001}`, "plain numbers, disabled markets too")
	g = b.get("/sandbox/markets").ok()
	require.Equal(t, 2, g.len("markets"))
	for path, want := range map[string]string{
		"symbol": "TSLA", "label": "Tesla", "category": "stocks", "maxLeverage": "4", "markPrice": "0.0000001",
	} {
		require.Equal(t, want, g.text("markets.1."+path))
	}

	sim = tradingsim.New(tradingsim.WithInterpretation(32),
		tradingsim.WithMarket(tradingsim.Market{Symbol: "TSLA", Price: "100", Disabled: true}))
	b = sandboxBot(t, sim)
	require.Equal(t, 0, b.get("/sandbox/markets").ok().len("markets"))
	require.Empty(t, b.get("/sandbox/prices").ok().at("prices"))
	b.get("/sandbox/prices?symbol=TSLA").refused(400, "bad_symbol")
}

func TestDefaultMarkets(t *testing.T) {
	b := sandboxBot(t, tradingsim.New())
	g := b.get("/sandbox/prices").ok()
	require.Equal(t, "64000", g.text("prices.BTC"))
	require.Equal(t, "1.08", g.text("prices.EURUSD"))
}

func TestSandboxReadsCarryOK(t *testing.T) {
	for _, path := range []string{"/sandbox/account", "/sandbox/positions", "/sandbox/trades", "/sandbox/markets", "/sandbox/prices"} {
		b := sandboxBot(t, tradingsim.New())
		require.Equal(t, "true", b.get(path).ok().text("ok"))
		b = sandboxBot(t, tradingsim.New(tradingsim.WithInterpretation(31)))
		require.NotContains(t, b.get(path).ok().Body, "ok")
	}
}

func TestReadsLagBehindWrites(t *testing.T) {
	bubble(t, paperSim, func(t *testing.T, sim *tradingsim.Sim, b bot) {
		b.get("/sandbox/account").ok()
		time.Sleep(10 * time.Second)
		sim.SetMark("BTC", "65000")

		require.Equal(t, "64000", b.get("/sandbox/prices").ok().text("prices.BTC"))
		g := b.post("/sandbox/orders", buyBTC).ok()
		require.Equal(t, "65000", g.text("fill.price"), "a fill never lags")
		require.Equal(t, "true", g.text("fill.repriced"))
		require.Equal(t, "1", g.text("position.size"))
		require.Equal(t, 0, b.get("/sandbox/positions").ok().len("positions"))
		require.Equal(t, "1", sim.Position("", "BTC").String())

		time.Sleep(3 * time.Second)
		require.Equal(t, "65000", b.get("/sandbox/prices").ok().text("prices.BTC"))
		require.Equal(t, 1, b.get("/sandbox/positions").ok().len("positions"))
	}, tradingsim.WithLag(3*time.Second))
}

func TestFillTellsTheAgeOfItsMark(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New(tradingsim.WithFeed("BTC", tradingsim.RandomWalk(1, "64000", 2)))
		time.Sleep(1300 * time.Millisecond)
		require.Equal(t, "300", sandboxBot(t, sim).post("/sandbox/orders", buyBTC).ok().text("fill.ageMs"))
	})
}
