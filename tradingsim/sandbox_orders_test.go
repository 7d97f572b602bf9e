package tradingsim_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

const buyBTC = `{"symbol":"BTC","side":"long","size":1,"leverage":5}`

func TestOrderFillsAtTheMark(t *testing.T) {
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
	g := sandboxBot(t, sim).post("/sandbox/orders", `{"symbol":"BTC","side":"long","size":0.5,"leverage":4,"takeProfitPrice":65000,"stopLossPrice":63000.5}`).ok()

	require.Equal(t, "true", g.text("ok"))
	require.Equal(t, "64000", g.text("fill.price"))
	require.Equal(t, "false", g.text("fill.repriced"))
	require.Equal(t, "0", g.text("fill.ageMs"))
	for path, want := range map[string]string{
		"position.symbol": "BTC", "position.side": "long", "position.size": "0.5", "position.leverage": "4",
		"position.entryPrice": "64000", "position.markPrice": "64000", "position.notionalValue": "32000",
		"position.marginRequired": "8000", "position.unrealizedPnL": "0",
		"position.takeProfitPrice": "65000", "position.stopLossPrice": "63000.5",
		"account.environment": "sandbox", "account.status": "active", "account.isLocked": "false",
		"account.balance": "99985.6", "account.equity": "99985.6", "account.unrealizedPnL": "0",
		"account.profitTarget": "110000", "account.dailyLossFloor": "95000", "account.globalLossFloor": "90000",
		"account.profitSplit": "0.8",
	} {
		require.Equal(t, want, g.text(path), path)
	}
	require.Regexp(t, `^\d{4}-\d\d-\d\dT[\d:.]+Z$`, g.text("position.openedAt"))
}

func TestAddBlendsTheEntry(t *testing.T) {
	sim := tradingsim.New(tradingsim.WithMark("BTC", "60000"))
	b := sandboxBot(t, sim)
	b.post("/sandbox/orders", `{"symbol":"BTC","side":"long","size":1,"leverage":5,"stopLossPrice":59000}`).ok()
	sim.SetMark("BTC", "61000")
	g := b.post("/sandbox/orders", `{"symbol":"BTC","side":"long","size":0.5,"leverage":2}`).ok()
	require.Equal(t, "1.5", g.text("position.size"))
	require.Equal(t, "60333.3333333333333333", g.text("position.entryPrice"))
	require.Equal(t, "1000", g.text("position.unrealizedPnL"))
	require.Equal(t, "2", g.text("position.leverage"), "an add takes the new leverage")
	require.Equal(t, "59000", g.text("position.stopLossPrice"), "an add leaves a level it does not name")
}

func TestAddKeepsLeverageUnderTheOtherInterpretation(t *testing.T) {
	sim := tradingsim.New(tradingsim.WithMark("BTC", "60000"), tradingsim.WithInterpretation(27))
	b := sandboxBot(t, sim)
	b.post("/sandbox/orders", `{"symbol":"BTC","side":"long","size":0.1,"leverage":5}`).ok()
	g := b.post("/sandbox/orders", `{"symbol":"BTC","side":"long","size":0.1,"leverage":2}`).ok()
	require.Equal(t, "5", g.text("position.leverage"))
}

func TestOppositeOrder(t *testing.T) {
	for _, c := range []struct {
		name, size     string
		interpretation int
		side, left     string // "" when flat
		realized       string
	}{
		{"shrinks", "0.4", 0, "long", "0.6", "400"},
		{"closes exactly", "1", 0, "", "", "1000"},
		{"flips with the excess", "1.5", 0, "short", "0.5", "1000"},
		{"flips with the full size under the other interpretation", "0.4", 15, "short", "0.4", "1000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			sim := tradingsim.New(reading(c.interpretation, tradingsim.WithMark("BTC", "60000"))...)
			b := sandboxBot(t, sim)
			b.post("/sandbox/orders", buyBTC).ok()
			sim.SetMark("BTC", "61000")
			g := b.post("/sandbox/orders", `{"symbol":"BTC","side":"short","leverage":5,"size":`+c.size+`}`).ok()
			if c.side == "" {
				require.Equal(t, "null", g.text("position"))
			} else {
				require.Equal(t, c.side, g.text("position.side"))
				require.Equal(t, c.left, g.text("position.size"))
			}
			trades := b.get("/sandbox/trades").ok()
			require.Equal(t, c.realized, trades.text("trades.0.realizedPnL"))
			require.Equal(t, "market", trades.text("trades.0.orderType"))
			require.Len(t, sim.Ledger(), 2)
		})
	}
}

