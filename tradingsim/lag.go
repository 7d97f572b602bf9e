package tradingsim

import (
	"fmt"
	"time"
)

// keepStates is how far back the states of an account are kept at the least, for
// reads that begin to lag later on.
const keepStates = time.Minute

// SetLag makes one kind of read show the state of d ago from now on: "GET /trades",
// or "*" for all. Each can have another lag, so that a position can be gone before
// the trade that closed it shows, and the other way round. The marks that a read
// shows lag with it. A lag of more than a minute reaches back no farther than to a
// minute before it was set.
func (s *Sim) SetLag(operation string, d time.Duration) {
	notNegative("SetLag", d)
	s.enter()
	defer s.leave()
	s.setLag(operation, d)
}

func (s *Sim) setLag(operation string, d time.Duration) {
	s.longestLag = max(s.longestLag, d)
	if o, ok := s.routes.byName[operation]; ok && o.env != keyless && !o.write {
		o.lag = d
		return
	}
	if operation != "*" {
		panic(fmt.Sprintf("tradingsim: %q is no read that can lag", operation))
	}
	for _, o := range s.routes.byName {
		o.lag = d
	}
}

// seenAccount is a live account as a read shows it.
func (s *Sim) seenAccount(c *call, a *account) *account {
	if c.operation.lag == 0 {
		return a
	}
	return a.past.at(s.now.Add(-c.operation.lag))
}

// seenPaper is a paper account as a read shows it.
func (s *Sim) seenPaper(c *call, d *desk) *paper {
	if c.operation.lag == 0 {
		return d.paper
	}
	return d.past.at(s.now.Add(-c.operation.lag))
}

// seenMark is a mark as a read shows it.
func (s *Sim) seenMark(c *call, m *market) opt {
	mark := m.markAt(s.now.Add(-c.operation.lag))
	if !mark.set {
		c.markMissing = true
	}
	return mark
}

// seenMarks are the marks as a read shows them.
func (s *Sim) seenMarks(c *call) func(symbol string) opt {
	return func(symbol string) opt {
		m, ok := s.markets[symbol]
		if !ok {
			return opt{}
		}
		return s.seenMark(c, m)
	}
}

// keep remembers a live account for reads that lag.
func (s *Sim) keep(a *account) {
	seen := *a
	seen.book = *a.clone()
	seen.resting = copies(a.resting)
	seen.runs = copies(a.runs)
	seen.past = history[*account]{}
	a.past.put(s.now, s.oldest(), &seen)
}

// remember does so with a paper account.
func (s *Sim) remember(d *desk) {
	seen := *d.paper
	seen.book = *d.paper.clone()
	d.past.put(s.now, s.oldest(), &seen)
}

// oldest is the time of the oldest state that a read may show.
func (s *Sim) oldest() time.Time { return s.now.Add(-max(keepStates, s.longestLag)) }

func copies[T any](list []*T) []*T {
	out := make([]*T, len(list))
	for i, v := range list {
		c := *v
		out[i] = &c
	}
	return out
}
