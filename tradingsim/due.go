package tradingsim

import (
	"time"

	"github.com/shopspring/decimal"
)

// reaching is a feed that knows when its mark comes to a price without a look at each mark in
// between: the first moment of a time, both its ends included, at which the mark may be at or below
// low, or at or above high. A bound that is not valid is none.
type reaching interface {
	Reach(from, to time.Time, low, high decimal.NullDecimal) (at time.Time, ok bool)
}

// due is the first moment from one time to another at which a tick may find something to do; after
// both where there is none. What is held and what waits stays as it is in between.
func (s *Sim) due(from, to time.Time) time.Time {
	never := to.Add(1)
	due := never
	sooner := func(m *market, low, high opt) {
		f, ok := m.feed.(reaching)
		if !ok {
			due = from
			return
		}
		if at, ok := f.Reach(from, earlier(to, due), low.null(), high.null()); ok && at.Before(due) {
			due = at
		}
	}
	for _, id := range s.accountIDs {
		a := s.accounts[id]
		if len(a.runs) > 0 {
			return from
		}
		for _, o := range a.resting {
			if !o.allowed(a) {
				return from
			}
			low, high := some(o.limitPrice), opt{}
			if o.side == short {
				low, high = high, low
			}
			sooner(o.market, low, high)
		}
		for i := range a.positions {
			p := &a.positions[i]
			if !p.takeProfit.set && !p.stopLoss.set {
				continue
			}
			low, high := p.stopLoss, p.takeProfit
			if p.side == short {
				low, high = high, low
			}
			sooner(s.markets[p.symbol], low, high)
		}
		if !due.After(from) {
			return from
		}
	}
	return due
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
