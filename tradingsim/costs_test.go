package tradingsim_test

import (
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

// onePercent has takers pay a hundredth of the mark.
func onePercent(_, side string, _, mark decimal.Decimal) decimal.Decimal {
	if side == "long" {
		return mark.Mul(decimal.RequireFromString("1.01"))
	}
	return mark.Mul(decimal.RequireFromString("0.99"))
}

// Every fill of a taker is at the price of the option, and a resting order at its own.
func TestFillPrices(t *testing.T) {
	const live = `{"accountId":"a","symbol":"BTC","side":"long","size":1,"leverage":5}`
	second := func(s *tradingsim.Sim) { s.Advance(2 * time.Second) }
	for name, c := range map[string]struct {
		paper bool
		do    func(b bot, s *tradingsim.Sim)
		want  []string
	}{
		"an order and a close": {do: func(b bot, _ *tradingsim.Sim) {
			b.post("/orders", live).ok()
			b.post("/positions/close", `{"accountId":"a","symbol":"BTC"}`).ok()
		}, want: []string{"101", "99"}},
		"on the paper account": {paper: true, do: func(b bot, _ *tradingsim.Sim) {
			b.post("/sandbox/orders", `{"symbol":"BTC","side":"short","size":1}`).ok()
			b.post("/sandbox/positions/close", `{"symbol":"BTC"}`).ok()
		}, want: []string{"99", "101"}},
		"a level that fires": {do: func(b bot, s *tradingsim.Sim) {
			b.post("/orders", with(live, `"stopLossPrice":95`)).ok()
			s.SetMark("BTC", "90")
			second(s)
		}, want: []string{"101", "89.1"}},
		"a resting limit": {do: func(b bot, s *tradingsim.Sim) {
			b.post("/orders/limit", with(live, `"limitPrice":98`)).ok()
			s.SetMark("BTC", "97")
			second(s)
		}, want: []string{"98"}},
		"a conditional order": {do: func(b bot, s *tradingsim.Sim) {
			b.post("/orders/conditional", with(live, `"triggerPrice":110`)).ok()
			s.SetMark("BTC", "111")
			second(s)
		}, want: []string{"112.11"}},
		"a swarm": {do: func(b bot, s *tradingsim.Sim) {
			b.post("/orders/swarm", with(live, `"totalOrders":2`)).ok()
			s.Advance(5 * time.Second)
		}, want: []string{"101", "101"}},
		"by hand": {do: func(_ bot, s *tradingsim.Sim) { s.Trade("a", "long", "1", "BTC") }, want: []string{"101"}},
	} {
		t.Run(name, func(t *testing.T) {
			sim := timed(tradingsim.WithFillPrices(onePercent))
			b := liveBot(t, sim)
			if c.paper {
				b = sandboxBot(t, sim)
			}
			c.do(b, sim)
			var got []string
			for _, e := range sim.Ledger() {
				if e.Filled {
					got = append(got, e.Price.String())
				}
			}
			require.Equal(t, c.want, got)
		})
	}
}

// What an order says of its price is held against the price of its fill.
func TestFillPricesAndTheBoundsOfAnOrder(t *testing.T) {
	sim := timed(tradingsim.WithFillPrices(onePercent))
	b := liveBot(t, sim)
	const order = `{"accountId":"a","symbol":"BTC","side":"long","size":1,"leverage":5}`
	b.post("/orders", with(order, `"orderType":"limit","limitPrice":100.5`)).refused(400, "NOT_MARKETABLE")
	b.post("/orders", with(order, `"orderType":"limit","limitPrice":101`)).ok()
	b.post("/orders", with(order, `"maxSlippagePct":0.5`)).refused(409, "MAX_SLIPPAGE")
	b.post("/orders", with(order, `"maxSlippagePct":1`)).ok()
}

// Longs pay shorts at the hour, on the notional at the mark, and before a request of the hour.
func TestFunding(t *testing.T) {
	hour := func(n int) time.Time { return bubbleStart.Add(time.Duration(n) * time.Hour) }
	rate := decimal.RequireFromString
	sim := timed(tradingsim.WithFunding("BTC",
		tradingsim.FundingRate{At: hour(-1), Rate: rate("1")}, tradingsim.FundingRate{At: hour(1), Rate: rate("0.001")},
		tradingsim.FundingRate{At: hour(2), Rate: rate("-0.002")}, tradingsim.FundingRate{At: hour(3), Rate: rate("0.5")}))
	live, paper := liveBot(t, sim), sandboxBot(t, sim)
	live.post("/orders", `{"accountId":"a","symbol":"BTC","side":"long","size":2,"leverage":5}`).ok()
	paper.post("/sandbox/orders", `{"symbol":"BTC","side":"short","size":1}`).ok()
	sim.Advance(90 * time.Minute)
	sim.SetMark("BTC", "50")
	sim.Advance(30 * time.Minute)
	live.post("/positions/close", `{"accountId":"a","symbol":"BTC"}`).ok()
	paper.post("/sandbox/positions/close", `{"symbol":"BTC"}`).ok()
	sim.Advance(2 * time.Hour)
	for id, want := range map[string][]string{"a": {"-0.2", "0.2"}, "": {"0.1", "-0.1"}} {
		a := accountOf(t, sim, id)
		var got []string
		for i, p := range a.Payments {
			require.Equal(t, hour(i+1), p.At)
			got = append(got, p.Amount.String())
		}
		require.Equal(t, want, got, id)
		require.Equal(t, "0", a.Funding.String())
		gross := decimal.Zero
		for _, one := range a.Trades {
			gross = gross.Add(one.GrossPnL)
		}
		require.Equal(t, a.Balance.String(), a.Opening.Add(gross).Sub(a.Fees).Add(a.Funding).String())
	}
	require.Empty(t, accountOf(t, sim, "b").Payments)
	require.Equal(t, 2, live.get("/accounts/a/funding").len("funding"))
}
