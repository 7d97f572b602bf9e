package protect

import (
	"slices"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/risk"
)

// layer is a part of what may be held in a market, that came or will come by one order.
type layer struct {
	size  decimal.Decimal // positive
	price decimal.Decimal // that it is or will be held at
	loss  decimal.Decimal // of one unit, from now to its exit, the fee of the exit included
}

// exitLoss is what one unit loses from a price until it is out: to its stop and a shock
// beyond it, but never more than the gap, which is also what it loses without a stop, or
// with one that the price has passed.
//
// A stop in profit is no exception: the equity that counts now includes the profit
// that would be given back.
func exitLoss(side trading.Side, price decimal.Decimal, stop trading.Level, b bounds) decimal.Decimal {
	loss := price.Mul(b.gap)
	if distance, ok := risk.ToStop(side, price, stop); ok && distance.IsPositive() {
		loss = decimal.Min(loss, distance.Add(price.Mul(b.shock)))
	}
	return loss.Add(trading.TakerFee(price))
}

// book is one market on an account: what is held, and what may be bought or sold by
// writes whose end is not known, by orders that rest, and by runs.
type book struct {
	holding
	buys, sells []layer
	// bought and sold are what exits whose end is not known may have taken of a short and
	// of a long: an opposite order then opens more than it seems.
	bought, sold decimal.Decimal
}

// end is the book at one end of its range: if all of one side is carried out, and nothing
// of the other.
type end struct {
	size     decimal.Decimal // less than zero is short
	notional decimal.Decimal
	loss     decimal.Decimal
}

// fill takes of the layers what is left after an opposite size is gone. Which of them
// would be left is not known, so those that lose the most are.
func fill(layers []layer, against decimal.Decimal) (e end) {
	total := decimal.Zero
	for _, l := range layers {
		total = total.Add(l.size)
	}
	left := total.Sub(against)
	if !left.IsPositive() {
		return end{}
	}
	e.size = left
	layers = slices.Clone(layers)
	slices.SortStableFunc(layers, func(a, b layer) int { return b.loss.Cmp(a.loss) })
	for _, l := range layers {
		part := decimal.Min(l.size, left)
		e.notional = e.notional.Add(part.Mul(l.price))
		e.loss = e.loss.Add(part.Mul(l.loss))
		if left = left.Sub(part); left.IsZero() {
			break
		}
	}
	return e
}

// ends are the book at both ends.
func (b *book) ends() (long, short end) {
	buys, sells := b.buys, b.sells
	held := b.size.Abs()
	own := layer{size: held, price: b.mark, loss: exitLoss(b.side(), b.mark, b.stop, b.bounds)}
	switch b.size.Sign() {
	case 1:
		return fill(append(slices.Clone(buys), own), decimal.Zero), negative(fill(sells, decimal.Max(held.Sub(b.sold), decimal.Zero)))
	case -1:
		return fill(buys, decimal.Max(held.Sub(b.bought), decimal.Zero)), negative(fill(append(slices.Clone(sells), own), decimal.Zero))
	default:
		return fill(buys, decimal.Zero), negative(fill(sells, decimal.Zero))
	}
}

func negative(e end) end {
	e.size = e.size.Neg()
	return e
}

// exposure is the worst that an account may hold and lose, over all of its books. No
// market makes up for another.
type exposure struct {
	loss   decimal.Decimal            // until everything is out
	fees   decimal.Decimal            // of what is not filled yet
	gross  decimal.Decimal            // notional
	shocks decimal.Decimal            // what a shock in each market takes
	value  map[string]decimal.Decimal // by market, with a sign: for the variance
}

// worstOf adds the worse ends up.
func worstOf(books []book) exposure {
	x := exposure{value: make(map[string]decimal.Decimal, len(books))}
	for i := range books {
		b := &books[i]
		for _, side := range [][]layer{b.buys, b.sells} {
			for _, l := range side {
				x.fees = x.fees.Add(trading.TakerFee(l.size.Mul(l.price)))
			}
		}
		long, short := b.ends()
		x.loss = x.loss.Add(decimal.Max(long.loss, short.loss))
		larger, value := long, long.notional
		if short.notional.GreaterThan(long.notional) {
			larger, value = short, short.notional.Neg()
		}
		x.gross = x.gross.Add(larger.notional)
		x.shocks = x.shocks.Add(larger.notional.Mul(b.shock))
		x.value[b.symbol] = value
	}
	return x
}

// judged is what an entry was judged by, in dollars.
type judged struct {
	room decimal.Decimal // above the floor, now
	left decimal.Decimal // of it, when the worst has happened
	keep decimal.Decimal // what has to be left
	need decimal.Decimal // of room by the loop, after the entry
}

// judgeEntry judges an exposure that the entry is part of.
func judgeEntry(room, keep decimal.Decimal, x exposure, variance decimal.Decimal) (j judged, ok bool) {
	j = judged{room: room, keep: keep}
	j.left = room.Sub(x.fees).Sub(x.loss)
	j.need = needOf(x.gross, x.shocks, variance, shortest).Mul(entryNeed)
	return j, j.left.GreaterThanOrEqual(keep) && room.Sub(x.fees).GreaterThanOrEqual(j.need)
}
