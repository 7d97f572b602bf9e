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
	for name, c := range map[string]struct {
		paper bool
		steps []string // a path and its body, or what happens and how much
		want  []string
	}{
		"an order and a close": {false, []string{"/orders", live, "/positions/close", `{"accountId":"a","symbol":"BTC"}`}, []string{"101", "99"}},
		"on the paper account": {true, []string{"/sandbox/orders", `{"symbol":"BTC","side":"short","size":1}`, "/sandbox/positions/close", `{"symbol":"BTC"}`}, []string{"99", "101"}},
		"a level that fires":   {false, []string{"/orders", with(live, `"stopLossPrice":95`), "mark", "90", "wait", "2s"}, []string{"101", "89.1"}},
		"a resting limit":      {false, []string{"/orders/limit", with(live, `"limitPrice":98`), "mark", "97", "wait", "2s"}, []string{"98"}},
		"a limit at the mark":  {false, []string{"/orders/limit", with(live, `"limitPrice":100`), "wait", "2s", "mark", "99.5", "wait", "2s"}, nil},
		"and once it pays":     {false, []string{"/orders/limit", with(live, `"limitPrice":100`), "wait", "2s", "mark", "99", "wait", "2s"}, []string{"100"}},
		"a ladder at the mark": {false, []string{"/orders/ladder", with(live, `"startPrice":100,"endPrice":99,"totalOrders":2`), "wait", "2s", "mark", "99", "wait", "2s"}, []string{"100"}},
		"a conditional order":  {false, []string{"/orders/conditional", with(live, `"triggerPrice":110`), "mark", "111", "wait", "2s"}, []string{"112.11"}},
		"a swarm":              {false, []string{"/orders/swarm", with(live, `"totalOrders":2`), "wait", "5s"}, []string{"101", "101"}},
		"by hand":              {false, []string{"trade", "1"}, []string{"101"}},
	} {
		t.Run(name, func(t *testing.T) {
			sim := timed(tradingsim.WithFillPrices(onePercent))
			b := liveBot(t, sim)
			if c.paper {
				b = sandboxBot(t, sim)
			}
			for i := 0; i < len(c.steps); i += 2 {
				switch step, what := c.steps[i], c.steps[i+1]; step {
				case "mark":
					sim.SetMark("BTC", what)
				case "wait":
					d, err := time.ParseDuration(what)
					require.NoError(t, err)
					sim.Advance(d)
				case "trade":
					sim.Trade("a", "long", what, "BTC")
				default:
					b.post(step, what).ok()
				}
			}
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
