package books

import (
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/pending"
)

// Booked is an own write that can trade, from [Books.Enter] to [Books.Leave]. Its exported
// fields are fixed before.
type Booked struct {
	ID string
	// Asked is what it asked for.
	Asked *accounting.Act
	// Places are where it can show. The first is its market; the second, if there is
	// one, the account's lists of what waits.
	Places *[2]pending.Place
	Entry  bool
	// Run: what it leaves is a run.
	Run bool
	// Note puts a note into the journal, in which the write is; nil without a journal.
	Note func(n Note) error

	ids     *accounting.IDs  // of one that leaves an id; nil where they are not known
	older   []accounting.Row // closed trades of before, of the paper account, which a reset takes away
	entered time.Time
	sent    int // its place in the order of the account's writes: what ended later came beside it
	over    int // and when it ended, or could run no more; 0 before

	given     time.Time // when nobody could find out about it any more; zero before
	in        bool      // it is among the open writes
	anew      bool      // its account began anew meanwhile
	noIDs     bool      // [Note.NoIDs] by its journal
	noTrail   bool      // [Note.NoTrail], likewise
	detailed  bool      // its journal is to know each write beside it
	based     bool      // its journal has a trail that counts
	journaled bool      // its journal has it, or is about to
	noted     bool      // its journal was given notes of those beside it
}

// account is whose it is.
func (w *Booked) account() AccountKey {
	return AccountKey{w.Places[0].Environment, w.Places[0].Account}
}

// openIn are the writes that are open in a market, or among what waits on an account, by what their
// journals know of the writes beside them.
type openIn struct {
	plain    []*Booked // those whose journals know at most that there were some
	detailed []*Booked // those whose journals know each
}

func (w *Booked) waits() bool { return w.Places[1] != (pending.Place{}) }

// Enter adds a write that is about to be sent. It returns what the journal has to keep of
// it: what is known of the account, and whether others are under way beside it.
func (b *Books) Enter(w *Booked) Note {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.account(w.account())
	w.ids, w.entered = a.ids(w), time.Now()
	if !w.account().live() {
		w.older = a.rows
	}
	a.enterTrail(w)
	w.in = true
	a.open[w] = struct{}{}
	for p := range a.placesOf(w) {
		w.noTrail = w.noTrail || len(p.plain) > 0
		p.plain = append(p.plain, w)
	}
	w.noIDs = w.noTrail
	if w.Note == nil {
		return Note{}
	}
	w.journaled = true
	n := Note{Sent: w.sent, IDs: w.ids, NoIDs: w.noIDs, NoTrail: w.noTrail, Trail: a.saved(w)}
	w.based = n.Trail != nil
	return n
}

// placesOf yields the places of a write.
func (a *account) placesOf(w *Booked) func(yield func(*openIn) bool) {
	return func(yield func(*openIn) bool) {
		for _, at := range w.Places {
			if at == (pending.Place{}) {
				continue
			}
			p := a.places[at]
			if p == nil {
				p = &openIn{}
				a.places[at] = p
			}
			if !yield(p) {
				return
			}
		}
	}
}

// Restore adds all the writes that an earlier run left, with what their journals say: what this
// run has sent by now comes behind them.
func (b *Books) Restore(all ...Left) {
	b.mu.Lock()
	defer b.mu.Unlock()
	lasts := make(map[*account]int)
	for i := range all {
		a := b.account(all[i].account())
		lasts[a] = max(lasts[a], all[i].Note.last())
	}
	for a, last := range lasts {
		a.comeBehind(last)
	}
	for i := range all {
		l := &all[i]
		b.account(l.account()).restore(l)
	}
}

func (a *account) restore(l *Left) {
	w := l.Booked
	w.sent, w.based, w.entered = l.Note.Sent, l.based() > 0, a.began
	if !l.Note.NoIDs {
		w.ids = l.Note.IDs
	}
	for i := range l.Note.Own {
		if o := &l.Note.Own[i]; o.Kind == accounting.Limit || o.Kind == accounting.Pro {
			w.left(o)
		}
	}
	a.trails.left = append(a.trails.left, *l)
	w.journaled, w.detailed = true, true
	if l.Note.MarketOpen {
		return
	}
	w.in = true
	a.open[w] = struct{}{}
	for p := range a.placesOf(w) {
		p.detailed = append(p.detailed, w)
	}
}

