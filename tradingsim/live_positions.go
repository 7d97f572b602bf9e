package tradingsim

// prepareClose is POST /positions/close.
func (s *Sim) prepareClose(c *call) (job, *refusal) {
	f, id, symbol, r := s.liveTarget(c, "symbol")
	if r != nil {
		return nil, r
	}
	pct, ok := s.readPct(f, "closePercent")
	if !ok {
		return nil, refuse(word(s.other(34), "bad_pct", "bad_request"), "closePercent must be from 1 to 100.")
	}
	return func() (any, *refusal) {
		a, p, r := s.openPosition(id, symbol)
		if r != nil {
			return nil, r
		}
		price, r := s.livePrice(s.market(symbol), true)
		if r != nil {
			return nil, r
		}
		size := shareOf(p.size, pct)
		t := a.close(symbol, size, s.taken(symbol, opposite(p.side), size, price), s.fees.taker, causeMarket, s.now)
		s.recordClose(c, a.ID, "api", t)
		s.conclude(a, c)
		s.keep(a)
		fee := t.fee()
		if s.other(21) {
			fee = t.closeFee
		}
		return object{
			{"success", true},
			{"pnl", t.gross.StringFixed(2)},
			{"fee", fee.StringFixed(2)},
			{"newBalance", a.balance.StringFixed(2)},
			{"status", a.Status},
		}, nil
	}, nil
}

// openPosition finds a position to close or to protect.
func (s *Sim) openPosition(accountID, symbol string) (*account, *position, *refusal) {
	a, r := s.accountFor(accountID)
	if r != nil {
		return nil, nil, r
	}
	if r := a.mayExit(); r != nil {
		return nil, nil, r
	}
	p := a.find(symbol)
	if p == nil {
		r := noPosition(symbol)
		if s.other(35) {
			r.as(400)
		}
		return nil, nil, r
	}
	return a, p, nil
}

// prepareTPSL is POST /positions/tpsl. A level sent unchanged is not judged.
func (s *Sim) prepareTPSL(c *call) (job, *refusal) {
	f, id, symbol, r := s.liveTarget(c, "symbol")
	if r != nil {
		return nil, r
	}
	tp, sl, r := readLevels(f)
	if r != nil {
		return nil, r
	}
	if s.omittedClears {
		tp.sent, sl.sent = true, true
	}
	return func() (any, *refusal) {
		a, p, r := s.openPosition(id, symbol)
		if r != nil {
			return nil, r
		}
		if r := changeTPSL(p, s.mark(symbol), tp, sl, false); r != nil {
			return nil, r
		}
		s.record(c, Execution{Account: a.ID, Symbol: symbol, Side: p.side, Actor: "api"})
		s.keep(a)
		return s.brief(member{"position", s.positionNow(&a.book, symbol)}), nil
	}, nil
}

// brief is the answer of a live write whose response the contract does not
// show: success, and perhaps more.
func (s *Sim) brief(more ...member) object {
	body := object{{"success", true}}
	if s.other(44) {
		return body
	}
	return append(body, more...)
}