func TestLeverageIsClamped(t *testing.T) {
	for _, c := range []struct{ symbol, asked, want string }{
		{"BTC", `,"leverage":50`, "5"},
		{"BTC", `,"leverage":0.5`, "1"},
		{"BTC", `,"leverage":-3`, "1"},
		{"BTC", ``, "1"},
		{"SOL", `,"leverage":5`, "2"},
		{"TSLA", `,"leverage":5`, "4"},
		{"ODD", `,"leverage":5`, "3"},
	} {
		sim := tradingsim.New(tradingsim.WithMark("BTC", "100"), tradingsim.WithMark("SOL", "100"),
			tradingsim.WithMarket(tradingsim.Market{Symbol: "TSLA", Category: "stocks", Price: "100"}),
			tradingsim.WithMarket(tradingsim.Market{Symbol: "ODD", MaxLeverage: "3", Price: "100"}))
		g := sandboxBot(t, sim).post("/sandbox/orders", `{"symbol":"`+c.symbol+`","side":"long","size":1`+c.asked+`}`).ok()
		require.Equal(t, c.want, g.text("position.leverage"), "%s %s", c.symbol, c.asked)
	}
}

func TestOrderRefusals(t *testing.T) {
	refuses(t, paperSim, "/sandbox/orders", []refusal{
		{name: "no JSON", body: `{`, status: 400, code: "invalid_json"},
		{name: "no body", body: ``, status: 400, code: "invalid_json"},
		{name: "an array", body: `[]`, status: 400, code: "invalid_json"},
		{name: "null", body: `null`, status: 400, code: "invalid_json"},
		{name: "two values", body: `{}{}`, status: 400, code: "invalid_json"},
		{name: "no symbol", body: `{"side":"long","size":1}`, status: 400, code: "bad_symbol"},
		{name: "unknown symbol", body: `{"symbol":"NOPE","side":"long","size":1}`, status: 400, code: "bad_symbol"},
		{name: "symbols are case-sensitive", body: `{"symbol":"btc","side":"long","size":1}`, status: 400, code: "bad_symbol"},
		{name: "field names are case-sensitive", body: `{"Symbol":"BTC","side":"long","size":1}`, status: 400, code: "bad_symbol"},
		{name: "no side", body: `{"symbol":"BTC","size":1}`, status: 400, code: "bad_side"},
		{name: "side buy", body: `{"symbol":"BTC","side":"buy","size":1}`, status: 400, code: "bad_side"},
		{name: "size zero", body: `{"symbol":"BTC","side":"long","size":0}`, status: 400, code: "bad_size"},
		{name: "size as text", body: `{"symbol":"BTC","side":"long","size":"1"}`, status: 400, code: "bad_size"},
		{name: "size beyond all bounds", body: `{"symbol":"BTC","side":"long","size":1e999999999}`, status: 400, code: "PER_POSITION_CAP"},
		{name: "limit without a price", body: `{"symbol":"BTC","side":"long","size":1,"orderType":"limit"}`, status: 400, code: "bad_limit_price"},
		{name: "limit at zero", body: `{"symbol":"BTC","side":"long","size":1,"orderType":"limit","limitPrice":0}`, status: 400, code: "bad_limit_price"},
		{name: "leverage as text", body: `{"symbol":"BTC","side":"long","size":1,"leverage":"5"}`, status: 400, code: "bad_request"},
		{name: "null trigger", body: `{"symbol":"BTC","side":"long","size":1,"stopLossPrice":null}`, status: 400, code: "bad_request"},
		{name: "slippage 0.05", body: `{"symbol":"BTC","side":"long","size":1,"maxSlippagePct":0.05}`, status: 400, code: "BAD_MAX_SLIPPAGE"},
		{name: "slippage 30.1", body: `{"symbol":"BTC","side":"long","size":1,"maxSlippagePct":30.1}`, status: 400, code: "BAD_MAX_SLIPPAGE"},
		{name: "slippage 0.25", body: `{"symbol":"BTC","side":"long","size":1,"maxSlippagePct":0.25}`, status: 400, code: "BAD_MAX_SLIPPAGE"},
		{name: "slippage judged on limits", body: `{"symbol":"BTC","side":"long","size":1,"orderType":"limit","limitPrice":65000,"maxSlippagePct":0}`, status: 400, code: "BAD_MAX_SLIPPAGE"},
		{name: "limit not reached", body: `{"symbol":"BTC","side":"long","size":1,"orderType":"limit","limitPrice":63999}`, status: 409, code: "order_not_marketable"},
		{name: "short limit not reached", body: `{"symbol":"BTC","side":"short","size":1,"orderType":"limit","limitPrice":64001}`, status: 409, code: "order_not_marketable"},
		{name: "moved up from expectedPrice", body: `{"symbol":"BTC","side":"long","size":1,"expectedPrice":63600}`, status: 409, code: "GUARD_BAND"},
		{name: "moved down from expectedPrice", body: `{"symbol":"BTC","side":"long","size":1,"expectedPrice":64400}`, status: 409, code: "GUARD_BAND"},
		{name: "stop above a long", body: `{"symbol":"BTC","side":"long","size":1,"stopLossPrice":64000}`, status: 400, code: "invalid_tpsl"},
		{name: "target above a short", body: `{"symbol":"BTC","side":"short","size":1,"takeProfitPrice":64001}`, status: 400, code: "invalid_tpsl"},
		{name: "target of zero", body: `{"symbol":"BTC","side":"short","size":1,"takeProfitPrice":0}`, status: 400, code: "invalid_tpsl"},
		{name: "below the minimum", body: `{"symbol":"BTC","side":"long","size":0.0001}`, status: 400, code: "MIN_NOTIONAL"},
		{name: "position too large", body: `{"symbol":"BTC","side":"long","size":8,"leverage":5}`, status: 400, code: "PER_POSITION_CAP"},
		{name: "margin too large", body: `{"symbol":"BTC","side":"long","size":2}`, status: 400, code: "TOTAL_MARGIN_CAP"},
		{name: "market too large", body: buyBTC, status: 400, code: "ASSET_NOTIONAL_CAP", before: market(tradingsim.Market{Symbol: "BTC", NotionalCap: "50000"})},
		{name: "no equity", body: buyBTC, status: 400, code: "NO_EQUITY", opts: []tradingsim.Option{
			tradingsim.WithSandbox(tradingsim.Sandbox{Balance: "0", DailyLossFloor: "-1", GlobalLossFloor: "-1", ProfitTarget: "1"}),
		}},
		{name: "disabled", body: buyBTC, status: 403, code: "asset_disabled", before: market(tradingsim.Market{Symbol: "BTC", Disabled: true})},
		{name: "unpriced", body: buyBTC, status: 503, code: "no_price", before: unpriced},
		{name: "unpriced under the other interpretation", body: buyBTC, status: 409, code: "NO_PRICE", opts: other(16), before: unpriced},
		{name: "too much slippage", body: `{"symbol":"BTC","side":"long","size":1,"leverage":5,"maxSlippagePct":0.1}`, status: 409, code: "MAX_SLIPPAGE", before: thin},
		{name: "book too thin", body: `{"symbol":"BTC","side":"long","size":3,"leverage":5}`, status: 409, code: "INSUFFICIENT_LIQUIDITY", before: thin},
		{name: "stale", body: buyBTC, status: 409, code: "STALE_PRICE", before: fillError("STALE_PRICE")},
		{name: "no reference", body: buyBTC, status: 409, code: "NO_PRICE", before: fillError("NO_PRICE")},
		{name: "rejected", body: buyBTC, status: 400, code: "order_rejected", before: fillError("order_rejected")},
		{name: "fill rejected", body: buyBTC, status: 409, code: "fill_rejected", before: fillError("fill_rejected")},
		{name: "cap without a code", body: buyBTC, status: 400, code: "cap_exceeded", before: fillError("cap_exceeded")},
	})
}

