package tradingsim_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

func TestClose(t *testing.T) {
	sim, b := paperSim(t)
	b.post("/sandbox/orders", buyBTC).ok()
	sim.SetMark("BTC", "65000")

	g := b.post("/sandbox/positions/close", `{"symbol":"BTC","pct":40}`).ok()
	require.Equal(t, "40", g.text("closed.pct"))
	require.Equal(t, "65000", g.text("closed.exitPrice"))
	require.Equal(t, "400", g.text("closed.realizedPnL"), "gross")
	require.Equal(t, "23.22", g.text("closed.fee"), "round trip: 11.52 + 11.70")
	require.Equal(t, "0.6", g.text("position.size"))
	require.Equal(t, "100359.5", g.text("account.balance")) // 100000 - 28.8 + 400 - 11.7

	g = b.post("/sandbox/positions/close", `{"symbol":"BTC"}`).ok()
	require.Equal(t, "100", g.text("closed.pct"))
	require.Equal(t, "600", g.text("closed.realizedPnL"))
	require.Equal(t, "null", g.text("position"))

	g = b.get("/sandbox/trades").ok()
	require.Equal(t, 2, g.len("trades"))
	require.Equal(t, "600", g.text("trades.0.realizedPnL"), "the most recent first")
	for path, want := range map[string]string{
		"symbol": "BTC", "side": "long", "size": "0.4", "leverage": "5", "entryPrice": "64000",
		"exitPrice": "65000", "fee": "23.22", "orderType": "market",
	} {
		require.Equal(t, want, g.text("trades.1."+path), path)
	}
}

func TestTradesMayBeCut(t *testing.T) {
	_, b := paperSim(t, tradingsim.WithTradeRows(2))
	b.post("/sandbox/orders", buyBTC).ok()
	for _, pct := range []string{"10", "20", "50"} {
		b.post("/sandbox/positions/close", `{"symbol":"BTC","pct":`+pct+`}`).ok()
	}
	g := b.get("/sandbox/trades").ok()
	require.Equal(t, 2, g.len("trades"))
	require.Equal(t, "0.36", g.text("trades.0.size"))
	require.Equal(t, "0.18", g.text("trades.1.size"))
}

func TestCloseFeeIsTheLegUnderTheOtherInterpretation(t *testing.T) {
	_, b := paperSim(t, tradingsim.WithInterpretation(21))
	b.post("/sandbox/orders", buyBTC).ok()
	require.Equal(t, "28.8", b.post("/sandbox/positions/close", `{"symbol":"BTC"}`).ok().text("closed.fee"))
	_, b = liveSim(t, tradingsim.WithInterpretation(21))
	b.post("/orders", liveBTC).ok()
	require.Equal(t, "28.80", b.post("/positions/close", `{"accountId":"acc_1","symbol":"BTC"}`).ok().text("fee"))
}

func TestCloseRefusals(t *testing.T) {
	held := func(t *testing.T, opts ...tradingsim.Option) (*tradingsim.Sim, bot) {
		sim, b := paperSim(t, append(opts, tradingsim.WithMark("ETH", "3200"))...)
		b.post("/sandbox/orders", buyBTC).ok()
		return sim, b
	}
	refuses(t, held, "/sandbox/positions/close", []refusal{
		{name: "no JSON", body: `x`, status: 400, code: "invalid_json"},
		{name: "no symbol", body: `{}`, status: 400, code: "bad_symbol"},
		{name: "pct 0", body: `{"symbol":"BTC","pct":0}`, status: 400, code: "bad_pct"},
		{name: "pct 0.5", body: `{"symbol":"BTC","pct":0.5}`, status: 400, code: "bad_pct"},
		{name: "pct 100.1", body: `{"symbol":"BTC","pct":100.1}`, status: 400, code: "bad_pct"},
		{name: "pct as text", body: `{"symbol":"BTC","pct":"50"}`, status: 400, code: "bad_pct"},
		{name: "pct with a fraction under the other interpretation", body: `{"symbol":"BTC","pct":12.5}`, status: 400, code: "bad_pct", opts: other(28)},
		{name: "nothing open", body: `{"symbol":"ETH"}`, status: 404, code: "no_position"},
		{name: "unpriced", body: `{"symbol":"BTC"}`, status: 503, code: "no_price", before: unpriced},
		{name: "stale", body: `{"symbol":"BTC"}`, status: 409, code: "STALE_PRICE", before: fillError("STALE_PRICE")},
	})
}

func TestClosingWorksWhereOpeningDoesNot(t *testing.T) {
	sim, b := paperSim(t)
	b.post("/sandbox/orders", buyBTC).ok()
	thin(sim, b)
	sim.SetMarket(tradingsim.Market{Symbol: "BTC", Disabled: true})
	sim.SetFillError("BTC", "order_rejected")
	b.post("/sandbox/positions/close", `{"symbol":"BTC","pct":12.5}`).ok()
}

