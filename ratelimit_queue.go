package trading

import (
	"container/list"
	"context"
	"errors"
	"slices"
	"time"
)

// queue are those of a lane who wait for the same buckets.
type queue struct {
	buckets [2]string
	line    list.List // of *waiter, in the order in which they came
}

func (q *queue) needs(bucket string) bool { return q.buckets[0] == bucket || q.buckets[1] == bucket }

type waiter struct {
	key      apiKey
	endpoint *endpoint
	lane     Lane
	claims   []Claim
	hold     time.Duration
	until    time.Time // when waiting is of no use any more; zero if never

	number  uint64
	queue   *queue
	element *list.Element
	gone    bool // out of the line

	served  chan struct{} // closed once place is set, or refused
	place   place
	refused time.Duration // the wait that is too long
	told    chan struct{} // closed once it is known that it has to wait
	knows   bool
}

// shortage is a bucket that had no place for somebody in the line, and so has none
// for whoever comes after in the same lane or is in a lower one.
type shortage struct {
	bucket string
	lane   Lane
	until  time.Time // no place becomes free before
	again  time.Time // when to ask again all the same
}

func (s *shortage) holdsUp(lane Lane, q *queue) bool { return lane <= s.lane && q.needs(s.bucket) }

// join puts a waiter into the line. The lock is held.
func (b *budgets) join(w *waiter) *waiter {
	w.served, w.told = make(chan struct{}), make(chan struct{})
	w.claims = b.claims(make([]Claim, 0, 2), w.key, w.endpoint, w.lane)
	var buckets [2]string
	for i := range w.claims {
		buckets[i] = w.claims[i].Bucket.Name
	}
	if len(w.claims) == 1 {
		buckets[1] = buckets[0]
	}
	at := slices.IndexFunc(b.lanes[w.lane], func(q *queue) bool { return q.buckets == buckets })
	if at < 0 {
		at = len(b.lanes[w.lane])
		b.lanes[w.lane] = append(b.lanes[w.lane], &queue{buckets: buckets})
	}
	b.joined++
	b.waiting++
	w.number, w.queue = b.joined, b.lanes[w.lane][at]
	w.element = w.queue.line.PushBack(w)
	if b.heldUp(w.lane, w.queue) {
		w.tell()
	}
	return w
}

func (w *waiter) tell() {
	w.knows = true
	close(w.told)
}

// quit takes a waiter out of the line. The lock is held.
func (b *budgets) quit(w *waiter) {
	w.gone = true
	b.waiting--
	w.queue.line.Remove(w.element)
	if w.queue.line.Len() == 0 {
		b.lanes[w.lane] = slices.DeleteFunc(b.lanes[w.lane], func(q *queue) bool { return q == w.queue })
	}
	if b.waiting == 0 {
		b.short = b.short[:0]
		if b.timer != nil {
			b.timer.Stop()
		}
	}
}

// await waits for the waiter's turn, or for the end of what it waits for.
func (b *budgets) await(c *call, w *waiter) error {
	defer b.abandon(w) // where a hook panics
	var late <-chan time.Time
	if !w.until.IsZero() {
		timer := time.NewTimer(time.Until(w.until))
		defer timer.Stop()
		late = timer.C
	}
	var err error
	tooLate := false
	for told := w.told; ; {
		select {
		case <-w.served:
		case <-told:
			told = nil
			wait, bucket := b.lookUp(w)
			if bucket == "" {
				continue // it has been served since
			}
			if tooLate = c.opts.failFast || c.outlives(wait); !tooLate {
				c.hookWait(wait, WaitBudget, bucket)
				continue
			}
		case <-late:
			tooLate = true
		case <-c.Done():
			err = c.Err()
		case <-c.core.closing.Done():
			err = ErrClosed
		}
		break
	}
	b.mu.Lock()
	served, wait := w.gone, b.waitOf(w)
	if !served {
		b.quit(w)
	}
	b.mu.Unlock()
	switch {
	case !served && (tooLate || errors.Is(err, context.DeadlineExceeded)):
		return c.limited(wait)
	case !served:
		return err
	case w.refused > 0:
		return c.limited(w.refused)
	case err != nil: // its turn came as it left, so abandon gives its place back
		return err
	}
	c.place, w.place = w.place, place{}
	return nil
}

// abandon leaves nothing behind of a waiter who is not there any more.
func (b *budgets) abandon(w *waiter) {
	b.mu.Lock()
	if !w.gone {
		b.quit(w)
	}
	left := w.place
	w.place = place{}
	b.mu.Unlock()
	b.giveBack(left, w.claims, false)
}

// limited is the local refusal of a call that would have to wait for so long.
func (c *call) limited(wait time.Duration) *Error {
	refusal := refuse(c.env, CodeRateLimited, "the rate limits have no place for it in time")
	refusal.RetryAfter = wait
	return refusal
}

// serve gives places to the line: the highest lane first, within a lane whoever
// came first. Who waits for one bucket keeps that one from all behind, and no
// other. The lock is held.
//
// Places of this process are given out here. The program's store is asked by a
// goroutine that lasts as long as there is somebody to ask for, one at a time and
// without the lock: so an exit that comes meanwhile is the next, and no caller
// waits longer than its context for a store that hangs.
func (b *budgets) serve() {
	if b.asking {
		return // and sees who has come
	}
	for w := b.foremost(); w != nil; w = b.foremost() {
		if b.asksFar() {
			if b.enter() {
				b.asking = true
				go b.serveFromStore()
			}
			return
		}
		got, taken := b.tryHere(w.claims, w.hold)
		b.answer(w, got, taken)
	}
	b.setTimer()
}

