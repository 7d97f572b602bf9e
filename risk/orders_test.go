package risk_test

import (
	"context"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/risk"
)

// attempt is an order, how it is placed, and what of it Preview cannot know.
type attempt struct {
	order    trading.Order
	method   risk.Method
	what     string
	place    func(ctx context.Context, a *trading.Account, o trading.Order) (*trading.OrderResult, error)
	offRange bool // a number of a Pro order that the contract gives no range for
}

// via places an order by a method of its own, which does not fill now.
func via(how trading.Pro) func(context.Context, *trading.Account, trading.Order) (*trading.OrderResult, error) {
	return func(ctx context.Context, acct *trading.Account, o trading.Order) (*trading.OrderResult, error) {
		_, err := acct.PlacePro(ctx, o, how)
		return nil, err
	}
}

// attempt makes an order that is mostly sensible, with at most a few mistakes.
func (w *world) attempt() attempt {
	symbol := w.symbols[w.IntN(len(w.symbols))]
	price, ok := w.markets[symbol].Mark.Price()
	if !ok {
		price = dec("100")
	}
	o := trading.Order{Symbol: symbol, Side: w.side(), Size: w.size(symbol, price)}
	o.Leverage = dec(w.pick("1", "2", "2", "3", "5", "10", "0.5", "1.5"))
	if w.env == trading.EnvSandbox && w.IntN(8) == 0 {
		o.Leverage = decimal.Zero
	}
	if w.env == trading.EnvLive && w.IntN(6) == 0 {
		o.ReduceOnly = true
	}
	if w.IntN(4) == 0 {
		o.Type, o.LimitPrice = trading.LimitOrder, trading.At(w.near(price, 60))
	}
	if w.IntN(3) == 0 {
		o.StopLoss = trading.At(w.level(o.Side.Opposite(), price))
	}
	if w.IntN(3) == 0 {
		o.TakeProfit = trading.At(w.level(o.Side, price))
	}
	if w.IntN(5) == 0 {
		o.ExpectedPrice = trading.At(w.near(price, 80))
	}
	if w.IntN(6) == 0 {
		o.MaxSlippagePct = trading.Some(dec(w.pick("0.1", "0.5", "2", "8", "30", "0.5", "1.0")))
	}
	a := attempt{order: o, what: "now"}
	if w.env == trading.EnvLive && w.IntN(5) < 2 {
		w.another(&a, price)
	}
	if w.IntN(9) == 0 {
		w.spoil(&a.order)
	}
	return a
}

// size is worth a little, something, or about as much as a cap allows; or it is
// just what is open.
func (w *world) size(symbol string, price decimal.Decimal) decimal.Decimal {
	held, open := w.positions.In(symbol)
	equity := w.state.Equity.Abs()
	switch w.IntN(12) {
	case 0:
		return w.sizeFor(w.number("1", "15", 2), price, 8)
	case 1, 2: // just the minimum, where the price divides it
		if size := decimal.NewFromInt(10).DivRound(price, 12); size.IsPositive() && w.IntN(3) == 0 {
			return size
		}
		return w.sizeFor(w.number("9.5", "10.5", 3), price, 8)
	case 3:
		return w.sizeFor(equity.Mul(w.number("0.3", "6", 3)), price, 6)
	case 4:
		return w.sizeFor(equity.Mul(w.number("0.7", "2.6", 3)), price, 4)
	case 5: // exactly a cap
		if size := equity.Mul(dec(perPosition)).DivRound(price, 12); size.IsPositive() {
			return size
		}
	case 6, 7:
		if open {
			return held.Size
		}
	case 8:
		if open {
			return held.Size.Mul(w.number("0.2", "0.999", 3)).Round(6).Add(decimal.New(1, -6))
		}
	case 9: // flips
		if open {
			return held.Size.Mul(w.number("1.001", "9", 3)).Round(6)
		}
	}
	return w.sizeFor(w.number("11", "900", 2), price, 6)
}

// level is a price on a side of another, at it, or now and then on the wrong side.
func (w *world) level(side trading.Side, price decimal.Decimal) decimal.Decimal {
	away := decimal.New(w.Int64N(250), -4)
	if w.IntN(12) == 0 {
		away = away.Neg()
	}
	if side == trading.Short {
		away = away.Neg()
	}
	return price.Add(price.Mul(away))
}

