package tradingsim_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

const (
	liveBTC   = `{"accountId":"acc_1","symbol":"BTC","side":"long","size":1,"leverage":5}`
	liveShort = `{"accountId":"acc_1","symbol":"BTC","side":"short","size":1,"leverage":5}`
)

func liveBot(t *testing.T, sim *tradingsim.Sim) bot {
	b := sandboxBot(t, sim)
	b.key = sim.LiveKey()
	return b
}

// with adds members to a body.
func with(body, more string) string { return strings.TrimSuffix(body, "}") + "," + more + "}" }

// instead replaces members of a body.
func instead(body string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(body) }

func TestLiveOrder(t *testing.T) {
	sim, b := liveSim(t)
	g := b.post("/orders", with(liveBTC, `"stopLossPrice":63000`)).ok()
	require.NotContains(t, g.Body, "ok", "a live success never carries ok")
	for path, want := range map[string]string{
		"success": "true", "action": "opened", "fill.price": "64000", "fill.size": "1", "fill.fee": "28.8",
		"position.size": "1", "position.entryPrice": "64000", "position.stopLossPrice": "63000", "newBalance": "99971.2",
	} {
		require.Equal(t, want, g.text(path), path)
	}
	sim.SetMark("BTC", "65000")
	g = b.post("/orders", instead(liveBTC, `"size":1`, `"size":0.5`)).ok()
	require.Equal(t, "increased", g.text("action"))
	require.Equal(t, "0.5", g.text("fill.size"), "this order's own execution")
	require.Equal(t, "1.5", g.text("position.size"), "the whole position")
	require.Equal(t, "64333.3333333333333333", g.text("position.entryPrice"))

	require.Equal(t, "reduced", b.post("/orders", instead(liveShort, `"size":1`, `"size":0.5`)).ok().text("action"))
	g = b.post("/orders", instead(liveShort, `"size":1`, `"size":1.2`)).ok()
	require.Equal(t, "flipped", g.text("action"))
	require.Equal(t, "short", g.text("position.side"))
	require.Equal(t, "1.2", g.text("fill.size"))
	g = b.post("/orders", with(instead(liveBTC, `"size":1`, `"size":9`), `"reduceOnly":true`)).ok()
	require.Equal(t, "closed", g.text("action"))
	require.Equal(t, "0.2", g.text("fill.size"), "reduceOnly never opens")
	require.Equal(t, "null", g.text("position"))
}

