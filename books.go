package trading

import (
	"context"
	"sync"
	"time"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/books"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/wire"
)

// What a write that has ended leaves behind: in the books of its account, in those
// of the writes beside it, and for who asks about it again.

// bookOf names an account in the books.
func bookOf(env Environment, id AccountID) books.Account {
	return books.Account{Environment: string(env), ID: string(id)}
}

var paperBook = bookOf(EnvSandbox, "")

// statusOf is the status of an account as last seen; empty if it never was.
func (c *core) statusOf(env Environment, id AccountID) AccountStatus {
	return AccountStatus(c.books.Status(bookOf(env, id)))
}

// settle ends a write that was in doubt, and says so.
func (c *core) settle(w *write, f final, r Resolution) {
	last := heard{}
	if w.answer != nil {
		last = *w.answer
		last.decoded = false
	}
	c.pending.resolved.keep(w.intent.ID, r)
	c.leaveBooks(w, f, &last, nil)
	c.hookResolved(context.Background(), r)
}

// bookWrite is a write as the books see it.
func (c *core) bookWrite(w *write) books.Write {
	in := &w.intent
	e := endpointOf(in.Operation)
	b := books.Write{
		Account: bookOf(in.Environment, in.Account), Places: w.Places, Side: w.side, Entry: in.Entry,
		Lists: in.Environment == EnvLive, Run: in.Environment == EnvLive && e != nil && e.pro,
	}
	if in.Environment == EnvLive && c.store.durable() {
		b.Note = func(n books.Note, durable bool) { c.store.beside(w, n, durable) }
	}
	return b
}

// inDoubt notes that a write is in doubt.
func (c *core) inDoubt(w *write) {
	c.pending.Doubt(&w.Entry)
	if w.intent.trades() {
		w.books.Doubt(&w.booked)
	}
}

// leaveBooks takes a write out of the open ones. What it did is noted with those beside it
// before its end is written: a crash between the two must leave it open.
func (c *core) leaveBooks(w *write, f final, last *heard, result wire.Value) {
	switch {
	case w.intent.trades():
		w.books.Leave(&w.booked, c.didOf(w, f, last, result))
	default: // a setting of levels leaves positions and closed trades as they were
		c.levels.noteEnd(w, f.Outcome)
	}
	if f.Evidence != EvidenceAcknowledged { // whose end is written already
		if err := c.store.end(context.Background(), w, f, false); err != nil {
			c.log.unwritten(w, err)
		}
	}
	c.levels.ended(w, f.Outcome)
	c.pending.Remove(&w.Entry)
	for _, e := range c.pending.DoubtedBeside(&w.Entry) {
		c.ownerOf(e.Write).driver.goOn(e.Write)
	}
}

// didOf is what a write did that has ended, where anybody has to know it.
func (c *core) didOf(w *write, f final, last *heard, result wire.Value) *books.Did {
	if f.Outcome == NotApplied || !w.books.Wants(&w.booked) {
		return nil
	}
	if f.Outcome != Applied || last.class != ledger.Success || // it ran, or may have
		last.attempt.replayed() && (w.left || w.books.ReadSince(w.booked.Account, w.firstSend)) {
		return c.unclear(w)
	}
	did, clear := effectOf(w, last, result, serviceTime(c.clock.at(last.attempt.Received), last.attempt.Received))
	if !clear {
		return c.unclear(w)
	}
	return did
}

// unclear is what a write did of which that is not known, or not whether the reads since
// then show it.
func (c *core) unclear(w *write) *books.Did {
	did := &books.Did{Unclear: true, ShownFrom: time.Now(), Own: accounting.Own{Last: serviceTime(c.clock.now(), time.Now())}}
	if n := len(w.looks); w.by == EvidenceAccounting && n > 0 {
		did.ShownFrom = w.looks[n-1].At // which shows it
	}
	return did
}

// maxResolved bounds how many resolutions wait for a caller that may never ask.
const maxResolved = 1024

// resolvedWithLooks bounds how many of them keep their looks, each of which holds the
// account's closed trades.
const resolvedWithLooks = 64

// resolutions are what writes in doubt have come to.
type resolutions struct {
	mu    sync.Mutex
	byID  map[IntentID]Resolution
	order []IntentID
}

func (r *resolutions) keep(id IntentID, of Resolution) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byID == nil {
		r.byID = make(map[IntentID]Resolution)
	}
	if _, kept := r.byID[id]; kept {
		r.byID[id] = of
		return
	}
	r.byID[id] = of
	r.order = append(r.order, id)
	if n := len(r.order) - resolvedWithLooks; n > 0 {
		old := r.byID[r.order[n-1]]
		old.Looks = nil
		r.byID[r.order[n-1]] = old
	}
	if len(r.order) > maxResolved {
		delete(r.byID, r.order[0])
		r.order = r.order[1:]
	}
}

func (r *resolutions) find(id IntentID) (Resolution, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	of, ok := r.byID[id]
	return of, ok
}

// ranTwice compares the position after an order that was sent again in doubt with
// what was known before it.
func (c *call) ranTwice(o *Order, result *OrderResult) Opt[bool] {
	if !c.doubted || result.Meta.Replayed || c.write == nil {
		return Opt[bool]{}
	}
	base := c.write.books.Evidence(&c.write.booked).Base
	if base == nil {
		return Opt[bool]{}
	}
	after := heldAfter(result)
	once := o.Size
	if o.Side == Short {
		once = once.Neg()
	}
	switch moved := after.Sub(base.Position.Size); {
	case moved.Equal(once):
		return Some(false)
	case moved.Equal(once.Add(once)):
		return Some(true)
	default:
		return Opt[bool]{}
	}
}
