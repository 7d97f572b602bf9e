package resolve

import (
	"context"
	"time"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/books"
	"github.com/tradingapi/trading-go/internal/ledger"
)

// What a write that has ended leaves behind: in the books of its account, in those
// of the writes beside it, and for who asks about it again.

// bookWrite is a write as the books see it.
func (d *Driver) bookWrite(w *OpenWrite) books.Booked {
	live := w.Ledger.Keyed
	b := books.Booked{
		ID: string(w.Intent.ID), Asked: w.asked(),
		Places: &w.Places, Entry: w.Intent.Entry, Run: live && w.Traits.Run,
	}
	if live && d.Durable() {
		b.Note = func(n books.Note) error { return d.store.write(w, record{Beside: &n}) }
	}
	return b
}

// inDoubt notes that a write is in doubt.
func (d *Driver) inDoubt(w *OpenWrite) {
	d.pending.doubt(w)
	if w.Traits.Trades {
		w.books.Doubt(&w.booked)
	}
}

// leaveBooks takes a write out of the open ones. What it did is noted with those beside it
// before its end is written: a crash between the two must leave it open, and so does a journal that took the one
// and not the other.
func (d *Driver) leaveBooks(w *OpenWrite, f Final, last *Response) {
	var unnoted error // why the journals of those beside it may lack what it did
	if w.Traits.Trades {
		unnoted = w.books.Leave(&w.booked, d.didOf(w, f, last))
	}
	if w.Traits.Levels {
		unnoted = d.noteWithOlder(w, record{NewerEnd: &newerEnd{*newerOf(w), f.Outcome}})
	}
	if unnoted == nil {
		d.store.logged(w, d.store.end(context.Background(), w, &f))
	} else {
		d.store.keep(w, &f)
	}
	if w.Traits.Levels {
		d.levels.ended(w, f.Outcome)
	}
	if w.Traits.Waits && f.Outcome != ledger.NotApplied {
		d.leftWaiting(w)
	}
	d.pending.remove(w)
	if w.late.Load() != nil {
		d.reportContradiction(w)
	}
	d.goOnBeside(w)
}

// goOnBeside goes on with the writes that have waited for another one.
func (d *Driver) goOnBeside(w *OpenWrite) {
	for _, e := range d.pending.doubtedBeside(w) {
		if worker := d.pending.workerOf(e); worker != nil {
			worker.goOn(e)
		}
	}
}

// didOf is what a write did that has ended, where anybody has to know it.
func (d *Driver) didOf(w *OpenWrite, f Final, last *Response) *books.Did {
	switch {
	case !w.books.Wants(&w.booked):
		return nil
	case f.Outcome == ledger.NotApplied && f.Evidence == ByAnswer && last != nil && !last.Replayed && general(last.Code):
		return &books.Did{Own: accounting.Own{Unsure: true}} // maybe by something in front, after the work
	case f.Outcome == ledger.NotApplied:
		return nil
	}
	if f.Outcome != ledger.Applied || last == nil || last.Class != ledger.Success || // it ran, or may have
		(last.Replayed || w.heardLate) && (w.Left || w.books.ReadSince(w.account(), w.firstSend)) {
		return d.unclear(w, f)
	}
	did, clear := effectOf(w, last)
	if !clear || did.Own.After.Valid && w.Ledger.Without.Answers {
		return d.unclear(w, f)
	}
	return did
}

// general reports whether a code says no more than a status does, so that something in front
// of the service can have written it. The others name what only the service knows.
func general(code string) bool {
	switch code {
	case "bad_request", "unauthorized", "forbidden", "not_found", "conflict", "unprocessable", "rate_limited":
		return true
	default:
		return false
	}
}

// unclear is what a write did of which that is not known, or not whether the reads since
// then show it.
func (d *Driver) unclear(w *OpenWrite, f Final) *books.Did {
	now := time.Now()
	did := &books.Did{ShownFrom: now, Own: accounting.Own{Unsure: f.Outcome != ledger.Applied, Heard: now}}
	did.Own.Ran = !did.Own.Unsure
	if looks := w.noted().looks; w.by == ByAccounting && len(looks) > 0 {
		did.ShownFrom = looks[len(looks)-1].At // which shows it
	}
	return did
}

// concluded ends a write whose call found its outcome out by itself.
func (d *Driver) concluded(w *OpenWrite, last *Response) {
	if !w.registered {
		d.pending.remove(w) // its name
		return
	}
	f := Final{Outcome: w.Ledger.Outcome(), Evidence: ByUnsent}
	if last.Class == ledger.Success || last.Class == ledger.Refusal {
		f.Evidence = ByAnswer
		if last.Replayed {
			f.Evidence = ByReplay
		}
	}
	switch last.Class {
	case ledger.Success:
		f.Dead = true
		if w.Name != "" {
			f.Answer = last.Body
		}
	case ledger.Refusal:
		f.Code = last.Code
		// A refusal that decides nothing may be of another use of the key, which ran.
		f.Dead = f.Outcome == ledger.NotApplied && last.Key == w.Try().Key && last.spends()
		if f.Dead && w.Name != "" {
			f.Refused = refusedBy(last)
		}
	}
	w.finish(&f)
	d.leaveBooks(w, f, last)
}
