package trial

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"time"

	"github.com/tradingapi/trading-go/tradingsim"
)

// blindResend is an entry in the place of another one whose outcome nobody has looked for.
func blindResend(t *tally) func(*world, point) {
	// Where two entries can be the same order: resting ones, at one price.
	type spot struct {
		slot
		side, price string
	}
	// An entry whose outcome is not known, and a read after it that lags so far that it shows what was before.
	type doubt struct{ entry, early *request }
	doubts := map[spot]*doubt{}
	lost := false
	arrived := func(w *world, r *request) {
		at := spot{slot{r.account, r.body.Symbol}, r.body.Side, ""}
		if r.Operation == "POST /orders/limit" {
			at.price = r.numbers["limitPrice"].String()
		}
		d := doubts[at]
		if d != nil && w.keys[r.key] == nil {
			verdict, reason, but := Fail, "resend-under-new-key", "without a read in between: the first may have been executed"
			switch {
			case d.early != nil:
				verdict, reason, but = Warn, "read-within-lag", fmt.Sprintf("and the read in between, #%d, began within the lag of reads and may not show it", d.early.ID)
			case d.entry.executed && r.executed:
				reason, but = "double", "without a read in between, and both were executed: the bot ordered twice"
			}
			t.violated(verdict, reason, []*request{d.entry, d.early, r}, "%s went out as a new order while the outcome of %s was not known, %s.", r.text(), d.entry.text(), but)
			d = nil
		}
		if !r.known() && d == nil {
			lost = true
			doubts[at] = &doubt{entry: r}
		}
	}
	return func(w *world, p point) {
		switch {
		case p.kind == tradingsim.EventRequest:
			t.had(lost)
			if p.r.entry {
				arrived(w, p.r)
			}
		case p.kind != tradingsim.EventAnswer || !p.r.known():
		case p.r.entry:
			maps.DeleteFunc(doubts, func(s spot, d *doubt) bool {
				return s.account == p.r.account && p.r.key != "" && d.entry.key == p.r.key
			})
		case p.r.shows(shown):
			for s, d := range doubts {
				switch {
				case s.account != p.r.account || p.r.ID < d.entry.ID:
				case p.r.At.Sub(d.entry.At) < p.r.Lag:
					d.early = p.r
				default:
					delete(doubts, s)
				}
			}
		}
	}
}

// scope is what a limit that a request meets counts: a live write's class, or what its key sends.
func (r *request) scope() string {
	if r.write && r.account != "" {
		return r.Operation
	}
	return r.KeyFingerprint
}

// retryAfter is a request that the service has asked not to send yet.
func retryAfter(t *tally) func(*world, point) {
	type limit struct {
		answer    *request
		from, end time.Time
		count     int
	}
	open := map[string]*limit{} // by scope
	return func(w *world, p point) {
		if p.r == nil || p.r.KeyFingerprint == "" {
			return
		}
		switch {
		case p.kind == tradingsim.EventRequest:
			for scope, l := range open {
				switch {
				case scope != p.r.KeyFingerprint && scope != p.r.scope() || p.at.Before(l.from):
				case !p.at.Before(l.end):
					t.had(true)
					delete(open, scope)
				default:
					if l.count++; l.count == 2 {
						t.violated(Fail, "requests-within-retry-after", []*request{l.answer, p.r},
							"The answer to %s asked the bot to wait %d s. After the first second of that wait it still sent two requests that the limit is for; the second is %s.", l.answer.text(), l.answer.RetryAfter, p.r.text())
					}
				}
			}
		case p.kind == tradingsim.EventAnswer && p.r.Code == "rate_limited" && p.r.known() && p.r.RetryAfter > 0:
			scope := p.r.scope()
			from, end := p.at.Add(time.Second+w.late), p.at.Add(time.Duration(p.r.RetryAfter)*time.Second)
			if l := open[scope]; (l == nil || !p.at.Before(l.end)) && from.Before(end) {
				open[scope] = &limit{p.r, from, end, 0}
			}
		}
	}
}

// keyReuse is an entry under the key of another request.
func keyReuse(t *tally) func(*world, point) {
	var first *request // of the entries
	return func(w *world, p point) {
		if p.kind != tradingsim.EventAnswer || !p.r.entry || p.r.key == "" {
			return
		}
		first = cmp.Or(first, p.r)
		t.had(!bytes.Equal(first.Body, p.r.Body))
		if p.r.Status == 422 && p.r.Code == "idempotency_key_reused" {
			other := cmp.Or(w.keys[p.r.key], p.r)
			t.violated(Warn, "key-of-another-request", []*request{other, p.r}, "%s has the key of #%d, a different request, and the service refused it.", p.r.text(), other.ID)
		}
	}
}

// storm is more entries in a period than declared.
func storm(t *tally) func(*world, point) {
	var latest []*request
	return func(w *world, p point) {
		if p.kind != tradingsim.EventRequest || !p.r.entry || p.r.Code == "idempotency_in_flight" {
			return // nothing comes of one that asks about another on its way
		}
		t.had(true)
		latest = append(latest, p.r)
		for p.at.Sub(latest[0].At) >= w.periods(1) {
			latest = latest[1:]
		}
		if len(latest) > w.Entries {
			t.violated(Warn, "more-entries-than-declared", []*request{latest[0], p.r}, "%s is entry %d within one period of %s, and the manifest allows %d (entries).", p.r.text(), len(latest), time.Duration(w.Period), w.Entries)
			latest = nil
		}
	}
}
