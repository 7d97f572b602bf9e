// Package pending keeps the writes whose outcome is not decided yet, by id and by
// the part of an account in which they can show. It knows nothing of what a write
// is.
package pending

import (
	"iter"
	"slices"
	"sync"
)

// Place is a part of an account in which a write can show.
type Place struct {
	Environment, Account string
	// Symbol is the market. It is empty for what waits on the account as a whole,
	// such as a resting order, which need not name its market.
	Symbol string
}

// AnyMarket is the symbol of a write whose market is not known: it can show in each of the
// account's.
const AnyMarket = "any market"

// anyMarket is the place of such writes on the same account.
func (p Place) anyMarket() Place { return Place{p.Environment, p.Account, AnyMarket} }

// Item is one write. It belongs to one registry, from Take or Add to Remove. Its exported
// fields are fixed before.
type Item[W any] struct {
	ID string
	// Name is the caller's own id of the write; empty without one.
	Name string
	// Places are where it can show; an empty one counts for nothing.
	Places [2]Place
	// Write is what it is.
	Write W

	doubted bool
	settled bool
	in      bool
}

// Registry keeps items. Its zero value is ready, and it is safe for concurrent
// use.
type Registry[W any] struct {
	mu     sync.Mutex
	byID   map[string]*Item[W]
	all    []*Item[W]            // oldest first
	places map[Place][]*Item[W]  // those that show there, oldest first
	names  map[string][]*Item[W] // by name; the first has it, and one that came by Add may wait behind it
	doubts int                   // how many are in doubt: mostly none, so that nobody looks for them
}

// Take gives an item its name, before Add: a name has one taker at a time, which keeps it
// until Remove. It returns the item that has the name already; nil if there is none.
func (r *Registry[W]) Take(e *Item[W]) (taker *Item[W]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if has := r.names[e.Name]; len(has) > 0 {
		return has[0]
	}
	r.setName(e)
	return nil
}

func (r *Registry[W]) setName(e *Item[W]) {
	if e.Name == "" || slices.Contains(r.names[e.Name], e) {
		return
	}
	if r.names == nil {
		r.names = make(map[string][]*Item[W])
	}
	r.names[e.Name] = append(r.names[e.Name], e)
}

func (r *Registry[W]) dropName(e *Item[W]) {
	has := slices.DeleteFunc(r.names[e.Name], func(o *Item[W]) bool { return o == e })
	if len(has) == 0 {
		delete(r.names, e.Name)
		return
	}
	r.names[e.Name] = has
}

// Add adds an item. It returns false, and adds nothing, if its id is there already.
func (r *Registry[W]) Add(e *Item[W]) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byID == nil {
		r.byID = make(map[string]*Item[W])
		r.places = make(map[Place][]*Item[W])
	}
	if r.byID[e.ID] != nil {
		return false
	}
	e.in = true
	r.setName(e)
	r.byID[e.ID] = e
	r.all = append(r.all, e)
	for _, p := range e.places() {
		r.places[p] = append(r.places[p], e)
	}
	return true
}

// places are those that count, each once.
func (e *Item[W]) places() []Place {
	places := e.Places[:]
	if e.Places[1] == (Place{}) || e.Places[1] == e.Places[0] {
		places = places[:1]
	}
	if e.Places[0] == (Place{}) {
		places = places[1:]
	}
	return places
}

// DoubtedBeside returns the items in doubt that show in one of an item's places and are not
// settled, each once, without it.
func (r *Registry[W]) DoubtedBeside(e *Item[W]) (beside []*Item[W]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.doubts == 0 {
		return nil
	}
	for other := range r.around(e.places()) {
		if other != e && other.doubted && !other.settled && !slices.Contains(beside, other) {
			beside = append(beside, other)
		}
	}
	return beside
}

// Remove removes an item, and its name with it.
func (r *Registry[W]) Remove(e *Item[W]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dropName(e)
	if !e.in {
		return
	}
	r.setDoubted(e, false)
	e.in = false
	delete(r.byID, e.ID)
	r.all = without(r.all, e)
	for _, p := range e.places() {
		// The place stays: an account has few markets, and the next order needs it.
		r.places[p] = without(r.places[p], e)
	}
}

// without takes e, which is there, out of items.
func without[W any](items []*Item[W], e *Item[W]) []*Item[W] {
	at := slices.Index(items, e)
	return slices.Delete(items, at, at+1)
}

// Doubt notes that the outcome of an item is in doubt.
func (r *Registry[W]) Doubt(e *Item[W]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.setDoubted(e, true)
}

func (r *Registry[W]) setDoubted(e *Item[W], doubted bool) {
	if !e.in || e.doubted == doubted {
		return
	}
	e.doubted = doubted
	if doubted {
		r.doubts++
	} else {
		r.doubts--
	}
}

// Settle notes that an item hides nothing any more, though its outcome is not known and may
// never be: it stays in doubt, and keeps its places closed no longer.
func (r *Registry[W]) Settle(e *Item[W]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.settled = true
}

// Clear notes that it is in doubt no longer.
func (r *Registry[W]) Clear(e *Item[W]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.setDoubted(e, false)
}

// Find returns the item of an id; nil if there is none.
func (r *Registry[W]) Find(id string) *Item[W] {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byID[id]
}

// Doubted returns all items in doubt, oldest first.
func (r *Registry[W]) Doubted() []*Item[W] {
	return r.collect(func(e *Item[W]) bool { return e.doubted })
}

// Open returns the items whose outcome is not decided, oldest first: those in doubt,
// and those of which nothing is doubtful so far.
func (r *Registry[W]) Open() (doubted, sent []*Item[W]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.all {
		if e.doubted {
			doubted = append(doubted, e)
		} else {
			sent = append(sent, e)
		}
	}
	return doubted, sent
}

func (r *Registry[W]) collect(wanted func(*Item[W]) bool) []*Item[W] {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []*Item[W]
	for _, e := range r.all {
		if wanted(e) {
			found = append(found, e)
		}
	}
	return found
}

// DoubtedIn returns the ids of the items in doubt that show in a place and are not settled,
// oldest first.
func (r *Registry[W]) DoubtedIn(p Place) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.doubts == 0 {
		return nil
	}
	var ids []string
	for e := range r.around([]Place{p}) {
		if e.doubted && !e.settled {
			ids = append(ids, e.ID)
		}
	}
	return ids
}

// around yields the items that show in one of some places, those that may among them; some
// of them twice. The lock is held.
func (r *Registry[W]) around(places []Place) iter.Seq[*Item[W]] {
	return func(yield func(*Item[W]) bool) {
		more := true
		each := func(items []*Item[W], wanted func(*Item[W]) bool) {
			for _, e := range items {
				if more = more && (wanted != nil && !wanted(e) || yield(e)); !more {
					return
				}
			}
		}
		for _, p := range places {
			if p.Symbol == AnyMarket {
				each(r.all, func(e *Item[W]) bool { return e.Places[0].anyMarket() == p })
				continue
			}
			each(r.places[p], nil)
			each(r.places[p.anyMarket()], nil)
		}
	}
}

// Beside reports whether another item that is not settled shows in one of an item's places.
func (r *Registry[W]) Beside(e *Item[W]) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for other := range r.around(e.places()) {
		if other != e && !other.settled {
			return true
		}
	}
	return false
}