func TestLevelsHaveThreeStates(t *testing.T) {
	_, b := paperSim(t)
	b.post("/sandbox/orders", buyBTC).ok()
	for _, step := range []struct{ body, tp, sl string }{
		{`"takeProfitPrice":66000,"stopLossPrice":62000`, "66000", "62000"},
		{`"stopLossPrice":63000`, "66000", "63000"},
		{`"takeProfitPrice":null`, "null", "63000"},
		{`"closePct":50`, "null", "63000"},
		{`"stopLossPrice":null,"takeProfitPrice":65000`, "65000", "null"},
	} {
		g := b.post("/sandbox/positions/tpsl", `{"symbol":"BTC",`+step.body+`}`).ok()
		require.Equal(t, "true", g.text("ok"))
		require.Equal(t, step.tp, g.text("position.takeProfitPrice"), step.body)
		require.Equal(t, step.sl, g.text("position.stopLossPrice"), step.body)
	}
}

func TestLevelsAreJudged(t *testing.T) {
	for _, c := range []struct {
		name, side, mark, body, code string
		opts                         []tradingsim.Option
	}{
		{name: "stop in profit", side: "long", mark: "65000", body: `"stopLossPrice":64900`},
		{name: "stop at the entry", side: "long", mark: "65000", body: `"stopLossPrice":64000`},
		{name: "stop at the price", side: "long", mark: "65000", body: `"stopLossPrice":65000`, code: "invalid_tpsl"},
		{name: "stop past the price", side: "long", mark: "65000", body: `"stopLossPrice":65001`, code: "invalid_tpsl"},
		{name: "target at the price", side: "long", mark: "65000", body: `"takeProfitPrice":65000`, code: "invalid_tpsl"},
		{name: "short stop below", side: "short", mark: "63000", body: `"stopLossPrice":62000`, code: "invalid_tpsl"},
		{name: "short stop above", side: "short", mark: "63000", body: `"stopLossPrice":63500`},
		{name: "short target above", side: "short", mark: "63000", body: `"takeProfitPrice":63001`, code: "invalid_tpsl"},
		{name: "stop of zero", side: "long", mark: "65000", body: `"stopLossPrice":0`, code: "invalid_tpsl"},
		{name: "text", side: "long", mark: "65000", body: `"stopLossPrice":"64000"`, code: "bad_request"},
		{name: "share of nothing", side: "long", mark: "65000", body: `"closePct":0`, code: "bad_pct"},
		{name: "unpriced, judged against the entry", side: "long", mark: "", body: `"stopLossPrice":64000`, code: "invalid_tpsl"},
		{name: "unpriced, below the entry", side: "long", mark: "", body: `"stopLossPrice":63999`},
		{name: "present value is judged too", side: "long", mark: "59999", body: `"stopLossPrice":60000`, code: "invalid_tpsl"},
		{name: "present value is not judged under the other interpretation", side: "long", mark: "59999", body: `"stopLossPrice":60000`,
			opts: []tradingsim.Option{tradingsim.WithInterpretation(24)}},
		{name: "stop past an old target", side: "long", mark: "71000", body: `"stopLossPrice":70500`, code: "invalid_tpsl"},
		{name: "stop equal to an old target", side: "long", mark: "71000", body: `"stopLossPrice":70000`},
	} {
		t.Run(c.name, func(t *testing.T) {
			sim, b := paperSim(t, c.opts...)
			more := `,"stopLossPrice":60000,"takeProfitPrice":70000`
			if c.side == "short" {
				more = ""
			}
			b.post("/sandbox/orders", `{"symbol":"BTC","side":"`+c.side+`","size":0.1`+more+`}`).ok()
			sim.SetMark("BTC", c.mark)
			g := b.post("/sandbox/positions/tpsl", `{"symbol":"BTC",`+c.body+`}`)
			if c.code == "" {
				g.ok()
			} else {
				g.refused(400, c.code)
			}
		})
	}
}

func TestLevelsNeedAPosition(t *testing.T) {
	_, b := paperSim(t)
	b.post("/sandbox/positions/tpsl", `{"symbol":"BTC","stopLossPrice":1}`).refused(404, "no_position")
	b.post("/sandbox/positions/tpsl", `{"symbol":"NOPE","stopLossPrice":1}`).refused(400, "bad_symbol")
	b.post("/sandbox/positions/tpsl", ``).refused(400, "invalid_json")
}

