// Package limiter keeps requests within rate limits: it counts slots in a store,
// serves requests by priority, and lets them wait in a queue.
//
// It knows nothing of the client. A request says in an [Ask] what it needs; [Limiter.Take]
// returns a [Slot] for it, and [Limiter.Return] ends the slot.
package limiter

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	// Wait is how long there is none, as far as it is known.
	Wait time.Duration
	// Bucket names the bucket that is full.
	Bucket string
}

func (f *Full) Error() string {
	return fmt.Sprintf("rate limit %s has no room for %s", f.Bucket, f.Wait)
}

// Config is fixed for the life of a limiter.
type Config struct {
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
	// Hold is the longest time that the request can be under way.
	Hold time.Duration
	// Until is when a slot is of no use any more; zero if never. The context's
	// deadline counts as well.
	Until time.Time
	// FailFast refuses to wait for room.
	FailFast bool
	// Waiting is called once, before a wait for room; it may be nil.
	Waiting func(wait time.Duration, bucket string)
}

// Slot is what a request holds until Return. The zero Slot holds nothing.
type Slot struct {
	from   counter
	shared bool // recovery's share is held too
	name   string
	needs  needs
}

// counter says who counts a slot.
type counter uint8

const (
	counterNone counter = iota
	counterNear
	counterRemote
)

// Limiter is safe for concurrent use.
type Limiter struct {
	cfg    Config
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
	asking  bool   // the remote store is being asked
	freed   uint64 // counts the events that may end a shortage early
	queues  [ratelimit.Exit + 1][]*queue
	waiting int
	joined  uint64 // counts the waiters, for first come, first served
	short   []shortage
	timer   *time.Timer // serves the queue again
}

// New returns a limiter. Close ends it.
func New(cfg Config) *Limiter {
	l := &Limiter{
		cfg:    cfg,
		names:  make(map[string]string, len(cfg.Classes)),
		share:  ratelimit.NewMemoryStore(),
		ending: make(chan struct{}),
	}
	for class := range cfg.Classes {
		l.names[class] = bucketName(cfg.Owner, class)
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

func bucketName(owner, class string) string {
	if owner == "" {
		return "user/" + class
	}
	return "user/" + owner + "/" + class
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

// Take returns a slot, at once if there is room and nobody waits. Its error is a
// [*Full] if the wait would outlive a.Until or the context's deadline, or a fails
// fast; the context's if that ends first; or [ErrClosed].
func (l *Limiter) Take(ctx context.Context, a *Ask) (Slot, error) {
	if a.Class != "" && l.names[a.Class] == "" {
		return Slot{}, fmt.Errorf("limiter: the class %q has no limit", a.Class)
	}
	l.mu.Lock()
	if l.ended {
		l.mu.Unlock()
		return Slot{}, ErrClosed
	}
	if l.waiting == 0 && !l.asksRemote() {
		if slot, full := l.tryNear(a); full.Wait == 0 {
			l.mu.Unlock()
			return slot, nil
		}
	}
	w := l.join(ctx, a)
	l.serve()
	l.mu.Unlock()
	return l.await(ctx, w)
}

// Return ends a slot. sent says whether the request may have left. It does not wait
// for the program's store.
func (l *Limiter) Return(slot Slot, sent bool) {
	if slot.shared {
		l.returnShare(&slot, sent)
	}
	switch slot.from {
	case counterNone:
	case counterNear:
		_ = l.near.Return(context.Background(), "", slot.needs.all(), sent)
		l.returned(sent)
	case counterRemote:
		l.returnRemote(slot.name, slices.Clone(slot.needs.all()), sent)
	}
}

func (l *Limiter) returnRemote(name string, needs []ratelimit.Need, sent bool) {
	l.tell(func() {
		l.remote.giveBack(name, needs, sent)
		l.returned(sent)
	})
}

// returned serves the waiters again after a slot was returned unused.
func (l *Limiter) returned(sent bool) {
	if sent {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.freeSlots()
}

// tell tells the program's store something, and Close waits for it. The lock is not
// held.
func (l *Limiter) tell(do func()) {
	l.mu.Lock()
	ended := l.ended
	if !ended {
		l.work.Go(do)
	}
	l.mu.Unlock()
	if ended {
		do()
	}
}

// tryNear takes a slot that is counted in this process, or returns what is full. The
// lock is held.
func (l *Limiter) tryNear(a *Ask) (Slot, verdict) {
	slot := Slot{needs: l.needs(a)}
	if closed := l.tryClosed(&slot.needs); closed.Wait > 0 {
		return Slot{}, closed
	}
	if l.near == nil {
		return Slot{}, verdict{}
	}
	if full := l.tryShare(a.Priority, &slot); full.Wait > 0 {
		return Slot{}, full
	}
	grant, _ := l.near.Take(context.Background(), slot.needs.all(), a.Hold)
	if grant.Wait > 0 {
		l.dropShare(&slot)
		return Slot{}, verdict{Full: Full{grant.Wait, grant.Bucket}}
	}
	slot.from, slot.name = counterNear, grant.Slot
	return slot, verdict{}
}

// verdict says which bucket has no room, and for how long; 0 if there is room.
type verdict struct {
	Full
	ofShare bool // it is recovery's share that is full
}

// tryShare takes recovery's share of a slot's buckets for a request of that priority.
// The lock is held.
func (l *Limiter) tryShare(p ratelimit.Priority, slot *Slot) verdict {
	if p != ratelimit.Recovery {
		return verdict{}
	}
	needs := slot.needs.share()
	grant, _ := l.share.Take(context.Background(), needs.all(), 0)
	slot.shared = grant.Wait == 0
	return verdict{Full: Full{grant.Wait, grant.Bucket}, ofShare: true}
}

// dropShare returns a share that was not used.
func (l *Limiter) dropShare(slot *Slot) {
	if slot.shared {
		l.returnShare(slot, false)
		slot.shared = false
	}
}

func (l *Limiter) returnShare(slot *Slot, sent bool) {
	needs := slot.needs.share()
	_ = l.share.Return(context.Background(), "", needs.all(), sent)
}

// asksRemote reports whether the next slot comes from the program's store.
func (l *Limiter) asksRemote() bool { return l.remote != nil && l.remote.available() }

// Usage returns the state of the buckets of keys and classes, in that order. The lock
// is not held while the store is asked.
func (l *Limiter) Usage(ctx context.Context, keys, classes []string) ([]ratelimit.Usage, error) {
	buckets := make([]ratelimit.Bucket, 0, len(keys)+len(classes))
	l.mu.Lock()
	for _, key := range keys {
		buckets = append(buckets, l.bucket(key, l.cfg.PerKey))
	}
	for _, class := range classes {
		buckets = append(buckets, l.bucket(l.names[class], l.cfg.Classes[class]))
	}
	l.mu.Unlock()
	usages, err := l.usage(ctx, buckets)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range usages {
		if closed := l.closedFor(usages[i].Bucket.Name); closed > usages[i].Closed {
			usages[i].Closed, usages[i].Left = closed, 0
		}
	}
	return usages, nil
}

func (l *Limiter) usage(ctx context.Context, buckets []ratelimit.Bucket) ([]ratelimit.Usage, error) {
	switch {
	case l.remote != nil:
		return l.remote.usage(ctx, buckets)
	case l.near != nil:
		return l.near.Usage(ctx, buckets)
	default: // nothing is counted
		return ratelimit.NewMemoryStore().Usage(ctx, buckets)
	}
}
