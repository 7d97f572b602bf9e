package tradingsim

import (
	"time"

	"github.com/shopspring/decimal"
)

// fees are shares of the notional.
type fees struct{ taker, maker decimal.Decimal }

// contractFees are those of the contract.
var contractFees = fees{decimal.RequireFromString("0.00045"), decimal.RequireFromString("0.00015")}

// of is the rate of a fill.
func (f fees) of(maker bool) decimal.Decimal {
	if maker {
		return f.maker
	}
	return f.taker
}

const (
	long  = "long"
	short = "short"
)

// direction is 1 for a long and -1 for a short.
func direction(side string) decimal.Decimal {
	if side == short {
		return minusOne
	}
	return one
}

var one, minusOne = decimal.NewFromInt(1), decimal.NewFromInt(-1)

func opposite(side string) string {
	if side == short {
		return long
	}
	return short
}

// position is what is open in one market. It keeps cost instead of a blended
// price, since a sum is exact and a quotient is not.
type position struct {
	symbol     string
	side       string
	size       decimal.Decimal
	cost       decimal.Decimal // size × price of all that is still open
	openFees   decimal.Decimal // paid at opening, for what is still open
	leverage   decimal.Decimal
	takeProfit opt
	stopLoss   opt
	closePct   opt // the share a trigger closes
	openedAt   time.Time

	known derived
}

// derived is what follows from a position and has been computed. A fill forgets it.
type derived struct {
	entry    opt    // the entry price
	view     []byte // the beginning of a view
	opened   string // the time of opening, as a view has it
	share    opt    // 1/leverage, where that has few places
	price    amount // what notional and pnl are for; none is 0
	notional amount
	pnl      amount
}

func (p *position) entryPrice() decimal.Decimal {
	if !p.known.entry.set {
		p.known.entry = some(p.cost.DivRound(p.size, quotientPlaces))
	}
	return p.known.entry.value
}

// opened is the time of opening, as views have it.
func (p *position) opened() string {
	if p.known.opened == "" {
		p.known.opened = isoTime(p.openedAt)
	}
	return p.known.opened
}

// valueAt computes notional and profit at a price.
func (p *position) valueAt(price decimal.Decimal) {
	k, at := &p.known, amountOf(price)
	if k.price == at {
		return
	}
	k.price, k.notional = at, amountOf(p.size).times(at)
	if cost := amountOf(p.cost); p.side == short {
		k.pnl = cost.minus(k.notional)
	} else {
		k.pnl = k.notional.minus(cost)
	}
}

func (p *position) notional(price decimal.Decimal) amount {
	p.valueAt(price)
	return p.known.notional
}

// pnl is the unrealized profit at a price, before fees.
func (p *position) pnl(price decimal.Decimal) amount {
	p.valueAt(price)
	return p.known.pnl
}

// notionalAt is the notional at the mark, or at the entry while unpriced.
func (p *position) notionalAt(mark opt) amount {
	if mark.set {
		return p.notional(mark.value)
	}
	return amountOf(p.cost)
}

func (p *position) margin(mark opt) amount {
	notional := p.notionalAt(mark)
	if !p.known.share.set {
		p.known.share = reciprocal(p.leverage)
	}
	// Exact, unless there is something to be cut.
	if share := p.known.share; share.set && notional.wide == nil && notional.exp+share.value.Exponent() >= -quotientPlaces {
		return notional.times(amountOf(share.value))
	}
	return amountOf(notional.decimal().DivRound(p.leverage, quotientPlaces))
}

// trade is a closed trade.
type trade struct {
	symbol, side string
	size         decimal.Decimal
	leverage     decimal.Decimal
	entryPrice   decimal.Decimal
	exitPrice    decimal.Decimal
	gross        decimal.Decimal // realizedPnL: no fee deducted
	openFee      decimal.Decimal
	closeFee     decimal.Decimal
	cause        string
	openedAt     time.Time
	closedAt     time.Time
}

// fee is the round trip of what was closed.
func (t trade) fee() decimal.Decimal { return t.openFee.Add(t.closeFee) }

// The causes of a close.
const (
	causeMarket     = "market"
	causeTakeProfit = "take_profit"
	causeStopLoss   = "stop_loss"
)

// book is the money of one account. Every amount that leaves a position enters
// the balance: opening balance + gross - fees = balance, to the last digit.
type book struct {
	balance   decimal.Decimal
	positions []position // in the order of opening
	trades    []trade    // oldest first; rows never change
}

// clone is the book as it stands, for reads that lag.
func (b *book) clone() *book {
	c := *b
	c.positions = append([]position(nil), b.positions...)
	c.trades = b.trades[:len(b.trades):len(b.trades)]
	return &c
}