func TestTriggersFireOnReadsOnly(t *testing.T) {
	for _, c := range []struct {
		name, read string
		fires      bool
	}{
		{"the account", "/sandbox/account", true},
		{"the positions", "/sandbox/positions", true},
		{"the trades", "/sandbox/trades", false},
		{"the markets", "/sandbox/markets", false},
		{"the prices", "/sandbox/prices?symbol=BTC", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			sim, b := paperSim(t)
			b.post("/sandbox/orders", `{"symbol":"BTC","side":"long","size":0.1,"stopLossPrice":63000}`).ok()
			sim.SetMark("BTC", "62000")
			b.post("/sandbox/orders", `{"symbol":"BTC","side":"long","size":0.1}`).ok() // a write fires nothing
			b.get(c.read).ok()
			g := b.get("/sandbox/trades").ok()
			if !c.fires {
				require.Equal(t, 0, g.len("trades"))
				return
			}
			require.Equal(t, 1, g.len("trades"))
			require.Equal(t, "stop_loss", g.text("trades.0.orderType"))
			require.Equal(t, "62000", g.text("trades.0.exitPrice"), "at the gapped mark, not at the level")
			last := sim.Ledger()[2]
			require.Equal(t, "service", last.Actor)
			require.Equal(t, "short", last.Side)
		})
	}
}

// A market without a mark holds its own triggers back, and those of no other.
func TestTriggersBesideAMarketWithoutAMark(t *testing.T) {
	sim, b := paperSim(t, tradingsim.WithMark("ETH", "3000"))
	b.post("/sandbox/orders", `{"symbol":"BTC","side":"long","size":0.1,"stopLossPrice":63000}`).ok()
	b.post("/sandbox/orders", `{"symbol":"ETH","side":"long","size":0.1,"stopLossPrice":2900}`).ok()
	sim.SetMark("BTC", "")
	sim.SetMark("ETH", "2800")
	g := b.get("/sandbox/positions").ok()
	require.Equal(t, 1, g.len("positions"))
	require.Equal(t, "BTC", g.text("positions.0.symbol"))
	sim.SetMark("BTC", "62000")
	require.Equal(t, 0, b.get("/sandbox/positions").ok().len("positions"))
}

func TestTriggerLevels(t *testing.T) {
	for _, c := range []struct {
		name, side, mark, cause string
		interpretation          int
	}{
		{name: "long target reached exactly", side: "long", mark: "66000", cause: "take_profit"},
		{name: "not under the other interpretation", side: "long", mark: "66000", interpretation: 23},
		{name: "long target passed", side: "long", mark: "67000", cause: "take_profit"},
		{name: "long stop reached exactly", side: "long", mark: "62000", cause: "stop_loss"},
		{name: "between", side: "long", mark: "63000"},
		{name: "short target passed", side: "short", mark: "61000", cause: "take_profit"},
		{name: "short stop passed", side: "short", mark: "66001", cause: "stop_loss"},
		{name: "unpriced", side: "short", mark: ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			sim, b := paperSim(t, reading(c.interpretation)...)
			tp, sl := "66000", "62000"
			if c.side == "short" {
				tp, sl = sl, tp
			}
			b.post("/sandbox/orders", `{"symbol":"BTC","side":"`+c.side+`","size":0.1,"takeProfitPrice":`+tp+`,"stopLossPrice":`+sl+`}`).ok()
			sim.SetMark("BTC", c.mark)
			open := b.get("/sandbox/positions").ok().len("positions")
			if c.cause == "" {
				require.Equal(t, 1, open)
				return
			}
			require.Equal(t, 0, open)
			require.Equal(t, c.cause, b.get("/sandbox/trades").ok().text("trades.0.orderType"))
		})
	}
}

func TestTriggerClosesAShareOnce(t *testing.T) {
	for _, c := range []struct {
		interpretation       int
		mark                 string
		takeProfit, stopLoss string // afterwards
	}{
		{0, "65500", "null", "63000"},
		{22, "65500", "null", "null"},
		{0, "62500", "65000", "null"},
		{22, "62500", "null", "null"},
	} {
		sim, b := paperSim(t, reading(c.interpretation)...)
		b.post("/sandbox/orders", buyBTC).ok()
		b.post("/sandbox/positions/tpsl", `{"symbol":"BTC","takeProfitPrice":65000,"stopLossPrice":63000,"closePct":25}`).ok()
		sim.SetMark("BTC", c.mark)
		for range 2 {
			g := b.get("/sandbox/positions").ok()
			require.Equal(t, "0.75", g.text("positions.0.size"))
			require.Equal(t, c.takeProfit, g.text("positions.0.takeProfitPrice"))
			require.Equal(t, c.stopLoss, g.text("positions.0.stopLossPrice"))
		}
	}
}

func TestReadsFireTriggersBeforeTheyJudgeTheBreach(t *testing.T) {
	for interpretation, want := range map[int]string{0: "stop_loss", 18: "market"} {
		sim, b := paperSim(t, reading(interpretation)...)
		b.post("/sandbox/orders", `{"symbol":"BTC","side":"long","size":1,"leverage":5,"stopLossPrice":60000}`).ok()
		sim.SetMark("BTC", "50000")
		require.Equal(t, "locked", b.get("/sandbox/account").ok().text("account.status"))
		require.Equal(t, want, b.get("/sandbox/trades").ok().text("trades.0.orderType"))
	}
}
