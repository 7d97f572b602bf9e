package resolve

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tradingapi/trading-go/internal/books"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/pending"
	"github.com/tradingapi/trading-go/internal/servicetime"
	"github.com/tradingapi/trading-go/journal"
)

// shared is what the clients of one journal share: the writes whose outcome is not
// decided, and those who work on them.
type shared struct {
	registry

	began    time.Time // of the monotonic clock
	kept     finals
	owed     owed
	resolved resolutions
	requests atomic.Uint64 // of the drivers, numbered

	anew sync.Once // says that the journal has nothing of earlier runs

	loading chan struct{} // holds a token while the journal is read

	mu       sync.Mutex
	read     bool                         // the journal was, or there is none
	complete bool                         // it was, and has every write of earlier runs
	ahead    map[pending.IntentID]bool    // ids of exits that went out although it could not be read
	views    map[string]*view             // by base URL
	first    map[pending.AccountID]string // by live account, the base URL by which it was written to first
	workers  []*Driver                    // of open clients
	orphans  []*OpenWrite                 // of clients that have closed
}

// view is what the clients of one service know of its accounts: a write of one is an own
// write to the others.
type view struct {
	Clocks Clocks // another service has another one
	Books  *books.Books
	levels settings
	last   atomic.Pointer[ledger.Instant] // when a write of this run ended last

	mu        sync.Mutex
	asked     map[pending.AccountID]bool         // the journal was asked who else trades these
	reads     map[books.AccountKey]chan struct{} // for entries, which wait for the end that closes it
	began     []time.Time                        // looks of the last minute, the oldest first
	touched   map[books.AccountKey]bool          // a look begins there in the background
	waits     map[pending.Place]time.Time        // where an order rests or a run goes on, as far as is known, by a write or a read: when that was known last
	dateAsked bool                               // one write has had the chance to learn the service's time
}

// viewOf returns what is known of the accounts of a service. first: no earlier run wrote to a
// live account; lastOf says when one did, nil where that is not asked.
func (r *shared) viewOf(baseURL string, first bool, lastOf func() *last) *view {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.views == nil {
		r.views = make(map[string]*view)
	}
	if v := r.views[baseURL]; v != nil {
		return v
	}
	v := &view{
		Clocks:  Clocks{r.began, new(servicetime.Clock)},
		waits:   make(map[pending.Place]time.Time),
		asked:   make(map[pending.AccountID]bool),
		reads:   make(map[books.AccountKey]chan struct{}),
		touched: make(map[books.AccountKey]bool),
	}
	var ended *last
	if lastOf != nil {
		ended = lastOf()
	}
	v.Books = books.New(time.Now(), v.Clocks.earlier(first, ended), func(id books.AccountKey, sign string) { _ = r.othersTrade(baseURL, id, sign) })
	v.Books.Closed = v.Clocks.service.Closed
	if r.complete {
		v.Books.Watch()
	}
	r.views[baseURL] = v
	return v
}

// join adds the driver of a client.
func (r *shared) join(d *Driver) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.workers = append(r.workers, d)
	d.undeclare = d.Books.Declare(d.cfg.IsExclusive)
}

// lastOf returns when a write of a service ended last; nil unless this is the driver of the last client
// that is open, or if none has ended.
func (r *shared) lastOf(d *Driver) *ledger.Instant {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.workers) != 1 || r.workers[0] != d {
		return nil
	}
	return r.views[d.cfg.BaseURL].last.Load()
}

// leave removes the worker of a client that has closed, and returns the writes whose
// outcome is not known: its own, and those on which nobody works. Another worker takes
// its writes over, or the next that comes.
func (r *shared) leave(d *Driver) (left []*OpenWrite) {
	r.mu.Lock()
	defer r.mu.Unlock()
	left = d.schedule.all()
	if at := slices.Index(r.workers, d); at >= 0 { // else it was closed before
		r.workers = slices.Delete(r.workers, at, at+1)
		d.undeclare()
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
func (r *shared) wasLeft(w *OpenWrite) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return w.Left || w.abandoned
}

// claim takes a write on which nobody works out of those that the next worker takes over, and
// returns false if it is none. giveBack puts it back.
func (r *shared) claim(w *OpenWrite) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := slices.Index(r.orphans, w)
	if at < 0 {
		return false
	}
	r.orphans = slices.Delete(r.orphans, at, at+1)
	return true
}

