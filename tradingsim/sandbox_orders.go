package tradingsim

import (
	"cmp"

	"github.com/shopspring/decimal"
)

// sandboxBody reads the body of a sandbox write.
func (s *Sim) sandboxBody(c *call) (fields, *refusal) {
	f, ok := parseFields(c.body)
	if !ok {
		if len(c.body) == 0 && s.other(33) {
			return fields{}, nil
		}
		return nil, refuse("invalid_json", "The request body must be a JSON object.")
	}
	return f, nil
}

func (s *Sim) sandboxMarket(f fields) (*market, *refusal) {
	symbol, _ := f.text("symbol")
	m, ok := s.markets[symbol]
	if !ok {
		return nil, refuse("bad_symbol", "%q is not a tradeable market; GET /sandbox/markets lists them.", symbol)
	}
	return m, nil
}

// readSandboxOrder judges the fields. An order type that is not known is placed
// as a market order, not refused.
func (s *Sim) readSandboxOrder(f fields) (t ticket, m *market, r *refusal) {
	if m, r = s.sandboxMarket(f); r != nil {
		return t, nil, r
	}
	t.symbol = m.symbol
	kind, _ := f.text("orderType")
	t.limit = kind == "limit"
	var limit *refusal
	if t.limit {
		limit = t.readLimitPrice(f)
	}
	r = cmp.Or(t.readSide(f), t.readSize(f), limit, s.readMaxSlippage(&t, f), s.readOptions(&t, f))
	return t, m, r
}

// sandboxOrder opens or adds, at a fresh mark of the one symbol.
func (s *Sim) sandboxOrder(c *call) (any, *refusal) {
	f, r := s.sandboxBody(c)
	if r != nil {
		return nil, r
	}
	t, m, r := s.readSandboxOrder(f)
	if r != nil {
		return nil, r
	}
	d, r := s.beginWrite(c)
	if r != nil {
		return nil, r
	}
	b := &d.paper.book
	in, r := s.judgeSandboxOrder(b, t, m)
	if r != nil {
		return nil, r
	}
	s.execute(b, in, s.fees.taker)
	s.record(c, Execution{
		Symbol: t.symbol, Side: t.side, Actor: "api", Filled: true,
		Size: in.reduce.Add(in.add), Price: in.price,
	})
	s.endWrite(d, c)
	cached := m.markAt(s.now.Add(-s.routes.byName["GET /sandbox/prices"].lag))
	return object{
		{"ok", true},
		{"fill", object{
			{"price", num(in.price)},
			{"repriced", !cached.set || !cached.value.Equal(in.price)},
			{"ageMs", (s.markAge + m.ageAt(s.now)).Milliseconds()},
		}},
		{"position", s.positionNow(b, t.symbol)},
		{"account", viewAccount(d.paper, s.mark)},
	}, nil
}

// judgeSandboxOrder is everything between a well-formed order and its fill.
func (s *Sim) judgeSandboxOrder(b *book, t ticket, m *market) (intent, *refusal) {
	if m.disabled {
		return intent{}, refuse("asset_disabled", "%s is not tradeable at the moment.", m.symbol).with("symbol", m.symbol)
	}
	price, r := s.priceFor(m, false)
	if r != nil {
		return intent{}, r
	}
	in := s.plan(b, t, m, price)
	price = s.take(&in)
	if t.limit && !marketable(t.side, t.limitPrice, price) {
		return intent{}, refuse("order_not_marketable", "A %s limit at %s is not marketable at the current mark %s; the sandbox does not rest orders.",
			t.side, t.limitPrice, price)
	}
	if r := t.checkGuard(price); r != nil {
		return intent{}, r
	}
	if r := in.judgeLevels(b, in.price); r != nil {
		return intent{}, r
	}
	if in.add.IsZero() {
		return in, nil
	}
	e := exposure{market: m, side: t.side, closes: in.reduce, size: in.add, price: price, leverage: in.leverage}
	if r := s.caps.check(b, s.mark, e); r != nil {
		return intent{}, r
	}
	if !t.limit {
		if r := m.checkSlippage(&in); r != nil {
			return intent{}, r
		}
	}
	return in, nil
}

// readPct reads the share of a position, 100 when left out.
func (s *Sim) readPct(f fields, name string) (decimal.Decimal, bool) {
	pct, p := f.number(name)
	switch {
	case p == absent:
		return hundred, true
	case p != given, !pct.IsPositive(), pct.GreaterThan(hundred):
		return pct, false
	case pct.LessThan(decimal.NewFromInt(1)) && !(name == "closePercent" && s.other(54)):
		return pct, false
	case s.other(28) && !pct.IsInteger():
		return pct, false
	}
	return pct, true
}