func TestLiveOrderRefusals(t *testing.T) {
	account := func(a tradingsim.Account) []tradingsim.Option {
		a.ID = "acc_1"
		return []tradingsim.Option{tradingsim.WithAccount(a)}
	}
	refuses(t, liveSim, "/orders", []refusal{
		{name: "no JSON", body: `{`, status: 400, code: "invalid_json"},
		{name: "nothing", body: `{}`, status: 400, code: "missing_fields"},
		{name: "no account", body: instead(liveBTC, `"accountId":"acc_1",`, ``), status: 400, code: "missing_fields"},
		{name: "no symbol", body: instead(liveBTC, `"symbol":"BTC",`, ``), status: 400, code: "missing_fields"},
		{name: "no side", body: instead(liveBTC, `"side":"long",`, ``), status: 400, code: "missing_fields"},
		{name: "no size", body: instead(liveBTC, `"size":1,`, ``), status: 400, code: "missing_fields"},
		{name: "no leverage", body: instead(liveBTC, `,"leverage":5`, ``), status: 400, code: "missing_fields"},
		{name: "bad side", body: instead(liveBTC, `long`, `buy`), status: 400, code: "bad_side"},
		{name: "bad size", body: instead(liveBTC, `"size":1`, `"size":-1`), status: 400, code: "bad_size"},
		{name: "limit without a price", body: with(liveBTC, `"orderType":"limit"`), status: 400, code: "bad_limit_price"},
		{name: "unknown type", body: with(liveBTC, `"orderType":"Market"`), status: 400, code: "bad_request"},
		{name: "reduceOnly as text", body: with(liveBTC, `"reduceOnly":"yes"`), status: 400, code: "bad_request"},
		{name: "slippage", body: with(liveBTC, `"maxSlippagePct":31`), status: 400, code: "BAD_MAX_SLIPPAGE"},
		{name: "another's account", body: instead(liveBTC, "acc_1", "acc_2"), status: 404, code: "account_not_found"},
		{name: "passed", body: liveBTC, status: 403, code: "account_locked", opts: account(tradingsim.Account{Status: "PASSED"})},
		{name: "failed", body: liveBTC, status: 403, code: "account_locked", opts: account(tradingsim.Account{Status: "FAILED"})},
		{name: "expired", body: with(liveBTC, `"reduceOnly":true`), status: 403, code: "account_locked", opts: account(tradingsim.Account{Status: "EXPIRED"})},
		{name: "unknown symbol", body: instead(liveBTC, "BTC", "NOPE"), status: 403, code: "asset_disabled"},
		{name: "unknown symbol under the other interpretation", body: instead(liveBTC, "BTC", "NOPE"), status: 400, code: "bad_symbol", opts: other(34)},
		{name: "disabled", body: liveBTC, status: 403, code: "asset_disabled", before: market(tradingsim.Market{Symbol: "BTC", Disabled: true})},
		{name: "paused", body: liveBTC, status: 403, code: "market_paused", before: market(tradingsim.Market{Symbol: "BTC", Paused: true})},
		{name: "unpriced", body: liveBTC, status: 503, code: "no_price", before: unpriced},
		{name: "unpriced under the other interpretation", body: liveBTC, status: 400, code: "no_price", before: unpriced, opts: other(35)},
		{name: "stale", body: liveBTC, status: 409, code: "STALE_PRICE", before: fillError("STALE_PRICE")},
		{name: "no reference", body: liveBTC, status: 409, code: "NO_PRICE", before: fillError("NO_PRICE")},
		{name: "limit not reached", body: with(liveBTC, `"orderType":"limit","limitPrice":63999`), status: 400, code: "NOT_MARKETABLE"},
		{name: "moved", body: with(liveBTC, `"expectedPrice":60000`), status: 409, code: "GUARD_BAND"},
		{name: "levels", body: with(liveBTC, `"takeProfitPrice":60000`), status: 400, code: "invalid_tpsl"},
		{name: "nothing to reduce", body: with(liveBTC, `"reduceOnly":true`), status: 400, code: "no_position"},
		{name: "nothing to reduce under the other interpretation", body: with(liveBTC, `"reduceOnly":true`), status: 404, code: "no_position", opts: other(35)},
		{name: "minimum", body: instead(liveBTC, `"size":1`, `"size":0.0001`), status: 400, code: "MIN_NOTIONAL"},
		{name: "position cap", body: instead(liveBTC, `"size":1`, `"size":8`), status: 400, code: "PER_POSITION_CAP"},
		{name: "margin cap", body: instead(liveBTC, `"leverage":5`, `"leverage":1`, `"size":1`, `"size":2`), status: 400, code: "TOTAL_MARGIN_CAP"},
		{name: "market cap", body: liveBTC, status: 400, code: "ASSET_NOTIONAL_CAP", before: market(tradingsim.Market{Symbol: "BTC", NotionalCap: "1000"})},
		{name: "no equity", body: liveBTC, status: 400, code: "NO_EQUITY", opts: account(tradingsim.Account{Balance: "0", DailyLossFloor: "-100", GlobalLossFloor: "-100"})},
		{name: "slippage above the maximum", body: with(liveBTC, `"maxSlippagePct":0.1`), status: 409, code: "MAX_SLIPPAGE", before: thin},
		{name: "thin book", body: instead(liveBTC, `"size":1`, `"size":2.5`), status: 409, code: "INSUFFICIENT_LIQUIDITY", before: thin},
		{name: "below the floor already", body: liveBTC, status: 403, code: "ACCOUNT_LOCKED", opts: account(tradingsim.Account{DailyLossFloor: "100000"})},
		{name: "the fee reaches the daily floor", body: liveBTC, status: 403, code: "DAILY_DRAWDOWN_BREACH", opts: account(tradingsim.Account{DailyLossFloor: "99971.2"})},
		{name: "the fee reaches the global floor", body: liveBTC, status: 403, code: "GLOBAL_DRAWDOWN_BREACH", opts: account(tradingsim.Account{DailyLossFloor: "99980", GlobalLossFloor: "99980"})},
		{name: "daily first under the other interpretation", body: liveBTC, status: 403, code: "DAILY_DRAWDOWN_BREACH",
			opts: append(account(tradingsim.Account{DailyLossFloor: "99980", GlobalLossFloor: "99980"}), tradingsim.WithInterpretation(41))},
		{name: "equity unavailable", body: liveBTC, status: 503, code: "equity_unavailable", before: fillError("equity_unavailable")},
	})
}

