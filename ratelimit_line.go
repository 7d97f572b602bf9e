package trading

import (
	"container/list"
	"context"
	"errors"
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
	reserve int           // percent
	classes map[string]string
	log     logger

	mu      sync.Mutex
	closed  map[string]time.Time // by the service, until then
	limits  map[string]int       // as the service told them, where they are others
	lanes   [LaneExit + 1][]*queue
	waiting int
	joined  uint64 // counts who has joined, for first come, first served
	short   []shortage
	timer   *time.Timer // serves the line again
}

// queue are those of a lane who wait for the same buckets.
type queue struct {
	buckets [2]string
	line    list.List // of *waiter, in the order in which they came
}

type waiter struct {
	number  uint64
	lane    Lane
	claims  []Claim
	hold    time.Duration
	until   time.Time // when waiting is of no use any more; zero if never
	queue   *queue
	element *list.Element
	served  chan struct{} // closed once place is set, or refused
	place   place
	refused time.Duration // the wait that is too long
}

// shortage is a bucket that had no place for somebody in the line.
type shortage struct {
	bucket string
	until  time.Time
}

// place is what a send holds of the rate limits.
type place struct {
	store BudgetStore // nil if it holds none
	name  string
}

// storePatience bounds how long a store of the program's may take: exits wait for
// it too.
const storePatience = time.Second