// BeginFailed notes that the journal does not have the beginning of a write, and returns whether it has
// notes for that all the same, so that its end has to follow.
func (b *Books) BeginFailed(w *Booked) (noted bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	w.journaled = w.noted
	return w.noted
}

// Doubt notes that a write is in doubt: from now on its journal has to know each write
// beside it, since it may outlive the process.
func (b *Books) Doubt(w *Booked) {
	_ = b.noting(w, func(a *account) []note {
		if w.detailed || !w.in {
			return nil
		}
		a.leavePlaces(w)
		w.detailed = true
		for p := range a.placesOf(w) {
			p.detailed = append(p.detailed, w)
		}
		if !w.journaled {
			return nil
		}
		return []note{{w, Note{IDs: w.ids, All: true, NoIDs: w.ids == nil, Trail: a.saved(w)}}}
	})
}

// Known returns what is known of a write: look is what the newest look shows, and since is when the first of the equal
// looks that count began, zero where there is only one. over means that it can run no more, exclusive that nobody
// else trades the account.
func (b *Books) Known(w *Booked, over, exclusive bool, look accounting.State, since time.Time) accounting.Facts {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.account(w.account())
	if over {
		a.isOver(w)
	}
	f := accounting.Facts{Asked: *w.Asked, IDs: w.ids, Runs: a.trails.mayRest(w.entered), Look: look, Exclusive: exclusive, Ended: w.anew}
	f.Asked.Sent, f.Asked.Ended = w.sent, w.over
	f.Resets = !w.account().live() && !exclusive && !slices.ContainsFunc(look.Rows, func(r accounting.Row) bool {
		return slices.ContainsFunc(w.older, func(old accounting.Row) bool { return old.Digest == r.Digest })
	})
	if c, ok := a.course(w, exclusive, look.Status); ok {
		f.Still = !since.IsZero() && c.still(since, look.Position.Size, look.Rows)
		// The status was read before the closed trades, and may lag: only what equal looks show was
		// closed before the last of them asked for it.
		c.Halted = c.Halted || !f.Still
		f.Course, f.At, f.Open = &c.Replay, c.asked, c.open()
	}
	return f
}

// Before is the position before a write; false if it is not known.
func (b *Books) Before(w *Booked) (before decimal.Decimal, known bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	of := b.account(w.account()).trails.trail(w.Places[0].Symbol)
	if of.Base == nil || of.Base.Shows(w.sent) {
		return before, false
	}
	before, known = of.Base.Position, true
	for i := range of.Acts {
		if own := &of.Acts[i]; own.ID != w.ID {
			before, known = own.After.Decimal, own.Ended > 0 && own.Ended < w.sent && own.After.Valid
		}
	}
	return before, known
}

// isOver gives a write the place at which it had ended.
func (a *account) isOver(w *Booked) {
	if w.over == 0 {
		w.over = a.trails.tick()
	}
}

// MarketOf is the market of a run; empty if neither a read nor an answer has shown it.
func (b *Books) MarketOf(id AccountKey, run string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, o := range b.account(id).trails.waited {
		if o.ID == run {
			return o.Symbol
		}
	}
	return ""
}

// Wants reports whether anybody has to know what a write did: of an order or a close on an account that is
// not declared, without a read, nobody has.
func (b *Books) Wants(w *Booked) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.account(w.account())
	read := !a.posAt.IsZero() || !a.rowsAt.IsZero() || !a.ordersAt.IsZero() || !a.finAt.IsZero()
	return read || a.declared || w.waits() || a.trails.trail(w.Places[0].Symbol).Base != nil
}

// Did is what a write that has ended did.
type Did struct {
	// Own is what its answer says that it traded: it ran. Or it is unsure: its answer is a refusal, which the
	// trail of a declared account alone does not take for certain, or nobody knows. Its places the books know.
	Own accounting.Own
	// Profit is the result of a close, before fees; not valid if not known.
	Profit decimal.NullDecimal
	// ShownFrom: nobody knows what it did, and reads begun from then on show it; zero where its answer says
	// what.
	ShownFrom time.Time
}

