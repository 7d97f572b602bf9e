package resolve

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tradingapi/trading-go/internal/books"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/pending"
	"github.com/tradingapi/trading-go/internal/spec"
	"github.com/tradingapi/trading-go/journal"
)

// Load takes over, once, what earlier runs of the program left, and what clients left
// that have closed. One call reads the journal, and the others wait for it as long as
// their contexts last.
func (d *Driver) Load(ctx context.Context) error {
	r := d.pending
	if r.takeOver(d) {
		return nil
	}
	select {
	case r.loading <- struct{}{}:
		defer func() { <-r.loading }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if r.takeOver(d) {
		return nil
	}
	gap := d.store.gap()
	left, err := d.readLeft(ctx)
	if err != nil {
		return err
	}
	if len(left) == 0 {
		d.store.closeGap() // nothing is left that it matters to
	}
	if left, err = d.endUnsent(ctx, left); err != nil {
		return err
	}
	for _, w := range left {
		d.store.note(w, ledger.Fact{Kind: ledger.Restarted, At: d.Clocks.Now()})
	}
	var done []*OpenWrite // a person, or a late answer, had decided them, and the run before did not write their end
	for _, w := range left {
		if w.Ledger.Done() { // asked before anybody works on it, which nobody does on these
			done = append(done, w)
		}
	}
	r.loaded(d, left, gap)
	for _, w := range left {
		if w.Traits.Trades {
			d.trades(&w.Intent)
		}
	}
	for _, w := range done {
		d.finish(w)
	}
	return nil
}

// readLeft reads the journal.
func (d *Driver) readLeft(ctx context.Context) (left []*OpenWrite, err error) {
	gap := d.store.gap()
	for h, err := range d.store.journal.Pending(ctx) {
		if err != nil {
			return nil, fmt.Errorf("the journal cannot be read: %w", err)
		}
		if d.pending.wentAhead(pending.IntentID(h.Intent)) {
			continue // of this process
		}
		w, err := d.restore(ctx, &h, gap)
		if err != nil {
			return nil, err
		}
		if w == nil {
			if err := d.endUnbegun(ctx, &h); err != nil {
				return nil, err
			}
			continue
		}
		left = append(left, w)
	}
	return left, nil
}

// endUnsent ends the writes that sent nothing that may run, and whose keys may be another program's: they need no
// resolution.
func (d *Driver) endUnsent(ctx context.Context, left []*OpenWrite) (open []*OpenWrite, err error) {
	for _, w := range left {
		if !w.Ledger.Forget() {
			open = append(open, w)
			continue
		}
		f := Final{Outcome: ledger.Unknown}
		w.finish(&f)
		if err := d.store.end(ctx, w, &f); err != nil {
			return nil, fmt.Errorf("the journal cannot be written: %w", err)
		}
	}
	return open, nil
}

// endUnbegun ends what the journal has of a write without its beginning: notes of those beside it, which came first. It
// was not sent, or is an exit that went out all the same, which is missing there.
func (d *Driver) endUnbegun(ctx context.Context, h *journal.History) error {
	w := &OpenWrite{Intent: pending.Intent{ID: pending.IntentID(h.Intent)}, Name: h.Name, journaled: true}
	if err := d.store.end(ctx, w, &Final{Outcome: ledger.Unknown, At: time.Now(), Unbegun: true}); err != nil {
		return fmt.Errorf("the journal cannot be written: %w", err)
	}
	return nil
}

// adopt takes over what others left. All their settings of levels are known before work
// on the first begins.
func (d *Driver) adopt(left []*OpenWrite) {
	for _, w := range left {
		// One that neither ended nor is pending never left: its beginning is in no journal.
		if w.newer != nil {
			w.newer.left = slices.DeleteFunc(w.newer.left, func(n newerSetting) bool {
				return !n.ended && d.pending.find(n.Intent.ID) == nil
			})
		}
		d.levels.left(w)
	}
	for _, w := range left {
		if !w.Ledger.Done() || w.abandoned { // of a client that has closed, which has not ended it yet
			d.schedule.add(w)
		}
	}
}

// restore folds the records of a write that an earlier run left. gap means that the journal
// lacks exits, or sends of them.
func (d *Driver) restore(ctx context.Context, h *journal.History, gap bool) (*OpenWrite, error) {
	records, err := decode(h)
	if err != nil {
		return nil, err
	}
	w := &OpenWrite{Left: true, gap: gap, journaled: true, over: true, handed: make(chan struct{})}
	close(w.handed)
	var terms ledger.Terms
	var facts []ledger.Fact
	var beside books.Note
	for i := range records {
		r := &records[i]
		switch {
		case r.Begin != nil:
			w.Intent, terms = *r.Begin.Intent, r.Begin.Terms
			w.SetKey(r.Begin.Try)
			before := beside // by those that ended while its beginning was on its way
			beside = r.Begin.Beside
			beside.Add(before)
			w.Setting = r.Begin.Setting
			facts = append(facts, ledger.Fact{Kind: ledger.SendBegun, At: r.Begin.Sent})
			w.noting().reason = "the run before sent it, and noted no answer"
		case r.Key != nil:
			w.SetKey(r.Key.Try)
			facts = append(facts, ledger.Fact{Kind: ledger.KeyChanged, At: r.Key.Sent}, ledger.Fact{Kind: ledger.SendBegun, At: r.Key.Sent})
		case r.Fact != nil:
			facts = append(facts, *r.Fact)
			if r.Fact.Kind != ledger.SendingOver {
				w.noting().reason = factText(r.Fact, code)
			}
			switch r.Fact.Kind {
			case ledger.Acknowledged:
				w.by, w.noting().note = ByAcknowledged, r.Note
			case ledger.SendHeard:
				w.by = ByAnswer // if that decided it
			}
		case r.Newer != nil, r.NewerEnd != nil:
			w.keepNewer(r)
		case r.Beside != nil:
			beside.Add(*r.Beside)
		}
	}
	if w.Intent.ID == "" {
		return nil, nil // its beginning failed, and so it was not journaled
	}
	if err := d.askJournal(ctx, w.Intent.Account, notePatience); err != nil {
		return nil, err
	}
	terms.Exclusive = terms.Exclusive && d.Exclusive(w.Intent.Account) // then, and now
	terms.NoProbe = terms.NoProbe || d.cfg.WithoutProbe
	terms.Without = terms.Without.And(d.cfg.Without())
	terms.SendsMissing = gap && !w.Intent.Entry
	w.Traits = TraitsOf(spec.Find(w.Intent.Operation))
	w.Intent.ID, w.Name, w.Places = pending.IntentID(h.Intent), h.Name, w.Traits.places(&w.Intent)
	w.keyInStore = w.Try().Key
	known := d.pending.viewOf(w.Intent.BaseURL, false, nil)
	w.Ledger = ledger.Restore(terms, facts, known.Clocks.Now())
	w.asked() // whose side the books take
	w.books, w.booked = known.Books, d.bookWrite(w)
	w.marketOpen.Store(beside.MarketOpen)
	for i := range beside.Own {
		beside.Own[i].Heard = time.Now() // when it ended, the clocks of this process do not know
	}
	w.beside = &beside
	return w, nil
}