func thin(s *tradingsim.Sim, _ bot) {
	s.SetMarket(tradingsim.Market{Symbol: "BTC", Book: tradingsim.Book{Levels: []tradingsim.BookLevel{
		{Bps: "1", Size: "0.5"}, {Bps: "40", Size: "1.5"},
	}}})
}

func fillError(code string) func(*tradingsim.Sim, bot) {
	return func(s *tradingsim.Sim, _ bot) { s.SetFillError("BTC", code) }
}

func TestOrdersThatAreAccepted(t *testing.T) {
	for name, body := range map[string]string{
		"an unknown type is a market order":    `{"symbol":"BTC","side":"long","size":1,"orderType":"stop"}`,
		"a type in capitals is a market order": `{"symbol":"BTC","side":"long","size":1,"orderType":"Limit"}`,
		"a type that is no text":               `{"symbol":"BTC","side":"long","size":1,"orderType":7}`,
		"a limit at the mark":                  `{"symbol":"BTC","side":"long","size":1,"orderType":"limit","limitPrice":64000}`,
		"a limit beyond the mark":              `{"symbol":"BTC","side":"long","size":1,"orderType":"limit","limitPrice":70000}`,
		"expectedPrice within half a percent":  `{"symbol":"BTC","side":"long","size":1,"expectedPrice":64300}`,
		"slippage 8.00":                        `{"symbol":"BTC","side":"long","size":1,"maxSlippagePct":8.00}`,
		"unknown fields":                       `{"symbol":"BTC","side":"long","size":1,"reduceOnly":true}`,
		"an exponent":                          `{"symbol":"BTC","side":"long","size":1e-1}`,
	} {
		t.Run(name, func(t *testing.T) {
			sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
			g := sandboxBot(t, sim).post("/sandbox/orders", body).ok()
			require.Equal(t, "64000", g.text("fill.price"), "a limit price is a bound and never a price")
		})
	}
}