func (d *Did) unclear() bool { return !d.ShownFrom.IsZero() }

func (d *Did) refused() bool { return d.Own.Unsure && !d.unclear() }

// Leave takes out a write that has ended; did is nil if it did nothing, or nobody has to
// know what. The journals of the writes beside it know of it when Leave returns, so that
// its end may be written: not where the error is that one of them did not take its note.
func (b *Books) Leave(w *Booked, did *Did) error {
	return b.noting(w, func(a *account) []note {
		if !w.in {
			return nil
		}
		a.leave(w)
		a.isOver(w)
		own := w.ended(did)
		a.leaveTrail(w, own, did)
		switch {
		case did == nil:
		case did.refused():
			a.unsure(w)
		case did.unclear():
			a.unclear(w, did)
		default:
			a.did(&did.Own)
		}
		return a.notesOf(w, own, did)
	})
}

// ended is a write that has ended, as everybody has it from then on: its id alone where it did nothing.
func (w *Booked) ended(did *Did) accounting.Own {
	if did == nil {
		return accounting.Own{ID: w.ID}
	}
	own := &did.Own
	if own.Kind == 0 { // what it did is not known, but what it was to do is
		own.Kind, own.Side, own.Size, own.Percent = w.Asked.Kind, w.Asked.Side, w.Asked.Size, w.Asked.Percent
	}
	if own.Kind == accounting.EditRun {
		own.Size = decimal.Decimal{} // its run may trade more than what it adds
	}
	if own.Waits() {
		own.Symbol = w.waiting().Symbol
	}
	own.ID, own.Sent, own.Ended = w.ID, w.sent, w.over
	return *own
}

func (a *account) leave(w *Booked) {
	a.leavePlaces(w)
	w.in = false
	delete(a.open, w)
}

func (a *account) leavePlaces(w *Booked) {
	is := func(o *Booked) bool { return o == w }
	for p := range a.placesOf(w) {
		if w.detailed {
			p.detailed = slices.DeleteFunc(p.detailed, is)
			continue
		}
		p.plain = slices.DeleteFunc(p.plain, is)
	}
}

// did notes what an answered write left.
func (a *account) did(own *accounting.Own) {
	if !own.Waits() {
		return
	}
	a.ran = a.ran || own.Kind != accounting.Limit
	a.addWaiting(own)
	if own.Kind == accounting.EditRun { // which leaves nothing new
		return
	}
	for w := range a.open {
		w.left(own)
	}
}

// maxWaiting bounds the orders and runs that own writes add to the lists.
const maxWaiting = 1024

// addWaiting adds an own order or run to the lists, which were read before it: else it
// would be taken for that of a later write.
func (a *account) addWaiting(own *accounting.Own) {
	switch {
	case own.WaitID == "" && own.Kind != accounting.EditRun: // which leaves nothing new
		a.ordersAt, a.finAt, a.unnamed = time.Time{}, time.Time{}, true
	case own.WaitID == "" || a.ordersAt.IsZero(): // there is no list
	case len(a.orders)+len(a.runs) >= maxWaiting:
		a.ordersAt = time.Time{} // nobody has read them for so long
	case own.Kind == accounting.Pro:
		a.runs = append(slices.Clip(a.runs), own.WaitID)
	default:
		a.orders = append(slices.Clip(a.orders), own.WaitID)
	}
}

// unclear notes a write that may have done anything: what was read of its account before
// it is known no longer.
func (a *account) unclear(w *Booked, did *Did) {
	a.ran = a.ran || w.Run
	a.unsure(w)
	if slices.ContainsFunc([]time.Time{a.posAt, a.rowsAt, a.ordersAt, a.finAt}, did.ShownFrom.After) {
		a.forget()
	}
}

// unsure notes a write that may have left an order or a run of which nobody knows the id.
func (a *account) unsure(w *Booked) {
	if !w.waits() {
		return
	}
	a.unnamed = true
	for o := range a.open {
		o.ids = nil // what it left may be taken for theirs
	}
}
