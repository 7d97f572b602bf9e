package books

import (
	"context"
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
	// Exclusive: nobody else trades the account; it is declared, and nothing shows the contrary.
	Exclusive bool
	// Lists means that a baseline needs what rests and runs, Run also what has run.
	Lists, Run bool
	// Note puts a note into the journal, in which the write is; nil without a journal.
	Note func(n Note)

	base  *accounting.Base
	basis *basis // nil without a baseline
	sent  int    // its place in the order of the account's writes: what ended later came beside it
	over  int    // and when it ended, or could run no more; 0 before

	given     time.Time // when nobody could find out about it any more; zero before
	in        bool
	anew      bool // its account began anew meanwhile
	company   bool // a write beside it may have traded of which its journal does not know
	detailed  bool // its journal is to know each write beside it
	based     bool // and has a trail that counts
	journaled bool
}

// basis is what the baseline of a write shows beside the position, and what it does not.
type basis struct {
	own         []accounting.Own // what other writes did, by the journal of an earlier run
	rows, shown int              // its rows, and its position, show what had ended by these places
	waiting     []accounting.Waiting
}

func (w *Booked) basedOn() basis {
	if w.basis == nil {
		return basis{}
	}
	return *w.basis
}

// account is whose it is.
func (w *Booked) account() Account { return Account{w.Places[0].Environment, w.Places[0].Account} }

// openIn are the writes that are open in a market, or among what waits on an account, by what their
// journals know of the writes beside them.
type openIn struct {
	plain    int       // those whose journals know at most that there were some
	unaware  []*Booked // of these, those beside which none was so far
	detailed []*Booked // those whose journals know each
}

func (w *Booked) waits() bool { return w.Places[1] != (pending.Place{}) }

// from is the place behind which the write has to know what has ended.
func (w *Booked) from() int {
	if w.base == nil {
		return w.sent
	}
	basis := w.basedOn()
	return min(w.sent, basis.rows, basis.shown)
}

// Enter adds a write that is about to be sent. It returns what the journal has to keep of
// it: the baseline, what other writes did since, and whether others are under way beside
// it.
func (b *Books) Enter(w *Booked) Note {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.account(w.account())
	w.base = a.baseline(w)
	if w.base != nil {
		symbol := w.Places[0].Symbol
		w.basis = &basis{rows: a.rowsShow, shown: a.held(symbol).shows, waiting: a.waiting(symbol)}
		if a.trailed && a.trails.unseen(symbol, a.shown()) { // it may have traded between the reads
			w.basis.waiting = append(w.basis.waiting, accounting.Waiting{})
		}
	}
	a.enter(w)
	a.enterTrail(w)
	if w.Note == nil {
		return Note{}
	}
	k := a.evidence(w)
	if len(k.Own)+len(k.Waiting) > maxJournaled {
		k = accounting.Facts{}
	}
	n := Note{Sent: w.sent, Base: k.Base, Own: k.Own, Waiting: k.Waiting, NoBaseline: w.company, NoTrail: w.company, Trail: a.saved(w)}
	w.based = n.Trail != nil
	return n
}

// maxJournaled bounds the writes that a journal keeps with another. One that has more
// since its baseline is kept without.
const maxJournaled = 64

func (a *account) enter(w *Booked) {
	w.in = true
	a.open[w] = struct{}{}
	for p := range a.placesOf(w) {
		w.company = w.company || p.plain > 0
	}
	for p := range a.placesOf(w) {
		p.plain++
		if !w.company && w.Note != nil {
			p.unaware = append(p.unaware, w)
		}
	}
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
	w.sent, w.based = l.Note.Sent, l.based() > 0
	if !l.Note.NoBaseline {
		w.base = l.Note.Base
	}
	w.basis = &basis{own: slices.Clone(l.Note.Own), rows: w.sent, shown: w.sent, waiting: l.Note.Waiting}
	w.basis.own = slices.DeleteFunc(w.basis.own, func(o accounting.Own) bool {
		return !o.Ran && (w.base != nil || !o.Unsure) // a refusal, which trails alone take for uncertain
	})
	a.trails.left = append(a.trails.left, *l)
	w.journaled, w.detailed = true, true
	if l.Note.Settled {
		return
	}
	w.in = true
	a.open[w] = struct{}{}
	for p := range a.placesOf(w) {
		p.detailed = append(p.detailed, w)
	}
}

