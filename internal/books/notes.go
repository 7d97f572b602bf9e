package books

import (
	"errors"
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

// noteWaits is how long a write that has been sent waits for a journal that takes the notes of
// others.
const noteWaits = 250 * time.Millisecond

var errNotesHang = fmt.Errorf("a journal has taken notes for longer than %s", noteWaits)

// noting changes the books, and has journals note it before anybody else ends. It waits for
// those who do the same until it is done, for noteWaits where done has none. After that it changes
// the books all the same, and nothing is noted. The error is why a note is missing.
func (b *Books) noting(done func() <-chan struct{}, w *Booked, change func(*account) []note) error {
	if w.Note != nil {
		if !b.takeTurn(done) {
			if len(b.changing(w, change)) > 0 {
				return errNotesHang
			}
			return nil
		}
		defer b.endTurn()
	}
	var errs []error
	for _, n := range b.changing(w, change) {
		errs = append(errs, n.of.Note(n.Note))
	}
	return errors.Join(errs...)
}

// takeTurn waits until no journal takes notes, and reports whether it is so in time.
func (b *Books) takeTurn(done func() <-chan struct{}) bool {
	var ended <-chan struct{}
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
		if done != nil {
			ended = done()
		}
		if ended == nil && late == nil {
			late = time.After(noteWaits)
		}
		select {
		case <-free:
		case <-ended:
			return false
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

func (b *Books) changing(w *Booked, change func(*account) []note) []note {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.account(w.account())
	return a.lostTrails(w, change(a))
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
		other.based = false
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
	trailAlone := did == nil || did.refused()
	if trailAlone && !own.Kind.Acts() {
		return nil
	}
	for p := range a.placesOf(w) {
		noIDs := !trailAlone && w.waits()
		for _, other := range p.plain {
			if did == nil || other.noTrail && (other.noIDs || !noIDs) {
				continue
			}
			other.noTrail, other.noIDs = true, other.noIDs || noIDs
			if other.journaled {
				notes = append(notes, note{other, Note{NoIDs: noIDs, NoTrail: true}})
			}
		}
		for _, other := range p.detailed {
			known := func(n note) bool { return n.of == other }
			if other.journaled && other.Note != nil && !slices.ContainsFunc(notes, known) {
				notes = append(notes, note{other, Note{Own: []accounting.Own{own}, NoIDs: w.waits() && did != nil && did.unclear()}})
			}
		}
	}
	return notes
}
