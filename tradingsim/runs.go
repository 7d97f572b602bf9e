package tradingsim

import (
	"fmt"
	"time"

	"github.com/shopspring/decimal"
)

// run is a Pro run: a plan of children that fill one by one.
type run struct {
	ticket
	origin
	id         string
	kind       string // conditional, ladder, twap, chase, chase-twap, swarm
	market     *market
	status     string
	children   []child
	executed   decimal.Decimal
	createdAt  time.Time
	finishedAt time.Time
}

// child is one clip, rung or trigger of a run.
type child struct {
	size    decimal.Decimal
	due     time.Time
	trigger opt  // waits until the mark has crossed it …
	up      bool // … from below
	rest    opt  // becomes a resting limit at this price
	limit   opt  // fills at this price once the market has reached it
	bound   opt  // fills at the mark, but not beyond this price
	maker   bool
	done    bool
}

// The states of a run.
const (
	runRunning   = "running"
	runCompleted = "completed"
	runCancelled = "cancelled"
	runStopped   = "stopped" // the account could no longer trade
)

// ready reports whether a child fills at a mark, and at which price.
func (c *child) ready(side string, at opt, now time.Time) (decimal.Decimal, bool) {
	mark := at.value
	switch {
	case c.done, !at.set, now.Before(c.due):
		return mark, false
	case c.trigger.set && c.up && mark.LessThan(c.trigger.value):
		return mark, false
	case c.trigger.set && !c.up && mark.GreaterThan(c.trigger.value):
		return mark, false
	case c.limit.set:
		return c.limit.value, marketable(side, c.limit.value, mark)
	case c.bound.set:
		return mark, marketable(side, c.bound.value, mark)
	}
	return mark, true
}

// runAll lets the runs of an account make progress. It reports whether any did.
func (s *Sim) runAll(a *account) (changed bool) {
	kept := a.runs[:0:0]
	for _, r := range a.runs {
		if r.status == runRunning && s.progress(a, r) {
			changed = true
		}
		if r.status == runRunning {
			kept = append(kept, r)
		}
	}
	a.runs = kept
	return changed
}

// progress fills the children that are ready.
func (s *Sim) progress(a *account, r *run) (changed bool) {
	if !r.allowed(a) {
		s.endRun(a, r, runStopped)
		return true
	}
	left := false
	for i := range r.children {
		c := &r.children[i]
		if c.done {
			continue
		}
		t := r.ticket
		t.size = c.size
		mark := s.markFor(a, t, r.market)
		price, ok := c.ready(r.side, mark, s.now)
		if !ok || c.limit.set && !s.reached(t, c.limit.value, mark.value) {
			left = true
			continue
		}
		c.done, changed = true, true
		if c.rest.set {
			t.limit, t.limitPrice = true, c.rest.value
			s.rest(a, t, r.market, r.origin)
			s.fillResting(a)
		} else {
			r.executed = r.executed.Add(s.fillFor(a, t, fillOf{r.market, price, c.maker, r.origin}))
		}
	}
	if !left {
		s.endRun(a, r, runCompleted)
	}
	return changed || !left
}

// endRun moves a run to the history. The caller takes it off the running ones.
func (s *Sim) endRun(a *account, r *run, status string) {
	r.status, r.finishedAt = status, s.now
	a.finished = append(a.finished, r)
}

func (s *Sim) findRun(a *account, id string) (*run, *refusal) {
	for _, r := range a.runs {
		if r.id == id {
			return r, nil
		}
	}
	return nil, refuse("run_not_found", "There is no running Pro run %q on this account.", id)
}

// prepareRunCancel is POST /runs/cancel: it stops a run as a unit.
func (s *Sim) prepareRunCancel(c *call) (job, *refusal) {
	_, accountID, runID, r := s.liveTarget(c, "runId")
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
		run, r := s.findRun(a, runID)
		if r != nil {
			return nil, r
		}
		s.endRun(a, run, runCancelled)
		s.runAll(a) // takes it off the running ones
		s.record(c, Execution{Account: a.ID, Symbol: run.symbol, Side: run.side, Actor: "api"})
		s.keep(a)
		return s.brief(member{"runId", run.id}, member{"run", s.viewRun(run)}), nil
	}, nil
}

