package trading

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tradingapi/trading-go/internal/books"
	"github.com/tradingapi/trading-go/internal/pending"
	"github.com/tradingapi/trading-go/journal"
)

// registry is what the clients of one journal share: the writes whose outcome is not
// decided, and those who work on them.
type registry struct {
	pending.Registry[*write]

	clock    *clock
	resolved resolutions
	requests atomic.Uint64 // of the drivers, numbered

	mu      sync.Mutex
	loaded  bool
	views   map[string]*view // by base URL
	workers []worker         // of open clients
	orphans []*write         // of clients that have closed
}

// view is what the clients of one service know of its accounts: a write of one is an own
// write to the others.
type view struct {
	books  *books.Books
	levels settings
}

// viewOf returns what is known of the accounts of a service.
func (r *registry) viewOf(baseURL string, first bool) *view {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.viewLocked(baseURL, first)
}

func (r *registry) viewLocked(baseURL string, first bool) *view {
	if r.views == nil {
		r.views = make(map[string]*view)
	}
	if r.views[baseURL] == nil {
		r.views[baseURL] = &view{books: books.New(time.Now(), first)}
	}
	return r.views[baseURL]
}

// join adds the worker of a client.
func (r *registry) join(k worker) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.workers = append(r.workers, k)
}

// leave removes the worker of a client that has closed, and returns the writes whose
// outcome is not known: its own, and those on which nobody works. Another worker takes
// its writes over, or the next that comes.
func (r *registry) leave(k worker) (left []*write) {
	r.mu.Lock()
	defer r.mu.Unlock()
	left = k.writes()
	if at := slices.Index(r.workers, k); at >= 0 { // else it was closed before
		r.workers = slices.Delete(r.workers, at, at+1)
		r.orphans = append(r.orphans, left...)
		for _, w := range left {
			w.abandoned = true
		}
		for _, other := range r.workers {
			r.adoptOrphans(other)
		}
	}
	for _, w := range r.orphans {
		if !slices.Contains(left, w) {
			left = append(left, w)
		}
	}
	return left
}

// wasLeft reports whether an earlier run began a write, or a client that has closed.
func (r *registry) wasLeft(w *write) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return w.left || w.abandoned
}

// drop forgets a write that nobody works on.
func (r *registry) drop(w *write) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.orphans = slices.DeleteFunc(r.orphans, func(o *write) bool { return o == w })
}

// adoptOrphans gives a worker what those that have closed left of its service. The lock
// is held.
func (r *registry) adoptOrphans(k worker) {
	var left []*write
	r.orphans = slices.DeleteFunc(r.orphans, func(w *write) bool {
		if !k.serves(w.intent.BaseURL) {
			return false
		}
		w.worker = k
		left = append(left, w)
		return true
	})
	k.adopt(left)
}

// newRegistry returns the registry of a journal's handle, or one of the client's own.
func newRegistry(j journal.Store) *registry {
	if j == nil {
		return &registry{loaded: true, clock: newClock()}
	}
	return j.Shared().Value(func() any { return &registry{clock: newClock()} }).(*registry)
}

// workerOf returns who works on a write; nil if nobody does.
func (r *registry) workerOf(w *write) worker {
	r.mu.Lock()
	defer r.mu.Unlock()
	return w.worker
}

// goOn goes on with a write that may have waited for another one to end.
func (r *registry) goOn(w *write) {
	if k := r.workerOf(w); k != nil {
		k.goOn(w)
	}
}

// maxResolved bounds how many resolutions wait for a caller that may never ask.
const maxResolved = 1024

// resolvedWithLooks bounds how many of them keep their looks, each of which holds the
// account's closed trades.
const resolvedWithLooks = 64

// resolutions are what writes in doubt have come to.
type resolutions struct {
	mu    sync.Mutex
	byID  map[IntentID]Resolution
	order []IntentID
}

func (r *resolutions) keep(id IntentID, of Resolution) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byID == nil {
		r.byID = make(map[IntentID]Resolution)
	}
	if _, kept := r.byID[id]; kept {
		r.byID[id] = of
		return
	}
	r.byID[id] = of
	r.order = append(r.order, id)
	if n := len(r.order) - resolvedWithLooks; n > 0 {
		old := r.byID[r.order[n-1]]
		old.Looks = nil
		r.byID[r.order[n-1]] = old
	}
	if len(r.order) > maxResolved {
		delete(r.byID, r.order[0])
		r.order = r.order[1:]
	}
}

func (r *resolutions) find(id IntentID) (Resolution, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	of, ok := r.byID[id]
	return of, ok
}
