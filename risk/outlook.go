package risk

import (
	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

// outlook works out how the position afterwards would end, at its stop and at its
// target.
func (p *preview) outlook() {
	after, ok := p.After.Get()
	if !ok {
		return
	}
	if exit, ok := trading.BreakEven(after.Side, after.EntryPrice); ok {
		p.BreakEven = trading.Some(exit)
	}
	if stop, ok := after.StopLoss.Value(); ok {
		p.LossAtStop = trading.Some(p.after.net(stop).Neg())
		if equity, ok := p.equityAt(stop); ok {
			p.RoomAfterStop = p.room(equity)
		}
	}
	if target, ok := after.TakeProfit.Value(); ok {
		p.GainAtTarget = trading.Some(p.after.net(target))
		if equity, ok := p.equityAt(target); ok {
			p.GapAtTarget = p.gap(equity)
		}
	}
}

// equityAt is the account's equity when the order has filled and the position was
// then closed at a price, while nothing else moved.
func (p *preview) equityAt(exit decimal.Decimal) (equity decimal.Decimal, ok bool) {
	if p.f.State == nil {
		return decimal.Decimal{}, false
	}
	fee, _ := p.Fee.Get()
	moved := p.after.exposure().Mul(exit.Sub(p.price))
	if p.open {
		// An order that rests fills where the market is not yet.
		mark, priced, _ := p.f.mark(p.o.Symbol)
		if !priced {
			return decimal.Decimal{}, false
		}
		moved = moved.Add(p.held.Signed().Mul(p.price.Sub(mark)))
	}
	leaving := trading.TakerFee(p.after.size.Mul(exit))
	return p.f.State.Equity.Add(moved).Sub(fee).Sub(leaving), true
}

// room is how far an equity is above the higher floor.
func (p *preview) room(equity decimal.Decimal) (room trading.Opt[decimal.Decimal]) {
	at := *p.f.State
	at.Equity = equity
	if above, known := at.LossRoom(); known {
		room = trading.Some(above)
	}
	return room
}

// gap is how far an equity is below the profit target, once the fees of closing
// everything else are deducted.
func (p *preview) gap(equity decimal.Decimal) (gap trading.Opt[decimal.Decimal]) {
	target, ok := p.f.State.ProfitTarget.Get()
	positions, known := p.f.Positions.Get()
	if !ok || !known {
		return gap
	}
	for _, other := range positions {
		if other.Symbol == p.o.Symbol {
			continue
		}
		notional, ok := other.Notional.Get()
		if !ok {
			return gap
		}
		equity = equity.Sub(trading.TakerFee(notional))
	}
	return trading.Some(target.Sub(equity))
}
