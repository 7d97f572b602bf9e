package tradingsim_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

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