func TestEquityCannotBeVerifiedWhileAPositionIsUnpriced(t *testing.T) {
	sim, b := liveSim(t, tradingsim.WithMark("ETH", "3200"))
	b.post("/orders", instead(liveBTC, "BTC", "ETH")).ok()
	sim.SetMark("ETH", "")
	b.post("/orders", liveBTC).refused(503, "PRICE_UNAVAILABLE")
	b.post("/orders", with(liveBTC, `"reduceOnly":true`)).refused(400, "no_position")
}

func TestAReduceOnlyOrderOnTheSideOfThePosition(t *testing.T) {
	_, b := liveSim(t)
	b.post("/orders", liveBTC).ok()
	wrong := b.post("/orders", with(liveBTC, `"reduceOnly":true`)).refused(400, "no_position")
	require.Contains(t, wrong.text("message"), "the open position is a long too")
}

// The fee of a flip is that of both its parts, and the equity check counts it all.
func TestBothPartsOfAFlipCountAgainstTheLossLimits(t *testing.T) {
	flip := instead(liveBTC, "long", "short", `"size":1`, `"size":1.5`)
	attempt := func(floor string) got {
		_, b := liveSim(t, tradingsim.WithAccount(tradingsim.Account{ID: "acc_1", DailyLossFloor: floor}))
		b.post("/orders", liveBTC).ok() // for 28.80
		return b.post("/orders", flip)  // for 43.20, of which 14.40 for what opens
	}
	attempt("99927.99").ok()
	attempt("99928").refused(403, "DAILY_DRAWDOWN_BREACH")
}

func TestLiveOrdersThatAreAccepted(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		opts []tradingsim.Option
	}{
		"an unknown type under the other interpretation": {with(liveBTC, `"orderType":"Market"`), []tradingsim.Option{tradingsim.WithInterpretation(34)}},
		"PURCHASED is like ACTIVE":                       {liveBTC, []tradingsim.Option{tradingsim.WithAccount(tradingsim.Account{ID: "acc_1", Status: "PURCHASED"})}},
		"FUNDED":                                         {liveBTC, []tradingsim.Option{tradingsim.WithAccount(tradingsim.Account{ID: "acc_1", Status: "FUNDED"})}},
		"a marketable limit fills at the mark":           {with(liveBTC, `"orderType":"limit","limitPrice":70000`), nil},
		"a limit is not held against the slippage":       {with(liveBTC, `"orderType":"limit","limitPrice":70000,"maxSlippagePct":0.1`), nil},
	} {
		t.Run(name, func(t *testing.T) {
			sim, b := liveSim(t, c.opts...)
			if strings.Contains(name, "slippage") {
				thin(sim, b)
			}
			require.Equal(t, "64000", b.post("/orders", c.body).ok().text("fill.price"))
		})
	}
}

func TestReduceOnlyMeetsNoCheckOfEntries(t *testing.T) {
	sim, b := liveSim(t)
	b.post("/orders", liveBTC).ok()
	thin(sim, b)
	b.post("/orders", with(instead(liveShort, `"size":1`, `"size":0.8`), `"maxSlippagePct":0.1`)).ok() // it adds nothing
	b.post("/orders", instead(liveShort, `"size":1`, `"size":2.8`)).refused(409, "INSUFFICIENT_LIQUIDITY")
	sim.SetMarket(tradingsim.Market{Symbol: "BTC", Paused: true})
	sim.SetStatus("acc_1", "PASSED")
	b.post("/orders", liveShort).refused(403, "account_locked")
	b.post("/orders", with(liveShort, `"reduceOnly":true,"maxSlippagePct":0.1`)).ok()
}

