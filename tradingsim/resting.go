package tradingsim

import (
	"fmt"
	"time"

	"github.com/shopspring/decimal"
)

// resting is a limit order that waits on the server for its price.
type resting struct {
	ticket
	origin
	id        string
	market    *market
	createdAt time.Time
}

// prepareLimit is POST /orders/limit.
func (s *Sim) prepareLimit(c *call) (job, *refusal) {
	var more []string
	if s.other(36) {
		more = append(more, "limitPrice")
	}
	t, r := s.readLiveOrder(c, more...)
	if r != nil {
		return nil, r
	}
	t.limit = true
	if r := t.readLimitPrice(t.fields); r != nil {
		return nil, r
	}
	return func() (any, *refusal) { return s.liveLimit(c, t) }, nil
}

// liveLimit rests an order, after the checks that need no fill price.
func (s *Sim) liveLimit(c *call, t liveTicket) (any, *refusal) {
	a, m, r := s.enterLive(t)
	if r != nil {
		return nil, r
	}
	if r := s.nothingToReduce(a, t.ticket); r != nil {
		return nil, r
	}
	in := s.plan(&a.book, t.ticket, m, t.limitPrice)
	if r := in.judgeLevels(&a.book, in.price); r != nil {
		return nil, r
	}
	if r := s.checkEntry(a, in, s.fees.of(!s.other(39))); r != nil {
		return nil, r
	}
	o := s.rest(a, t.ticket, m, originOf(c))
	s.record(c, Execution{Account: a.ID, Symbol: t.symbol, Side: t.side, Actor: "api", Size: t.size, Price: t.limitPrice})
	s.fillResting(a)
	s.keep(a)
	return object{{"success", true}, {"order", s.viewResting(o)}}, nil
}

func (s *Sim) rest(a *account, t ticket, m *market, from origin) *resting {
	s.orders++
	o := &resting{ticket: t, id: fmt.Sprintf("ord_%d", s.orders), market: m, origin: from, createdAt: s.now}
	a.resting = append(a.resting, o)
	return o
}

// reached reports whether the market has come to the price of an order that rests: an order at the
// market would fill there or better. So what rests at the mark pays for the spread and for its size
// by its wait, as it would in a book.
func (s *Sim) reached(t ticket, limit, mark decimal.Decimal) bool {
	return marketable(t.side, limit, mark) && marketable(t.side, limit, s.taken(t.symbol, t.side, t.size, mark))
}

// fillResting fills the orders whose price the market has reached: at their own
// price and for the maker fee. It reports whether anything happened.
func (s *Sim) fillResting(a *account) bool {
	if len(a.resting) == 0 {
		return false
	}
	before := len(a.resting)
	kept := a.resting[:0:0]
	for _, o := range a.resting {
		mark := s.markFor(a, o.ticket, o.market)
		switch {
		case !o.allowed(a): // the account can no longer trade: dropped
		case !mark.set || !s.reached(o.ticket, o.limitPrice, mark.value):
			kept = append(kept, o)
		default:
			price := o.limitPrice
			if s.other(39) {
				price = mark.value
			}
			s.fillFor(a, o.ticket, fillOf{o.market, price, !s.other(39), o.origin})
		}
	}
	a.resting = kept
	return len(kept) != before
}

// allowed reports whether an order may still fill.
func (t *ticket) allowed(a *account) bool {
	return a.active() || a.Status == statusPassed && t.reduceOnly
}

// prepareCancel is POST /orders/cancel.
func (s *Sim) prepareCancel(c *call) (job, *refusal) {
	_, accountID, orderID, r := s.liveTarget(c, "orderId")
	if r != nil {
		return nil, r
	}
	return func() (any, *refusal) {
		a, r := s.accountFor(accountID)
		if r != nil {
			return nil, r
		}
		if r := s.mayCancel(a); r != nil {
			return nil, r
		}
		for i, o := range a.resting {
			if o.id == orderID {
				a.resting = append(a.resting[:i:i], a.resting[i+1:]...)
				s.record(c, Execution{Account: a.ID, Symbol: o.symbol, Side: o.side, Actor: "api"})
				s.keep(a)
				return s.brief(member{"orderId", o.id}, member{"order", s.viewResting(o)}), nil
			}
		}
		return nil, refuse("order_not_found", "There is no resting order %q on this account.", orderID)
	}, nil
}

func (s *Sim) viewResting(o *resting) object {
	return object{
		{"id", o.id},
		{"symbol", o.symbol},
		{"side", o.side},
		{"size", num(o.size)},
		{"limitPrice", num(o.limitPrice)},
		{"reduceOnly", o.reduceOnly},
		{"takeProfitPrice", o.takeProfit},
		{"stopLossPrice", o.stopLoss},
		{"createdAt", s.stamp(o.createdAt)},
	}
}
