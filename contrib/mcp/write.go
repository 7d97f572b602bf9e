package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/claims"
	"github.com/tradingapi/trading-go/journal"
)

// write is one own write to an account: of a ticket, or an exit, which has none.
type write struct {
	ID       string          `json:"id"`
	Action   action          `json:"action"`
	Notional decimal.Decimal `json:"notional,omitzero"` // of an entry, at the highest price that was known
	Risk     decimal.Decimal `json:"risk,omitzero"`     // what it may lose
	Adds     bool            `json:"adds,omitempty"`    // it only adds exposure, so that its cancel is an exit
	Consumed Moment          `json:"consumed"`
	Sent     *Moment         `json:"sent,omitempty"`  // before its first byte
	Ended    *Moment         `json:"ended,omitempty"` // after its last one
	Outcome  trading.Outcome `json:"outcome"`
	Code     string          `json:"code,omitempty"`
	Answer   *answer         `json:"answer,omitempty"`

	intent trading.IntentID // to resolve it by
	tick   uint64           // the last change of it
	shown  bool             // a state has shown its outcome
	done   chan struct{}    // closed when the call has ended
	ctx    context.Context  //nolint:containedctx // of the call
	drop   func()           // ends it: what has not left does not leave
	claim  *claims.Claim[*write]
}

func (w *write) known() bool { return w.Outcome != trading.Unknown }

// inFlight reports whether its call has not ended.
func (w *write) inFlight() bool { return w.Sent != nil && w.Ended == nil }

// mayRun reports whether it ran, or may have.
func (w *write) mayRun() bool { return w.Sent != nil && (!w.known() || w.Outcome == trading.Applied) }

// The facts of a write, each durable before the next step: consumed, sent before the first byte,
// outcome, answer.

type fact struct {
	Fact  string `json:"fact"`
	Write *write `json:"write"`
}

const (
	factConsumed = "consumed"
	factSent     = "sent"
	factOutcome  = "outcome"
	factAnswer   = "answer"
)

// facts keeps the facts of tickets in a journal of their own.
type facts struct {
	log  *journal.Log
	step func(name string)
}

// mostAge is for how long a ticket that has ended is shown: as long as a day counts.
const mostAge = 49 * time.Hour

// openFacts returns what an earlier process left, oldest first. What is older than a day is
// forgotten, unless something of it may still rest.
func openFacts(path string, now Moment, step func(string)) (*facts, []*write, error) {
	log, err := journal.Open(path, journal.WithLockTimeout(0))
	if err != nil {
		return nil, nil, err
	}
	f := &facts{log, step}
	var left []*write
	for h, err := range journal.Read(path) {
		var w *write
		if err == nil {
			w, err = readFacts(h)
		}
		if err != nil {
			return nil, nil, errors.Join(fmt.Errorf("%s: %w", path, err), log.Close())
		}
		if h.Final && now.past(w.Consumed, mostAge) && !(w.Adds && w.Action.waits() && !now.past(w.Consumed, 30*24*time.Hour)) {
			if err := log.Forget(context.Background(), h.Name); err != nil {
				return nil, nil, errors.Join(err, log.Close())
			}
			continue
		}
		left = append(left, w)
	}
	return f, left, nil
}

// readFacts is a write as its facts have it: not consumed, there is none; consumed and not sent, it
// was not applied; sent without an outcome, it is unknown.
func readFacts(h journal.History) (*write, error) {
	last, sent := fact{}, false
	for _, data := range h.Records {
		last = fact{}
		if err := json.Unmarshal(data, &last); err != nil || last.Write == nil {
			return nil, fmt.Errorf("the ticket %q cannot be read: %w", h.Intent, err)
		}
		sent = sent || last.Fact != factConsumed
	}
	w := last.Write
	switch {
	case !sent:
		w.Outcome, w.Code = trading.NotApplied, "not_sent"
	case last.Fact == factSent:
		w.Outcome = trading.Unknown
	}
	return w, nil
}