func TestLiveClose(t *testing.T) {
	sim, b := liveSim(t)
	b.post("/orders", liveBTC).ok()
	sim.SetMark("BTC", "65000.333")
	sim.SetMarket(tradingsim.Market{Symbol: "BTC", Paused: true}) // closing still works
	g := b.post("/positions/close", `{"accountId":"acc_1","symbol":"BTC","closePercent":50}`).ok()
	for path, want := range map[string]any{
		"success": true, "pnl": "500.17", "fee": "29.03", "newBalance": "100456.74", "status": "ACTIVE",
	} {
		require.Equal(t, want, g.at(path), "%s is a text with two decimals", path)
	}
	b.post("/positions/close", `{"accountId":"acc_1","symbol":"BTC"}`).ok()
	g = b.get("/trades?accountId=acc_1").ok()
	require.Equal(t, 2, g.len("trades"))
	require.Equal(t, "500.1665", g.text("trades.0.realizedPnL"))
}

func TestALiveCloseOfAnyPercent(t *testing.T) {
	sim, b := liveSim(t, tradingsim.WithInterpretation(54))
	b.post("/orders", liveBTC).ok()
	b.post("/positions/close", `{"accountId":"acc_1","symbol":"BTC","closePercent":0.5}`).ok()
	require.Equal(t, "0.995", sim.Position("acc_1", "BTC").String())
	paper := sandboxBot(t, sim)
	paper.post("/sandbox/orders", buyBTC).ok()
	paper.post("/sandbox/positions/close", `{"symbol":"BTC","pct":0.5}`).refused(400, "bad_pct")
}

func TestLiveCloseRefusals(t *testing.T) {
	refuses(t, liveSim, "/positions/close", []refusal{
		{name: "no symbol", body: `{"accountId":"acc_1"}`, status: 400, code: "missing_fields"},
		{name: "percent", body: `{"accountId":"acc_1","symbol":"BTC","closePercent":101}`, status: 400, code: "bad_request"},
		{name: "less than one percent", body: `{"accountId":"acc_1","symbol":"BTC","closePercent":0.5}`, status: 400, code: "bad_request"},
		{name: "no percent, where any above 0 goes", body: `{"accountId":"acc_1","symbol":"BTC","closePercent":0}`, status: 400, code: "bad_request", opts: other(54)},
		{name: "percent under the other interpretation", body: `{"accountId":"acc_1","symbol":"BTC","closePercent":0}`, status: 400, code: "bad_pct", opts: other(34)},
		{name: "account", body: `{"accountId":"x","symbol":"BTC"}`, status: 404, code: "account_not_found"},
		{name: "nothing open", body: `{"accountId":"acc_1","symbol":"BTC"}`, status: 404, code: "no_position"},
		{name: "nothing open under the other interpretation", body: `{"accountId":"acc_1","symbol":"BTC"}`, status: 400, code: "no_position", opts: other(35)},
		{name: "failed", body: `{"accountId":"acc_1","symbol":"BTC"}`, status: 403, code: "account_locked", opts: status("FAILED")},
		{name: "expired", body: `{"accountId":"acc_1","symbol":"BTC"}`, status: 403, code: "account_locked", opts: status("EXPIRED")},
		{name: "passed may close", body: `{"accountId":"acc_1","symbol":"BTC"}`, status: 404, code: "no_position", opts: status("PASSED")},
	})
}

