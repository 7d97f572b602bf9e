// Package limiter keeps requests within rate limits: it counts slots in a store,
// serves requests by priority, and lets them wait in a queue.
//
// It knows nothing of the client. A request says in an [Ask] what it needs; [Limiter.Take]
// returns a [Slot] for it, and [Limiter.Return] ends the slot.
package limiter

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tradingapi/trading-go/ratelimit"
)

// Window is the length of every rate limit's window, and the longest time for which
// the service can close a bucket.
const Window = time.Minute

// ErrClosed is the error of Take after [Limiter.Close].
var ErrClosed = errors.New("the limiter is closed")

// Full is the error of Take when there is no slot in time.
type Full struct {
	// Wait is how long there is none, as far as it is known; 0 if there is room.
	Wait time.Duration
	// Bucket names the bucket that is full.
	Bucket  string
	ofShare bool // it is recovery's share of it that is full
}

func (f *Full) Error() string {
	return fmt.Sprintf("rate limit %s has no room for %s", f.Bucket, f.Wait)
}

// Options is fixed for the life of a limiter.
type Options struct {
	// Store counts the slots; nil counts in this limiter alone. One that is not a
	// [ratelimit.MemoryStore] may be slow and may fail.
	Store ratelimit.Store
	// Owner is a part of the names of the classes' buckets.
	Owner string
	// PerKey is the limit of an API key.
	PerKey int
	// Classes are the limits of the classes of writes.
	Classes map[string]int
	// ReservePct is the share of each limit, in percent from 0 to 90, that reads and
	// entries leave to higher priorities.
	ReservePct int
	// Off counts nothing. Buckets that the service has closed stay closed.
	Off bool
	// Log is called when a call of the store has failed; it may be nil.
	Log func(call string, err error)
}

// Ask is what a request needs.
type Ask struct {
	// Key is the name of the API key's bucket; empty if the request has no key.
	Key string
	// Class is the class of a write; empty if it has none.
	Class string
	// Priority is what the request is for.
	Priority ratelimit.Priority
	// FailFast refuses to wait for room.
	FailFast bool
	// Hold is the longest time that the request can be under way.
	Hold time.Duration
	// Until is when a slot is of no use any more; zero if never. The context's
	// deadline counts as well.
	Until time.Time
	// Waiting is called once, before a wait for room; it may be nil.
	Waiting func(wait time.Duration, bucket string)
}

// Slot is what a request holds until Return. The zero Slot holds nothing.
type Slot struct {
	name   string
	needs  needs
	remote bool    // the program's store counts it
	shared bool    // recovery's share is held too
	near   bool    // this process counts it
	exits  [2]bool // which of the needs are of what exits have of the reserve
}

// Limiter is safe for concurrent use.
type Limiter struct {
	cfg    Options
	names  map[string]string      // of the classes' buckets
	near   *ratelimit.MemoryStore // counts in this process; nil if nothing is counted
	remote *remote                // the program's store, where it is another; nil otherwise
	share  *ratelimit.MemoryStore // counts what recovery holds
	work   sync.WaitGroup         // goroutines that call the remote store

	mu      sync.Mutex
	ended   bool
	ending  chan struct{}        // closed by Close
	closed  map[string]time.Time // buckets that the service has closed, until then
	learnt  map[string]learntLimit
	asking  bool // the remote store is being asked
	standIn standIn
	freed   uint64 // counts the events that may end a shortage early
	queues  [ratelimit.Close + 1][]*queue
	waiting int
	joined  uint64 // counts the waiters, for first come, first served
	short   []shortage
	timer   *time.Timer // serves the queue again
}

// New returns a limiter. Close ends it.
func New(cfg Options) *Limiter {
	l := &Limiter{
		cfg:    cfg,
		names:  make(map[string]string, len(cfg.Classes)),
		share:  ratelimit.NewMemoryStore(),
		ending: make(chan struct{}),
	}
	user := "user/"
	if cfg.Owner != "" {
		user += cfg.Owner + "/"
	}
	for class := range cfg.Classes {
		l.names[class] = user + class
	}
	memory, inMemory := cfg.Store.(*ratelimit.MemoryStore)
	switch {
	case cfg.Off:
	case inMemory:
		l.near = memory
	default:
		l.near = ratelimit.NewMemoryStore()
	}
	if cfg.Store != nil && !inMemory && !cfg.Off {
		l.remote = newRemote(cfg.Store, cfg.Log)
	}
	return l
}

// Close ends every wait, and waits for the calls of the store that are under way, two
// seconds at the most: a call that takes longer is abandoned. Slots can still be
// returned after it.
func (l *Limiter) Close() {
	l.mu.Lock()
	if !l.ended {
		l.ended = true
		close(l.ending)
	}
	if l.timer != nil {
		l.timer.Stop()
	}
	l.mu.Unlock()
	l.work.Wait()
}
