package trading

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/books"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/pending"
	"github.com/tradingapi/trading-go/journal"
)

// load takes over, once, what earlier runs of the program left, and what clients left
// that have closed.
func (c *core) load(ctx context.Context) error {
	r := c.pending
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.orphans) > 0 {
		r.adoptOrphans(c.driver)
	}
	if r.loaded {
		return nil
	}
	return c.loadFrom(ctx, r)
}

// loadFrom reads the journal. The registry's lock is held.
func (c *core) loadFrom(ctx context.Context, r *registry) error {
	gap := c.store.gap()
	var left []*write
	for h, err := range c.store.journal.Pending(ctx) {
		if err != nil {
			return fmt.Errorf("the journal cannot be read: %w", err)
		}
		w, err := c.restore(&h, gap)
		if err != nil {
			return err
		}
		if w != nil {
			left = append(left, w)
		}
	}
	if len(left) == 0 {
		c.store.closeGap() // nothing is left that it matters to
	}
	var taken []*write
	defer func() { c.driver.adopt(taken) }()
	for _, w := range left {
		if !r.Add(&w.Entry) {
			continue // of this process, and at work
		}
		if w.ledger.Forget() { // its key may be another program's, and it needs no resolution
			f := final{Outcome: Unknown}
			w.finish(&f)
			if err := c.store.end(ctx, w, f, false); err != nil {
				return fmt.Errorf("the journal cannot be written: %w", err)
			}
			r.Remove(&w.Entry)
			continue
		}
		c.store.note(w, ledger.Fact{Kind: ledger.Restarted, At: c.clock.now()})
		r.Doubt(&w.Entry)
		if w.intent.BaseURL != c.baseURL {
			w.worker, w.reason = nil, fmt.Sprintf("it was sent to %s", w.intent.BaseURL)
			r.orphans = append(r.orphans, w)
			continue
		}
		taken = append(taken, w)
	}
	r.loaded = true
	return nil
}

// restore folds the records of a write that an earlier run left. gap means that the journal
// lacks exits, or sends of them.
func (c *core) restore(h *journal.History, gap bool) (*write, error) {
	w := &write{worker: c.driver, left: true, gap: gap, registered: true, journaled: true, handed: closedChannel()}
	var terms ledger.Terms
	var facts []ledger.Fact
	var base *accounting.Baseline
	var beside books.Note
	for i, data := range h.Records {
		var r record
		if err := json.Unmarshal(data, &r); err != nil {
			return nil, fmt.Errorf("trading: journal: write %s, record %d: %w", h.Intent, i+1, err)
		}
		switch {
		case r.Begin != nil:
			w.intent, terms = r.Begin.Intent, r.Begin.Terms
			base, beside = r.Begin.Base, r.Begin.Beside
			w.unnamed, w.restores = r.Begin.Unnamed, r.Begin.Restores
			facts = append(facts, ledger.Fact{Kind: ledger.SendBegun, At: r.Begin.Sent})
		case r.Key != nil:
			w.intent.Key, w.intent.Try = r.Key.Key, r.Key.Try
			facts = append(facts, ledger.Fact{Kind: ledger.KeyChanged, At: r.Key.Sent}, ledger.Fact{Kind: ledger.SendBegun, At: r.Key.Sent})
		case r.Fact != nil:
			facts = append(facts, *r.Fact)
		case r.Newer != nil, r.NewerEnd != nil:
			w.keepNewer(&r)
		case r.Beside != nil:
			beside.Add(*r.Beside)
		}
	}
	if w.intent.ID == "" {
		return nil, nil // its beginning failed, and so it was not journaled
	}
	terms.Exclusive = c.isExclusive(w.intent.Account)
	terms.NoProbe = terms.NoProbe || c.withoutProbe
	terms.SendsMissing = gap && !w.intent.Entry
	w.Entry.ID, w.Name, w.Places, w.Write = h.Intent, h.Name, w.intent.places(), w
	w.keyInStore = w.intent.Key
	w.side = w.askedFor().Side
	w.books, w.booked = c.pending.viewLocked(w.intent.BaseURL, false).books, c.bookWrite(w)
	if beside.NoBaseline {
		base = nil
	}
	if w.intent.trades() {
		w.books.Restore(&w.booked, base, beside.Own)
	}
	w.ledger = ledger.Restore(terms, facts, c.clock.now())
	return w, nil
}

