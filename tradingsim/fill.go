package tradingsim

import "github.com/shopspring/decimal"

// intent is what an order would do to a book.
type intent struct {
	ticket
	market   *market
	price    decimal.Decimal
	mark     decimal.Decimal // what price was made of; set by take
	leverage decimal.Decimal // after the clamp
	reduce   decimal.Decimal // what closes an opposite position
	add      decimal.Decimal // what opens or adds
	parts    bool            // it trades in parts, each of which is worth enough
}

// plan nets an order against the position it meets: the excess of an opposite
// order opens the other side.
func (s *Sim) plan(b *book, t ticket, m *market, price decimal.Decimal) intent {
	if !t.leverage.set {
		t.leverage = s.defaultLeverage
	}
	in := intent{ticket: t, market: m, price: price, add: t.size, leverage: clamp(t.leverage, m.maxLeverage)}
	p := b.find(t.symbol)
	if p == nil {
		return in
	}
	if p.side == t.side {
		if s.other(27) {
			in.leverage = p.leverage
		}
		return in
	}
	in.reduce, in.add = s.net(t, p)
	if s.other(15) {
		in.reduce, in.add = p.size, t.size
	}
	if t.reduceOnly {
		in.reduce, in.add = decimal.Min(t.size, p.size), decimal.Zero
	}
	return in
}

// net is what an order closes of an opposite position, and what of it opens the other side.
// Sizes count to the last digit: whoever orders more than is open by however little opens that.
func (s *Sim) net(t ticket, p *position) (reduce, add decimal.Decimal) {
	reduce = decimal.Min(t.size, p.size)
	add = t.size.Sub(reduce)
	if s.other(57) {
		add = add.Truncate(sizePlaces)
	}
	return reduce, add
}

// adds reports whether an order would open or add to a position.
func (s *Sim) adds(b *book, t ticket) bool {
	p := b.find(t.symbol)
	switch {
	case t.reduceOnly:
		return false
	case p == nil, p.side == t.side, s.other(15):
		return true
	}
	_, add := s.net(t, p)
	return add.IsPositive()
}

// judgeLevels judges an order's triggers against the price that it opens at. An order
// that opens nothing ignores them.
func (in *intent) judgeLevels(b *book, entry decimal.Decimal) *refusal {
	if in.add.IsZero() {
		return nil
	}
	l := levels{takeProfit: in.takeProfit, stopLoss: in.stopLoss, judgeTP: in.takeProfit.set, judgeSL: in.stopLoss.set}
	l.waits = !entry.Equal(in.price)
	if p := b.find(in.symbol); p != nil && p.side == in.side {
		if !l.judgeTP {
			l.takeProfit = p.takeProfit
		}
		if !l.judgeSL {
			l.stopLoss = p.stopLoss
		}
	}
	return l.check(in.side, entry)
}

// execute fills an order. The fee is this order's own: both legs of a flip.
func (s *Sim) execute(b *book, in intent, feeRate decimal.Decimal) (fee decimal.Decimal) {
	if in.reduce.IsPositive() {
		fee = b.close(in.symbol, in.reduce, in.price, feeRate, causeMarket, s.now).closeFee
	}
	if in.add.IsPositive() {
		fee = fee.Add(b.open(in.symbol, in.side, in.add, in.price, in.leverage, feeRate, s.now))
		p := b.find(in.symbol)
		if in.takeProfit.set {
			p.takeProfit = in.takeProfit
		}
		if in.stopLoss.set {
			p.stopLoss = in.stopLoss
		}
	}
	return fee
}

// mark is the fresh mark of a symbol.
func (s *Sim) mark(symbol string) opt {
	m, ok := s.markets[symbol]
	if !ok {
		return opt{}
	}
	return m.markAt(s.now)
}

// priceErrors stand in the way of closes too.
var priceErrors = map[string]bool{"STALE_PRICE": true, "NO_PRICE": true, "no_price": true}

// priceFor takes the fresh mark that a fill happens at.
func (s *Sim) priceFor(m *market, closing bool) (decimal.Decimal, *refusal) {
	if m.fillError != "" && (!closing || priceErrors[m.fillError]) {
		return decimal.Decimal{}, refuse(m.fillError, "%s", fillErrorMessage(m)).with("symbol", m.symbol)
	}
	mark := m.markAt(s.now)
	if mark.set && m.staleAt(s.now) {
		return decimal.Decimal{}, refuse("STALE_PRICE", "The reference price of %s is too old to fill at; retry shortly.", m.symbol).with("symbol", m.symbol)
	}
	if mark.set {
		return mark.value, nil
	}
	code := "no_price"
	if s.other(16) {
		code = "NO_PRICE"
	}
	return decimal.Decimal{}, refuse(code, "%s has no price at the moment; retry shortly.", m.symbol).with("symbol", m.symbol)
}

func fillErrorMessage(m *market) string {
	switch m.fillError {
	case "STALE_PRICE":
		return "The reference price of " + m.symbol + " is too old to fill at; retry shortly."
	case "NO_PRICE", "no_price":
		return "There is no reference price of " + m.symbol + " to fill at; retry shortly."
	case "asset_disabled":
		return m.symbol + " is not tradeable at the moment."
	case "cap_exceeded":
		return "The order would exceed a risk cap."
	}
	return "The order in " + m.symbol + " could not be filled."
}
