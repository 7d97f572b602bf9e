package trading

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/pending"
	"github.com/tradingapi/trading-go/internal/wire"
)

// What a write that has ended leaves behind: in the books of its account, in those
// of the writes beside it, and for who asks about it again.

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

// enterBooks adds a write to those that are open, with what is known of its account. One
// that ends at the same moment is either in what is known, or notes its effect here.
func (c *core) enterBooks(w *write, trades bool, side accounting.Side) (added bool, known evidence) {
	c.pending.besideMu.Lock()
	defer c.pending.besideMu.Unlock()
	if trades {
		w.evidence.Base, w.evidence.Own = c.accounts.baseline(&w.intent, side)
	}
	known = evidence{Base: w.evidence.Base, Own: slices.Clone(w.evidence.Own)}
	if added = c.pending.Add(&w.Entry); added {
		c.accounts.levelsBegan(w)
	}
	return added, known
}

// leaveBooks takes a write out of the open ones. What it did is noted with those beside it
// before its end is written: a crash between the two must leave it open.
func (c *core) leaveBooks(w *write, f final, last *heard, result wire.Value) {
	c.pending.besideMu.Lock()
	beside := c.pending.Others(&w.Entry)
	switch {
	case w.intent.Operation == OpTPSL: // nothing that accounting reads shows levels
		c.noteNewerEnd(w, f.Outcome)
	case f.Outcome == NotApplied:
	case f.Outcome == Applied && last.class == ledger.Success:
		c.noteEffect(w, last, result, beside)
	default: // it ran, or may have, and nobody knows what it did
		c.noteUnclear(w, beside)
	}
	if f.Evidence != EvidenceAcknowledged { // whose end is written already
		if err := c.store.end(context.Background(), w, f, false); err != nil {
			c.log.unwritten(w, err)
		}
	}
	c.accounts.levelsEnded(w, f.Outcome)
	c.pending.Remove(&w.Entry)
	c.pending.besideMu.Unlock()
	for _, e := range beside {
		c.ownerOf(e.Write).driver.goOn(e.Write)
	}
}

// noteUnclear notes a write of which it is not known what it did, or whether the reads
// since then show it.
func (c *core) noteUnclear(w *write, beside []*pending.Entry[*write]) {
	from := time.Now()
	if n := len(w.looks); w.by == EvidenceAccounting && n > 0 {
		from = w.looks[n-1].At // which shows it
	}
	c.accounts.unclear(w.intent.Environment, w.intent.Account, w.intent.Symbol, from)
	for _, e := range beside {
		c.dropBaseline(e.Write, accounting.Own{Last: serviceTime(c.clock.now(), time.Now())})
	}
}

// dropBaseline takes from an open write what it is held against: another write may be
// in it or not. The books are locked.
func (c *core) dropBaseline(w *write, own accounting.Own) {
	w.evidence.Base, w.accompanied = nil, true
	w.evidence.Own = append(w.evidence.Own, own)
	c.store.later(w, record{Own: &own, NoBase: true})
}

// noteEffect notes what an answered write did.
func (c *core) noteEffect(w *write, last *heard, result wire.Value, beside []*pending.Entry[*write]) {
	if len(beside) == 0 && !c.accounts.tracks(w.intent.Environment, w.intent.Account) {
		return
	}
	if last.attempt.replayed() && (w.left || c.accounts.readSince(w.intent.Environment, w.intent.Account, w.firstSend)) {
		c.noteUnclear(w, beside)
		return
	}
	answered := serviceTime(c.clock.at(last.attempt.Received), last.attempt.Received)
	e := effectOf(&w.intent, last, result, answered)
	c.accounts.wrote(w.intent.Environment, w.intent.Account, w.intent.Symbol, e.own, e.after,
		len(beside) == 0 && !w.accompanied)
	for _, other := range beside {
		c.noteBeside(other.Write, e.own)
	}
}

// noteBeside tells an open write what another one did. The books are locked.
func (c *core) noteBeside(w *write, own accounting.Own) {
	w.evidence.Own, w.accompanied = append(w.evidence.Own, own), true
	c.store.beside(w, own)
}

// begun notes that a write is in the journal, with the first of what others did
// beside it; the rest follows.
func (c *core) begun(w *write, noted int, mayBe bool) {
	c.pending.besideMu.Lock()
	defer c.pending.besideMu.Unlock()
	w.journaled = mayBe && c.store.durable()
	for _, own := range w.evidence.Own[noted:] {
		c.store.beside(w, own)
	}
}

// evidenceOf returns a write's baseline, and what other writes did since.
func (c *core) evidenceOf(w *write) (*accounting.Baseline, []accounting.Own) {
	c.pending.besideMu.Lock()
	defer c.pending.besideMu.Unlock()
	return w.evidence.Base, slices.Clone(w.evidence.Own)
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
	_, again := r.byID[id]
	r.byID[id] = of
	if again { // by a person, and by the service
		return
	}
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
	base, _ := c.core.evidenceOf(c.write)
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

func (v *accountViews) tracks(env Environment, id AccountID) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	view := v.views[accountKey{env, id}]
	return view != nil && (!view.posAt.IsZero() || !view.rowsAt.IsZero())
}
