package ledger

import "time"

// Action is what may be done next.
type Action uint8

// The actions.
const (
	// Stop: nothing more is done. While the write is [Ledger.Sending] it means that the
	// sending is over, which is to be noted; else that the outcome is decided, or that
	// nothing more is done until somebody asks.
	Stop Action = iota
	// Send sends the bytes under the present key.
	Send
	// Rekey takes another key; KeyChanged is noted, and the send comes after it.
	Rekey
	// Fence sends a request under the key that does nothing.
	Fence
	// Probe asks for the stored answer with the original bytes.
	Probe
	// Look reads the account.
	Look
	// Confirm asks a second, different question about a refusal.
	Confirm
)

// Step is what may be done next, and when.
type Step struct {
	Do Action
	// At is the moment of this process before which it is not done. That of a look may have passed: one that has
	// begun since then counts as well as one that begins now.
	At time.Duration
	// Spread means that the wait is a backoff, of which the loop takes a random part.
	Spread bool
}

// Limits are what holds a step back at the moment.
type Limits struct {
	// NoProbe: entries are halted or held back, so their original bytes do not go.
	NoProbe bool
	// NoFence: there is no place for a fence in the rate limits.
	NoFence bool
}

// Next says what may be done next.
func (l *Ledger) Next(now Instant, limits Limits) Step {
	q := l.known()
	switch {
	case l.done || q.look.final:
		return Step{}
	case !l.sending.over:
		return l.nextSend(now)
	case q.denied.Confirm:
		return Step{Do: Confirm, At: now.Mono}
	case !l.Keyed:
		return l.lookFrom(max(l.goneAt(now), q.look.next))
	case q.held:
		return l.lookFrom(l.lookAt(now))
	default:
		return l.nextFence(now, limits)
	}
}

func (l *Ledger) nextSend(now Instant) Step {
	s := &l.sending
	at := max(s.at+s.wait, now.Mono)
	if s.open || !l.mayStillSend(at, now) {
		return Step{}
	}
	spread := s.wait > 0 && !s.exact
	if s.rekey {
		return Step{Do: Rekey, At: at, Spread: spread}
	}
	return Step{Do: Send, At: at, Spread: spread}
}

// nextFence is S1, S2, S3 and S6.
func (l *Ledger) nextFence(now Instant, limits Limits) Step {
	s := l.known().fence
	if s.reused == 0 && !s.otherBytes {
		if now.Mono >= l.goneAt(now) {
			return l.nextLate(now, limits)
		}
		return l.fenceAt(max(s.next, now.Mono), now, limits)
	}
	if !l.mayProbe(now, limits) {
		return l.nextLate(now, limits)
	}
	quiet := l.quietAt(now)
	enough := s.reused == 2 || s.toldApart
	if enough && now.Mono >= quiet && since(s.reusedAt, now) <= probeWithin {
		return Step{Do: Probe, At: now.Mono}
	}
	// The probe follows the next 422, if it is quiet then.
	return l.fenceAt(max(s.reusedAt.Mono+Gap, quiet, now.Mono), now, limits)
}

// fenceAt is a fence, unless the key may be another program's and be free again.
func (l *Ledger) fenceAt(at time.Duration, now Instant, limits Limits) Step {
	if !l.mayFence(now) {
		return l.nextLate(now, limits)
	}
	return Step{Do: Fence, At: at}
}

// lookFrom is a look that begins at a moment or later, in this process.
func (l *Ledger) lookFrom(at time.Duration) Step {
	return Step{Do: Look, At: max(at, l.known().restart.Mono)}
}

// lookAt is when the next look at a write that can run no more is due.
func (l *Ledger) lookAt(now Instant) time.Duration {
	look := l.known().look
	if look.since.IsZero() {
		return look.next
	}
	return min(look.next, now.Mono-passed(look.since, now)+l.Without.ReadLag())
}

func (l *Ledger) mayFence(now Instant) bool {
	return !l.known().fence.useless && (l.FirstUseKnown || !l.isForgotten(now))
}

func (l *Ledger) mayProbe(now Instant, limits Limits) bool {
	age, ok := l.age(now)
	fence := l.known().fence
	return ok && age < Window && l.TTL > 0 && !l.NoProbe && !l.Without.Probe && !fence.otherBytes && !fence.useless && !(limits.NoProbe && l.Entry)
}

// ProbeFollows reports whether a probe may follow a fence that begins now, and is answered
// 422. Its place in the rate limits is reserved before.
func (l *Ledger) ProbeFollows(now Instant, limits Limits) bool {
	s := l.known().fence
	enough := s.toldApart || s.reused > 0 && now.Mono-s.reusedFrom >= Gap || passed(s.reusedBy, now) >= Gap
	return enough && now.Mono >= l.quietAt(now) && l.mayProbe(now, limits)
}

// ProbeWithin is how soon a probe that is allowed now has to leave: while the last 422 is
// fresh, and the write young.
func (l *Ledger) ProbeWithin(now Instant) time.Duration {
	age, _ := l.age(now)
	return min(probeWithin-since(l.known().fence.reusedAt, now), Window-age)
}

// lateLooks are when S6 looks, after the last byte.
var lateLooks = [...]time.Duration{10 * time.Minute, 16 * time.Minute, Gone}

// nextLate is S6: the service knows the key and no probe may go, or no fence may, or 30 minutes have passed,
// whatever the service knows. A fence goes before each look where one may.
func (l *Ledger) nextLate(now Instant, limits Limits) Step {
	due := l.lateDue(now)
	// Once the write is gone a look counts without one too.
	without := limits.NoFence && now.Mono >= l.goneAt(now)
	q := l.known()
	if !without && l.mayFence(now) && !(q.fence.ended && q.fence.last >= due) {
		return Step{Do: Fence, At: max(due, now.Mono)}
	}
	return l.lookFrom(max(due, q.look.next, q.fence.last))
}

// lateDue is when the next look of S6 is due: of those that are overdue the last one,
// and after all of them by the wait of the looks.
func (l *Ledger) lateDue(now Instant) time.Duration {
	began := l.goneAt(now) - Gone
	look := l.known().look
	due := look.next
	for i := len(lateLooks) - 1; i >= 0; i-- {
		at := began + lateLooks[i]
		if now.Mono >= at {
			if look.pairs == 0 || look.paired < at {
				return at
			}
			return due
		}
		due = at
	}
	return due
}
