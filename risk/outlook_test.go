package risk_test

import (
	"math/rand/v2"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/risk"
	"github.com/tradingapi/trading-go/tradingsim"
)

// What Preview says of the stop and of the target is what happens when the market
// goes there: the same equity to the last digit, and the same result of the trade,
// for orders that fill now and for limits that wait, on top of what is open or
// against it.
func TestOutlookIsWhatHappens(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	happened := map[string]int{}
	for range 600 {
		w := &world{Rand: random}
		r := newRig(t, []tradingsim.Option{
			tradingsim.WithMarket(tradingsim.Market{Symbol: "BTC", Price: w.number("20000", "90000", 1).String(), MaxLeverage: "5"}),
			tradingsim.WithMark("ETH", "3200"),
			tradingsim.WithAccount(tradingsim.Account{ID: "acc_1", Balance: "50000", ProfitTarget: "60000"}),
		})
		r.sim.Trade("acc_1", "long", "0.5", "ETH")
		f := r.inputs("BTC")
		market, _ := f.Market.Get()
		price, _ := market.Mark.Price()
		if random.IntN(3) > 0 { // something is open, at another price
			r.sim.Trade("acc_1", w.pick("long", "short"), w.number("0.001", "0.02", 4).String(), "BTC")
			price = w.near(price, 100)
			r.sim.SetMark("BTC", price.String())
			f = r.inputs("BTC")
		}
		o := trading.Order{Symbol: "BTC", Side: w.side(), Size: w.number("0.001", "0.09", 4), Leverage: dec("5")}
		fill, kind := price, "now"
		if random.IntN(2) == 0 {
			away := w.number("0.001", "0.02", 4)
			if o.Side == trading.Long {
				away = away.Neg()
			}
			fill, kind = price.Add(price.Mul(away)), "rest"
			o.LimitPrice, f.Method = trading.At(fill), risk.Resting()
		}
		sign := decimal.NewFromInt(1)
		if o.Side == trading.Short {
			sign = sign.Neg()
		}
		stop := fill.Sub(fill.Mul(w.number("0.001", "0.02", 4)).Mul(sign))
		target := fill.Add(fill.Mul(w.number("0.002", "0.02", 4)).Mul(sign))
		o.StopLoss, o.TakeProfit = trading.At(stop), trading.At(target)

		report := risk.Preview(o, f)
		if _, refused := report.Refused(); refused || !report.Opens.IsPositive() {
			continue
		}
		if kind == "rest" {
			_, err := r.live.PlaceLimit(t.Context(), o)
			require.NoError(t, err)
			r.sim.SetMark("BTC", fill.String())
		} else {
			_, err := r.live.PlaceOrder(t.Context(), o)
			require.NoError(t, err)
		}
		exit, net := stop, report.LossAtStop
		if random.IntN(2) == 0 {
			exit, net = target, report.GainAtTarget
		}
		r.sim.SetMark("BTC", exit.String()) // fires the trigger
		state, err := r.live.State(t.Context())
		require.NoError(t, err)
		trades, err := r.live.Trades(t.Context())
		require.NoError(t, err)
		dollars, ok := net.Get()
		require.True(t, ok)
		if exit.Equal(stop) {
			dollars = dollars.Neg()
			room, _ := state.LossRoom()
			require.True(t, report.RoomAfterStop.Equal(trading.Some(room)), "%s %s: room %s, Preview says %s", kind, report.Effect, room, report.RoomAfterStop)
		} else {
			gap, _ := state.TargetGap()
			gap = gap.Add(trading.TakerFee(dec("1600"))) // to close the other position
			require.True(t, report.GapAtTarget.Equal(trading.Some(gap)), "%s %s: gap %s, Preview says %s", kind, report.Effect, gap, report.GapAtTarget)
		}
		require.True(t, trades[0].NetPnL().Equal(dollars), "%s %s: %s, Preview says %s", kind, report.Effect, trades[0].NetPnL(), dollars)
		happened[kind+" "+string(report.Effect)]++
	}
	for _, kind := range []string{"now", "rest"} {
		for _, effect := range []risk.Effect{risk.Opens, risk.Adds, risk.Flips} {
			require.Greater(t, happened[kind+" "+string(effect)], 10, "%v", happened)
		}
	}
}