func TestACloseMovesTheStatus(t *testing.T) {
	for _, c := range []struct{ name, status, mark, want string }{
		{"to the target", "ACTIVE", "75000", "PASSED"},
		{"to a floor", "ACTIVE", "58000", "FAILED"},
		{"in between", "ACTIVE", "64100", "ACTIVE"},
		{"a funded account passes no more", "FUNDED", "75000", "FUNDED"},
		{"a funded account fails", "FUNDED", "58000", "FAILED"},
	} {
		t.Run(c.name, func(t *testing.T) {
			sim, b := liveSim(t, tradingsim.WithAccount(tradingsim.Account{ID: "acc_1", Status: c.status}))
			b.post("/orders", liveBTC).ok()
			sim.SetMark("BTC", c.mark)
			require.Equal(t, c.status, b.get("/accounts/acc_1").ok().text("account.status"), "reads move nothing")
			g := b.post("/positions/close", `{"accountId":"acc_1","symbol":"BTC"}`).ok()
			require.Equal(t, c.want, g.text("status"))
			require.Equal(t, c.want, b.get("/accounts/acc_1").ok().text("account.status"))
		})
	}
}

func TestReadsMoveTheStatusUnderTheOtherInterpretation(t *testing.T) {
	sim, b := liveSim(t, tradingsim.WithInterpretation(38))
	b.post("/orders", liveBTC).ok()
	sim.SetMark("BTC", "58000")
	require.Equal(t, "FAILED", b.get("/accounts/acc_1").ok().text("account.status"))
}

func TestLiveTPSL(t *testing.T) {
	tpsl := func(more string) string { return with(`{"accountId":"acc_1","symbol":"BTC"}`, more) }
	for _, omitted := range []bool{false, true} {
		opts := []tradingsim.Option{tradingsim.WithMark("BTC", "64000")}
		if omitted {
			opts = append(opts, tradingsim.WithOmittedLevelsCleared())
		}
		sim := tradingsim.New(opts...)
		b := liveBot(t, sim)
		b.post("/positions/tpsl", tpsl(`"stopLossPrice":1`)).refused(404, "no_position")
		b.post("/orders", with(liveBTC, `"stopLossPrice":60000,"takeProfitPrice":70000`)).ok()
		b.post("/positions/tpsl", `{"accountId":"acc_1"}`).refused(400, "missing_fields")
		b.post("/positions/tpsl", tpsl(`"stopLossPrice":64000`)).refused(400, "invalid_tpsl")
		sim.SetMarket(tradingsim.Market{Symbol: "BTC", Disabled: true})
		g := b.post("/positions/tpsl", tpsl(`"stopLossPrice":61000`)).ok()
		require.Equal(t, "true", g.text("success"))
		want := "70000"
		if omitted {
			want = "null"
		}
		require.Equal(t, want, g.text("position.takeProfitPrice"))
		g = b.post("/positions/tpsl", tpsl(`"stopLossPrice":null,"takeProfitPrice":null`)).ok()
		require.Equal(t, "null", g.text("position.stopLossPrice"))
	}
}

func TestALevelSentUnchangedIsNotJudged(t *testing.T) {
	sim, b := liveSim(t)
	b.post("/orders", liveBTC).ok()
	sim.SetMark("BTC", "66000")
	stop := `{"accountId":"acc_1","symbol":"BTC","stopLossPrice":65000}`
	b.post("/positions/tpsl", stop).ok() // in profit
	sim.SetMark("BTC", "")               // now levels are judged against the entry
	b.post("/positions/tpsl", stop).ok()
	b.post("/positions/tpsl", instead(stop, "65000", "65001")).refused(400, "invalid_tpsl")
}

func TestLiveTriggersFireByThemselves(t *testing.T) {
	sim, b := liveSim(t)
	b.post("/orders", with(liveBTC, `"stopLossPrice":63000`)).ok()
	sim.SetMark("BTC", "62500")
	sim.SetMark("BTC", "64000")
	g := b.get("/trades?accountId=acc_1").ok()
	require.Equal(t, "stop_loss", g.text("trades.0.orderType"))
	require.Equal(t, "62500", g.text("trades.0.exitPrice"))
	require.Equal(t, "service", sim.Ledger()[1].Actor)
}

