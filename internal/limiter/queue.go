package limiter

import (
	"container/list"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/tradingapi/trading-go/ratelimit"
)

// queue holds the waiters of one priority that need the same buckets.
type queue struct {
	buckets [2]string
	waiters list.List // of *waiter, in the order in which they came
}

func (q *queue) needs(bucket string) bool { return q.buckets[0] == bucket || q.buckets[1] == bucket }

type waiter struct {
	request Ask
	until   time.Time // when a slot is of no use any more; zero if never

	number  uint64
	queue   *queue
	element *list.Element
	left    bool // the queue

	served chan struct{} // closed once slot or full is set
	slot   Slot
	full   *Full
	short  chan struct{} // closed once it is known that there is no room
	knows  bool
}

// join puts a waiter into its queue. The lock is held.
func (l *Limiter) join(ctx context.Context, a *Ask) *waiter {
	w := &waiter{request: *a, until: a.Until, served: make(chan struct{}), short: make(chan struct{})}
	if deadline, ok := ctx.Deadline(); ok && (w.until.IsZero() || deadline.Before(w.until)) {
		w.until = deadline
	}
	needs := l.needs(a)
	buckets := needs.names()
	queues := &l.queues[a.Priority]
	at := slices.IndexFunc(*queues, func(q *queue) bool { return q.buckets == buckets })
	if at < 0 {
		at = len(*queues)
		*queues = append(*queues, &queue{buckets: buckets})
	}
	l.joined++
	l.waiting++
	w.number, w.queue = l.joined, (*queues)[at]
	w.element = w.queue.waiters.PushBack(w)
	if l.heldUp(a.Priority, w.queue) {
		w.notify()
	}
	return w
}

// notify lets a waiter know that there is no room for it.
func (w *waiter) notify() {
	w.knows = true
	close(w.short)
}

// leave takes a waiter out of its queue. The lock is held.
func (l *Limiter) leave(w *waiter) {
	w.left = true
	l.waiting--
	w.queue.waiters.Remove(w.element)
	if w.queue.waiters.Len() == 0 {
		queues := &l.queues[w.request.Priority]
		*queues = slices.DeleteFunc(*queues, func(q *queue) bool { return q == w.queue })
	}
	if l.waiting == 0 {
		l.short = l.short[:0]
		if l.timer != nil {
			l.timer.Stop()
		}
	}
}

// await waits until the waiter is served, or has no reason to wait any more.
func (l *Limiter) await(ctx context.Context, w *waiter) (Slot, error) {
	defer l.abandon(w) // also where Waiting panics
	reason := l.watch(ctx, w)
	l.mu.Lock()
	served, full := w.left, l.shortageOf(w)
	if !served {
		l.leave(w)
	}
	l.mu.Unlock()
	tooLate := errors.Is(reason, errTooLate)
	switch {
	case served && w.full != nil:
		return Slot{}, w.full
	case served && (reason == nil || tooLate):
		slot := w.slot
		w.slot = Slot{}
		return slot, nil
	case served: // its turn came as it left: abandon returns the slot
		return Slot{}, reason
	case full.Wait > 0 && errors.Is(reason, context.DeadlineExceeded), tooLate && !w.endsWith(ctx, full.Wait):
		return Slot{}, &full
	case tooLate:
		return Slot{}, context.DeadlineExceeded
	default:
		return Slot{}, reason
	}
}

// endsWith reports whether a waiter that waited for the store alone, and for no room,
// was stopped by the deadline of ctx.
func (w *waiter) endsWith(ctx context.Context, wait time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return ok && wait == 0 && !time.Now().Before(deadline)
}

// errTooLate means that there is no room in time.
var errTooLate = errors.New("no room in time")

// watch returns nil once the waiter is served, and otherwise why it waits no longer.
func (l *Limiter) watch(ctx context.Context, w *waiter) error {
	var late <-chan time.Time
	if !w.until.IsZero() {
		timer := time.NewTimer(time.Until(w.until))
		defer timer.Stop()
		late = timer.C
	}
	var slow *time.Timer
	var tooSlow <-chan time.Time
	if l.remote != nil && w.request.Priority >= ratelimit.Exit {
		slow = time.NewTimer(exitPatience)
		defer slow.Stop()
		tooSlow = slow.C
	}
	for short := w.short; ; {
		select {
		case <-w.served:
			return nil
		case <-tooSlow:
			slow.Reset(l.goAhead(w) + exitPatience)
		case <-short:
			short = nil
			if l.mustNotWait(w) {
				return errTooLate
			}
		case <-late:
			return errTooLate
		case <-ctx.Done():
			return ctx.Err()
		case <-l.ending:
			return ErrClosed
		}
	}
}

// goAhead serves an exit, and those whose turn comes before its own, without the program's store,
// unless they wait for room. It returns for how long there is none.
func (l *Limiter) goAhead(w *waiter) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	for !w.left && !l.ended {
		if full := l.shortageOf(w); full.Wait > 0 {
			return full.Wait
		}
		first := l.first(w.request.Priority, func(_ ratelimit.Priority, q *queue) bool {
			return l.shortageOf(q.waiters.Front().Value.(*waiter)).Wait > 0
		})
		slot, full := l.tryNear(&first.request)
		l.answer(first, slot, full)
	}
	return 0
}

// mustNotWait reports whether the wait that lies before a waiter is of no use, and
// announces it otherwise.
func (l *Limiter) mustNotWait(w *waiter) bool {
	l.mu.Lock()
	left, full := w.left, l.shortageOf(w)
	l.mu.Unlock()
	switch {
	case left: // it has been served since
		return false
	case w.request.FailFast, !w.until.IsZero() && time.Until(w.until) <= full.Wait:
		return true
	case w.request.Waiting != nil:
		w.request.Waiting(full.Wait, full.Bucket)
	}
	return false
}

// abandon leaves nothing behind of a waiter that has stopped waiting.
func (l *Limiter) abandon(w *waiter) {
	l.mu.Lock()
	if !w.left {
		l.leave(w)
	}
	slot := w.slot
	w.slot = Slot{}
	l.mu.Unlock()
	l.Return(slot, false)
}

// next returns the waiter whose turn it is, of those that wait for nothing that is
// known to be full; nil if there is none. The lock is held.
func (l *Limiter) next() *waiter { return l.first(ratelimit.Read, l.heldUp) }

// first returns who is first of those of a priority or a higher one that nothing holds up. The lock
// is held.
func (l *Limiter) first(least ratelimit.Priority, heldUp func(ratelimit.Priority, *queue) bool) *waiter {
	for p := ratelimit.Close; ; p-- {
		var first *waiter
		for _, q := range l.queues[p] {
			if w := q.waiters.Front().Value.(*waiter); (first == nil || w.number < first.number) && !heldUp(p, q) {
				first = w
			}
		}
		if first != nil || p == least {
			return first
		}
	}
}
