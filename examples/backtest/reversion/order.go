package reversion

import (
	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

var (
	hundred = decimal.NewFromInt(100)
	// minNotional is the least order value in dollars.
	minNotional = decimal.NewFromInt(10)
	// sizePlaces is how finely sizes are cut.
	sizePlaces int32 = 4
)

// order is the bet at a price; ok is false where there is nothing to be won: the mean
// is nearer than the fees, or the stake is too small to trade.
func (r *run) order(price, equity decimal.Decimal) (o trading.Order, ok bool) {
	places := pricePlaces(price)
	target := r.mean.value().Round(places)
	o = trading.Order{Symbol: r.Symbol, Side: trading.Long, Leverage: decimal.NewFromInt(2), TakeProfit: trading.At(target), ExpectedPrice: trading.At(price)}
	away := price.Mul(r.StopPct).DivRound(hundred, places)
	stop := price.Sub(away)
	if price.GreaterThan(target) {
		o.Side, stop = trading.Short, price.Add(away)
	}
	o.StopLoss = trading.At(stop)

	// What one unit pays in fees, in and out.
	fees := trading.TakerFee(price).Add(trading.TakerFee(stop))
	if target.Sub(price).Abs().LessThanOrEqual(fees) {
		return o, false
	}
	stake := equity.Mul(r.RiskPct).DivRound(hundred, 8)
	o.Size = stake.DivRound(away.Add(fees), sizePlaces+4)
	if largest := equity.Mul(r.MaxNotional).DivRound(price, sizePlaces+4); o.Size.GreaterThan(largest) {
		o.Size = largest
	}
	o.Size = o.Size.Truncate(sizePlaces)
	return o, o.Size.Mul(price).GreaterThan(minNotional)
}

// pricePlaces keeps six digits of a price, and at least two after the point.
func pricePlaces(price decimal.Decimal) int32 {
	before := int32(price.NumDigits()) + price.Exponent()
	return max(2, 6-before)
}
