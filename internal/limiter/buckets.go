package limiter

import (
	"context"
	"slices"
	"time"

	"github.com/tradingapi/trading-go/ratelimit"
)

// needs are what one request needs: a slot of its key, of its class, or of both. It
// is an array, so that a slot costs no memory.
type needs struct {
	of [2]ratelimit.Need
	n  int
}

func (n *needs) all() []ratelimit.Need { return n.of[:n.n] }

// share is the part of the same buckets that recovery may hold: a third.
func (n *needs) share() needs {
	third := *n
	for i := range third.all() {
		third.of[i].Bucket.Limit, third.of[i].Reserve = max(n.of[i].Bucket.Limit/3, 1), 0
	}
	return third
}

// names are the buckets' names. A single bucket is named twice.
func (n *needs) names() [2]string {
	return [2]string{n.of[0].Bucket.Name, n.of[max(n.n-1, 0)].Bucket.Name}
}

// needs returns what a needs by the limits of now. The lock is held.
func (l *Limiter) needs(a *Ask) (n needs) {
	add := func(name string, limit int) {
		b := l.bucket(name, limit)
		n.of[n.n] = ratelimit.Need{Bucket: b, Reserve: l.reserve(a.Priority, b.Limit)}
		n.n++
	}
	if a.Key != "" {
		add(a.Key, l.cfg.PerKey)
	}
	if a.Class != "" {
		add(l.names[a.Class], l.cfg.Classes[a.Class])
	}
	return n
}

// reserve is how many slots of a limit a priority leaves to the higher ones. Of a
// single slot nothing can be kept.
func (l *Limiter) reserve(p ratelimit.Priority, limit int) int {
	if p >= ratelimit.Exit || l.cfg.ReservePct == 0 {
		return 0
	}
	reserve := max(1, limit*l.cfg.ReservePct/100)
	if p == ratelimit.Recovery {
		reserve = (reserve*4 + 4) / 5
	}
	return min(reserve, limit-1)
}

// learntLimit is a limit that the service has named.
type learntLimit struct {
	limit int
	until time.Time
}

// bucket returns a bucket with the limit that holds now. The lock is held.
func (l *Limiter) bucket(name string, limit int) ratelimit.Bucket {
	if learnt, ok := l.learnt[name]; ok {
		if time.Now().Before(learnt.until) {
			limit = min(limit, learnt.limit)
		} else {
			delete(l.learnt, name)
		}
	}
	return ratelimit.Bucket{Name: name, Limit: limit, Window: Window}
}

// Learn lowers the limit of an API key's bucket to the one that the service named,
// until the service's window ends: for a minute at the most.
func (l *Limiter) Learn(key string, limit int, window time.Duration) {
	window = min(window, Window)
	if key == "" || limit < 1 || window <= 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.learnt == nil {
		l.learnt = make(map[string]learntLimit, 1)
	}
	l.learnt[key] = learntLimit{limit, time.Now().Add(window)}
	l.freeSlots() // those who wait need other numbers now
}

// BlockKey closes the bucket of an API key for d, a minute at the most.
func (l *Limiter) BlockKey(key string, d time.Duration) {
	if key != "" {
		l.block(key, l.cfg.PerKey, d)
	}
}

// BlockClass closes the bucket of a class for d, a minute at the most.
func (l *Limiter) BlockClass(class string, d time.Duration) {
	if name := l.names[class]; name != "" {
		l.block(name, l.cfg.Classes[class], d)
	}
}

// block closes a bucket. Waiters that cannot wait that long are refused at once.
func (l *Limiter) block(name string, limit int, d time.Duration) {
	d = min(d, Window)
	if d <= 0 {
		return
	}
	l.mu.Lock()
	bucket := l.bucket(name, limit)
	if l.closed == nil {
		l.closed = make(map[string]time.Time, 2)
	}
	until := time.Now().Add(d)
	if until.After(l.closed[name]) {
		l.closed[name] = until
	}
	l.refuseUntil(name, until, d)
	l.mu.Unlock()
	if l.near != nil {
		_ = l.near.Block(context.Background(), bucket, d)
	}
	if l.remote != nil {
		l.passOn(func() { l.remote.block(bucket, d) })
	}
}

// Closed reports whether the service has closed the bucket of an API key, or that of a class.
func (l *Limiter) Closed(key, class string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.closed) > 0 && (l.closedFor(key) > 0 || l.closedFor(l.names[class]) > 0)
}

// closedFor returns how long the service still refuses a bucket's requests. The lock
// is held.
func (l *Limiter) closedFor(name string) time.Duration {
	until, ok := l.closed[name]
	if !ok {
		return 0
	}
	wait := max(time.Until(until), 0)
	if wait == 0 {
		delete(l.closed, name)
	}
	return wait
}

// tryClosed returns the first of the buckets that the service has closed. The lock is
// held.
func (l *Limiter) tryClosed(n *needs) Full {
	if len(l.closed) == 0 {
		return Full{}
	}
	for i := range n.all() {
		name := n.of[i].Bucket.Name
		if wait := l.closedFor(name); wait > 0 {
			return Full{Wait: wait, Bucket: name}
		}
	}
	return Full{}
}

// refuseUntil refuses the waiters of a bucket that have no use for a slot after it
// opens again. The lock is held.
func (l *Limiter) refuseUntil(name string, until time.Time, wait time.Duration) {
	for _, queues := range l.queues {
		for _, q := range slices.Clone(queues) {
			if !q.needs(name) {
				continue
			}
			for e := q.waiters.Front(); e != nil; {
				w := e.Value.(*waiter)
				e = e.Next()
				if !w.until.IsZero() && !w.until.After(until) {
					w.full = &Full{Wait: wait, Bucket: name}
					l.leave(w)
					close(w.served)
				}
			}
		}
	}
}
