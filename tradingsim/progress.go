package tradingsim

import (
	"time"

	"github.com/shopspring/decimal"
)

const (
	// tickTime is how often the live engine looks at the market while orders,
	// runs or triggers wait.
	tickTime = time.Second
	// maxTicks bounds one catching up: beyond five weeks without a look the ticks
	// are farther apart.
	maxTicks = 3_000_000
)

// progressTo lets the live engine work until t, a tick at a time, so that what
// waits fills at the time and at the mark that it would have met. Ticks that would
// find nothing to do are skipped.
func (s *Sim) progressTo(t time.Time) {
	step := max(tickTime, t.Sub(s.ticked)/maxTicks)
	for s.waiting() {
		next := s.ticked.Add(step)
		if next.After(t) {
			s.moveTo(t)
			return
		}
		if due := s.due(next, t); due.After(next) {
			next = s.ticked.Add(due.Sub(s.ticked) / step * step)
			if next.Before(due) {
				next = next.Add(step) // the first tick that is not before it
			}
			if next.After(t) {
				s.ticked = s.ticked.Add(t.Sub(s.ticked) / step * step)
				continue
			}
		}
		s.moveTo(next)
		s.ticked = next
		s.tick()
	}
	// Nothing waits: the skipped ticks would have found nothing to do.
	if skipped := t.Sub(s.ticked).Truncate(tickTime); skipped > 0 {
		s.ticked = s.ticked.Add(skipped)
	}
	s.moveTo(t)
}

// waiting reports whether a tick could find anything to do.
func (s *Sim) waiting() bool {
	for _, id := range s.accountIDs {
		a := s.accounts[id]
		if len(a.resting) > 0 || len(a.runs) > 0 {
			return true
		}
		for i := range a.positions {
			if p := &a.positions[i]; p.takeProfit.set || p.stopLoss.set {
				return true
			}
		}
	}
	return false
}

// tick is one look of the live engine at the market.
func (s *Sim) tick() {
	for _, id := range s.accountIDs {
		a := s.accounts[id]
		fired := a.open() && s.fireTriggers(&a.book, nil, a.ID)
		if fired {
			s.conclude(a, nil)
		}
		filled := s.fillResting(a)
		ran := s.runAll(a)
		if fired || filled || ran {
			s.keep(a)
		}
	}
}

// fillOf is where and how something that waited fills.
type fillOf struct {
	market *market
	price  decimal.Decimal
	maker  bool
	origin
}

// fillFor fills an order that waited on the server. A reduceOnly order that
// finds nothing to reduce fills nothing.
func (s *Sim) fillFor(a *account, t ticket, f fillOf) (filled decimal.Decimal) {
	if t.reduceOnly {
		if p := a.find(t.symbol); p == nil || p.side == t.side {
			return decimal.Zero
		}
	}
	in := s.plan(&a.book, t, f.market, f.price)
	if !f.maker {
		s.take(&in)
	}
	s.execute(&a.book, in, s.fees.of(f.maker))
	filled = in.reduce.Add(in.add)
	s.record(nil, Execution{
		Operation: f.operation, Account: a.ID, Symbol: t.symbol, Side: t.side,
		Request: f.request, Copy: f.copied, Key: f.key,
		Actor: "service", Filled: true, Size: filled, Price: in.price,
	})
	return filled
}

// drop ends what waits on an account and is chosen.
func (s *Sim) drop(a *account, chosen func(ticket) bool) {
	resting, runs := a.resting[:0:0], a.runs[:0:0]
	for _, o := range a.resting {
		if !chosen(o.ticket) {
			resting = append(resting, o)
		}
	}
	for _, r := range a.runs {
		if !chosen(r.ticket) {
			runs = append(runs, r)
			continue
		}
		s.endRun(a, r, runStopped)
	}
	a.resting, a.runs = resting, runs
}
