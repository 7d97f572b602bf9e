package trial

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"time"

	"github.com/tradingapi/trading-go/tradingsim"
)

// spot is where two entries can be the same order: resting ones, at one price.
type spot struct {
	slot
	side, price string
}

func spotOf(r *request) spot {
	s := spot{slot{r.account, r.Symbol}, r.Side, ""}
	if r.resting {
		s.price = "resting " + r.LimitPrice.String()
	}
	return s
}

// blindResend is an entry in the place of another one whose outcome nobody has looked for.
func blindResend(t *tally) func(*world, point) {
	// An entry whose outcome is not known, and a read that began within the lag after it.
	type doubt struct{ entry, early *request }
	doubts := map[spot]*doubt{}
	var pairs [][2]*request // of violations
	lost := false
	arrived := func(w *world, r *request) {
		d := doubts[spotOf(r)]
		if d != nil && w.fresh(r) {
			if d.early != nil {
				t.violated(Warn, "read-within-lag", []*request{d.entry, d.early, r},
					"%s went out %s while the outcome of %s was not known: the read in between, #%d, began within the lag of reads and may not show it.", r.text(), r.under(), d.entry.text(), d.early.ID)
			} else {
				t.violated(Fail, "resend-under-new-key", []*request{d.entry, r},
					"%s went out %s while the outcome of %s was not known, without a read in between: the first may have been executed.", r.text(), r.under(), d.entry.text())
				pairs = append(pairs, [2]*request{d.entry, r})
			}
			d = nil
		}
		if !r.known() && d == nil {
			lost = true
			doubts[spotOf(r)] = &doubt{entry: r}
		}
	}
	return func(w *world, p point) {
		switch {
		case p.kind == ended:
			for _, pair := range pairs {
				if w.executed[pair[0].ID] && w.executed[pair[1].ID] {
					t.Reason, t.Requests = "double", []int64{pair[0].ID, pair[1].ID}
					t.Text = fmt.Sprintf("The bot ordered twice. %s went out %s while the outcome of %s was not known, without a read in between, and both were executed.", pair[1].text(), pair[1].under(), pair[0].text())
					return
				}
			}
		case p.kind == tradingsim.EventRequest:
			t.exercised = t.exercised || lost
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
				case p.r.At.Sub(d.entry.At) < time.Duration(w.m.Lag):
					d.early = p.r
				default:
					delete(doubts, s)
				}
			}
		}
	}
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

// retryAfter is a request that the service has asked not to send yet.
func retryAfter(t *tally) func(*world, point) {
	type limit struct {
		answer    *request
		from, end time.Time
		count     int
	}
	open := map[string]*limit{} // by scope
	return func(_ *world, p point) {
		switch {
		case p.kind == tradingsim.EventRequest:
			for _, scope := range scopes(p.r) {
				l := open[scope]
				switch {
				case l == nil || p.at.Before(l.from):
				case !p.at.Before(l.end):
					t.exercised = true
					delete(open, scope)
				default:
					if l.count++; l.count == 2 {
						t.violated(Fail, "requests-within-retry-after", []*request{l.answer, p.r},
							"The answer to %s asked the bot to wait %d s. After the first second of that wait it still sent two requests that the limit is for; the second is %s.", l.answer.text(), l.answer.RetryAfter, p.r.text())
					}
				}
			}
		case p.kind == tradingsim.EventAnswer && p.r.Code == "rate_limited" && p.r.known() && p.r.RetryAfter > 0:
			list := scopes(p.r)
			if len(list) == 0 {
				return
			}
			scope := list[len(list)-1] // a live write meets the limit of its class
			if l := open[scope]; l == nil || !p.at.Before(l.end) {
				open[scope] = &limit{p.r, p.at.Add(time.Second), p.at.Add(time.Duration(p.r.RetryAfter) * time.Second), 0}
			}
		}
	}
}

// keyReuse is an entry under the key of another request.
func keyReuse(t *tally) func(*world, point) {
	var first *request
	under := map[string][]*request{} // by key
	return func(_ *world, p point) {
		switch {
		case p.r == nil || !p.r.write || p.r.key == "":
		case p.kind == tradingsim.EventRequest:
			under[p.r.key] = append(under[p.r.key], p.r)
		case p.kind == tradingsim.EventAnswer && p.r.entry:
			first = cmp.Or(first, p.r)
			t.exercised = t.exercised || !bytes.Equal(first.Body, p.r.Body)
			if p.r.Status != 422 || p.r.Code != "idempotency_key_reused" {
				return
			}
			other, shown := "a different request", []*request{p.r} // where the log begins after it
			for _, r := range under[p.r.key] {
				if r.Operation != p.r.Operation || !bytes.Equal(r.Body, p.r.Body) {
					other, shown = fmt.Sprintf("#%d, a different request", r.ID), []*request{r, p.r}
					break
				}
			}
			t.violated(Warn, "key-of-another-request", shown, "%s has the key of %s, and the service refused it.", p.r.text(), other)
		}
	}
}

// storm is more entries in a period than declared.
func storm(t *tally) func(*world, point) {
	var latest []*request
	return func(w *world, p point) {
		if p.kind != tradingsim.EventRequest || !p.r.entry {
			return
		}
		t.exercised = true
		latest = append(latest, p.r)
		for p.at.Sub(latest[0].At) >= w.periods(1) {
			latest = latest[1:]
		}
		if len(latest) > w.m.Entries {
			t.violated(Warn, "more-entries-than-declared", []*request{latest[0], p.r}, "%s is entry %d within one period of %s, and the manifest allows %d (entries).", p.r.text(), len(latest), time.Duration(w.m.Period), w.m.Entries)
			latest = nil
		}
	}
}