func (b *book) find(symbol string) *position {
	for i := range b.positions {
		if b.positions[i].symbol == symbol {
			return &b.positions[i]
		}
	}
	return nil
}

// open opens a position or adds to one, and takes the fee from the balance. An
// add takes the leverage of the new order.
func (b *book) open(symbol, side string, size, price, leverage, feeRate decimal.Decimal, now time.Time) (fee decimal.Decimal) {
	notional := size.Mul(price)
	fee = notional.Mul(feeRate)
	b.balance = b.balance.Sub(fee)
	p := b.find(symbol)
	if p == nil {
		b.positions = append(b.positions, position{symbol: symbol, side: side, openedAt: now})
		p = &b.positions[len(b.positions)-1]
	}
	p.size = p.size.Add(size)
	p.cost = p.cost.Add(notional)
	p.openFees = p.openFees.Add(fee)
	p.leverage = leverage
	p.known = derived{}
	return fee
}

// close closes some or all of a position at a price. Cost and opening fees go
// with the closed part in proportion; what rounding leaves stays with the rest.
func (b *book) close(symbol string, size, price, feeRate decimal.Decimal, cause string, now time.Time) trade {
	p := b.find(symbol)
	cost, openFee := p.cost, p.openFees
	if size.LessThan(p.size) {
		places := partPlaces(size, p.size.Sub(size))
		cost = p.cost.Mul(size).DivRound(p.size, places)
		openFee = p.openFees.Mul(size).DivRound(p.size, places)
	}
	proceeds := size.Mul(price)
	t := trade{
		symbol: p.symbol, side: p.side, size: size, leverage: p.leverage,
		entryPrice: cost.DivRound(size, quotientPlaces), exitPrice: price,
		gross:   proceeds.Sub(cost).Mul(direction(p.side)),
		openFee: openFee, closeFee: proceeds.Mul(feeRate),
		cause: cause, openedAt: p.openedAt, closedAt: now,
	}
	b.balance = b.balance.Add(t.gross).Sub(t.closeFee)
	b.trades = append(b.trades, t)
	if size.LessThan(p.size) {
		p.size = p.size.Sub(size)
		p.cost = p.cost.Sub(cost)
		p.openFees = p.openFees.Sub(openFee)
		p.known = derived{}
	} else {
		b.remove(symbol)
	}
	return t
}

// partPlaces is where the cost of a part is cut. However small the part is that
// stays, what was cut off must not move its entry price.
func partPlaces(part, rest decimal.Decimal) int32 {
	const guard = 4
	zeros := func(d decimal.Decimal) int32 { return -d.Exponent() - int32(d.NumDigits()) }
	return quotientPlaces + guard + max(0, zeros(part), zeros(rest))
}

func (b *book) remove(symbol string) {
	for i := range b.positions {
		if b.positions[i].symbol == symbol {
			b.positions = append(b.positions[:i:i], b.positions[i+1:]...)
			return
		}
	}
}

// shareOf is the part of a size that a percentage names, cut to a bounded
// number of places. What is too small to divide goes whole.
func shareOf(size, pct decimal.Decimal) decimal.Decimal {
	if pct.Equal(hundred) {
		return size
	}
	if share := size.Mul(pct).Shift(-2).Round(18); share.IsPositive() {
		return share
	}
	return size
}

// valuation is a book at marks.
type valuation struct {
	pnl      amount // unrealized; an unpriced position counts for nothing
	unpriced string // a symbol without a mark, if there is one
}

func (b *book) value(mark func(symbol string) opt) (v valuation) {
	for i := range b.positions {
		p := &b.positions[i]
		m := mark(p.symbol)
		if !m.set {
			v.unpriced = p.symbol
			continue
		}
		if i == 0 {
			v.pnl = p.pnl(m.value)
			continue
		}
		v.pnl = v.pnl.plus(p.pnl(m.value))
	}
	return v
}

func (b *book) equity(v valuation) amount { return amountOf(b.balance).plus(v.pnl) }

// exitFees are the taker fees, at a rate, to close every priced position.
func (b *book) exitFees(rate decimal.Decimal, mark func(symbol string) opt) (fees decimal.Decimal) {
	for i := range b.positions {
		p := &b.positions[i]
		if m := mark(p.symbol); m.set {
			fees = fees.Add(p.notional(m.value).decimal().Mul(rate))
		}
	}
	return fees
}

func (b *book) margin(mark func(symbol string) opt) (margin decimal.Decimal) {
	for i := range b.positions {
		p := &b.positions[i]
		margin = margin.Add(p.margin(mark(p.symbol)).decimal())
	}
	return margin
}
