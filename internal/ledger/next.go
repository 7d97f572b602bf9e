package ledger

import "time"

// Action is what may be done next.
type Action uint8

// The actions.
const (
	// Stop: the outcome is decided, or nothing more is done until somebody asks.
	Stop Action = iota
	// Send sends the bytes under the present key; Resend under the next key.
	Send
	Rekey
	// Fence sends a request under the key that does nothing.
	Fence
	// Probe asks for the stored answer with the original bytes.
	Probe
	// Look reads the account.
	Look
)

// Step is what may be done next, and when.
type Step struct {
	Do Action
	// At is the moment of this process before which it is not done.
	At time.Duration
	// Spread means that the wait is a backoff, of which the loop takes a random part.
	Spread bool
}

// Limits are what holds a step back at the moment.
type Limits struct {
	// NoProbe: entries are halted or held back, so the original bytes do not go.
	NoProbe bool
}

// Next says what may be done next.
func (l *Ledger) Next(now Instant, limits Limits) Step {
	switch {
	case l.done:
		return Step{}
	case !l.sending.over:
		return l.nextSend(now)
	case !l.Keyed:
		return l.nextOnPaper(now)
	case l.held:
		return l.nextLook(now)
	default:
		return l.nextFence(now, limits)
	}
}

func (l *Ledger) nextSend(now Instant) Step {
	s := &l.sending
	at := now.Mono
	if s.sends > 0 {
		at = s.at.Mono + s.wait
	}
	if !l.mayStillSend(at, now) {
		return Step{}
	}
	if s.rekey {
		return Step{Do: Rekey, At: at, Spread: true}
	}
	return Step{Do: Send, At: at, Spread: s.sends > 0}
}

func (l *Ledger) nextOnPaper(now Instant) Step {
	if l.look.final {
		return Step{}
	}
	held := l.lastByte.Mono + paperHeld
	return Step{Do: Look, At: max(held, l.look.next, now.Mono)}
}

// nextLook is S5.
func (l *Ledger) nextLook(now Instant) Step {
	if l.look.final {
		return Step{}
	}
	return Step{Do: Look, At: max(l.look.next, now.Mono)}
}

// nextFence is S1, S2, S3 and S6.
func (l *Ledger) nextFence(now Instant, limits Limits) Step {
	s := &l.fence
	if s.reused == 0 {
		return l.fenceOrGone(now, max(s.next, now.Mono))
	}
	if !l.mayProbe(now, limits) {
		return l.nextLate(now)
	}
	wanted := 2
	if s.toldApart && l.FirstUseKnown {
		wanted = 1
	}
	quiet := l.quietAt()
	if s.reused >= wanted && now.Mono >= quiet && now.Mono-s.reusedAt.Mono <= probeWithin {
		return Step{Do: Probe, At: now.Mono}
	}
	at := s.reusedAt.Mono + Gap
	if s.reused >= wanted-1 {
		at = max(at, quiet) // the next 422 is the one that the probe follows
	}
	return Step{Do: Fence, At: max(at, now.Mono)}
}

func (l *Ledger) mayProbe(now Instant, limits Limits) bool {
	age, ok := l.age(now)
	return ok && age < window && !l.NoProbe && l.TTL > 0 && !limits.NoProbe && !l.fence.noProbe
}

// fenceOrGone goes on fencing until the write is gone.
func (l *Ledger) fenceOrGone(now Instant, at time.Duration) Step {
	if gone := l.goneAt(now); at >= gone {
		return l.nextLate(now)
	}
	return Step{Do: Fence, At: at}
}

// lateLooks are when S6 looks, after the last byte.
var lateLooks = [...]time.Duration{10 * time.Minute, 16 * time.Minute, Gone}

// nextLate is S6: the service knows the key, and is not asked with the original
// bytes.
func (l *Ledger) nextLate(now Instant) Step {
	gone := l.goneAt(now)
	if now.Mono >= gone {
		if l.look.final {
			return Step{}
		}
		if !l.look.fenced {
			return Step{Do: Fence, At: max(l.fence.next, now.Mono)}
		}
		return Step{Do: Look, At: max(l.look.next, now.Mono)}
	}
	began := gone - Gone
	for _, after := range lateLooks {
		if at := began + after; at > l.fence.last.Mono {
			return Step{Do: Fence, At: max(at, now.Mono)}
		}
	}
	return Step{Do: Fence, At: gone}
}

// Gone reports whether the write has run or never will, so that a look counts as if
// the key were held.
func (l *Ledger) IsGone(now Instant) bool {
	return !l.Keyed && now.Mono >= l.lastByte.Mono+paperHeld || l.Keyed && l.sending.over && now.Mono >= l.goneAt(now)
}