func TestOrdersUnderTheOtherInterpretations(t *testing.T) {
	for _, c := range []struct {
		interpretation int
		body           string
		refused        string
	}{
		{25, with(buyBTC, `"stopLossPrice":null,"takeProfitPrice":null`), ""},
		{26, with(buyBTC, `"orderType":"limit","limitPrice":65000,"maxSlippagePct":0`), ""},
		{26, with(buyBTC, `"maxSlippagePct":0`), "BAD_MAX_SLIPPAGE"},
		{33, "", "bad_symbol"},
	} {
		sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"), tradingsim.WithInterpretation(c.interpretation))
		g := sandboxBot(t, sim).post("/sandbox/orders", c.body)
		if c.refused == "" {
			g.ok()
		} else {
			g.refused(400, c.refused)
		}
	}
	require.Panics(t, func() { tradingsim.WithInterpretation(29) }, "there is no other")
	require.NotContains(t, tradingsim.Interpretations(), 29)
}

func TestSlippage(t *testing.T) {
	order := func(size, more string) string {
		return `{"symbol":"BTC","side":"long","leverage":5,"size":` + size + more + `}`
	}
	sim, b := paperSim(t)
	thin(sim, b)

	// 0.5 at 1 bp and 0.5 at 40 bp: 20.5 bp.
	g := b.post("/sandbox/orders", order("1", `,"maxSlippagePct":0.2`)).refused(409, "MAX_SLIPPAGE")
	require.Equal(t, "0.205", g.text("estSlippagePct"))
	require.Equal(t, "0.2", g.text("maxSlippagePct"))
	require.Contains(t, g.text("message"), "0.205%")
	require.Contains(t, g.text("message"), "0.2%")

	g = b.post("/sandbox/orders", order("2.1", "")).refused(409, "INSUFFICIENT_LIQUIDITY")
	require.Equal(t, "null", g.text("estSlippagePct"))
	require.Equal(t, "8", g.text("maxSlippagePct"))

	b.post("/sandbox/orders", order("0.01", `,"maxSlippagePct":0.2`)).ok()
	b.post("/sandbox/orders", order("2.1", `,"orderType":"limit","limitPrice":64000`)).ok()
	b.post("/sandbox/orders", `{"symbol":"BTC","side":"short","size":2.1,"maxSlippagePct":0.1}`).ok() // opens nothing

	sim.SetMarket(tradingsim.Market{Symbol: "BTC", Book: tradingsim.Book{Unreadable: true}})
	b.post("/sandbox/orders", order("3", `,"maxSlippagePct":0.1`)).ok()
}

func TestCapsScaleWithEquity(t *testing.T) {
	_, b := paperSim(t, tradingsim.WithBalance("10000"))
	b.post("/sandbox/orders", buyBTC).refused(400, "PER_POSITION_CAP")
	b.post("/sandbox/orders", `{"symbol":"BTC","side":"long","size":0.1,"leverage":5}`).ok()
}

func TestCapsCountThePositionOnce(t *testing.T) {
	_, b := paperSim(t)
	b.post("/sandbox/orders", `{"symbol":"BTC","side":"long","size":1,"leverage":1}`).ok()
	b.post("/sandbox/orders", `{"symbol":"BTC","side":"long","size":0.5,"leverage":1}`).ok() // 96,000 of margin in all
	b.post("/sandbox/orders", `{"symbol":"BTC","side":"short","size":9,"leverage":5}`).ok()  // 7.5 are left, 480,000
	b.post("/sandbox/orders", `{"symbol":"BTC","side":"short","size":0.4,"leverage":5}`).refused(400, "PER_POSITION_CAP")
}

func TestLimitsThatAreMetExactly(t *testing.T) {
	sim := tradingsim.New(tradingsim.WithMarket(tradingsim.Market{Symbol: "BTC", Price: "201",
		Book: tradingsim.Book{Levels: []tradingsim.BookLevel{{Bps: "10", Size: "5"}}}}))
	sandboxBot(t, sim).post("/sandbox/orders",
		`{"symbol":"BTC","side":"long","size":5,"expectedPrice":200,"maxSlippagePct":0.1}`).ok()
}

func TestOrderThatOnlyReducesMeetsNoCap(t *testing.T) {
	_, b := paperSim(t)
	b.post("/sandbox/orders", buyBTC).ok()
	b.post("/sandbox/orders", `{"symbol":"BTC","side":"short","size":0.00001}`).ok()
}