// another is one of the methods in which a live order need not fill now.
func (w *world) another(a *attempt, price decimal.Decimal) {
	duration := time.Duration(1+w.IntN(20)) * time.Minute
	switch w.IntN(40) {
	case 0:
		duration, a.offRange = 10*time.Second, true
	case 1:
		duration = 0
	}
	count := 2 + w.IntN(12)
	switch w.IntN(40) {
	case 0:
		count, a.offRange = 60, true
	case 1:
		count = -w.IntN(2)
	}
	clips := int(duration / (30 * time.Second))
	bound := trading.Level{}
	if w.IntN(3) == 0 {
		bound = trading.At(w.near(price, 100))
	}
	switch w.IntN(9) {
	case 0, 1, 2:
		a.what, a.method = "rest", risk.Resting()
		if w.IntN(10) > 0 {
			a.order.LimitPrice = trading.At(w.near(price, 150))
		}
		a.place = func(ctx context.Context, acct *trading.Account, o trading.Order) (*trading.OrderResult, error) {
			_, err := acct.PlaceLimit(ctx, o)
			return nil, err
		}
	case 3:
		how := trading.Conditional{Trigger: w.near(price, 30)}
		if w.IntN(2) == 0 {
			a.order.Type = trading.LimitOrder
		}
		if w.IntN(4) > 0 { // as the kind wants it
			a.order.LimitPrice = trading.Level{}
			if a.order.Type == trading.LimitOrder {
				a.order.LimitPrice = trading.At(w.near(price, 30))
			}
		}
		if w.IntN(30) == 0 {
			how.Trigger = decimal.Zero
		}
		a.what, a.method = "conditional", risk.Conditional(how)
		a.place = via(how)
	case 4, 5:
		how := trading.Ladder{From: w.near(price, 300), To: w.near(price, 300), Rungs: count}
		if w.IntN(30) == 0 {
			how.To = decimal.Zero
		}
		a.what, a.method, a.offRange = "ladder", risk.Ladder(how), count > 50
		a.place = via(how)
	case 6:
		how := trading.TWAP{Duration: duration}
		a.what, a.method, a.offRange = "twap", risk.TWAP(how, clips), clips < 2
		a.place = via(how)
	case 7:
		how := trading.Swarm{Orders: count}
		a.what, a.method, a.offRange = "swarm", risk.Swarm(how), count > 50
		a.place = via(how)
	default:
		if w.IntN(2) == 0 {
			how := trading.Chase{To: bound}
			a.what, a.method, a.offRange = "chase", risk.Chase(how), false
			a.place = via(how)
			return
		}
		how := trading.ChaseTWAP{Duration: duration, To: bound}
		a.what, a.method, a.offRange = "chase-twap", risk.ChaseTWAP(how, clips), clips < 2
		a.place = via(how)
	}
}

// spoil makes a mistake.
func (w *world) spoil(o *trading.Order) {
	switch w.IntN(16) {
	case 0:
		o.Symbol = w.pick("", "NOPE", "NOPE", "btc")
	case 1:
		o.Side = trading.Side(w.pick("buy", "", "LONG"))
	case 2:
		o.Size = dec(w.pick("0", "-1", "-0.001"))
	case 3:
		o.Leverage = dec(w.pick("0", "-1", "-0.5"))
	case 4, 5:
		o.MaxSlippagePct = trading.Some(dec(w.pick("0", "0.05", "0.25", "30.1", "-1", "100")))
	case 6:
		o.TakeProfit = trading.At(dec(w.pick("0", "-5")))
	case 7:
		o.StopLoss = trading.At(dec(w.pick("0", "-5")))
	case 8:
		o.StopLoss = trading.Clear
	case 9:
		o.Type, o.LimitPrice = trading.LimitOrder, trading.Level{}
	case 10:
		o.Type, o.LimitPrice = trading.MarketOrder, trading.At(dec("1"))
	case 11:
		o.LimitPrice = trading.At(dec(w.pick("0", "-2")))
	case 12:
		o.ExpectedPrice = trading.At(dec(w.pick("0", "-3")))
	case 13:
		o.TakeProfit, o.StopLoss = o.StopLoss, o.TakeProfit
	case 14:
		o.Type = trading.OrderType(7)
	default:
		o.ReduceOnly = !o.ReduceOnly
	}
}