func newBudgets(b Budget, log logger) *budgets {
	line := &budgets{own: newMemoryBudget(), reserve: b.ReservePct, log: log, classes: make(map[string]string, 12)}
	switch {
	case b.ReservePct == 0:
		line.reserve = 10
	case b.ReservePct < 0:
		line.reserve = 0
	}
	switch {
	case b.Store != nil:
		line.store = b.Store
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

// claims returns what a send of the call needs: a place of its key and, for a live
// write, one of its class. The lock is held.
func (b *budgets) claims(c *call, lane Lane) []Claim {
	claims := append(c.claims[:0], Claim{Bucket: b.bucket(c.apiKey.bucket(), keyLimit)})
	if class := c.endpoint.class; class != "" {
		claims = append(claims, Claim{Bucket: b.bucket(b.classes[class], c.endpoint.classLimit())})
	}
	if lane < LaneDoubt && b.reserve > 0 {
		for i := range claims {
			claims[i].Keep = max(1, claims[i].Bucket.Limit*b.reserve/100)
		}
	}
	return claims
}

// take gets the call its place, at once or after its turn in the line.
func (b *budgets) take(c *call) error {
	lane, hold := c.lane(), 2*c.opts.attemptTimeout // the guards may ask for the health first
	b.mu.Lock()
	claims := b.claims(c, lane)
	if b.waiting == 0 {
		got, taken := b.try(claims, hold)
		if taken.Wait == 0 {
			b.mu.Unlock()
			c.place = got
			return nil
		}
	}
	w := b.join(lane, claims, hold, c.waitsUntil())
	b.serve()
	wait, served := b.waitOf(w), w.isServed()
	if !served && (c.opts.failFast || c.outlives(wait)) {
		b.leave(w)
		b.mu.Unlock()
		return c.limited(wait)
	}
	b.mu.Unlock()
	if !served {
		c.hookWait(wait, WaitBudget, w.lacking(b))
	}
	return b.await(c, w)
}

// await waits for the waiter's turn, or for the end of what it waits for.
func (b *budgets) await(c *call, w *waiter) error {
	var late <-chan time.Time
	if !w.until.IsZero() {
		timer := time.NewTimer(time.Until(w.until))
		defer timer.Stop()
		late = timer.C
	}
	var err error
	tooLate := false
	select {
	case <-w.served:
	case <-late:
		tooLate = true
	case <-c.Done():
		err = c.Err()
	case <-c.core.closing.Done():
		err = ErrClosed
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !w.isServed() {
		wait := b.waitOf(w)
		b.leave(w)
		if tooLate || errors.Is(err, context.DeadlineExceeded) {
			return c.limited(wait)
		}
		return err
	}
	switch {
	case w.refused > 0:
		return c.limited(w.refused)
	case err != nil: // its turn came as it left
		b.giveBack(w.place, w.claims, false)
		return err
	}
	c.place = w.place
	return nil
}

// limited is the local refusal of a call that would have to wait for so long.
func (c *call) limited(wait time.Duration) *Error {
	refusal := refuse(c.env, CodeRateLimited, "the rate limits have no place for it in time")
	refusal.RetryAfter = wait
	return refusal
}

// join puts a waiter into the line. The lock is held.
func (b *budgets) join(lane Lane, claims []Claim, hold time.Duration, until time.Time) *waiter {
	var buckets [2]string
	for i := range claims {
		buckets[i] = claims[i].Bucket.Name
	}
	at := slices.IndexFunc(b.lanes[lane], func(q *queue) bool { return q.buckets == buckets })
	if at < 0 {
		at = len(b.lanes[lane])
		b.lanes[lane] = append(b.lanes[lane], &queue{buckets: buckets})
	}
	b.joined++
	b.waiting++
	w := &waiter{number: b.joined, lane: lane, claims: claims, hold: hold, until: until, served: make(chan struct{})}
	w.queue = b.lanes[lane][at]
	w.element = w.queue.line.PushBack(w)
	return w
}

// leave takes a waiter out of the line. The lock is held.
func (b *budgets) leave(w *waiter) {
	b.waiting--
	w.queue.line.Remove(w.element)
	if w.queue.line.Len() == 0 {
		b.lanes[w.lane] = slices.DeleteFunc(b.lanes[w.lane], func(q *queue) bool { return q == w.queue })
	}
	if b.waiting == 0 && b.timer != nil {
		b.timer.Stop()
	}
}

// serve gives places to the line: the highest lane first, within a lane whoever
// came first. Who waits for one bucket keeps that one from all behind, and no
// other. The lock is held.
func (b *budgets) serve() {
	b.short = b.short[:0]
	soonest := time.Duration(-1)
	for lane := LaneExit; ; lane-- {
		for w := b.foremost(lane); w != nil; w = b.foremost(lane) {
			got, taken := b.try(w.claims, w.hold)
			if taken.Wait == 0 {
				w.place = got
				b.leave(w)
				close(w.served)
				continue
			}
			b.short = append(b.short, shortage{taken.Lacks, time.Now().Add(taken.Wait)})
			if soonest < 0 || taken.Wait < soonest {
				soonest = taken.Wait
			}
		}
		if lane == LaneRead {
			break
		}
	}
	switch {
	case b.waiting == 0 || soonest < 0:
	case b.timer == nil:
		b.timer = time.AfterFunc(soonest, b.serveAgain)
	default:
		b.timer.Reset(soonest)
	}
}

func (b *budgets) serveAgain() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.serve()
}

// foremost returns who came first in a lane, of those who wait for nothing that is
// known to be short. The lock is held.
func (b *budgets) foremost(lane Lane) *waiter {
	var first *waiter
	for _, q := range b.lanes[lane] {
		if slices.ContainsFunc(b.short, func(s shortage) bool { return s.bucket == q.buckets[0] || s.bucket == q.buckets[1] }) {
			continue
		}
		if w := q.line.Front().Value.(*waiter); first == nil || w.number < first.number {
			first = w
		}
	}
	return first
}

func (w *waiter) isServed() bool {
	select {
	case <-w.served:
		return true
	default:
		return false
	}
}

// waitOf returns how long a waiter cannot be served, as the line last knew. The
// lock is held.
func (b *budgets) waitOf(w *waiter) (wait time.Duration) {
	for _, s := range b.short {
		if s.bucket == w.queue.buckets[0] || s.bucket == w.queue.buckets[1] {
			wait = max(wait, time.Until(s.until))
		}
	}
	return wait
}

// lacking names the bucket that a waiter waits for.
func (w *waiter) lacking(b *budgets) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.short {
		if s.bucket == w.queue.buckets[0] || s.bucket == w.queue.buckets[1] {
			return s.bucket
		}
	}
	return w.queue.buckets[0]
}

// try takes a place for each claim, or says what is short. The lock is held.
func (b *budgets) try(claims []Claim, hold time.Duration) (place, Taken) {
	for i := range claims {
		if wait := b.closedFor(claims[i].Bucket.Name); wait > 0 {
			return place{}, Taken{Wait: wait, Lacks: claims[i].Bucket.Name}
		}
	}
	switch b.store {
	case nil:
		return place{}, Taken{}
	case BudgetStore(b.own):
	default:
		ctx, cancel := context.WithTimeout(context.Background(), storePatience)
		defer cancel()
		taken, err := b.store.Take(ctx, claims, hold)
		if err == nil {
			return place{b.store, taken.Place}, taken
		}
		b.log.budgetStore("Take", err)
	}
	taken, _ := b.own.Take(context.Background(), claims, hold)
	return place{b.own, taken.Place}, taken
}

// giveBack ends the holding of a place. The lock is held.
func (b *budgets) giveBack(p place, claims []Claim, sent bool) {
	if p.store == nil {
		return
	}
	b.tell(p.store, "Return", func(ctx context.Context, s BudgetStore) error {
		return s.Return(ctx, p.name, claims, sent)
	})
	if !sent && b.waiting > 0 {
		b.serve()
	}
}

// tell tells a store something. One that fails is told nothing else: it has its
// own way to forget.
func (b *budgets) tell(s BudgetStore, what string, f func(context.Context, BudgetStore) error) {
	ctx := context.Background()
	if s != BudgetStore(b.own) {
		bounded, cancel := context.WithTimeout(ctx, storePatience)
		defer cancel()
		ctx = bounded
	}
	if err := f(ctx, s); err != nil {
		b.log.budgetStore(what, err)
	}
}

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
	if b.store != nil {
		b.tell(b.store, "Block", func(ctx context.Context, s BudgetStore) error { return s.Block(ctx, bucket, d) })
	}
	for _, lane := range b.lanes {
		for _, q := range slices.Clone(lane) {
			if q.buckets[0] != bucket.Name && q.buckets[1] != bucket.Name {
				continue
			}
			for e := q.line.Front(); e != nil; {
				w := e.Value.(*waiter)
				e = e.Next()
				if !w.until.IsZero() && !w.until.After(until) {
					w.refused = d
					b.leave(w)
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
	buckets = append(buckets, b.bucket(key.bucket(), keyLimit))
	for _, e := range fixedEndpoints {
		if e.env != env || e.class == "" || slices.ContainsFunc(buckets, func(o Bucket) bool { return o.Name == b.classes[e.class] }) {
			continue
		}
		buckets = append(buckets, b.bucket(b.classes[e.class], e.classLimit()))
	}
	return buckets
}

// classLimit is the limit of the endpoint's class.
func (e *endpoint) classLimit() int {
	if e.pro {
		return proLimit
	}
	return classLimit
}