// Only new positions are paused: an order that can but reduce goes through, whatever
// its flag says, at once or when its price is reached.
func TestPausedMarketsJudgeExposure(t *testing.T) {
	short := func(size string) string {
		return instead(liveBTC, "long", "short", `"size":1`, `"size":`+size)
	}
	for _, c := range []struct {
		name, path, body string
		refused          bool
		left             string // of the long of 1
		opts             []tradingsim.Option
	}{
		{name: "less than the position", path: "/orders", body: short("0.4"), left: "0.6"},
		{name: "all of it", path: "/orders", body: short("1"), left: "0"},
		{name: "more than it", path: "/orders", body: short("1.1"), refused: true},
		{name: "more than it, reduce only", path: "/orders", body: with(short("1.1"), `"reduceOnly":true`), left: "0"},
		{name: "less, where a flip is full", path: "/orders", body: short("0.4"), refused: true, opts: []tradingsim.Option{tradingsim.WithInterpretation(15)}},
		{name: "an add", path: "/orders", body: liveBTC, refused: true},
		{name: "a limit that rests", path: "/orders/limit", body: with(short("0.4"), `"limitPrice":65000`), left: "0.6"},
		{name: "a limit that adds", path: "/orders/limit", body: with(liveBTC, `"limitPrice":63000`), refused: true},
		{name: "a conditional", path: "/orders/conditional", body: with(short("0.4"), `"triggerPrice":65000`), left: "0.6"},
	} {
		t.Run(c.name, func(t *testing.T) {
			sim, b := liveSim(t, c.opts...)
			b.post("/orders", liveBTC).ok()
			sim.SetMarket(tradingsim.Market{Symbol: "BTC", Paused: true})
			g := b.post(c.path, c.body)
			if c.refused {
				g.refused(403, "market_paused")
				return
			}
			g.ok()
			sim.SetMark("BTC", "65000")
			require.Equal(t, c.left, sim.Position("acc_1", "BTC").String())
		})
	}
}

// A limit that waits and would flip the position fills nothing while its market is
// paused, and what it would reduce changes with the position.
func TestAPausedMarketHoldsBackWhatWouldAdd(t *testing.T) {
	sim, b := liveSim(t)
	b.post("/orders", liveBTC).ok()
	b.post("/orders/limit", with(instead(liveBTC, "long", "short", `"size":1`, `"size":1.5`), `"limitPrice":65000`)).ok()
	sim.SetMarket(tradingsim.Market{Symbol: "BTC", Paused: true})
	sim.SetMark("BTC", "65000")
	require.Equal(t, "1", sim.Position("acc_1", "BTC").String())
	sim.Trade("acc_1", "long", "1", "BTC")
	sim.SetMark("BTC", "65001")
	require.Equal(t, "0.5", sim.Position("acc_1", "BTC").String())
}

// The equity check counts the fee that the order will pay.
func TestTheEquityCheckCountsTheOrdersOwnFee(t *testing.T) {
	const maker, taker = "9.6", "28.8" // of 1 BTC at 64000
	other39 := tradingsim.WithInterpretation(39)
	for _, c := range []struct {
		name, path, more, fee string
		opts                  []tradingsim.Option
	}{
		{name: "an order", path: "/orders", fee: taker},
		{name: "a resting limit", path: "/orders/limit", more: `"limitPrice":64000`, fee: maker},
		{name: "a resting limit that fills as a taker", path: "/orders/limit", more: `"limitPrice":64000`, fee: taker, opts: []tradingsim.Option{other39}},
		{name: "a chase", path: "/orders/chase", fee: taker},
		{name: "a twap", path: "/orders/twap", more: `"durationMs":60000`, fee: taker},
		{name: "a stop-limit", path: "/orders/conditional", more: `"triggerPrice":65000,"execKind":"stop-limit","limitPrice":64000`, fee: taker},
	} {
		for _, enough := range []bool{false, true} {
			floor := dec("100000").Sub(dec(c.fee))
			if enough {
				floor = floor.Sub(dec("0.000001"))
			}
			body := liveBTC
			if c.more != "" {
				body = with(liveBTC, c.more)
			}
			sim := tradingsim.New(append(c.opts, tradingsim.WithMark("BTC", "64000"),
				tradingsim.WithAccount(tradingsim.Account{ID: "acc_1", DailyLossFloor: floor.String()}))...)
			g := liveBot(t, sim).post(c.path, body)
			if enough {
				require.Equal(t, 200, g.Status, "%s: %s", c.name, g.Text)
				continue
			}
			require.Equal(t, 403, g.Status, "%s: %s", c.name, g.Text)
			g.refused(403, "DAILY_DRAWDOWN_BREACH")
		}
	}
}

