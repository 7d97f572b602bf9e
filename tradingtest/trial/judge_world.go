package trial

import (
	"fmt"
	"time"

	"github.com/tradingapi/trading-go/tradingsim"
)

// healthCache is how long the service reuses an assessment.
const healthCache = 5 * time.Second

// unhealthyEntry is an entry into a service that says that it is not safe.
type unhealthyEntry struct {
	tally
	since    time.Time
	before   int  // entries before it
	flat     bool // the bot could have entered
	restored bool
}

func (j *unhealthyEntry) see(w *world, p point) {
	deadline := j.since.Add(healthCache + time.Duration(w.m.HealthAge))
	switch {
	case p.kind == tradingsim.EventHealth && !w.unhealthy.IsZero() && j.since.IsZero():
		j.since, j.before, j.restored = p.at, w.entries, false
	case p.kind == tradingsim.EventHealth && w.unhealthy.IsZero() && !j.since.IsZero():
		j.flat = j.before > 0 && p.at.After(deadline) && w.flatFor(deadline) >= w.periods(1)
		j.restored, j.since = true, time.Time{}
	case p.kind != tradingsim.EventRequest || !w.adds(p.r):
	case j.restored:
		j.exercised = j.exercised || j.flat
	case !j.since.IsZero() && p.at.After(deadline) && w.freshSince(p.r, j.since):
		j.violated(Fail, "entry-while-unhealthy", fmt.Sprintf("%s was sent %s after the service became unhealthy.", p.r.text(), p.at.Sub(j.since).Round(time.Millisecond)), p.r)
	}
}

func (j *unhealthyEntry) end(*world) {}

// lockedEntry is an entry after the service has said that the account takes none.
type lockedEntry struct {
	tally
	since  map[string]time.Time // of the first refusal while locked, by account
	count  map[string]int       // entries after it, or after one in this life
	first  *request
	closed time.Time // the account is locked, and no answer has said so
	quiet  bool      // … and had the opportunity, and sent nothing
}

func (j *lockedEntry) see(w *world, p point) {
	switch {
	case p.kind == tradingsim.EventStart:
		for account := range j.since {
			j.count[account] = -1 // it may have forgotten, and ask once more
		}
	case p.kind == tradingsim.EventStatus:
		j.look(w)
		open := p.c.Value == "ACTIVE" || p.c.Value == "PURCHASED" || p.c.Value == "FUNDED" || p.c.Value == "active"
		switch {
		case !open && w.entries > 0:
			j.closed = p.at
		case open && !j.closed.IsZero():
			j.quiet = w.flatFor(j.closed) >= w.periods(4)
			j.closed = time.Time{}
		}
		if open {
			delete(j.since, p.c.Account)
			delete(j.count, p.c.Account)
		}
	case p.kind == tradingsim.EventRequest && w.adds(p.r) && w.fresh(p.r):
		j.look(w) // what it fills changes the opportunity
		j.exercised = j.exercised || j.quiet
		j.closed, j.quiet = time.Time{}, false
		if j.since[p.r.account].IsZero() {
			return
		}
		if j.count[p.r.account]++; j.count[p.r.account] >= 3 {
			j.violated(Fail, "entries-while-locked", fmt.Sprintf("%s is entry %d after %s was answered account_locked.", p.r.text(), j.count[p.r.account], j.first.text()), j.first, p.r)
		}
	case p.kind == tradingsim.EventAnswer && p.r.entry && p.r.known():
		switch {
		case p.r.Code == "" || p.r.Status == 200:
			j.look(w)
			delete(j.since, p.r.account)
			delete(j.count, p.r.account)
		case (p.r.Code == "account_locked" || p.r.Code == "ACCOUNT_LOCKED") && j.since[p.r.account].IsZero():
			j.since[p.r.account], j.first = p.at, p.r
		}
	}
}

// look looks whether the bot had time to enter again.
func (j *lockedEntry) look(w *world) {
	for account, since := range j.since {
		if w.flatFor(since) >= w.periods(4) || j.count[account] > 0 {
			j.exercised = true
		}
	}
}

func (j *lockedEntry) end(w *world) { j.look(w) }

// limit is a Retry-After that has begun.
type limit struct {
	answer    *request
	from, end time.Time
	count     int
}

// retryAfter is a request that the service has asked not to send yet.
type retryAfter struct {
	tally
	open map[string]*limit // by scope
}

// scopes are what a request counts against: its key, and of a live write its class.
func scopes(r *request) []string {
	if r.KeyFingerprint == "" {
		return nil
	}
	list := []string{"key " + r.KeyFingerprint}
	if r.write && r.account != "" {
		list = append(list, r.Operation)
	}
	return list
}

