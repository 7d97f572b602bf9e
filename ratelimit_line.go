package trading

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// budgets are the rate limits as one client keeps them: a store that counts, what
// the service has closed, and the line of those who wait.
type budgets struct {
	store   BudgetStore   // nil if nothing is counted
	own     *memoryBudget // counts while the program's store fails
	far     bool          // store is the program's: asking it takes time, and can fail
	reserve int           // percent
	limit   struct{ key, class, pro int }
	classes map[string]string
	log     logger
	// enter counts what Close waits for, and leave ends that; enter is false once
	// Close has begun.
	enter func() bool
	leave func()

	mu      sync.Mutex
	closed  map[string]time.Time // by the service, until then
	limits  map[string]int       // as the service told them, where they are others
	rested  time.Time            // the store has failed: it is not asked before
	asking  bool                 // somebody serves the line from the store
	freed   uint64               // counts what may have ended a shortage before its time
	lanes   [LaneExit + 1][]*queue
	waiting int
	joined  uint64 // counts who has joined, for first come, first served
	short   []shortage
	timer   *time.Timer // serves the line again
}

// place is what a send holds of the rate limits.
type place struct {
	store BudgetStore // nil if it holds none
	name  string
}

const (
	// storePatience bounds how long the program's store may take: an exit waits for
	// whom it is asked for already, and for itself.
	storePatience = time.Second
	// storeRest is how long a store that has failed is left alone, so that one which
	// hangs does not cost every call its patience.
	storeRest = 5 * time.Second
	// storeLook is how often a store that others use too is asked again: they may
	// have given back what they did not need.
	storeLook = time.Second
	// storeBlink is the same where this client has given a place back meanwhile.
	storeBlink = 10 * time.Millisecond
)

func newBudgets(b Budget, log logger) *budgets {
	line := &budgets{own: newMemoryBudget(), reserve: b.ReservePct, log: log, classes: make(map[string]string, 12)}
	line.limit.key = cmp.Or(b.PerKey, keyLimit)
	line.limit.class = cmp.Or(b.PerClass, classLimit)
	line.limit.pro = cmp.Or(b.PerPro, proLimit)
	switch {
	case b.ReservePct == 0:
		line.reserve = 10
	case b.ReservePct < 0:
		line.reserve = 0
	}
	switch {
	case b.Store != nil:
		line.store = b.Store
		_, near := b.Store.(*memoryBudget)
		line.far = !near
	case !b.Off:
		line.store = line.own
	}
	for _, e := range fixedEndpoints {
		if e.class != "" {
			line.classes[e.class] = "user/" + b.Owner + "/" + e.class
		}
	}
	return line
}

// bucket returns a bucket with the limit that holds now. The lock is held.
func (b *budgets) bucket(name string, limit int) Bucket {
	if told, ok := b.limits[name]; ok {
		limit = told
	}
	return Bucket{Name: name, Limit: limit, Window: limitWindow}
}

// claims appends what a send to an endpoint needs: a place of its key and, for a live
// write, one of its class. The lock is held.
func (b *budgets) claims(claims []Claim, key apiKey, e *endpoint, lane Lane) []Claim {
	claims = append(claims, Claim{Bucket: b.bucket(key.ID(), b.limit.key)})
	if e.class != "" {
		claims = append(claims, Claim{Bucket: b.bucket(b.classes[e.class], b.ofClass(e))})
	}
	if lane < LaneDoubt && b.reserve > 0 {
		for i := range claims {
			limit := claims[i].Bucket.Limit
			claims[i].Keep = min(max(1, limit*b.reserve/100), limit-1) // of one place, none can be kept
		}
	}
	return claims
}

// take gets the call its place, at once or after its turn in the line.
func (b *budgets) take(c *call) error {
	lane, hold := c.lane(), 2*c.opts.attemptTimeout // the guards may ask for the health first
	b.mu.Lock()
	if b.waiting == 0 && !b.asksFar() {
		claims := b.claims(c.claims[:0], c.apiKey, c.endpoint, lane)
		if got, taken := b.tryHere(claims, hold); taken.Wait == 0 {
			b.mu.Unlock()
			c.place = got
			return nil
		}
	}
	w := b.join(&waiter{key: c.apiKey, endpoint: c.endpoint, lane: lane, hold: hold, until: c.waitsUntil()})
	b.serve()
	b.mu.Unlock()
	return b.await(c, w)
}

// asksFar reports whether the next place comes from the program's store. The lock is
// held.
func (b *budgets) asksFar() bool { return b.far && !time.Now().Before(b.rested) }

// tryHere takes a place for each claim in this process, or says what is short. The
// lock is held.
func (b *budgets) tryHere(claims []Claim, hold time.Duration) (place, Taken) {
	if taken := b.tryClosed(claims); taken.Wait > 0 {
		return place{}, taken
	}
	if b.store == nil {
		return place{}, Taken{}
	}
	store := b.store
	if b.far {
		store = b.own
	}
	taken, _ := store.Take(context.Background(), claims, hold)
	return place{store, taken.Place}, taken
}

