package resolve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/tradingapi/trading-go/internal/books"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/pending"
	"github.com/tradingapi/trading-go/internal/transport"
	"github.com/tradingapi/trading-go/journal"
)

// What a call does with its write, from its key to its end.

// Before has an entry read its baseline, registers a write before its first byte, and makes
// durable what has to be: the write itself, each new key, and a second send under one key.
//
// An exit does not wait for a disk that hangs: it goes out as beside one that fails. An entry waits
// while it may be sent: where none of that time is left, the error is [ErrTooOld]. What the disk has
// of them then is not known.
func (d *Driver) Before(ctx context.Context, w *OpenWrite, sent bool) error {
	caller, isNew := ctx, w.keyInStore == "" && !w.registered // neither the open writes nor the journal have it
	if isNew {
		w.booked = d.bookWrite(w)
		d.readBaseline(ctx, w)
	}
	if d.Durable() {
		waits := exitWaits
		if w.Intent.Entry {
			waits = w.Ledger.SendTTL() - Elapsed(w.Intent.Decided)
		}
		if waits <= 0 {
			return ErrTooOld
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, waits, errHangs)
		defer cancel()
	}
	var err error
	switch {
	case isNew:
		err = d.register(ctx, caller, w)
	case !w.journaled:
	case w.keyInStore != w.Try().Key:
		w.keyInStore = w.Try().Key
		err = d.store.before(ctx, w, record{Key: &keyOfTry{w.Try(), d.Clocks.Now()}})
	case sent:
		err = d.store.before(ctx, w, record{Fact: &ledger.Fact{Kind: ledger.SendBegun, At: d.Clocks.Now()}})
	}
	if err != nil && caller.Err() == nil && ctx.Err() != nil && !journal.IsFencing(err) {
		return errHangs
	}
	return err
}

// ErrTooOld means that the time is over in which a write may be sent, whatever took it.
var ErrTooOld = errors.New("it was decided too long ago")

// exitWaits is how long an exit waits for the journal.
const exitWaits = 250 * time.Millisecond

var errHangs = errors.New("the journal has not taken it in time")

// Missing notes why the journal does not have an exit, or a send of one.
func (d *Driver) Missing(w *OpenWrite, why error) {
	if w.Traits.Trades { // no verdict on another write needs levels
		why = d.store.noteGap(why)
	}
	w.Unjournaled = why
}

// register adds a write to those that are open, and to the journal, under the context that bounds the disk
// beside the caller's.
func (d *Driver) register(ctx, caller context.Context, w *OpenWrite) error {
	live := w.Ledger.Keyed
	if err := d.Load(ctx); err != nil {
		if w.Intent.Entry || caller.Err() != nil || journal.IsFencing(err) {
			return err
		}
		d.pending.goAhead(w.Intent.ID)
		d.Missing(w, err)
	}
	if !d.pending.add(w) {
		return fmt.Errorf("trading: write %s is registered already", w.Intent.ID)
	}
	w.registered = true
	if w.Traits.Trades {
		d.trades(&w.Intent)
	}
	if w.Traits.Levels {
		return d.registerLevels(ctx, w)
	}
	beside := w.books.Enter(&w.booked)
	if !live {
		return nil
	}
	if d.pending.wentAhead(w.Intent.ID) { // its number does not count what earlier runs sent, so its journal gets none
		beside.Sent = 0
	}
	began, err := d.begin(ctx, w, beside)
	w.journaled = began || d.Durable() && w.books.BeginFailed(&w.booked)
	return err
}

// registerLevels is register for a setting of levels.
func (d *Driver) registerLevels(ctx context.Context, w *OpenWrite) error {
	d.levels.began(w)
	_ = d.noteWithOlder(w, record{Newer: newerOf(w)})
	began, err := d.begin(ctx, w, books.Note{})
	if began {
		d.levelsJournaled(w)
	}
	return err
}

// begin puts a write into the journal, before its first byte. began means that it may be
// there, whatever the error.
func (d *Driver) begin(ctx context.Context, w *OpenWrite, beside books.Note) (began bool, err error) {
	now := d.Clocks.Now()
	w.Ledger.Date(now) // by an answer that came since the call began
	w.Ledger.Since = d.Clocks.service.At(w.NotBefore)
	if d.Durable() {
		err = d.store.before(ctx, w, record{Begin: &begin{
			Intent: &w.Intent, Try: w.Try(), Terms: w.Ledger.Terms, Beside: beside,
			Setting: w.Setting, Sent: now,
		}})
	}
	w.keyInStore = w.Try().Key
	return d.Durable() && (err == nil || mayBeThere(ctx, err)), err
}