// Journaled notes that the journal has the write: what it does not know yet follows. It
// returns whether there was such a note, which has to be on the disk before the write is
// sent: that is waited for without the books' lock. The error is that of a context which ends
// while a journal takes other notes; then there may be such a note, which the journal does not
// have.
func (b *Books) Journaled(ctx context.Context, w *Booked, company bool) (noted bool, err error) {
	err = b.noting(ctx.Done, w, func(*account) []note {
		w.journaled = true
		if noted = w.company && !company; noted {
			return []note{{w, Note{NoBaseline: true, NoTrail: true}}}
		}
		return nil
	})
	return noted, err
}

// Doubt notes that a write is in doubt: from now on its journal has to know each write
// beside it, since it may outlive the process.
func (b *Books) Doubt(w *Booked) {
	_ = b.noting(nil, w, func(a *account) []note {
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
		k := a.evidence(w)
		n := Note{Own: k.Own, Waiting: k.Waiting, All: true, NoBaseline: k.Base == nil, Trail: a.saved(w)}
		w.based = n.Trail != nil
		return []note{{w, n}}
	})
}

// Known returns what is known of the account before a write, and of those beside it. over means
// that it can run no more.
func (b *Books) Known(w *Booked, over bool) accounting.Facts {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.account(w.account())
	if over {
		a.isOver(w)
	}
	return a.evidence(w)
}

// isOver gives a write the place at which it had ended.
func (a *account) isOver(w *Booked) {
	if w.over == 0 {
		w.over = a.trails.tick()
	}
}

func (a *account) evidence(w *Booked) accounting.Facts {
	basis := w.basedOn()
	k := accounting.Facts{Asked: *w.Asked, Base: w.base, Own: slices.Clone(basis.own), Ended: w.anew}
	k.Asked.Sent, k.Asked.Ended = w.sent, w.over
	for i := range a.done {
		d := &a.done[i]
		if d.place != w.Places[0] && !(d.waits && w.waits()) {
			continue
		}
		o := d.Own
		switch {
		case o.Ended > w.sent: // beside it
			if d.unclear() {
				k.Base = nil
			}
		case d.unclear() || w.base == nil || d.place != w.Places[0]:
			continue // the reads after it show it, or there are none
		default:
			o.InRows, o.InPosition = o.Ended <= basis.rows, o.Ended <= basis.shown
			if o.InRows && o.InPosition && !o.Waits() {
				continue
			}
		}
		k.Own = append(k.Own, o)
	}
	if k.Base != nil {
		left := func(id string) bool {
			return id != "" && slices.ContainsFunc(k.Own, func(o accounting.Own) bool { return o.WaitID == id })
		}
		k.Waiting = slices.DeleteFunc(slices.Clone(basis.waiting), func(o accounting.Waiting) bool { return left(o.ID) })
	}
	return k
}

// waiting are the orders and the runs that may trade in a symbol by themselves, or may have since the
// positions were read. What a write under way leaves is not among them.
func (a *account) waiting(symbol string) []accounting.Waiting {
	may := a.trails.known(symbol, a.posAt.Add(-a.lag))
	for w := range a.open {
		may = slices.DeleteFunc(may, func(o accounting.Waiting) bool { return w.waits() && o.ID == w.ID })
	}
	return may
}

// MarketOf is the market of a run; empty if neither a read nor an answer has shown it.
func (b *Books) MarketOf(id Account, run string) string {
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
// not declared, without a read and without a write beside it, nobody has.
func (b *Books) Wants(w *Booked) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.account(w.account())
	return a.known() || len(a.open) > 1 || a.trailed || w.waits()
}