// The levels of a conditional are for the position that it will open: they are judged
// at the price that it opens at.
func TestAConditionalsLevelsAreJudgedWhereItFills(t *testing.T) {
	for _, c := range []struct {
		name, more string
		refused    bool
	}{
		{name: "between the mark and the trigger", more: `"triggerPrice":70000,"stopLossPrice":66000`},
		{name: "past the trigger", more: `"triggerPrice":70000,"stopLossPrice":70001`, refused: true},
		{name: "a target that the trigger has passed", more: `"triggerPrice":70000,"takeProfitPrice":68000`, refused: true},
		{name: "a target below the mark", more: `"triggerPrice":60000,"takeProfitPrice":62000`},
		{name: "at the limit of a stop-limit", more: `"triggerPrice":70000,"execKind":"stop-limit","limitPrice":69000,"stopLossPrice":69500`, refused: true},
		{name: "below the limit of a stop-limit", more: `"triggerPrice":70000,"execKind":"stop-limit","limitPrice":69000,"stopLossPrice":68500`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, b := liveSim(t)
			g := b.post("/orders/conditional", with(liveBTC, c.more))
			if c.refused {
				g.refused(400, "invalid_tpsl")
				return
			}
			g.ok()
		})
	}
}

// What a pass leaves on a live account: positions with their levels, and what may
// still reduce them. Under interpretation 55 it closes the book.
func TestWhatALivePassLeaves(t *testing.T) {
	for _, closed := range []bool{false, true} {
		opts := []tradingsim.Option{tradingsim.WithMark("BTC", "64000"), tradingsim.WithMark("ETH", "3200"),
			tradingsim.WithAccount(tradingsim.Account{ID: "acc_1", ProfitTarget: "100500"})}
		left := 1
		if closed {
			opts, left = append(opts, tradingsim.WithInterpretation(55)), 0
		}
		sim := tradingsim.New(opts...)
		b := liveBot(t, sim)
		eth := instead(liveBTC, "BTC", "ETH")
		b.post("/orders", liveBTC).ok()
		b.post("/orders", with(eth, `"stopLossPrice":3000`)).ok()
		reduce := instead(eth, "long", "short", `"size":1`, `"size":0.5`)
		b.post("/orders/limit", with(reduce, `"limitPrice":4000,"reduceOnly":true`)).ok()
		b.post("/orders/limit", with(eth, `"limitPrice":3100`)).ok()
		b.post("/orders/twap", with(reduce, `"durationMs":60000,"reduceOnly":true`)).ok()
		b.post("/orders/twap", with(eth, `"durationMs":60000`)).ok()

		sim.SetMark("BTC", "65000")
		require.Equal(t, "PASSED", b.post("/positions/close", `{"accountId":"acc_1","symbol":"BTC"}`).ok().text("status"))
		waiting := b.get("/accounts/acc_1/orders").ok()
		require.Equal(t, left, waiting.len("orders"), "what adds exposure is gone")
		require.Equal(t, left, waiting.len("runs"))
		require.Equal(t, 2-left, b.get("/accounts/acc_1/runs").ok().len("history"))
		held := b.get("/positions?accountId=acc_1").ok()
		require.Equal(t, left, held.len("positions"))
		if closed {
			continue
		}
		require.Equal(t, "3000", held.text("positions.0.stopLossPrice"))
		b.post("/positions/tpsl", `{"accountId":"acc_1","symbol":"ETH","stopLossPrice":3100}`).ok()
		b.post("/orders", eth).refused(403, "account_locked")
		b.post("/orders", with(reduce, `"reduceOnly":true`)).ok()
		sim.SetMark("ETH", "3050")
		require.Equal(t, "stop_loss", b.get("/trades?accountId=acc_1").ok().text("trades.0.orderType"), "its levels go on firing")
		require.Equal(t, "0", sim.Position("acc_1", "ETH").String())
	}
}