// SendBegins notes that a write's bytes are about to leave.
func (d *Driver) SendBegins(w *OpenWrite) {
	now := time.Now()
	if w.firstSend.IsZero() {
		w.firstSend = now
	}
	w.Ledger.Note(ledger.Fact{Kind: ledger.SendBegun, At: d.Clocks.At(now)})
	d.Books.SendBegan(w.account())
}

// HeardDate takes the Date of an own answer of the service's to a request with an API key.
func (d *Driver) HeardDate(header http.Header, sent, received time.Time) {
	if !d.cfg.Without().Dates {
		d.Clocks.Heard(header, sent, received)
	}
}

// Heard takes in what a send came to, and says whether the write is in doubt now. doubted
// means that it was before.
func (d *Driver) Heard(w *OpenWrite, at time.Time, said ledger.Answer, doubted bool) bool {
	d.Books.SendEnded(w.account(), at)
	fact := ledger.Fact{Kind: ledger.SendEnded, At: d.Clocks.At(at), Answer: said, Send: w.Ledger.Sends()}
	w.Ledger.Note(fact)
	switch doubt := w.Ledger.InDoubt(); {
	case doubt:
		d.say(func() { w.noting().reason = factText(&fact, code) })
		d.inDoubt(w)
		d.store.note(w, fact)
		return true
	case doubted:
		d.pending.clear(w) // its own doubt is over, and would hold it back
	}
	return false
}

// NextSend says whether the ledger sends once more, after how long a wait, and whether a
// random part of that is enough.
func (d *Driver) NextSend(w *OpenWrite) (wait time.Duration, spread, more bool) {
	step := w.Ledger.Next(d.Clocks.Now(), ledger.Limits{})
	return max(step.At-time.Since(d.Clocks.began), 0), step.Spread, step.Do == ledger.Send || step.Do == ledger.Rekey
}

// WantsKey reports whether the next send has another key, and ChangeKey gives it one.
func (d *Driver) WantsKey(w *OpenWrite) bool {
	return w.Ledger.Next(d.Clocks.Now(), ledger.Limits{}).Do == ledger.Rekey
}

// ChangeKey moves on to the next try.
func (d *Driver) ChangeKey(w *OpenWrite, key pending.Key) {
	w.try.Store(&Try{key, w.Try().Number + 1})
	w.Ledger.Note(ledger.Fact{Kind: ledger.KeyChanged, At: d.Clocks.Now()})
}

// SendingOver notes that the call sends a write no more. Of one that was turned away, and that
// nobody resolves, it asks the second question while the call has patience.
func (d *Driver) SendingOver(ctx context.Context, w *OpenWrite, patience time.Duration) {
	if w.Ledger.Sending() {
		fact := ledger.Fact{Kind: ledger.SendingOver, At: d.Clocks.Now()}
		w.Ledger.Note(fact)
		if w.Ledger.InDoubt() {
			d.store.note(w, fact)
		}
	}
	if w.Ledger.Denied() && !w.Ledger.Resolves {
		ctx, cancel := context.WithTimeoutCause(ctx, min(patience, requestPatience), transport.ErrTimeout)
		defer cancel()
		d.confirmHere(ctx, w)
	}
}

// Conclude ends a write by the last answer that its call had, or takes it over while it
// is in doubt: then it is the driver's, and Conclude returns false.
func (d *Driver) Conclude(w *OpenWrite, last *Response) bool {
	defer d.handOver(w)
	if w.Ledger.Done() {
		d.concluded(w, last)
		return true
	}
	d.inDoubt(w)
	if w.Ledger.Denied() {
		kept := *last
		d.say(func() { w.noting().denied = &kept })
	}
	d.schedule.add(w)
	return false
}

// handOver ends the call's part of a write. What has come meanwhile to sends that it waited for no more is
// the driver's.
func (d *Driver) handOver(w *OpenWrite) {
	w.over = true
	if w.handed != nil {
		close(w.handed) // those go on who wait for its call
	}
	l := w.late.Load()
	if l == nil {
		return
	}
	for _, one := range l.take(true) {
		d.cfg.Life.Go(func() { d.hearAfter(w, &one) })
	}
}

// LetGo ends a call's part of a write where nothing else has: it came to no send, or a guard
// of the program's panicked. What may have been sent by then is in doubt.
func (d *Driver) LetGo(w *OpenWrite) {
	if w.over { // and so is a write that the call has joined
		return
	}
	d.SendingOver(d.cfg.Life.Closing, w, 0)
	d.Conclude(w, &Response{})
}

// MayLeave reports whether no newer setting of levels has left that may stand. From then on
// w has left.
func (d *Driver) MayLeave(w *OpenWrite) bool { return !w.Traits.Levels || d.levels.mayLeave(w) }