// Did is what a write that has ended did.
type Did struct {
	// Own is what its answer says that it traded: it ran. Or it is unsure: its answer is a refusal, which the
	// trail of a declared account alone does not take for certain, or nobody knows. Its places the books know.
	Own accounting.Own
	// After is the position after it, at the time of its answer; nil if that does not say
	// one.
	After *accounting.Position
	// Profit is the result of a close, before fees; not valid if not known.
	Profit decimal.NullDecimal
	// ShownFrom: nobody knows what it did, and reads begun from then on show it; zero where its answer says
	// what.
	ShownFrom time.Time

	place pending.Place // its market
	waits bool          // it left something that can show in the lists of the whole account
}

func (d *Did) unclear() bool { return !d.ShownFrom.IsZero() }

func (d *Did) refused() bool { return d.Own.Unsure && !d.unclear() }

// Leave takes out a write that has ended; did is nil if it did nothing, or nobody has to
// know what. The journals of the writes beside it know of it when Leave returns, so that
// its end may be written; but where one takes its notes for too long, which counts as if it
// had not taken them.
func (b *Books) Leave(w *Booked, did *Did) {
	_ = b.noting(nil, w, func(a *account) []note {
		if !w.in {
			return nil
		}
		alone := a.alone(w)
		a.leave(w)
		a.isOver(w)
		own := w.ended(did)
		a.leaveTrail(w, own, did)
		switch {
		case did == nil, did.refused():
		case did.unclear():
			a.unclear(w, did)
		default:
			a.did(w, did, alone)
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
	if own.Kind == 0 && w.Asked.Kind.Acts() { // what it did is not known, but what it was to do is
		own.Kind, own.Side, own.Size, own.Percent = w.Asked.Kind, w.Asked.Side, w.Asked.Size, w.Asked.Percent
	}
	own.ID, own.Sent, own.Ended = w.ID, w.sent, w.over
	return *own
}

// alone reports whether no other write was under way in the market beside a write: then
// the position in its answer is the one after it.
func (a *account) alone(w *Booked) bool {
	p := a.places[w.Places[0]]
	if p.plain+len(p.detailed) > 1 {
		return false
	}
	for i := len(a.done) - 1; i >= 0 && a.done[i].Own.Ended > w.sent; i-- {
		if a.done[i].place == w.Places[0] {
			return false
		}
	}
	return true
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
		p.plain--
		p.unaware = slices.DeleteFunc(p.unaware, is)
	}
}

// did notes what an answered write did.
func (a *account) did(w *Booked, did *Did, alone bool) {
	if did.Own.Waits() {
		a.ran = a.ran || did.Own.Kind != accounting.Limit
		a.addWaiting(&did.Own)
	}
	if a.known() || len(a.open) > 0 {
		a.add(w, did)
	}
	if did.After != nil && alone {
		if a.positions == nil {
			a.positions = make(map[string]position)
		}
		a.positions[w.Places[0].Symbol] = position{Position: *did.After, at: did.Own.Heard, exact: true, shows: a.trails.clock}
	}
}

// maxWaiting bounds the orders and runs that own writes add to the lists.
const maxWaiting = 1024

// addWaiting adds an own order or run to the lists, which were read before it: else it
// would be taken for that of a later write.
func (a *account) addWaiting(own *accounting.Own) {
	switch {
	case own.WaitID == "" && own.Kind != accounting.EditRun: // which leaves nothing new
		a.ordersAt, a.finAt = time.Time{}, time.Time{}
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
	did.Own.Ended = a.trails.tick() // for who entered since it could run no more, too
	a.add(w, did)
	if slices.ContainsFunc([]time.Time{a.posAt, a.rowsAt, a.ordersAt, a.finAt}, did.ShownFrom.After) {
		a.forget()
		return
	}
	held := a.held(w.Places[0].Symbol)
	held.exact = false
	a.positions[w.Places[0].Symbol] = held
}
