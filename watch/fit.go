package watch

import (
	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

// mostGone bounds how many limits of one market are explained at once: all their subsets are
// tried.
const mostGone = 8

// fillOf is what is known of one fill.
type fillOf struct {
	price decimal.Decimal
	fee   trading.Opt[decimal.Decimal]
}

// move is what happened to a position between two shots.
type move struct {
	was, is     decimal.Decimal // sizes, of a short negative
	wasAt, isAt decimal.Decimal // entry prices
	rows        []trading.Trade // closed trades that are new, and may be of the market
	balance     decimal.Decimal // by how much it moved
	places      int32           // of the balance
	whole       bool            // the new trades are all shown
}

func moveOf(symbol string, before, after shot) move {
	m := move{balance: after.balance.Sub(before.balance), places: max(-after.balance.Exponent(), -before.balance.Exponent())}
	if p, open := before.positions.In(symbol); open {
		m.was, m.wasAt = p.Signed(), p.EntryPrice
	}
	if p, open := after.positions.In(symbol); open {
		m.is, m.isAt = p.Signed(), p.EntryPrice
	}
	m.rows, m.whole = newTrades(symbol, before.trades, after.trades)
	return m
}

// newTrades are the trades that a list has in front of an earlier one, and that are of a market
// or show none. whole is false where that cannot be known.
func newTrades(symbol string, before, after []trading.Trade) (rows []trading.Trade, whole bool) {
	n := len(after)
	if len(before) > 0 {
		n = -1
		for i := range after {
			if begins(after[i:], before) {
				n = i
				break
			}
		}
	}
	if n < 0 {
		return nil, false
	}
	for _, t := range after[:n] {
		if t.Symbol == "" || t.Symbol == symbol {
			rows = append(rows, t)
		}
	}
	return rows, true
}

// begins reports whether one list begins another, as far as both go.
func begins(list, other []trading.Trade) bool {
	for i := range min(len(list), len(other)) {
		if !list[i].Equal(other[i]) {
			return false
		}
	}
	return len(list) > 0
}

// quiet reports whether nothing was traded in a market between two shots.
func quiet(symbol string, before, after shot) bool {
	m := moveOf(symbol, before, after)
	return m.was.Equal(m.is) && m.wasAt.Equal(m.isAt) && m.whole && len(m.rows) == 0
}

// fit finds the limits, by their places in the list, that together moved the position as it
// moved. ok is false if there are none, or if others could have.
func fit(symbol string, before, after shot, gone []goneLimit) (fills map[int]fillOf, ok bool) {
	m := moveOf(symbol, before, after)
	for subset := 1; subset < 1<<len(gone); subset++ {
		var all []int
		moved := decimal.Zero
		for i, g := range gone {
			if subset&(1<<i) != 0 {
				all = append(all, i)
				moved = moved.Add(towards(g.order.Side, g.size))
			}
		}
		if !m.was.Add(moved).Equal(m.is) {
			continue
		}
		found, allowed := m.fills(gone, all)
		if !allowed {
			continue
		}
		if ok {
			return nil, false // either could have
		}
		fills, ok = found, true
	}
	return fills, ok
}

func towards(side trading.Side, size decimal.Decimal) decimal.Decimal {
	if side == trading.Short {
		return size.Neg()
	}
	return size
}

// fills is what is known of limits that were filled, and whether prices and balance allow it: each at
// its own limit; or one at a better price, of which the balance shows the fee.
func (m move) fills(gone []goneLimit, all []int) (fills map[int]fillOf, allowed bool) {
	if !m.whole || m.adds() != (len(m.rows) == 0) {
		return nil, false // something was closed, or a close has to show yet
	}
	prices := make([]decimal.Decimal, len(all))
	atLimits := true
	for i, at := range all {
		prices[i], _ = gone[at].order.LimitPrice.Get()
	}
	switch price, shown := m.price(); {
	case shown && len(all) == 1:
		if !within(gone[all[0]].order.Side, price, prices[0]) {
			return nil, false
		}
		atLimits = price.Equal(prices[0])
		prices[0] = price
	case !m.atTheirLimits(gone, all):
		return nil, false
	}
	fees, taken := m.fees(gone, all, prices)
	if taken || fees == nil && !atLimits {
		return nil, false
	}
	fills = make(map[int]fillOf, len(all))
	for i, at := range all {
		f := fillOf{price: prices[i]}
		if fees != nil {
			f.fee = trading.Some(fees[i])
		}
		fills[at] = f
	}
	return fills, true
}

// adds reports whether a move goes away from no position, or further on its side.
func (m move) adds() bool { return m.is.Sub(m.was).Sign()*m.was.Sign() >= 0 }

// price is what everything was traded at, where that shows: the entry of a position that was
// opened, the exit of the one that was closed or flipped.
func (m move) price() (price decimal.Decimal, shown bool) {
	switch {
	case m.was.IsZero():
		return m.isAt, !m.is.IsZero()
	case m.adds(), len(m.rows) != 1, m.rows[0].Cause != trading.CauseMarket:
		return price, false
	}
	exit := m.rows[0].ExitPrice
	if m.is.Sign()*m.was.Sign() < 0 && !m.isAt.Equal(exit) {
		return price, false // what was opened beyond the close has another price
	}
	return exit, true
}

// within reports whether a limit allows a price: a buy fills at its limit or below.
func within(side trading.Side, price, limit decimal.Decimal) bool {
	if side == trading.Short {
		return !price.LessThan(limit)
	}
	return !price.GreaterThan(limit)
}

// blends reports whether the entry price is that of the position before and an amount more, to
// the places that it shows.
func (m move) blends(paid decimal.Decimal) bool {
	places := max(-m.isAt.Exponent(), 0)
	entry := m.was.Abs().Mul(m.wasAt).Add(paid).DivRound(m.is.Abs(), places+2)
	return entry.Sub(m.isAt).Abs().LessThanOrEqual(decimal.New(1, -places))
}

// atTheirLimits reports whether the entry moved as several limits of one side, each at its own price,
// would move it.
func (m move) atTheirLimits(gone []goneLimit, all []int) bool {
	paid := decimal.Zero
	for _, at := range all {
		g := gone[at]
		if g.order.Side != gone[all[0]].order.Side {
			return false
		}
		limit, _ := g.order.LimitPrice.Get()
		paid = paid.Add(g.size.Mul(limit))
	}
	return m.adds() && m.blends(paid)
}

// fees are what each limit paid, where the balance moved by what the contract takes of makers.
// taken says that it moved by what takers pay: that was no resting limit.
func (m move) fees(gone []goneLimit, all []int, prices []decimal.Decimal) (fees []decimal.Decimal, taken bool) {
	moved := m.balance
	if !m.adds() {
		moved = moved.Sub(m.rows[0].GrossPnL) // there is one, or nothing was closed
	}
	made, took := decimal.Zero, decimal.Zero
	for i, at := range all {
		notional := gone[at].size.Mul(prices[i])
		fees = append(fees, trading.MakerFee(notional))
		made, took = made.Add(fees[i]), took.Add(trading.TakerFee(notional))
	}
	near := func(fee decimal.Decimal) bool { return moved.Add(fee).Abs().LessThanOrEqual(decimal.New(1, -m.places)) }
	switch {
	case near(made) && near(took): // too little to say
		return nil, false
	case near(made):
		return fees, false
	}
	return nil, near(took)
}
