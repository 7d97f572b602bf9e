package limiter

import (
	"slices"
	"time"

	"github.com/tradingapi/trading-go/ratelimit"
)

const (
	// lookAgain is how often a store that others use too is asked again: they may have
	// returned slots that they did not need.
	lookAgain = time.Second
	// lookSoon is the same where this client has returned a slot meanwhile.
	lookSoon = 10 * time.Millisecond
)

// shortage is a bucket without room for somebody in the queue, and so without room for
// whoever comes later in the same priority or has a lower one.
type shortage struct {
	bucket   string
	priority ratelimit.Priority
	ofShare  bool      // it is recovery's share that is full, which holds up nobody else
	until    time.Time // no slot becomes free before
	again    time.Time // when to ask again all the same
}

func (s *shortage) holdsUp(p ratelimit.Priority, q *queue) bool {
	if s.ofShare && p != ratelimit.Recovery {
		return false
	}
	return p <= s.priority && q.needs(s.bucket)
}

// serve gives slots to the waiters, the highest priority first, and in the order in
// which they came within each. Who waits for a bucket keeps that one from everybody
// behind, and no other. The lock is held.
//
// Slots that are counted in this process are given out here. The program's store is
// asked by a goroutine that lasts while there is somebody to ask for, one grant at a
// time and without the lock: so an exit that comes meanwhile is the next, and no
// caller waits longer than its context for a store that hangs.
func (l *Limiter) serve() {
	if l.asking || l.ended {
		return
	}
	for w := l.next(); w != nil; w = l.next() {
		if l.asksRemote() {
			l.asking = true
			l.work.Go(l.serveFromRemote)
			return
		}
		slot, full := l.tryNear(&w.request)
		l.answer(w, slot, full)
	}
	l.setTimer()
}

func (l *Limiter) serveAgain() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.serve()
}

// serveFromRemote serves the queue from the program's store until nobody is left for
// whom it could have a slot, or it fails, or the limiter is closed.
func (l *Limiter) serveFromRemote() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for w := l.next(); w != nil && !l.ended && l.asksRemote(); w = l.next() {
		l.askRemote(w)
	}
	l.asking = false
	l.serve()
}

// askRemote asks the program's store for a waiter's slot. The lock is held, but not
// while the store is asked.
func (l *Limiter) askRemote(w *waiter) {
	slot := Slot{needs: l.needs(&w.request), remote: true}
	full := l.tryClosed(&slot.needs)
	if full.Wait == 0 && w.request.Priority == ratelimit.Recovery {
		full = l.takeShare(&slot)
	}
	if full.Wait == 0 && !l.standIn.away.IsZero() {
		if full = l.takePart(w.request.Priority, &slot, w.request.Hold); full.Wait > 0 {
			l.dropShare(&slot)
		}
	}
	if full.Wait > 0 {
		l.answer(w, Slot{}, full)
		return
	}
	freed := l.freed
	l.mu.Unlock()
	grant, err := l.remote.take(slot.needs, w.request.Hold)
	l.mu.Lock()
	if err != nil {
		l.dropShare(&slot)
		l.returnNear(&slot, false)
		l.goneAway()
		return // the store is left alone now
	}
	l.heard(&slot.needs, &grant)
	slot.name = grant.Slot
	if grant.Wait == 0 {
		if !slot.near {
			l.noteHere(&slot)
		}
		l.deliver(w, slot)
		return
	}
	l.dropShare(&slot)
	l.returnNear(&slot, false)
	if freed == l.freed {
		l.answer(w, Slot{}, Full{Wait: grant.Wait, Bucket: grant.Bucket})
		return
	}
	// A slot was returned meanwhile, so the answer may be out of date.
	now := time.Now()
	l.note(shortage{
		bucket: grant.Bucket, priority: w.request.Priority,
		until: now.Add(grant.Wait), again: now.Add(min(grant.Wait, lookSoon)),
	})
}

// deliver gives a slot of the program's store to the waiter it was asked for. It is
// returned if the waiter has left or the service has closed the bucket meanwhile. The
// lock is held, but not while the slot is returned.
func (l *Limiter) deliver(w *waiter, slot Slot) {
	if !w.left && !l.ended && l.tryClosed(&slot.needs).Wait == 0 {
		l.answer(w, slot, Full{})
		return
	}
	l.mu.Unlock()
	l.Return(slot, false)
	l.mu.Lock()
}

// answer gives a waiter its slot, or notes what is full. The lock is held.
func (l *Limiter) answer(w *waiter, slot Slot, full Full) {
	if full.Wait == 0 {
		w.slot = slot
		l.leave(w)
		close(w.served)
		return
	}
	until := time.Now().Add(full.Wait)
	s := shortage{bucket: full.Bucket, priority: w.request.Priority, ofShare: full.ofShare, until: until, again: until}
	if l.cfg.Store != nil && !full.ofShare && l.closedFor(full.Bucket) == 0 {
		s.again = time.Now().Add(min(full.Wait, lookAgain))
	}
	l.note(s)
}

// note remembers a shortage, and lets those know who have to wait for its end: the
// last ones of each queue, since those before them know already. The lock is held.
func (l *Limiter) note(s shortage) {
	at := slices.IndexFunc(l.short, func(o shortage) bool {
		return o.bucket == s.bucket && o.priority == s.priority && o.ofShare == s.ofShare
	})
	if at >= 0 {
		l.short[at] = s
	} else {
		l.short = append(l.short, s)
	}
	for p := ratelimit.Read; p <= s.priority; p++ {
		for _, q := range l.queues[p] {
			if !s.holdsUp(p, q) {
				continue
			}
			for e := q.waiters.Back(); e != nil && !e.Value.(*waiter).knows; e = e.Prev() {
				e.Value.(*waiter).notify()
			}
		}
	}
}

// freeSlots has everybody in the queue asked for again: a shortage may have ended
// early. The lock is held.
func (l *Limiter) freeSlots() {
	l.freed++
	if l.waiting == 0 {
		return
	}
	for i := range l.short {
		l.short[i].again = time.Time{}
	}
	l.serve()
}

// setTimer has the queue served again when the first shortage may be over. The lock is
// held.
func (l *Limiter) setTimer() {
	if l.waiting == 0 || l.ended {
		return
	}
	now := time.Now()
	var soonest time.Time
	for i := range l.short {
		if again := l.short[i].again; again.After(now) && (soonest.IsZero() || again.Before(soonest)) {
			soonest = again
		}
	}
	switch {
	case soonest.IsZero():
	case l.timer == nil:
		l.timer = time.AfterFunc(soonest.Sub(now), l.serveAgain)
	default:
		l.timer.Reset(soonest.Sub(now))
	}
}

// heldUp reports whether a queue waits for something that is known to be full. The
// lock is held.
func (l *Limiter) heldUp(p ratelimit.Priority, q *queue) bool {
	if len(l.short) == 0 {
		return false
	}
	now := time.Now()
	return slices.ContainsFunc(l.short, func(s shortage) bool { return s.again.After(now) && s.holdsUp(p, q) })
}

// shortageOf returns how long a waiter cannot be served, as far as it is known, and
// for want of which bucket. The lock is held.
func (l *Limiter) shortageOf(w *waiter) Full {
	now, full := time.Now(), Full{Bucket: w.queue.buckets[0]}
	until := now
	for i := range l.short {
		if s := &l.short[i]; s.until.After(until) && s.holdsUp(w.request.Priority, w.queue) {
			until, full.Bucket = s.until, s.bucket
		}
	}
	full.Wait = until.Sub(now)
	return full
}