func (b *budgets) serveAgain() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.serve()
}

// serveFromStore serves the line from the program's store, until there is nobody
// whom it could have a place for, or it fails.
func (b *budgets) serveFromStore() {
	defer b.leave()
	b.mu.Lock()
	defer b.mu.Unlock()
	for w := b.foremost(); w != nil && b.asksFar(); w = b.foremost() {
		if closed := b.tryClosed(w.claims); closed.Wait > 0 {
			b.answer(w, place{}, closed)
			continue
		}
		claims, freed := w.claims, b.freed
		b.mu.Unlock()
		taken, err := b.askStore(claims, w.hold)
		if err != nil {
			b.log.budgetStore("Take", err)
		}
		b.mu.Lock()
		switch {
		case err != nil:
			b.rest()
		case taken.Wait == 0 && (w.gone || b.tryClosed(claims).Wait > 0):
			// It has left, or the service has closed the bucket meanwhile.
			b.mu.Unlock()
			b.giveBack(place{b.store, taken.Place}, claims, false)
			b.mu.Lock()
		case taken.Wait > 0 && freed != b.freed:
			// What it says may be over. But the others' turn comes first.
			now := time.Now()
			b.note(shortage{taken.Lacks, w.lane, now.Add(taken.Wait), now.Add(min(taken.Wait, storeBlink))})
		default:
			b.answer(w, place{b.store, taken.Place}, taken)
		}
	}
	b.asking = false
	b.serve()
}

// answer gives a waiter its place, or notes what is short. The lock is held.
func (b *budgets) answer(w *waiter, got place, taken Taken) {
	if taken.Wait == 0 {
		w.place = got
		b.quit(w)
		close(w.served)
		return
	}
	now := time.Now()
	s := shortage{taken.Lacks, w.lane, now.Add(taken.Wait), now.Add(taken.Wait)}
	if b.store != nil && b.store != BudgetStore(b.own) && taken.Wait > storeLook && b.closedFor(taken.Lacks) == 0 {
		s.again = now.Add(storeLook)
	}
	b.note(s)
}

// note remembers a shortage, and tells those who have to wait for its end: the last
// ones of their queues, since they who came before have been told. The lock is held.
func (b *budgets) note(s shortage) {
	at := slices.IndexFunc(b.short, func(o shortage) bool { return o.bucket == s.bucket && o.lane == s.lane })
	if at >= 0 {
		b.short[at] = s
	} else {
		b.short = append(b.short, s)
	}
	for lane := LaneRead; lane <= s.lane; lane++ {
		for _, q := range b.lanes[lane] {
			if !q.needs(s.bucket) {
				continue
			}
			for e := q.line.Back(); e != nil && !e.Value.(*waiter).knows; e = e.Prev() {
				e.Value.(*waiter).tell()
			}
		}
	}
}

// freePlaces asks for all in the line again: something may be free before its time.
// The lock is held.
func (b *budgets) freePlaces() {
	b.freed++
	if b.waiting == 0 {
		return
	}
	for i := range b.short {
		b.short[i].again = time.Time{}
	}
	b.serve()
}

// setTimer has the line served again when the first shortage may be over. The lock
// is held.
func (b *budgets) setTimer() {
	if b.waiting == 0 {
		return
	}
	now := time.Now()
	soonest := time.Duration(-1)
	for i := range b.short {
		if wait := b.short[i].again.Sub(now); wait > 0 && (soonest < 0 || wait < soonest) {
			soonest = wait
		}
	}
	switch {
	case soonest < 0:
	case b.timer == nil:
		b.timer = time.AfterFunc(soonest, b.serveAgain)
	default:
		b.timer.Reset(soonest)
	}
}

// foremost returns whose turn it is, of those who wait for nothing that is known to
// be short, and what it claims by the limits of now. The lock is held.
func (b *budgets) foremost() *waiter {
	for lane := LaneExit; ; lane-- {
		var first *waiter
		for _, q := range b.lanes[lane] {
			if w := q.line.Front().Value.(*waiter); (first == nil || w.number < first.number) && !b.heldUp(lane, q) {
				first = w
			}
		}
		if first != nil {
			first.claims = b.claims(first.claims[:0], first.key, first.endpoint, lane)
			return first
		}
		if lane == LaneRead {
			return nil
		}
	}
}

// heldUp reports whether a queue waits for something that is known to be short. The
// lock is held.
func (b *budgets) heldUp(lane Lane, q *queue) bool {
	if len(b.short) == 0 {
		return false
	}
	now := time.Now()
	return slices.ContainsFunc(b.short, func(s shortage) bool { return s.holdsUp(lane, q) && s.again.After(now) })
}

// waitOf returns how long a waiter cannot be served, as the line last knew. The
// lock is held.
func (b *budgets) waitOf(w *waiter) (wait time.Duration) {
	for i := range b.short {
		if s := &b.short[i]; s.holdsUp(w.lane, w.queue) {
			wait = max(wait, time.Until(s.until))
		}
	}
	return wait
}

// lookUp tells a waiter how long it has to wait, and for which bucket; none if it
// need not wait any more.
func (b *budgets) lookUp(w *waiter) (wait time.Duration, bucket string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if w.gone {
		return 0, ""
	}
	bucket = w.queue.buckets[0]
	for i := range b.short {
		if s := &b.short[i]; s.holdsUp(w.lane, w.queue) {
			if d := time.Until(s.until); d > wait {
				wait, bucket = d, s.bucket
			}
		}
	}
	return wait, bucket
}
