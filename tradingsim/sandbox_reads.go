package tradingsim

import "time"

// isoTime is a time on the wire.
func isoTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// sandboxRead is the body of a sandbox read: "sandbox success contains ok: true".
func (s *Sim) sandboxRead(data ...member) any {
	if s.other(31) {
		return object(data)
	}
	return okObject(data)
}

func (s *Sim) sandboxAccount(c *call) (any, *refusal) {
	d := s.beginRead(c)
	return s.sandboxRead(member{"account", viewAccount(s.seenPaper(c, d), s.seenMarks(c))}), nil
}

func (s *Sim) sandboxPositions(c *call) (any, *refusal) {
	d := s.beginRead(c)
	return sandboxPositions{!s.other(31), positionViews{s, c, &s.seenPaper(c, d).book}}, nil
}

func (s *Sim) sandboxTrades(c *call) (any, *refusal) {
	return s.sandboxRead(member{"trades", s.tradeViews(s.seenPaper(c, s.paperOf(c.key)).trades)}), nil
}

type marketView struct {
	Symbol      string
	Label       string
	Category    string
	MaxLeverage num
	MarkPrice   opt
}

func (v marketView) appendWire(b []byte) []byte {
	o := openRow(b)
	o.text("symbol", v.Symbol)
	o.text("label", v.Label)
	o.text("category", v.Category)
	o.number("maxLeverage", v.MaxLeverage)
	o.optional("markPrice", v.MarkPrice)
	return o.close()
}

func (s *Sim) sandboxMarkets(c *call) (any, *refusal) {
	rows := make([]marketView, 0, len(s.symbols))
	for _, symbol := range s.symbols {
		m := s.markets[symbol]
		if m.disabled && s.other(32) {
			continue
		}
		rows = append(rows, marketView{symbol, m.label, m.category, num(m.maxLeverage), s.seenMark(c, m)})
	}
	return s.sandboxRead(member{"markets", rows}), nil
}

// sandboxPrices distinguishes an unknown symbol (never retry) from one that has no
// price on this read (retry).
func (s *Sim) sandboxPrices(c *call) (any, *refusal) {
	if c.query.Has("symbol") {
		symbol := c.query.Get("symbol")
		m, ok := s.markets[symbol]
		if !ok || (m.disabled && s.other(32)) {
			return nil, refuse("bad_symbol", "%q is not a tradeable market.", symbol)
		}
		mark := s.seenMark(c, m)
		if !mark.set {
			return nil, refuse("no_price", "%s has no price on this read; retry shortly.", symbol).
				as(404).with("symbol", symbol)
		}
		return priceView{!s.other(31), symbol, mark}, nil
	}
	prices := make(object, 0, len(s.symbols))
	for _, symbol := range s.symbols {
		m := s.markets[symbol]
		if m.disabled && s.other(32) {
			continue
		}
		if mark := s.seenMark(c, m); mark.set {
			prices = append(prices, member{symbol, mark})
		}
	}
	return s.sandboxRead(member{"prices", prices}), nil
}

// priceView is the price of one market.
type priceView struct {
	ok     bool // says so
	symbol string
	mark   opt
}

func (v priceView) appendWire(b []byte) []byte {
	o := row{b: append(b, '{')}
	if v.ok {
		o.flag("ok", true)
	}
	o.text("symbol", v.symbol)
	o.optional("price", v.mark)
	return o.close()
}

type accountView struct {
	ID              string
	Environment     string
	Balance         num
	Equity          num
	UnrealizedPnL   num
	ProfitTarget    num
	DailyLossFloor  num
	GlobalLossFloor num
	ProfitSplit     num
	Status          string
	IsLocked        bool
}

func (v accountView) appendWire(b []byte) []byte {
	o := openRow(b)
	o.text("id", v.ID)
	o.text("environment", v.Environment)
	o.number("balance", v.Balance)
	o.number("equity", v.Equity)
	o.number("unrealizedPnL", v.UnrealizedPnL)
	o.number("profitTarget", v.ProfitTarget)
	o.number("dailyLossFloor", v.DailyLossFloor)
	o.number("globalLossFloor", v.GlobalLossFloor)
	o.number("profitSplit", v.ProfitSplit)
	o.text("status", v.Status)
	o.flag("isLocked", v.IsLocked)
	return o.close()
}

