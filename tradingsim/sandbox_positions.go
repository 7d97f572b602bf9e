package tradingsim

// noPosition says that there is nothing to close or to protect.
func noPosition(symbol string) *refusal {
	return refuse("no_position", "There is no open position in %s.", symbol).with("symbol", symbol)
}

func (s *Sim) sandboxClose(c *call) (any, *refusal) {
	f, r := s.sandboxBody(c)
	if r != nil {
		return nil, r
	}
	m, r := s.sandboxMarket(f)
	if r != nil {
		return nil, r
	}
	pct, ok := s.readPct(f, "pct")
	if !ok {
		return nil, refuse("bad_pct", "pct must be from 1 to 100.")
	}
	d, r := s.beginWrite(c)
	if r != nil {
		return nil, r
	}
	b := &d.paper.book
	p := b.find(m.symbol)
	if p == nil {
		return nil, noPosition(m.symbol)
	}
	price, r := s.priceFor(m, true)
	if r != nil {
		return nil, r
	}
	size := shareOf(p.size, pct)
	price = s.taken(m.symbol, opposite(p.side), size, price)
	t := b.close(m.symbol, size, price, s.fees.taker, causeMarket, s.now)
	s.recordClose(c, "", "api", t)
	s.endWrite(d, c)
	fee := t.fee()
	if s.other(21) {
		fee = t.closeFee
	}
	return object{
		{"ok", true},
		{"closed", object{
			{"symbol", m.symbol},
			{"pct", num(pct)},
			{"exitPrice", num(price)},
			{"realizedPnL", num(t.gross)},
			{"fee", num(fee)},
		}},
		{"position", s.positionNow(b, m.symbol)},
		{"account", viewAccount(d.paper, s.mark)},
	}, nil
}

// levelChange is one of the three states of a level in a request: set, clear,
// or leave as it is.
type levelChange struct {
	sent  bool
	level opt
}

func readLevel(f fields, name string) (levelChange, *refusal) {
	d, p := f.number(name)
	switch p {
	case absent:
		return levelChange{}, nil
	case null:
		return levelChange{sent: true}, nil
	case malformed:
		return levelChange{}, refuse("bad_request", "%s must be a number, or null to clear it.", name)
	}
	return levelChange{sent: true, level: some(d)}, nil
}

// readLevels reads both levels of a position.
func readLevels(f fields) (tp, sl levelChange, r *refusal) {
	if tp, r = readLevel(f, "takeProfitPrice"); r == nil {
		sl, r = readLevel(f, "stopLossPrice")
	}
	return
}

func (l levelChange) applied(to opt) opt {
	if l.sent {
		return l.level
	}
	return to
}

// changeTPSL judges new levels against the current price, or against the
// entry without one, and sets them. judgeUnchanged is the sandbox's way.
func changeTPSL(p *position, mark opt, tp, sl levelChange, judgeUnchanged bool) *refusal {
	l := levels{
		takeProfit: tp.applied(p.takeProfit),
		stopLoss:   sl.applied(p.stopLoss),
		judgeTP:    tp.sent && (judgeUnchanged || !tp.level.equal(p.takeProfit)),
		judgeSL:    sl.sent && (judgeUnchanged || !sl.level.equal(p.stopLoss)),
	}
	price := p.entryPrice()
	if mark.set {
		price = mark.value
	}
	if r := l.check(p.side, price); r != nil {
		return r.with("symbol", p.symbol)
	}
	p.takeProfit, p.stopLoss = l.takeProfit, l.stopLoss
	return nil
}

func (s *Sim) sandboxTPSL(c *call) (any, *refusal) {
	f, r := s.sandboxBody(c)
	if r != nil {
		return nil, r
	}
	m, r := s.sandboxMarket(f)
	if r != nil {
		return nil, r
	}
	tp, sl, r := readLevels(f)
	if r != nil {
		return nil, r
	}
	share, r := s.readClosePct(f)
	if r != nil {
		return nil, r
	}
	d, r := s.beginWrite(c)
	if r != nil {
		return nil, r
	}
	p := d.paper.find(m.symbol)
	if p == nil {
		return nil, noPosition(m.symbol)
	}
	if r := changeTPSL(p, s.mark(m.symbol), tp, sl, !s.other(24)); r != nil {
		return nil, r
	}
	p.closePct = share.applied(p.closePct)
	s.record(c, Execution{Symbol: m.symbol, Side: p.side, Actor: "api"})
	s.endWrite(d, c)
	return object{{"ok", true}, {"position", s.positionNow(&d.paper.book, m.symbol)}}, nil
}

// readClosePct reads the share that a trigger closes; null is the whole.
func (s *Sim) readClosePct(f fields) (levelChange, *refusal) {
	if _, p := f.presence("closePct"); p == absent || p == null {
		return levelChange{sent: p == null}, nil
	}
	pct, ok := s.readPct(f, "closePct")
	if !ok {
		return levelChange{}, refuse("bad_pct", "closePct must be from 1 to 100.")
	}
	return levelChange{sent: true, level: some(pct)}, nil
}

// sandboxReset wipes the account; a locked one too.
func (s *Sim) sandboxReset(c *call) (any, *refusal) {
	d := s.paperOf(c.key)
	s.open(d, d.paper.id)
	s.record(c, Execution{Actor: "api"})
	return object{{"ok", true}, {"account", viewAccount(d.paper, s.mark)}}, nil
}