func closedChannel() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// noteInJournal registers a write before its first byte, and makes durable what has
// to be: the write itself, each new key, and a second send under one key.
func (c *call) noteInJournal() error {
	w := c.write
	if w == nil || !w.ledger.Resolves {
		return nil
	}
	var err error
	switch {
	case w.keyInStore == "" && !w.registered:
		err = c.register(w)
	case !w.journaled:
	case w.keyInStore != w.intent.Key:
		err = c.core.store.rekey(c, w, c.core.clock.now())
		w.keyInStore = w.intent.Key
	case c.sends > 0:
		err = c.core.store.before(c, w, ledger.Fact{Kind: ledger.SendBegun, At: c.core.clock.now()})
	}
	if err == nil {
		return nil
	}
	if errors.Is(err, errTaken) {
		return err
	}
	if c.Err() != nil {
		return c.Err()
	}
	if c.entry {
		return &GuardError{Kind: ErrJournal, Reason: "entries wait until it can be written", Err: err}
	}
	if c.endpoint.trades { // no verdict on another write needs levels
		err = c.core.store.noteGap(err)
	}
	w.unjournaled = err
	return nil
}

// register adds a write to those that are open, and to the journal.
func (c *call) register(w *write) error {
	live := c.env == EnvLive
	w.booked = c.core.bookWrite(w)
	if live && c.entry && c.core.store.durable() {
		c.readBaseline()
	}
	if err := c.core.load(c); err != nil && c.entry {
		return err
	}
	if !c.core.pending.Add(&w.Entry) {
		return fmt.Errorf("trading: write %s is registered already", w.Entry.ID)
	}
	if w.Name != "" && c.core.pending.Named(w.Name)[0] != &w.Entry {
		c.core.pending.Remove(&w.Entry) // two calls took the id at once: this one joins the other
		w.handOver()
		return errTaken
	}
	w.registered = true
	if c.endpoint.levels {
		return c.registerLevels(w)
	}
	base, beside := w.books.Enter(&w.booked)
	if !live {
		return nil
	}
	began, err := c.begin(w, base, beside)
	if began {
		w.journaled = true
		w.books.Journaled(&w.booked, beside.NoBaseline)
	}
	return err
}

// registerLevels is register for a setting of levels. The paper account has no journal.
func (c *call) registerLevels(w *write) error {
	if c.env != EnvLive {
		return nil
	}
	c.core.levels.began(w)
	c.core.levels.noteNewer(c.core.store, w)
	began, err := c.begin(w, nil, books.Note{})
	if began {
		c.core.levels.journaled(c.core.store, w)
	}
	return err
}

// begin puts a write into the journal, before its first byte. began means that it may be
// there, whatever the error.
func (c *call) begin(w *write, base *accounting.Baseline, beside books.Note) (began bool, err error) {
	now := c.core.clock.now()
	w.ledger.Date(now) // by an answer that came since the call began
	err = c.core.store.begin(c, w, base, beside, now)
	w.keyInStore = w.intent.Key
	// A context that ended while the disk was waited for leaves open whether it is there.
	return c.core.store.durable() && (err == nil || c.Err() != nil), err
}

// readBaseline reads what the baseline of an entry lacks, once, for a second at the
// most. Without it the entry goes all the same, and is harder to find out about.
func (c *call) readBaseline() {
	if !c.core.books.WantsRead(&c.write.booked, time.Now()) {
		return
	}
	ctx, cancel := context.WithTimeout(c.Context, time.Second)
	defer cancel()
	opts := recoveryOptions()
	opts.failFast, opts.retry = true, defaultCallOptions().retry
	_, _ = c.core.look(ctx, c.env, c.account, opts)
}

// doubtedIn returns the writes in a place whose outcome is not known.
func (c *core) doubtedIn(ctx context.Context, at pending.Place) ([]string, error) {
	if err := c.load(ctx); err != nil {
		return nil, err
	}
	return c.pending.DoubtedIn(at), nil
}
