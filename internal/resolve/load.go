package resolve

import (
	"context"
	"fmt"
	"slices"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/books"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/journal"
)

// Load takes over, once, what earlier runs of the program left, and what clients left
// that have closed.
func (d *Driver) Load(ctx context.Context) error {
	r := d.pending
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.orphans) > 0 {
		r.adoptOrphans(d)
	}
	if r.loaded {
		return nil
	}
	return d.loadFrom(ctx, r)
}

// loadFrom reads the journal. The registry's lock is held.
func (d *Driver) loadFrom(ctx context.Context, r *shared) error {
	gap := d.store.gap()
	var left []*Write
	for h, err := range d.store.journal.Pending(ctx) {
		if err != nil {
			return fmt.Errorf("the journal cannot be read: %w", err)
		}
		w, err := d.restore(&h, gap)
		if err != nil {
			return err
		}
		if w != nil {
			left = append(left, w)
		}
	}
	if len(left) == 0 {
		d.store.closeGap() // nothing is left that it matters to
	}
	var taken []*Write
	defer func() { d.adopt(taken) }()
	for _, w := range left {
		if !r.Add(&w.Entry) {
			continue // of this process, and at work
		}
		if w.Ledger.Forget() { // its key may be another program's, and it needs no resolution
			f := Final{Outcome: ledger.Unknown}
			w.finish(&f)
			if err := d.store.end(ctx, w, f, false); err != nil {
				return fmt.Errorf("the journal cannot be written: %w", err)
			}
			r.Remove(&w.Entry)
			continue
		}
		d.store.note(w, ledger.Fact{Kind: ledger.Restarted, At: d.Clock.Now()})
		r.Doubt(&w.Entry)
		if w.Intent.BaseURL != d.cfg.BaseURL {
			w.worker, w.reason = nil, fmt.Sprintf("it was sent to %s", w.Intent.BaseURL)
			r.orphans = append(r.orphans, w)
			continue
		}
		taken = append(taken, w)
	}
	r.loaded = true
	return nil
}

// adopt takes over what others left. All their settings of levels are known before work
// on the first begins.
func (d *Driver) adopt(left []*Write) {
	for _, w := range left {
		// One that neither ended nor is pending never left: its beginning is in no journal.
		w.newer = slices.DeleteFunc(w.newer, func(n newerSetting) bool {
			return !n.ended && d.pending.Find(n.Intent.ID) == nil
		})
		d.levels.left(w)
	}
	for _, w := range left {
		d.schedule.Add(w)
	}
}

// restore folds the records of a write that an earlier run left. gap means that the journal
// lacks exits, or sends of them.
func (d *Driver) restore(h *journal.History, gap bool) (*Write, error) {
	records, err := decode(h)
	if err != nil {
		return nil, err
	}
	w := &Write{worker: d, Left: true, gap: gap, registered: true, journaled: true, handed: closedChannel()}
	var terms ledger.Terms
	var facts []ledger.Fact
	var base *accounting.Baseline
	var beside books.Note
	for i := range records {
		r := &records[i]
		switch {
		case r.Begin != nil:
			w.Intent, terms = r.Begin.Intent, r.Begin.Terms
			base, beside = r.Begin.Base, r.Begin.Beside
			w.Unnamed, w.Restores = r.Begin.Unnamed, r.Begin.Restores
			facts = append(facts, ledger.Fact{Kind: ledger.SendBegun, At: r.Begin.Sent})
		case r.Key != nil:
			w.Intent.Key, w.Intent.Try = r.Key.Key, r.Key.Try
			facts = append(facts, ledger.Fact{Kind: ledger.KeyChanged, At: r.Key.Sent}, ledger.Fact{Kind: ledger.SendBegun, At: r.Key.Sent})
		case r.Fact != nil:
			facts = append(facts, *r.Fact)
		case r.Newer != nil, r.NewerEnd != nil:
			w.keepNewer(r)
		case r.Beside != nil:
			beside.Add(*r.Beside)
		}
	}
	if w.Intent.ID == "" {
		return nil, nil // its beginning failed, and so it was not journaled
	}
	terms.Exclusive = d.cfg.IsExclusive(w.Intent.Account)
	terms.NoProbe = terms.NoProbe || d.cfg.WithoutProbe
	terms.SendsMissing = gap && !w.Intent.Entry
	w.Kind = d.cfg.Kind(w.Intent.Operation)
	w.Entry.ID, w.Name, w.Places, w.Write = h.Intent, h.Name, w.Kind.places(&w.Intent), w
	w.keyInStore = w.Intent.Key
	w.Ledger = ledger.Restore(terms, facts, d.Clock.Now())
	w.asked() // whose side the books take
	w.books, w.booked = d.pending.viewLocked(w.Intent.BaseURL, false).books, d.bookWrite(w)
	if beside.NoBaseline {
		base = nil
	}
	if w.Kind.Trades {
		w.books.Restore(&w.booked, base, beside.Own)
	}
	return w, nil
}

func closedChannel() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}