func (j *retryAfter) see(_ *world, p point) {
	switch {
	case p.kind == tradingsim.EventRequest:
		for _, scope := range scopes(p.r) {
			l := j.open[scope]
			if l == nil || p.at.Before(l.from) {
				continue
			}
			if !p.at.Before(l.end) {
				j.exercised = true
				delete(j.open, scope)
				continue
			}
			if l.count++; l.count == 2 {
				j.violated(Fail, "requests-within-retry-after", fmt.Sprintf("%s is the second request in the limit's scope within the %d s that %s was asked to wait.",
					p.r.text(), l.answer.RetryAfter, l.answer.text()), l.answer, p.r)
			}
		}
	case p.kind == tradingsim.EventAnswer && p.r.Code == "rate_limited" && p.r.known() && p.r.RetryAfter > 0:
		list := scopes(p.r)
		if len(list) == 0 {
			return
		}
		scope := list[len(list)-1] // a live write meets the limit of its class
		if l := j.open[scope]; l == nil || !p.at.Before(l.end) {
			j.open[scope] = &limit{p.r, p.at.Add(time.Second), p.at.Add(time.Duration(p.r.RetryAfter) * time.Second), 0}
		}
	}
}

func (j *retryAfter) end(*world) {}

// restart is what a bot does first in a life that is not its first.
type restart struct {
	tally
	lives  int
	read   bool // positions, in this life
	held   bool // when it began
	killed time.Time
}

func (j *restart) see(w *world, p point) {
	if j.killed.IsZero() && p.kind != tradingsim.EventKill { // the first life
		return
	}
	flatten := w.m.Restart == Flatten
	switch {
	case p.kind == tradingsim.EventKill:
		j.killed = p.at
	case p.kind == tradingsim.EventStart:
		j.lives, j.read, j.held = j.lives+1, false, len(w.held) > 0
	case w.dead:
	case p.kind == tradingsim.EventAnswer && p.r.known() && p.r.Status == 200 && !p.r.At.Before(w.started):
		if _, positions := shows(p.r.Operation); positions {
			j.read = true
		}
	case p.kind == tradingsim.EventRequest && w.adds(p.r) && !j.read && w.freshSince(p.r, w.started):
		j.violated(Fail, "entry-before-positions", fmt.Sprintf("%s was sent after a restart, before the positions were read.", p.r.text()), p.r)
	}
	if flatten && j.held && !w.dead {
		if deadline := w.started.Add(time.Duration(w.m.FlatWithin)); w.now.After(deadline) && (w.flat.IsZero() || w.flat.After(deadline)) {
			j.held = false
			j.violated(Fail, "not-flat-after-restart", fmt.Sprintf("The account was not flat %s after the restart.", time.Duration(w.m.FlatWithin)))
		}
	}
}

// look looks whether the life that ends had its opportunity.
func (j *restart) look(w *world) {
	long := w.periods(2)
	if w.m.Restart == Flatten {
		long = time.Duration(w.m.FlatWithin)
	}
	if j.lives > 0 && j.held && !w.dead && w.now.Sub(w.started) >= long {
		j.exercised = true
	}
}

func (j *restart) end(w *world) { j.look(w) }

// zero is a number that was computed from a mark that is missing.
type zero struct {
	tally
	missing *request
	flat    bool
}

func (j *zero) see(w *world, p point) {
	switch {
	case p.kind == tradingsim.EventAnswer && p.r.MarkMissing && p.r.Delivered:
		j.missing = p.r
		j.flat = j.flat || !w.flat.IsZero() && w.entries > 0
	case p.kind != tradingsim.EventRequest || j.missing == nil || !p.r.write:
	default:
		if w.adds(p.r) && j.flat {
			j.exercised = true
		}
		for _, n := range []struct {
			name string
			number
		}{
			{"takeProfitPrice", p.r.TakeProfitPrice}, {"stopLossPrice", p.r.StopLossPrice}, {"limitPrice", p.r.LimitPrice},
			{"expectedPrice", p.r.ExpectedPrice}, {"triggerPrice", p.r.TriggerPrice}, {"startPrice", p.r.StartPrice}, {"endPrice", p.r.EndPrice},
		} {
			if n.set && !n.IsPositive() {
				j.violated(Fail, "price-from-missing-mark", fmt.Sprintf("%s has the %s %s after a mark was missing.", p.r.text(), n.name, n.Decimal), j.missing, p.r)
			}
		}
	}
}

func (j *zero) end(*world) {}

// keyReuse is an entry under the key of another request.
type keyReuse struct{ tally }

func (j *keyReuse) see(_ *world, p point) {
	if p.kind != tradingsim.EventAnswer || !p.r.entry || p.r.key == "" {
		return
	}
	j.exercised = true
	if p.r.Status == 422 && p.r.Code == "idempotency_key_reused" {
		j.violated(Warn, "key-of-another-request", p.r.text()+" has the key of a different request.", p.r)
	}
}

func (j *keyReuse) end(*world) {}

// storm is more entries in a period than declared.
type storm struct {
	tally
	latest []*request
}

func (j *storm) see(w *world, p point) {
	if p.kind != tradingsim.EventRequest || !p.r.entry {
		return
	}
	j.exercised = true
	j.latest = append(j.latest, p.r)
	for p.at.Sub(j.latest[0].At) >= w.periods(1) {
		j.latest = j.latest[1:]
	}
	if len(j.latest) > w.m.Entries {
		j.violated(Warn, "more-entries-than-declared", fmt.Sprintf("%s is entry %d within one period of %s.", p.r.text(), len(j.latest), time.Duration(w.m.Period)), j.latest[0], p.r)
		j.latest = nil
	}
}

func (j *storm) end(*world) {}
