package books

import (
	"fmt"
	"slices"
	"time"

	"github.com/tradingapi/trading-go/internal/accounting"
)

// What the journals of writes have of those beside them.

// Note is what the journal of a write has to know of it and of those beside it: what this run
// goes by, and the next one goes on with.
type Note struct {
	// Sent is its place in the order of what the program sent to the account and heard, which
	// goes on over restarts. 0: it has none, and so no baseline is known to be of before it.
	Sent int `json:"sent,omitempty"`
	// IDs are those that were known before it, of one that leaves an id. NoIDs: they count no longer, since what
	// else was left is not known.
	IDs   *accounting.IDs `json:"ids,omitempty"`
	NoIDs bool            `json:"noIDs,omitempty"`
	// MarketOpen: it can run no more, and nobody finds out what it did: see [Books.OpenMarket].
	MarketOpen bool `json:"marketOpen,omitempty"`
	// Own are writes that ended beside it, of which the trail does not know: one that did not run has its id
	// alone. All: they are all so far, in place of every note before.
	Own []accounting.Own `json:"own,omitempty"`
	All bool             `json:"all,omitempty"`
	// Trail is that of the write's symbol, in place of every one before.
	// NoTrail: the trail counts no longer, since writes are missing in it.
	Trail   *Saved `json:"trail,omitempty"`
	NoTrail bool   `json:"noTrail,omitempty"`
}

// Add adds a later note.
func (n *Note) Add(later Note) {
	if later.All {
		later.Sent = n.Sent
		*n = later
		return
	}
	n.MarketOpen = n.MarketOpen || later.MarketOpen
	n.Own = append(n.Own, later.Own...)
	n.NoIDs, n.NoTrail = n.NoIDs || later.NoIDs, n.NoTrail || later.NoTrail
}

// Gap notes that an exit may be in no journal: as if somebody else trades there.
func (n *Note) Gap() {
	if n.Trail != nil && n.Trail.Base != nil {
		n.Trail.Base.Others = true
	}
}

// note is a note for the journal of a write.
type note struct {
	of *Booked
	Note
}

// noteWaits is how long a write waits for a journal that takes the notes of others.
const noteWaits = 250 * time.Millisecond

var errNotesHang = fmt.Errorf("a journal has taken notes for longer than %s", noteWaits)

// noting changes the books, and has journals note it before anybody else ends. It waits for
// those who do the same until it is done, for noteWaits. After that it changes
// the books all the same, and nothing is noted. The error is why a note is missing. That a journal
// lacks something is noted there with what ends next.
func (b *Books) noting(w *Booked, change func(*account) []note) error {
	if w.Note != nil {
		if !b.takeTurn() {
			if len(b.changing(w, change, true)) > 0 {
				return errNotesHang
			}
			return nil
		}
		defer b.endTurn()
	}
	for _, n := range b.changing(w, change, false) {
		if err := n.of.Note(n.Note); err != nil { // the next one would wait as long
			b.missed(w)
			return err
		}
		b.took(n)
	}
	return nil
}

// missed notes that a journal did not take what a write came to.
func (b *Books) missed(w *Booked) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.account(w.account()).missed(w)
}

func (a *account) missed(w *Booked) {
	if !w.in && w.journaled && !slices.Contains(a.unended, w) {
		a.unended = append(a.unended, w)
	}
}

// took notes what the journal of a write has by now.
func (b *Books) took(n note) {
	b.mu.Lock()
	defer b.mu.Unlock()
	w := n.of
	w.noIDs, w.noTrail = w.noIDs || n.NoIDs, w.noTrail || n.NoTrail
	if n.All || n.NoTrail {
		w.based = n.Trail != nil && !n.NoTrail
	}
	if a := b.account(w.account()); n.NoIDs && n.NoTrail {
		a.unended = slices.DeleteFunc(a.unended, func(other *Booked) bool { return other == w })
	}
}

// takeTurn waits until no journal takes notes, and reports whether it is so in time.
func (b *Books) takeTurn() bool {
	var late <-chan time.Time
	for {
		b.mu.Lock()
		if !b.notes {
			b.notes = true
			b.mu.Unlock()
			return true
		}
		if b.free == nil {
			b.free = make(chan struct{})
		}
		free := b.free
		b.mu.Unlock()
		if late == nil {
			late = time.After(noteWaits)
		}
		select {
		case <-free:
		case <-late:
			return false
		}
	}
}

func (b *Books) endTurn() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.notes = false
	if b.free != nil {
		close(b.free)
		b.free = nil
	}
}

// changing changes the books. late means that what is to be noted is not.
func (b *Books) changing(w *Booked, change func(*account) []note, late bool) []note {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.account(w.account())
	notes := a.lostTrails(w, change(a))
	if late && len(notes) > 0 {
		a.missed(w)
	}
	return notes
}

// lostTrails adds to notes what the journals of writes in doubt have to know where this run has no
// baseline of them any more: the next one has none either.
func (a *account) lostTrails(w *Booked, notes []note) []note {
	p, of := a.places[w.Places[0]], a.trails.of[w.Places[0].Symbol]
	if p == nil || of == nil {
		return notes
	}
	for _, other := range p.detailed {
		if !other.based || !other.journaled || other.Note == nil || of.Base != nil && !of.Base.Shows(other.sent) {
			continue
		}
		at := slices.IndexFunc(notes, func(n note) bool { return n.of == other })
		if at < 0 {
			notes, at = append(notes, note{of: other}), len(notes)
		}
		notes[at].NoTrail = true
	}
	return notes
}

// notesOf are the notes for the journals of those beside a write that has ended. did is nil if it did
// nothing: only a trail knows of a write before its end.
func (a *account) notesOf(w *Booked, own accounting.Own, did *Did) (notes []note) {
	if did == nil && !w.Asked.Kind.Acts() {
		return nil
	}
	noIDs := did != nil && w.waits() // what it may have left has no id, or those beside do not know it yet
	known := func(other *Booked) bool {
		return slices.ContainsFunc(notes, func(n note) bool { return n.of == other })
	}
	if did != nil {
		for _, other := range a.unended {
			notes = append(notes, note{other, Note{NoIDs: true, NoTrail: true}})
		}
	}
	for p := range a.placesOf(w) {
		n := Note{NoIDs: noIDs, NoTrail: true}
		for _, other := range p.plain {
			if did != nil && other.journaled && !(other.noTrail && (other.noIDs || !n.NoIDs)) && !known(other) {
				other.noted = true
				notes = append(notes, note{other, n})
			}
		}
		for _, other := range p.detailed {
			if other.journaled && other.Note != nil && !known(other) {
				notes = append(notes, note{other, Note{Own: []accounting.Own{own}, NoIDs: noIDs && (did.unclear() || did.refused())}})
			}
		}
	}
	return notes
}
