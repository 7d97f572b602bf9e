package ratelimit

import "time"

// window counts the slots of one bucket. Times are those of the store's clock.
type window struct {
	limit  int
	length time.Duration

	underWay int
	// When the slots of answered requests become free, the earliest first: a ring
	// that grows to the number of slots held at once.
	held  []time.Duration
	first int
	count int

	closed    time.Duration // no slot is given out before
	elsewhere int           // slots that others held when the bucket was closed
}

// wait returns how long no slot can be taken that leaves reserve others free; 0 if
// one can be taken now.
func (w *window) wait(now time.Duration, reserve int) time.Duration {
	w.expire(now)
	wait := max(w.closed-now, 0)
	switch lacking := reserve + 1 - (w.limit - w.underWay - w.count); {
	case lacking <= 0:
	case lacking <= w.count:
		wait = max(wait, w.held[(w.first+lacking-1)%len(w.held)]-now)
	default:
		wait = max(wait, w.length) // requests under way have to be answered first
	}
	return wait
}

func (w *window) giveBack(now time.Duration, sent bool) {
	w.underWay = max(w.underWay-1, 0)
	if !sent {
		return
	}
	w.expire(now)
	if w.count == len(w.held) {
		w.grow()
	}
	w.held[(w.first+w.count)%len(w.held)] = now + w.length
	w.count++
}

func (w *window) grow() {
	held := make([]time.Duration, max(16, 2*len(w.held)))
	for i := range w.count {
		held[i] = w.held[(w.first+i)%len(w.held)]
	}
	w.held, w.first = held, 0
}

// expire frees the slots whose window is over.
func (w *window) expire(now time.Duration) {
	for w.count > 0 && w.held[w.first] <= now {
		w.first = (w.first + 1) % len(w.held)
		w.count--
	}
}

// block closes the window: the service is full, so others hold what we do not.
func (w *window) block(now, d time.Duration) {
	w.expire(now)
	w.closed = max(w.closed, now+d)
	w.elsewhere = max(w.limit-w.underWay-w.count, 0)
}

func (w *window) usage(now time.Duration) Usage {
	w.expire(now)
	u := Usage{Used: w.underWay + w.count, Closed: max(w.closed-now, 0)}
	if u.Closed > 0 {
		u.Elsewhere = w.elsewhere
		return u
	}
	u.Left = max(w.limit-u.Used, 0)
	return u
}

// idle reports whether the window holds nothing.
func (w *window) idle(now time.Duration) bool {
	w.expire(now)
	return w.underWay == 0 && w.count == 0 && w.closed <= now
}
