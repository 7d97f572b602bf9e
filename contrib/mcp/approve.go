package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

// Waiting is a ticket as a person sees it: the exact request in words of ours, and none of a model's.
type Waiting struct {
	Ticket  string        `json:"ticket"`
	Digest  string        `json:"digest"` // of the request that is approved
	Lines   []Line        `json:"lines"`
	Expires time.Duration `json:"expires"`
}

// Line is a part of a request: what it is, and its value.
type Line struct{ Name, Value string }

// Waiting lists what waits for a person, oldest first.
func (e *Engine) Waiting() []Waiting {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := []Waiting{}
	for _, t := range e.waiting() {
		_, most := e.now().since(t.handed)
		all = append(all, Waiting{Ticket: t.id, Digest: t.digest, Lines: e.lines(t), Expires: approveWithin - most})
	}
	slices.SortFunc(all, func(a, b Waiting) int { return cmp.Compare(a.Expires, b.Expires) })
	return all
}

// waiting are the tickets that wait. The caller has the lock.
func (e *Engine) waiting() (all []*ticket) {
	for _, t := range e.tickets {
		if t.phase == waiting && !t.expired(e.now()) {
			all = append(all, t)
		}
	}
	return all
}

// lines say what a ticket does. The caller has the lock.
func (e *Engine) lines(t *ticket) []Line {
	a := &t.write.Action
	var all []Line
	say := func(name, value string) {
		if value != "" {
			all = append(all, Line{name, value})
		}
	}
	number := func(name string, d decimal.Decimal) {
		if !d.IsZero() {
			say(name, d.String())
		}
	}
	place := "live account " + accountName(a.Account)
	if a.Account == "" {
		place = "paper account"
	}
	switch a.Kind {
	case "close":
		say("What", "close "+a.Percent.String()+" percent of a position")
	case "levels":
		say("What", "change the levels of a position")
	case "cancel":
		say("What", "cancel an order that may reduce exposure")
	default:
		effect := "may take a position away, or turn it"
		if t.write.Adds {
			effect = "adds exposure"
		}
		say("What", a.Kind+" order: "+effect)
	}
	say("Where", place)
	say("Market", a.Symbol)
	say("Service", e.config.BaseURL)
	if o := a.Order; o != nil {
		say("Side", string(o.Side))
		number("Size", o.Size)
		number("Leverage", o.Leverage)
		say("Limit price", level(o.LimitPrice))
		say("Stop loss", cmp.Or(level(o.StopLoss), "none"))
		say("Take profit", cmp.Or(level(o.TakeProfit), "none"))
		say("Worth at the most", t.write.Notional.StringFixed(2)+" dollars")
		say("Loss at the stop", t.write.Risk.StringFixed(2)+" dollars, and more in a gap")
	}
	if p := a.parts(); p != "" {
		say("How", p)
	}
	if l := a.Levels; l != nil {
		say("Stop loss", levelWord(l.StopLoss))
		say("Take profit", levelWord(l.TakeProfit))
	}
	if t.loosens && a.Kind == "levels" {
		say("Warning", "the stop is taken away, or set farther off")
	}
	if a.OrderID != "" || a.RunID != "" {
		say("Order", name(string(a.OrderID)+string(a.RunID)))
	}
	if t.addsTo != "" {
		say("Warning", "it adds to an entry of the last ten minutes")
	}
	return all
}

func levelWord(l trading.Level) string {
	switch {
	case l.IsZero():
		return "as it is"
	case l.IsClear():
		return "none"
	default:
		return level(l)
	}
}

// parts are what a Pro order has beside the order.
func (a *action) parts() string {
	data := ""
	for _, how := range []any{a.Conditional, a.TWAP, a.Chase, a.ChaseTWAP, a.Ladder, a.Swarm} {
		if text, err := json.Marshal(how); err == nil && string(text) != "null" {
			data += string(text)
		}
	}
	return strings.NewReplacer(`"`, "", "{", "", "}", "", ",", ", ").Replace(data)
}

// Approve sends a ticket that waits, if the passphrase is right, the digest is of its request, and
// every check still holds. The error says what a person has to know.
func (e *Engine) Approve(ctx context.Context, id, digest, phrase string) error {
	e.mu.Lock()
	t := e.tickets[id]
	ready := t != nil && t.phase == waiting && t.digest == digest && !t.expired(e.now())
	e.mu.Unlock()
	if !ready {
		return errors.New("no such ticket waits: it has ended, or is another one")
	}
	if err := e.gate.judge(phrase); err != nil {
		return err
	}
	v, r := e.send(ctx, t)
	if r != nil {
		return fmt.Errorf("nothing was sent: %s. %s", r.Code, r.Advice)
	}
	if v.Outcome != "applied" {
		return fmt.Errorf("the outcome is %s (%s). %s", v.Outcome, cmp.Or(v.Code, v.Phase), v.Advice)
	}
	return nil
}

// Deny ends a ticket that waits. It needs no passphrase.
func (e *Engine) Deny(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if t := e.tickets[id]; t != nil && t.phase == waiting {
		t.end("denied")
	}
}

// Operator answers the operator's command, on a socket that only this user can enter.
func (e *Engine) Operator() http.Handler {
	mux := http.NewServeMux()
	answer := func(w http.ResponseWriter, v any, err error) {
		if err != nil {
			http.Error(w, err.Error(), http.StatusConflict)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v) // to a command that is gone
	}
	mux.HandleFunc("GET /operator/waiting", func(w http.ResponseWriter, _ *http.Request) { answer(w, e.Waiting(), nil) })
	mux.HandleFunc("POST /operator/approve", func(w http.ResponseWriter, r *http.Request) {
		answer(w, "sent", e.Approve(r.Context(), r.FormValue("ticket"), r.FormValue("digest"), r.FormValue("passphrase")))
	})
	mux.HandleFunc("POST /operator/deny", func(w http.ResponseWriter, r *http.Request) { e.Deny(r.FormValue("ticket")); answer(w, "denied", nil) })
	guarded := func(do func(r *http.Request) error) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			err := e.gate.judge(r.FormValue("passphrase"))
			if err == nil {
				err = do(r)
			}
			answer(w, "done", err)
		}
	}
	mux.HandleFunc("POST /operator/resume", guarded(func(*http.Request) error { return e.Resume() }))
	mux.HandleFunc("POST /operator/acknowledge", guarded(e.acknowledge))
	return mux
}

// acknowledge takes over what a person has found out about a ticket whose outcome is not known.
func (e *Engine) acknowledge(r *http.Request) error {
	found := map[string]trading.Outcome{"applied": trading.Applied, "not-applied": trading.NotApplied}[r.FormValue("outcome")]
	t, refused := e.find(r.FormValue("ticket"))
	if refused != nil || found == trading.Unknown {
		return errors.New("name a ticket, and as its outcome applied or not-applied")
	}
	e.mu.Lock()
	intent := t.write.intent
	e.mu.Unlock()
	if intent != "" {
		if err := e.client.Acknowledge(r.Context(), intent, found, "by the operator"); err != nil {
			return err
		}
	}
	e.finish(t.write, found, "acknowledged", nil)
	return nil
}