func viewAccount(p *paper, mark func(string) opt) accountView {
	v, t := p.value(mark), p.terms
	return accountView{
		ID: p.id, Environment: "sandbox", Status: p.status, IsLocked: p.status == paperLocked,
		Balance: num(p.balance), Equity: num(p.equity(v).decimal()), UnrealizedPnL: num(v.pnl.decimal()),
		ProfitTarget: num(t.target), DailyLossFloor: num(t.dailyFloor), GlobalLossFloor: num(t.globalFloor),
		ProfitSplit: num(t.split),
	}
}

// positionView is a position at a mark.
type positionView struct {
	position
	mark opt
}

func (v *positionView) appendWire(b []byte) []byte { return v.position.appendWire(b, v.mark) }

func (p *position) appendWire(b []byte, mark opt) []byte {
	if p.known.view == nil {
		o := openRow(nil)
		o.text("symbol", p.symbol)
		o.text("side", p.side)
		o.number("size", num(p.size))
		o.number("leverage", num(p.leverage))
		o.number("entryPrice", num(p.entryPrice()))
		p.known.view = o.b
	}
	o := row{b: append(b, p.known.view...)}
	o.optional("markPrice", mark)
	o.amount("notionalValue", p.notionalAt(mark))
	o.amount("marginRequired", p.margin(mark))
	if mark.set {
		o.amount("unrealizedPnL", p.pnl(mark.value))
	} else {
		o.optional("unrealizedPnL", mark)
	}
	o.optional("takeProfitPrice", p.takeProfit)
	o.optional("stopLossPrice", p.stopLoss)
	o.text("openedAt", p.opened())
	return o.close()
}

// sandboxPositions are the positions in the envelope of a sandbox read.
type sandboxPositions struct {
	ok bool // says so
	positionViews
}

func (v sandboxPositions) appendWire(b []byte) []byte {
	o := row{b: append(b, '{')}
	if v.ok {
		o.flag("ok", true)
	}
	o.name("positions")
	o.b = v.positionViews.appendWire(o.b)
	return o.close()
}

// positionViews are the positions of a book as a read shows them. They are written before
// the book changes.
type positionViews struct {
	sim  *Sim
	read *call
	book *book
}

func (v positionViews) appendWire(b []byte) []byte {
	mark := v.sim.seenMarks(v.read)
	b = append(b, '[')
	for i := range v.book.positions {
		if i > 0 {
			b = append(b, ',')
		}
		p := &v.book.positions[i]
		b = p.appendWire(b, mark(p.symbol))
	}
	return append(b, ']')
}

// positionNow is the position in a symbol, null when there is none.
func (s *Sim) positionNow(b *book, symbol string) *positionView {
	p := b.find(symbol)
	if p == nil {
		return nil
	}
	return &positionView{*p, s.mark(symbol)}
}

type tradeView struct {
	Symbol      string
	Side        string
	Size        num
	Leverage    num
	EntryPrice  num
	ExitPrice   num
	RealizedPnL num
	Fee         num
	OrderType   string
	OpenedAt    string
	ClosedAt    string

	hidden map[string]bool
}

func (v tradeView) appendWire(b []byte) []byte {
	o := openRow(b)
	o.hidden = v.hidden
	o.text("symbol", v.Symbol)
	o.text("side", v.Side)
	o.number("size", v.Size)
	o.number("leverage", v.Leverage)
	o.number("entryPrice", v.EntryPrice)
	o.number("exitPrice", v.ExitPrice)
	o.number("realizedPnL", v.RealizedPnL)
	o.number("fee", v.Fee)
	o.text("orderType", v.OrderType)
	o.text("openedAt", v.OpenedAt)
	o.text("closedAt", v.ClosedAt)
	return o.close()
}

func (s *Sim) viewTrade(t trade) tradeView {
	return tradeView{
		hidden: s.hidden,
		Symbol: t.symbol, Side: t.side, Size: num(t.size), Leverage: num(t.leverage),
		EntryPrice: num(t.entryPrice), ExitPrice: num(t.exitPrice),
		RealizedPnL: num(t.gross), Fee: num(t.fee()),
		OrderType: t.cause, OpenedAt: isoTime(t.openedAt), ClosedAt: isoTime(t.closedAt),
	}
}

// tradeViews puts the most recent trade first.
func (s *Sim) tradeViews(trades []trade) []tradeView {
	if s.tradeRows > 0 {
		trades = trades[max(0, len(trades)-s.tradeRows):]
	}
	rows := make([]tradeView, 0, len(trades))
	for i := len(trades) - 1; i >= 0; i-- {
		rows = append(rows, s.viewTrade(trades[i]))
	}
	return rows
}
