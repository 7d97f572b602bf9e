package tradingsim_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

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
