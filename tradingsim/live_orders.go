package tradingsim

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/shopspring/decimal"
)

// job is a live write whose fields are in order: what is left to do.
type job func() (any, *refusal)

// liveBody reads the body of a live write and its required fields.
func (s *Sim) liveBody(c *call, required ...string) (fields, *refusal) {
	f, ok := parseFields(c.body)
	if !ok {
		return nil, refuse("invalid_json", "The request body must be a JSON object.")
	}
	var missing []string
	for _, name := range required {
		if _, p := f.presence(name); p != given {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return nil, refuse("missing_fields", "Required and missing: %s.", strings.Join(missing, ", "))
	}
	return f, nil
}

// liveTarget reads the body of a live write that is about one thing of an account, and which.
func (s *Sim) liveTarget(c *call, name string, more ...string) (f fields, accountID, id string, r *refusal) {
	if f, r = s.liveBody(c, append([]string{"accountId", name}, more...)...); r != nil {
		return
	}
	if accountID, r = f.id("accountId"); r != nil {
		return
	}
	id, r = f.id(name)
	return
}

// id reads a required identifier.
func (f fields) id(name string) (string, *refusal) {
	text, p := f.text(name)
	if p != given || text == "" {
		return "", refuse("bad_request", "%s must be a text.", name)
	}
	return text, nil
}

// liveTicket is a live order after its fields were judged.
type liveTicket struct {
	ticket
	accountID string
	fields    fields
}

var orderFields = []string{"accountId", "symbol", "side", "size", "leverage"}

// readLiveOrder judges the fields that all live orders share.
func (s *Sim) readLiveOrder(c *call, more ...string) (t liveTicket, r *refusal) {
	f, r := s.liveBody(c, append(more, orderFields...)...)
	if r != nil {
		return t, r
	}
	t.fields = f
	if t.accountID, r = f.id("accountId"); r != nil {
		return t, r
	}
	if t.symbol, r = f.id("symbol"); r != nil {
		return t, r
	}
	if r := cmp.Or(t.readSide(f), t.readSize(f)); r != nil {
		return t, r
	}
	kind, p := f.text("orderType")
	t.limit = kind == "limit"
	if p != absent && kind != "market" && !t.limit && !s.other(34) {
		return t, refuse("bad_request", "orderType must be market or limit.")
	}
	var bad presence
	if t.reduceOnly, bad = f.flag("reduceOnly"); bad != absent && bad != given {
		return t, refuse("bad_request", "reduceOnly must be true or false.")
	}
	if r := s.readMaxSlippage(&t.ticket, f); r != nil {
		return t, r
	}
	if s.markets[t.symbol] == nil && s.other(51) {
		return t, s.unknownMarket(t.symbol)
	}
	return t, s.readOptions(&t.ticket, f)
}

// liveMarket finds the market of an order. One that is paused takes what adds no
// exposure, whether or not the order says reduceOnly.
func (s *Sim) liveMarket(a *account, t ticket) (*market, *refusal) {
	m, ok := s.markets[t.symbol]
	switch {
	case !ok:
		return nil, s.unknownMarket(t.symbol)
	case m.disabled:
		return nil, disabledMarket(t.symbol)
	case m.paused && s.adds(&a.book, t):
		return nil, refuse("market_paused", "New positions in %s are paused while its feed is unavailable; closing still works.", t.symbol).with("symbol", t.symbol)
	}
	return m, nil
}

func (s *Sim) unknownMarket(symbol string) *refusal {
	if s.other(34) {
		return refuse("bad_symbol", "%q is not a tradeable market.", symbol)
	}
	return disabledMarket(symbol)
}

func disabledMarket(symbol string) *refusal {
	return refuse("asset_disabled", "%s is not tradeable at the moment.", symbol).with("symbol", symbol)
}

// enterLive judges account, status and market of an order.
func (s *Sim) enterLive(t liveTicket) (*account, *market, *refusal) {
	a, r := s.accountFor(t.accountID)
	if r != nil {
		return nil, nil, r
	}
	status := a.mayEnter
	if t.reduceOnly {
		status = a.mayExit
	}
	if r := status(); r != nil {
		return nil, nil, r
	}
	m, r := s.liveMarket(a, t.ticket)
	return a, m, r
}

// livePrice is priceFor with the status that live answers carry.
func (s *Sim) livePrice(m *market, closing bool) (decimal.Decimal, *refusal) {
	price, r := s.priceFor(m, closing)
	if r != nil && r.code == "no_price" && s.other(35) {
		r.as(400)
	}
	return price, r
}

// nothingToReduce is a reduceOnly order without an opposite position.
func (s *Sim) nothingToReduce(a *account, t ticket) *refusal {
	if !t.reduceOnly {
		return nil
	}
	p := a.find(t.symbol)
	if p != nil && p.side != t.side {
		return nil
	}
	r := noPosition(t.symbol)
	if p != nil {
		r.message = fmt.Sprintf("A %s with reduceOnly reduces nothing in %s: the open position is a %s too.", t.side, t.symbol, p.side)
	}
	if !s.other(35) {
		r.as(400)
	}
	return r
}

// checkEquity is the live equity check of an order that adds exposure: its own
// fee counts, that of the part which closes an opposite position too.
func (s *Sim) checkEquity(a *account, fee decimal.Decimal) *refusal {
	v := a.value(s.mark)
	if v.unpriced != "" {
		return refuse("PRICE_UNAVAILABLE", "The equity cannot be verified while %s has no price; nothing was placed.", v.unpriced).with("symbol", v.unpriced)
	}
	equity := a.equity(v)
	if a.terms.breached(equity) {
		return refuse("ACCOUNT_LOCKED", "The equity %s is at or below a loss limit.", dollars(equity.decimal()))
	}
	after := equity.decimal().Sub(fee)
	belowGlobal := after.LessThanOrEqual(a.terms.globalFloor)
	belowDaily := after.LessThanOrEqual(a.terms.dailyFloor)
	switch {
	case belowGlobal && !(belowDaily && s.other(41)):
		return refuse("GLOBAL_DRAWDOWN_BREACH", "The order would bring the equity to %s, to the global loss limit of %s.", dollars(after), dollars(a.terms.globalFloor))
	case belowDaily:
		return refuse("DAILY_DRAWDOWN_BREACH", "The order would bring the equity to %s, to the daily loss limit of %s.", dollars(after), dollars(a.terms.dailyFloor))
	}
	return nil
}

// checkEntry judges the part of an order that opens or adds. The rate is that of the
// fee which the order will pay.
func (s *Sim) checkEntry(a *account, in intent, feeRate decimal.Decimal) *refusal {
	if in.add.IsZero() {
		return nil
	}
	if r := s.checkEquity(a, in.reduce.Add(in.add).Mul(in.price).Mul(feeRate)); r != nil {
		return r
	}
	return s.caps.check(&a.book, s.mark, exposure{
		market: in.market, side: in.side, closes: in.reduce, size: in.add, price: in.price, leverage: in.leverage, parts: in.parts,
	})
}

// prepareOrder is POST /orders: a market order or a marketable limit.
func (s *Sim) prepareOrder(c *call) (job, *refusal) {
	t, r := s.readLiveOrder(c)
	if r != nil {
		return nil, r
	}
	if t.limit {
		if r := t.readLimitPrice(t.fields); r != nil {
			return nil, r
		}
	}
	return func() (any, *refusal) { return s.liveOrder(c, t) }, nil
}

func (s *Sim) liveOrder(c *call, t liveTicket) (any, *refusal) {
	a, m, r := s.enterLive(t)
	if r != nil {
		return nil, r
	}
	in, r := s.judgeLiveOrder(a, t, m)
	if r != nil {
		return nil, r
	}
	action := actionOf(a.find(t.symbol), in)
	fee := s.execute(&a.book, in, s.fees.taker)
	size := in.reduce.Add(in.add)
	s.record(c, Execution{
		Account: a.ID, Symbol: t.symbol, Side: t.side, Actor: "api", Filled: true, Size: size, Price: in.price,
	})
	if s.other(38) {
		s.conclude(a, c)
	}
	s.keep(a)
	return object{
		{"success", true},
		{"action", action},
		{"fill", object{{"price", num(in.price)}, {"size", num(size)}, {"fee", num(fee)}}},
		{"position", s.positionNow(&a.book, t.symbol)},
		{"newBalance", num(a.balance)},
	}, nil
}

func (s *Sim) judgeLiveOrder(a *account, t liveTicket, m *market) (intent, *refusal) {
	price, r := s.livePrice(m, t.reduceOnly)
	if r != nil {
		return intent{}, r
	}
	in := s.plan(&a.book, t.ticket, m, price)
	price = s.take(&in)
	if t.limit && !marketable(t.side, t.limitPrice, price) {
		return intent{}, refuse("NOT_MARKETABLE", "The market is at %s and has not reached the limit %s; POST /orders/limit rests an order.", price, t.limitPrice)
	}
	if r := t.checkGuard(price); r != nil {
		return intent{}, r
	}
	if r := s.nothingToReduce(a, t.ticket); r != nil {
		return intent{}, r
	}
	if r := in.judgeLevels(&a.book, in.price); r != nil {
		return intent{}, r
	}
	if r := s.checkEntry(a, in, s.fees.taker); r != nil {
		return intent{}, r
	}
	if in.add.IsPositive() && !t.limit {
		if r := m.checkSlippage(&in); r != nil {
			return intent{}, r
		}
	}
	return in, nil
}

// actionOf names what an order does to the position it meets.
func actionOf(p *position, in intent) string {
	switch {
	case p == nil:
		return "opened"
	case in.reduce.IsZero():
		return "increased"
	case in.add.IsPositive():
		return "flipped"
	case in.reduce.Equal(p.size):
		return "closed"
	}
	return "reduced"
}
