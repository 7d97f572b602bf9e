package trading

import (
	"context"
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

// bookkeeper is what a client knows of writes and accounts: the journal, and what it
// shares with other clients of that.
type bookkeeper struct {
	clock   *clock
	log     logger
	store   *store
	pending *registry
	books   *books.Books
	levels  *settings
}

// newBookkeeper opens the books of a client.
func newBookkeeper(cfg *config, log logger, baseURL string) bookkeeper {
	r := newRegistry(cfg.journal)
	opened, ok := cfg.journal.(interface{ New() bool })
	first := ok && opened.New()
	if first {
		log.newJournal() // nothing was written before, or what was is lost
	}
	known := r.viewOf(baseURL, first)
	return bookkeeper{
		clock: r.clock, log: log, store: &store{journal: cfg.journal, log: log}, pending: r,
		books: known.books, levels: &known.levels,
	}
}

// settle ends a write that was in doubt.
func (k *bookkeeper) settle(w *write, f final, r Resolution) {
	last := heard{}
	if w.answer != nil {
		last = *w.answer
		last.decoded = false
	}
	k.pending.resolved.keep(w.intent.ID, r)
	k.leaveBooks(w, f, &last, nil)
}

// bookWrite is a write as the books see it.
func (k *bookkeeper) bookWrite(w *write) books.Write {
	in := &w.intent
	e := endpointOf(in.Operation)
	b := books.Write{
		Account: bookOf(in.Environment, in.Account), Places: w.Places, Side: w.side, Entry: in.Entry,
		Lists: in.Environment == EnvLive, Run: in.Environment == EnvLive && e != nil && e.pro,
	}
	if in.Environment == EnvLive && k.store.durable() {
		b.Note = func(n books.Note, durable bool) { k.store.beside(w, n, durable) }
	}
	return b
}

// inDoubt notes that a write is in doubt.
func (k *bookkeeper) inDoubt(w *write) {
	k.pending.Doubt(&w.Entry)
	if w.intent.trades() {
		w.books.Doubt(&w.booked)
	}
}

// leaveBooks takes a write out of the open ones. What it did is noted with those beside it
// before its end is written: a crash between the two must leave it open.
func (k *bookkeeper) leaveBooks(w *write, f final, last *heard, result wire.Value) {
	switch {
	case w.intent.trades():
		w.books.Leave(&w.booked, k.didOf(w, f, last, result))
	default: // a setting of levels leaves positions and closed trades as they were
		k.levels.noteEnd(k.store, w, f.Outcome)
	}
	if f.Evidence != EvidenceAcknowledged { // whose end is written already
		if err := k.store.end(context.Background(), w, f, false); err != nil {
			k.log.unwritten(w, err)
		}
	}
	k.levels.ended(w, f.Outcome)
	k.pending.Remove(&w.Entry)
	for _, e := range k.pending.DoubtedBeside(&w.Entry) {
		k.pending.goOn(e.Write)
	}
}

// didOf is what a write did that has ended, where anybody has to know it.
func (k *bookkeeper) didOf(w *write, f final, last *heard, result wire.Value) *books.Did {
	if f.Outcome == NotApplied || !w.books.Wants(&w.booked) {
		return nil
	}
	if f.Outcome != Applied || last.class != ledger.Success || // it ran, or may have
		last.attempt.replayed() && (w.left || w.books.ReadSince(w.booked.Account, w.firstSend)) {
		return k.unclear(w)
	}
	did, clear := effectOf(w, last, result, serviceTime(k.clock.at(last.attempt.Received), last.attempt.Received))
	if !clear {
		return k.unclear(w)
	}
	return did
}

// unclear is what a write did of which that is not known, or not whether the reads since
// then show it.
func (k *bookkeeper) unclear(w *write) *books.Did {
	did := &books.Did{Unclear: true, ShownFrom: time.Now(), Own: accounting.Own{Last: serviceTime(k.clock.now(), time.Now())}}
	if n := len(w.looks); w.by == EvidenceAccounting && n > 0 {
		did.ShownFrom = w.looks[n-1].At // which shows it
	}
	return did
}

// concluded ends a write whose call found its outcome out by itself.
func (k *bookkeeper) concluded(w *write, last *heard, result wire.Value) {
	if !w.registered {
		return
	}
	f := final{Outcome: outcomeOf(w.ledger.Outcome()), Evidence: EvidenceUnsent}
	if last.class == ledger.Success || last.class == ledger.Refusal {
		f.Evidence = EvidenceAnswer
		if last.attempt.replayed() {
			f.Evidence = EvidenceReplay
		}
	}
	switch {
	case last.class == ledger.Success:
		f.Dead = true
		if w.Name != "" {
			f.Answer = last.attempt.Body
		}
	case last.refusal != nil:
		said := last.said()
		f.Code = last.refusal.Code
		// A refusal that decides nothing may be of another use of the key, which ran.
		f.Dead = f.Outcome == NotApplied && last.attempt.key == w.intent.Key && last.attempt.Status < 500 && (!said.InFront || last.attempt.replayed())
	}
	w.finish(&f)
	k.leaveBooks(w, f, last, result)
}
