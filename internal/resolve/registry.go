package resolve

import (
	"iter"
	"slices"
	"sync"

	"github.com/tradingapi/trading-go/internal/pending"
)

// registry keeps the writes whose outcome is not decided yet, by id and by the part of an account in which they
// can show. Its zero value is ready, and it is safe for concurrent use.
type registry struct {
	mu     sync.Mutex
	byID   map[pending.IntentID]*OpenWrite
	all    []*OpenWrite                   // oldest first
	places map[pending.Place][]*OpenWrite // those that show there, oldest first
	names  map[string][]*OpenWrite        // by name; the first has it, and one that came by add may wait behind it
	doubts int                            // how many are in doubt: mostly none, so that nobody looks for them
}

// take gives a write its name, before add: a name has one taker at a time, which keeps it
// until remove. It returns the write that has the name already; nil if there is none.
func (r *registry) take(e *OpenWrite) (taker *OpenWrite) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if has := r.names[e.Name]; len(has) > 0 {
		return has[0]
	}
	r.setName(e)
	return nil
}

func (r *registry) setName(e *OpenWrite) {
	if slices.Contains(r.names[e.Name], e) {
		return
	}
	if r.names == nil {
		r.names = make(map[string][]*OpenWrite)
	}
	r.names[e.Name] = append(r.names[e.Name], e)
}

func (r *registry) dropName(e *OpenWrite) {
	has := slices.DeleteFunc(r.names[e.Name], func(o *OpenWrite) bool { return o == e })
	if len(has) == 0 {
		delete(r.names, e.Name)
		return
	}
	r.names[e.Name] = has
}

// add adds a write. It returns false, and adds nothing, if its id is there already.
func (r *registry) add(e *OpenWrite) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byID == nil {
		r.byID = make(map[pending.IntentID]*OpenWrite)
		r.places = make(map[pending.Place][]*OpenWrite)
	}
	if r.byID[e.Intent.ID] != nil {
		return false
	}
	e.open = true
	if e.Name != "" {
		r.setName(e)
	}
	r.byID[e.Intent.ID] = e
	r.all = append(r.all, e)
	for _, p := range e.shows() {
		r.places[p] = append(r.places[p], e)
	}
	return true
}

// shows are the places that count, each once.
func (w *OpenWrite) shows() []pending.Place {
	places := w.Places[:]
	if w.Places[1] == (pending.Place{}) || w.Places[1] == w.Places[0] {
		places = places[:1]
	}
	if w.Places[0] == (pending.Place{}) {
		places = places[1:]
	}
	return places
}

// doubtedBeside returns the writes in doubt that show in one of a write's places and keep
// them closed, each once, without it.
func (r *registry) doubtedBeside(e *OpenWrite) (beside []*OpenWrite) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.doubts == 0 {
		return nil
	}
	for other := range r.around(e.shows()) {
		if other != e && other.doubted && !other.marketOpen.Load() && !slices.Contains(beside, other) {
			beside = append(beside, other)
		}
	}
	return beside
}

// remove removes a write, and its name with it.
func (r *registry) remove(e *OpenWrite) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e.Name != "" {
		r.dropName(e)
	}
	if !e.open {
		return
	}
	if e.doubted {
		r.setDoubted(e, false)
	}
	e.open = false
	delete(r.byID, e.Intent.ID)
	r.all = without(r.all, e)
	for _, p := range e.shows() {
		// The place stays: an account has few markets, and the next order needs it.
		r.places[p] = without(r.places[p], e)
	}
}

// without takes e, which is there, out of items.
func without(items []*OpenWrite, e *OpenWrite) []*OpenWrite {
	at := slices.Index(items, e)
	return slices.Delete(items, at, at+1)
}

// doubt notes that the outcome of a write is in doubt.
func (r *registry) doubt(e *OpenWrite) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.setDoubted(e, true)
}

func (r *registry) setDoubted(e *OpenWrite, doubted bool) {
	if !e.open || e.doubted == doubted {
		return
	}
	e.doubted = doubted
	if doubted {
		r.doubts++
	} else {
		r.doubts--
	}
}

// clear notes that it is in doubt no longer.
func (r *registry) clear(e *OpenWrite) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.setDoubted(e, false)
}

// find returns the write of an id; nil if there is none.
func (r *registry) find(id pending.IntentID) *OpenWrite {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byID[id]
}

// doubted returns all writes in doubt, oldest first.
func (r *registry) doubted() []*OpenWrite {
	doubted, _ := r.open()
	return doubted
}

// open returns the writes whose outcome is not decided, oldest first: those in doubt,
// and those of which nothing is doubtful so far.
func (r *registry) open() (doubted, sent []*OpenWrite) {
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

// doubtedIn returns the ids of the writes in doubt that show in a place and keep it closed,
// oldest first.
func (r *registry) doubtedIn(p pending.Place) []pending.IntentID {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.doubts == 0 {
		return nil
	}
	var ids []pending.IntentID
	for e := range r.around([]pending.Place{p}) {
		if e.doubted && !e.marketOpen.Load() {
			ids = append(ids, e.Intent.ID)
		}
	}
	return ids
}

// around yields the writes that show in one of some places, those that may among them; some
// of them twice. The lock is held.
func (r *registry) around(places []pending.Place) iter.Seq[*OpenWrite] {
	return func(yield func(*OpenWrite) bool) {
		more := true
		each := func(items []*OpenWrite, wanted func(*OpenWrite) bool) {
			for _, e := range items {
				if more = more && (wanted != nil && !wanted(e) || yield(e)); !more {
					return
				}
			}
		}
		for _, p := range places {
			if p.Symbol == pending.AnyMarket {
				each(r.all, func(e *OpenWrite) bool { return e.Places[0].AnyMarket() == p })
				continue
			}
			each(r.places[p], nil)
			each(r.places[p.AnyMarket()], nil)
		}
	}
}

// beside reports whether another write that counts shows in one of a write's places.
func (r *registry) beside(e *OpenWrite, counts func(other *OpenWrite) bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for other := range r.around(e.shows()) {
		if other != e && counts(other) {
			return true
		}
	}
	return false
}
