package trading

import (
	"context"
	"sync"
	"time"
)

// NewBudgetStore returns a store in memory, for clients of one process that share
// a key or a user.
func NewBudgetStore() BudgetStore { return newMemoryBudget() }

// memoryBudget counts in this process.
type memoryBudget struct {
	began time.Time // of the clock below, which cannot be set back

	mu      sync.Mutex
	windows map[string]*limitState
}

func newMemoryBudget() *memoryBudget {
	return &memoryBudget{began: time.Now(), windows: make(map[string]*limitState)}
}

func (b *memoryBudget) now() time.Duration { return time.Since(b.began) }

// Take implements [BudgetStore].
func (b *memoryBudget) Take(_ context.Context, claims []Claim, _ time.Duration) (Taken, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	taken := Taken{}
	for i := range claims {
		if wait := b.state(&claims[i].Bucket, now).wait(now, claims[i].Keep); wait > taken.Wait {
			taken.Wait, taken.Lacks = wait, claims[i].Bucket.Name
		}
	}
	if taken.Wait > 0 {
		return taken, nil
	}
	for i := range claims {
		b.state(&claims[i].Bucket, now).take(now)
	}
	return taken, nil
}

// Return implements [BudgetStore].
func (b *memoryBudget) Return(_ context.Context, _ string, claims []Claim, sent bool) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	for i := range claims {
		b.state(&claims[i].Bucket, now).giveBack(now, sent)
	}
	return nil
}

// Block implements [BudgetStore].
func (b *memoryBudget) Block(_ context.Context, bucket Bucket, d time.Duration) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	b.state(&bucket, now).block(now, d)
	return nil
}

// Learn implements [BudgetStore].
func (b *memoryBudget) Learn(_ context.Context, bucket Bucket, left int, d time.Duration) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	b.state(&bucket, now).learn(now, left, d)
	return nil
}

// Usage implements [BudgetStore].
func (b *memoryBudget) Usage(_ context.Context, buckets []Bucket) ([]Usage, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	usages := make([]Usage, 0, len(buckets))
	for i := range buckets {
		u := Usage{Bucket: buckets[i], Left: buckets[i].Limit}
		if s := b.windows[buckets[i].Name]; s != nil { // a look makes no window
			s.limit, s.length = buckets[i].Limit, buckets[i].Window
			u = s.usage(now)
			u.Bucket = buckets[i]
		}
		usages = append(usages, u)
	}
	return usages, nil
}

// state returns the bucket's window, with the limit that it has now. The lock is
// held.
func (b *memoryBudget) state(bucket *Bucket, now time.Duration) *limitState {
	s := b.windows[bucket.Name]
	if s == nil {
		b.forgetIdle(now) // rotated keys leave theirs behind
		s = &limitState{}
		b.windows[bucket.Name] = s
	}
	s.limit, s.length = bucket.Limit, bucket.Window
	return s
}

func (b *memoryBudget) forgetIdle(now time.Duration) {
	for name, s := range b.windows {
		if s.idle(now) {
			delete(b.windows, name)
		}
	}
}

// limitState is one bucket's window. Times are those of the store's clock.
type limitState struct {
	limit  int
	length time.Duration

	underWay int
	// When the places of answered requests are free again, the soonest first: a
	// ring that grows to what is held at once, and no further.
	held  []time.Duration
	first int
	count int

	closed time.Duration // nothing is given out before

	left          int // what the service says may still be taken
	leftUntil     time.Duration
	elsewhere     int // what others held then
	elsewhereTill time.Duration
}

// wait returns how long no place can be had that leaves keep others; 0 if one can.
func (s *limitState) wait(now time.Duration, keep int) time.Duration {
	s.expire(now)
	wait := max(s.closed-now, 0)
	if s.leftUntil > now && s.left <= keep {
		wait = max(wait, s.leftUntil-now)
	}
	switch lacking := keep + 1 - (s.limit - s.underWay - s.count); {
	case lacking <= 0:
	case lacking <= s.count:
		wait = max(wait, s.held[(s.first+lacking-1)%len(s.held)]-now)
	default:
		wait = max(wait, s.length) // first some must be answered
	}
	return wait
}

func (s *limitState) take(now time.Duration) {
	s.underWay++
	if s.leftUntil > now {
		s.left--
	}
}

func (s *limitState) giveBack(now time.Duration, sent bool) {
	s.underWay = max(s.underWay-1, 0)
	if !sent {
		if s.leftUntil > now {
			s.left++
		}
		return
	}
	s.expire(now)
	if s.count == len(s.held) {
		s.grow()
	}
	s.held[(s.first+s.count)%len(s.held)] = now + s.length
	s.count++
}

func (s *limitState) grow() {
	held := make([]time.Duration, max(16, 2*len(s.held)))
	for i := range s.count {
		held[i] = s.held[(s.first+i)%len(s.held)]
	}
	s.held, s.first = held, 0
}

// expire frees the places whose window is over.
func (s *limitState) expire(now time.Duration) {
	for s.count > 0 && s.held[s.first] <= now {
		s.first = (s.first + 1) % len(s.held)
		s.count--
	}
}

// block closes the window. What others hold is then whatever we do not.
func (s *limitState) block(now, d time.Duration) {
	s.closed = max(s.closed, now+d)
	s.expire(now)
	s.elsewhere, s.elsewhereTill = max(s.limit-s.underWay-s.count, 0), s.closed
}

func (s *limitState) learn(now time.Duration, left int, d time.Duration) {
	s.expire(now)
	s.elsewhere, s.elsewhereTill = max(s.limit-left-s.underWay-s.count, 0), now+d
	// The service may not have counted yet what is under way beside its answer.
	s.left, s.leftUntil = max(left-max(s.underWay-1, 0), 0), now+d
}

func (s *limitState) usage(now time.Duration) Usage {
	s.expire(now)
	u := Usage{
		Spent:  s.underWay + s.count,
		Left:   max(s.limit-s.underWay-s.count, 0),
		Closed: max(s.closed-now, 0),
	}
	if s.leftUntil > now {
		u.Left = min(u.Left, max(s.left, 0))
	}
	if s.elsewhereTill > now {
		u.Elsewhere = s.elsewhere
	}
	if u.Closed > 0 {
		u.Left = 0
	}
	return u
}

// idle reports whether nothing would be lost with the window.
func (s *limitState) idle(now time.Duration) bool {
	s.expire(now)
	return s.underWay == 0 && s.count == 0 && s.closed <= now && s.leftUntil <= now && s.elsewhereTill <= now
}
