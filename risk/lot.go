package risk

import (
	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

// quotientPlaces is where a quotient is cut. The contract names no rounding; the
// simulator cuts here too.
const quotientPlaces = 16

// lot is what is open in one market, by what it cost: a sum is exact where a
// blended price is not.
type lot struct {
	side trading.Side
	size decimal.Decimal // base units, positive
	cost decimal.Decimal // size × price of each part
	fees decimal.Decimal // of opening it
}

// lotOf takes a position for a lot. The entry price of a blended position is a
// rounded quotient; the unrealized PnL shows the cost exactly, and is believed if
// it gives the same entry. What the opening cost in fees is in no record: it is
// taken to have been the taker fee.
func lotOf(p trading.Position, open bool) lot {
	if !open {
		return lot{}
	}
	cost := p.Size.Mul(p.EntryPrice)
	mark, priced := p.Mark.Price()
	profit, given := p.UnrealizedPnL.Get()
	if priced && given && p.Size.IsPositive() {
		exact := p.Size.Mul(mark).Sub(signed(p.Side, profit))
		places := max(0, -p.EntryPrice.Exponent())
		if exact.DivRound(p.Size, places).Equal(p.EntryPrice) {
			cost = exact
		}
	}
	return lot{side: p.Side, size: p.Size, cost: cost, fees: trading.TakerFee(cost)}
}

// split takes a part of a lot away. Its cost goes in proportion, and what rounding
// leaves stays with the rest.
func (l lot) split(size decimal.Decimal) (part, rest lot) {
	switch {
	case !size.IsPositive():
		return lot{side: l.side}, l
	case size.GreaterThanOrEqual(l.size):
		return l, lot{side: l.side}
	}
	places := partPlaces(size, l.size.Sub(size))
	part = lot{
		side: l.side, size: size,
		cost: l.cost.Mul(size).DivRound(l.size, places),
		fees: l.fees.Mul(size).DivRound(l.size, places),
	}
	return part, lot{side: l.side, size: l.size.Sub(size), cost: l.cost.Sub(part.cost), fees: l.fees.Sub(part.fees)}
}

// partPlaces is where the cost of a part is cut, as the simulator does: however small
// the part is that stays, what was cut off must not move its entry price.
func partPlaces(part, rest decimal.Decimal) int32 {
	const guard = 4
	zeros := func(d decimal.Decimal) int32 { return -d.Exponent() - int32(d.NumDigits()) }
	return quotientPlaces + guard + max(0, zeros(part), zeros(rest))
}

// with adds to a lot.
func (l lot) with(size, cost, fee decimal.Decimal) lot {
	l.size, l.cost, l.fees = l.size.Add(size), l.cost.Add(cost), l.fees.Add(fee)
	return l
}

// entry is the blended price.
func (l lot) entry() decimal.Decimal {
	entry := l.cost.DivRound(l.size, quotientPlaces)
	// Without the zeros behind it: what is worked out from it has as many places.
	if short, err := decimal.NewFromString(entry.String()); err == nil {
		return short
	}
	return entry
}

// profit is before fees.
func (l lot) profit(price decimal.Decimal) decimal.Decimal {
	return signed(l.side, l.size.Mul(price).Sub(l.cost))
}

// net is what is left of the profit when everything is closed at a price, with
// the fees of both ways.
func (l lot) net(price decimal.Decimal) decimal.Decimal {
	return l.profit(price).Sub(l.fees).Sub(trading.TakerFee(l.size.Mul(price)))
}

// exposure is the size with the sign of the side.
func (l lot) exposure() decimal.Decimal { return signed(l.side, l.size) }