// prepareRunEdit is POST /runs/edit: another total size for a running TWAP.
func (s *Sim) prepareRunEdit(c *call) (job, *refusal) {
	f, accountID, runID, r := s.liveTarget(c, "runId", "totalSize")
	if r != nil {
		return nil, r
	}
	total, p := f.number("totalSize")
	if p != given || !total.IsPositive() {
		return nil, refuse("bad_size", "totalSize must be a number of base units greater than 0.")
	}
	return func() (any, *refusal) {
		a, r := s.accountFor(accountID)
		if r != nil {
			return nil, r
		}
		if r := a.mayExit(); r != nil {
			return nil, r
		}
		run, r := s.findRun(a, runID)
		if r != nil {
			return nil, r
		}
		if r := s.editRun(a, run, total); r != nil {
			return nil, r
		}
		s.record(c, Execution{Account: a.ID, Symbol: run.symbol, Side: run.side, Actor: "api", Size: total})
		s.keep(a)
		return s.brief(member{"runId", run.id}, member{"run", s.viewRun(run)}), nil
	}, nil
}

func (s *Sim) editRun(a *account, r *run, total decimal.Decimal) *refusal {
	switch {
	case r.kind != "twap":
		return refuse("bad_request", "Only a running TWAP can be edited; this run is a %s.", r.kind)
	case a.Status == statusPassed && total.GreaterThan(r.size):
		return a.mayEnter()
	case total.LessThan(r.executed):
		return refuse("size_below_executed", "%s has been filled already; totalSize cannot be %s.", r.executed, total)
	}
	var open []*child
	for i := range r.children {
		if c := &r.children[i]; !c.done {
			open = append(open, c)
		}
	}
	for i, size := range s.shares(total.Sub(r.executed), len(open)) {
		open[i].size = size
		open[i].done = !size.IsPositive()
	}
	r.size = total
	s.runAll(a) // one that is filled by now ends
	return nil
}

// sizePlaces is where the sizes of the parts of a run are cut.
const sizePlaces = 8

// shares cuts a size into equal parts. The last takes what is left over, to the last digit:
// a run trades its total.
func (s *Sim) shares(size decimal.Decimal, n int) []decimal.Decimal {
	parts := make([]decimal.Decimal, n)
	each := size.DivRound(decimal.NewFromInt(int64(max(n, 1))), quotientPlaces).Truncate(sizePlaces)
	left := size
	for i := range parts {
		parts[i] = each
		if i == n-1 {
			parts[i] = left
		}
		left = left.Sub(parts[i])
		if s.other(56) {
			parts[i] = parts[i].Truncate(sizePlaces)
		}
	}
	return parts
}

func (s *Sim) viewRun(r *run) object {
	row := object{
		{"runId", r.id},
		{"type", r.kind},
		{"symbol", r.symbol},
		{"side", r.side},
		{"totalSize", num(r.size)},
		{"executedSize", num(r.executed)},
		{"reduceOnly", r.reduceOnly},
		{"status", r.status},
		{"createdAt", s.stamp(r.createdAt)},
	}
	if !r.finishedAt.IsZero() {
		row = append(row, member{"finishedAt", s.stamp(r.finishedAt)})
	}
	return row
}

// newRun begins a run that passed every check.
func (s *Sim) newRun(a *account, m *market, kind string, t ticket, children []child, c *call) *run {
	s.runs++
	r := &run{
		ticket: t, id: fmt.Sprintf("run_%d", s.runs), kind: kind, market: m, status: runRunning,
		origin: originOf(c), children: children, createdAt: s.now,
	}
	a.runs = append(a.runs, r)
	return r
}