func (f *facts) note(what string, w *write) error {
	data, err := json.Marshal(fact{what, w})
	if err != nil {
		return err
	}
	if f.step != nil {
		f.step("before " + what)
		defer f.step("after " + what)
	}
	return f.log.Append(context.Background(), true, journal.Record{Intent: w.ID, Name: w.ID, Final: what == factAnswer, Data: data})
}

// takeOver takes the writes of an earlier process. What was sent and has no outcome, the journal of
// the client may know.
func (e *Engine) takeOver(left []*write) {
	for _, w := range e.claimLeft(left) {
		e.background(func(ctx context.Context) { e.resolveLeft(ctx, w) })
	}
}

// claimLeft lets these writes claim what they may have added, and returns those that may have run.
func (e *Engine) claimLeft(left []*write) (unknown []*write) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.writes = append(e.writes, left...)
	for _, w := range left {
		switch {
		case w.known() && w.Ended == nil: // never sent
			now := e.now()
			w.Ended = &now
		case !w.known():
			if w.Ended == nil { // it may have been sent for as long as an entry is
				end := *w.Sent
				end.Wall, end.Up = end.Wall.Add(lastSend), end.Up+lastSend
				w.Ended = &end
			}
			unknown = append(unknown, w)
		}
		if w.mayRun() {
			e.begins(w)
			e.learns(w)
		}
	}
	return unknown
}

// resolveLeft finds out, by the journal, what became of a write that an earlier process sent.
func (e *Engine) resolveLeft(ctx context.Context, w *write) {
	if w.Action.Account != "" {
		old, err := e.client.ClientOrder(ctx, w.Action.Account, w.Action.operation(), w.ID)
		switch {
		case err != nil || old == nil:
			return // it stays unknown
		case !old.Pending:
			r := trading.Resolution{Intent: old.Intent, Outcome: old.Outcome, Answer: old.Answer}
			e.finish(w, old.Outcome, name(string(old.Code)), w.Action.into(&r))
			return
		}
		e.resolve(ctx, w, old.Intent.ID)
		return
	}
	pending, err := e.client.Pending(ctx)
	for _, p := range pending {
		if err == nil && p.Tag == w.ID {
			e.resolve(ctx, w, p.ID)
		}
	}
}

// resolve waits for the outcome of a write, and gives up with the engine alone.
func (e *Engine) resolve(ctx context.Context, w *write, id trading.IntentID) {
	e.mu.Lock()
	w.intent = id
	e.mu.Unlock()
	for ctx.Err() == nil {
		r, err := e.client.ResolveID(ctx, id)
		if r != nil && r.Outcome != trading.Unknown {
			e.finish(w, r.Outcome, codeOf(r.Err), w.Action.into(r))
			return
		}
		e.mu.Lock()
		known := w.known()
		e.mu.Unlock()
		if known || err == nil {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(30 * time.Second):
		}
	}
}

// finish is the end of a write: its outcome and its answer are noted before anybody reads them. What
// cannot be noted is looked up after a restart. An outcome that is known stays.
func (e *Engine) finish(w *write, outcome trading.Outcome, code string, a *answer) {
	e.mu.Lock()
	next := *w
	e.mu.Unlock()
	if next.known() {
		return
	}
	now := e.now()
	if next.Outcome, next.Code, next.Ended = outcome, code, &now; a != nil {
		next.Answer = a
	}
	if isTicket(w.ID) && next.known() {
		err := e.facts.note(factOutcome, &next)
		if err == nil {
			err = e.facts.note(factAnswer, &next)
		}
		if err != nil {
			e.config.Logger.Error("an outcome cannot be noted", "err", err)
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	w.Outcome, w.Code, w.Ended, w.Answer = next.Outcome, next.Code, next.Ended, next.Answer
	e.learns(w)
	e.changed(w)
}

// changed makes every state old that does not tell this.
func (e *Engine) changed(w *write) {
	e.tick++
	w.tick, w.shown = e.tick, false
}