func (r *shared) giveBack(w *OpenWrite) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.orphans = append(r.orphans, w)
}

// goAhead notes an exit that goes out although the journal could not be read.
func (r *shared) goAhead(id pending.IntentID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ahead == nil {
		r.ahead = make(map[pending.IntentID]bool)
	}
	r.ahead[id] = true
}

// wentAhead reports whether a write is such an exit.
func (r *shared) wentAhead(id pending.IntentID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ahead[id]
}

// takeOver gives a worker what those that have closed left, and reports whether the
// journal was read, so that nothing else is left.
func (r *shared) takeOver(d *Driver) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.orphans) > 0 {
		r.adoptOrphans(d)
	}
	return r.read
}

// loaded adds what earlier runs left, by the journal that a worker has read.
// gap means that it may lack records.
func (r *shared) loaded(d *Driver, left []*OpenWrite, gap bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	trade := make(map[*books.Books][]books.Left)
	for _, w := range left {
		if w.gap = w.gap || len(r.ahead) > 0; w.gap { // its records say nothing of these exits
			w.beside.Gap()
		}
		r.add(w)
		if w.Traits.Trades {
			trade[w.books] = append(trade[w.books], books.Left{Booked: &w.booked, Note: *w.beside})
		}
		w.beside = nil
		if w.Ledger.Done() {
			continue
		}
		r.doubt(w)
		if w.Intent.BaseURL != d.cfg.BaseURL {
			w.noting().reason = fmt.Sprintf("it was sent to %s", w.Intent.BaseURL)
		}
		r.orphans = append(r.orphans, w)
	}
	for of, all := range trade {
		of.Restore(all...)
	}
	r.read = true
	if r.complete = !gap && len(r.ahead) == 0; r.complete {
		for _, v := range r.views {
			v.Books.Watch()
		}
	}
	r.adoptOrphans(d)
}

// adoptOrphans gives a worker what those that have closed left of its service. The lock
// is held.
func (r *shared) adoptOrphans(d *Driver) {
	var left []*OpenWrite
	r.orphans = slices.DeleteFunc(r.orphans, func(w *OpenWrite) bool {
		if !d.serves(w.Intent.BaseURL) {
			return false
		}
		w.worker = d
		left = append(left, w)
		return true
	})
	d.adopt(left)
}

// sharedOf returns what the clients share of a journal's handle, or one of the client's own.
func sharedOf(j journal.Store) *shared {
	if j == nil {
		return &shared{read: true, began: time.Now()}
	}
	return j.Shared().Value(func() any { return &shared{loading: make(chan struct{}, 1), began: time.Now()} }).(*shared)
}

// workerOf returns who works on a write; nil if nobody does.
func (r *shared) workerOf(w *OpenWrite) *Driver {
	r.mu.Lock()
	defer r.mu.Unlock()
	return w.worker
}

// maxResolved bounds how many resolutions wait for a caller that may never ask.
const maxResolved = 1024

// resolvedWithLooks bounds how many of them keep their looks, each of which holds the
// account's closed trades.
const resolvedWithLooks = 64

// resolutions are what writes in doubt have come to.
type resolutions struct {
	mu    sync.Mutex
	byID  map[pending.IntentID]Found
	order []pending.IntentID
}

func (r *resolutions) keep(id pending.IntentID, of Found) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byID == nil {
		r.byID = make(map[pending.IntentID]Found)
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

func (r *resolutions) find(id pending.IntentID) (Found, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	of, ok := r.byID[id]
	return of, ok
}