// tryClosed says which of the claims' buckets the service has closed. The lock is
// held.
func (b *budgets) tryClosed(claims []Claim) Taken {
	for i := range claims {
		if wait := b.closedFor(claims[i].Bucket.Name); wait > 0 {
			return Taken{Wait: wait, Lacks: claims[i].Bucket.Name}
		}
	}
	return Taken{}
}

// askStore asks the program's store for a place for each claim. The lock is not held.
func (b *budgets) askStore(claims []Claim, hold time.Duration) (Taken, error) {
	ctx, cancel := context.WithTimeout(context.Background(), storePatience)
	defer cancel()
	taken, err := b.store.Take(ctx, claims, hold)
	if err != nil {
		return Taken{}, err
	}
	lacks := slices.ContainsFunc(claims, func(c Claim) bool { return c.Bucket.Name == taken.Lacks })
	if taken.Wait < 0 || taken.Wait > 0 && !lacks {
		return Taken{}, fmt.Errorf("trading: the budget store answers a wait of %s for the bucket %q", taken.Wait, taken.Lacks)
	}
	return taken, nil
}

// giveBack ends the holding of a place. The lock is not held.
func (b *budgets) giveBack(p place, claims []Claim, sent bool) {
	if p.store == nil {
		return
	}
	b.tell(p.store, "Return", func(ctx context.Context, s BudgetStore) error {
		return s.Return(ctx, p.name, claims, sent)
	})
	if !sent {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.freePlaces()
	}
}

// tell tells a store something. One that fails is told nothing for a while: it has
// its own way to forget. The lock is not held.
func (b *budgets) tell(s BudgetStore, what string, f func(context.Context, BudgetStore) error) {
	ctx := context.Background()
	if !b.far || s == BudgetStore(b.own) {
		_ = f(ctx, s)
		return
	}
	b.mu.Lock()
	resting := !b.asksFar()
	b.mu.Unlock()
	if resting {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, storePatience)
	defer cancel()
	if err := f(ctx, s); err != nil {
		b.mu.Lock()
		b.rest()
		b.mu.Unlock()
		b.log.budgetStore(what, err)
	}
}

// rest leaves the store that has failed alone for a while. The lock is held.
func (b *budgets) rest() { b.rested = time.Now().Add(storeRest) }

// closedFor returns how long the service has closed a bucket still. The lock is
// held.
func (b *budgets) closedFor(bucket string) time.Duration {
	until, ok := b.closed[bucket]
	if !ok {
		return 0
	}
	wait := time.Until(until)
	if wait <= 0 {
		delete(b.closed, bucket)
	}
	return max(wait, 0)
}

// block closes a bucket for d. Who cannot wait that long is told at once. The lock
// is held.
func (b *budgets) block(bucket Bucket, d time.Duration) {
	if b.closed == nil {
		b.closed = make(map[string]time.Time, 2)
	}
	until := time.Now().Add(d)
	if until.After(b.closed[bucket.Name]) {
		b.closed[bucket.Name] = until
	}
	for _, lane := range b.lanes {
		for _, q := range slices.Clone(lane) {
			if !q.needs(bucket.Name) {
				continue
			}
			for e := q.line.Front(); e != nil; {
				w := e.Value.(*waiter)
				e = e.Next()
				if !w.until.IsZero() && !w.until.After(until) {
					w.refused = d
					b.quit(w)
					close(w.served)
				}
			}
		}
	}
}

// usage returns what is left of a client's limits. The lock is not held while keys
// and store are asked: they are the program's, and nobody's exit waits for them.
func (b *budgets) usage(ctx context.Context, c *core) ([]Usage, error) {
	var buckets []Bucket
	for _, env := range [...]Environment{EnvSandbox, EnvLive} {
		if c.keys(env).isZero() {
			continue
		}
		key, err := c.keys(env).current(ctx, env)
		if err != nil {
			return nil, err
		}
		buckets = b.appendBuckets(buckets, env, key)
	}
	store := b.store
	if store == nil {
		store = b.own // which has nothing, since nothing is counted
	}
	usages, err := store.Usage(ctx, buckets)
	if err != nil {
		return nil, fmt.Errorf("trading: Usage: %w", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range usages {
		if closed := b.closedFor(usages[i].Bucket.Name); closed > usages[i].Closed {
			usages[i].Closed, usages[i].Left = closed, 0
		}
	}
	return usages, nil
}

// appendBuckets appends the buckets of a key: its own, and those of the classes of
// its environment.
func (b *budgets) appendBuckets(buckets []Bucket, env Environment, key apiKey) []Bucket {
	b.mu.Lock()
	defer b.mu.Unlock()
	buckets = append(buckets, b.bucket(key.ID(), b.limit.key))
	for _, e := range fixedEndpoints {
		if e.env != env || e.class == "" || slices.ContainsFunc(buckets, func(o Bucket) bool { return o.Name == b.classes[e.class] }) {
			continue
		}
		buckets = append(buckets, b.bucket(b.classes[e.class], b.ofClass(e)))
	}
	return buckets
}

// ofClass is the limit of the endpoint's class.
func (b *budgets) ofClass(e *endpoint) int {
	if e.pro {
		return b.limit.pro
	}
	return b.limit.class
}
