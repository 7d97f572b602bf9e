package ledger

import "time"

// Ledger is what is known of one write. Copying it copies what is known.
type Ledger struct {
	Terms

	sending  sending
	doubt    bool // an attempt that ended may have been applied
	lastByte Instant
	sent     bool // any byte may have left
	restart  Instant
	restored bool

	outcome Outcome
	done    bool
	asked   bool
	forget  bool // nothing of it needs to be resolved

	fences, probes, probesOpen int
	fence                      fenceState
	held                       bool
	late                       bool
	look                       lookState
}

// New returns the ledger of a write that is about to be sent.
func New(t Terms) Ledger {
	return Ledger{Terms: t, outcome: NotApplied, doubt: t.Keyed && !t.FirstUseKnown}
}

// Restore folds what an earlier process noted. The write was sent if nothing says
// that it was not.
func Restore(t Terms, facts []Fact, now Instant) Ledger {
	l := New(t)
	for _, f := range facts {
		l.Note(f)
	}
	l.Note(Fact{Kind: Restarted, At: now})
	return l
}

// Note takes a fact in.
func (l *Ledger) Note(f Fact) {
	switch f.Kind {
	case SendBegun:
		l.sent, l.lastByte = true, f.At
		l.sending.begin()
	case SendEnded:
		l.noteSend(f)
	case KeyChanged:
		l.sending.changeKey()
	case SendingOver:
		l.endSending()
	case FenceBegun:
		l.fences++
	case FenceEnded:
		l.noteFence(f)
	case ProbeBegun:
		l.probes++
		l.probesOpen++
		l.lastByte = f.At
	case ProbeEnded:
		l.noteProbe(f)
	case Looked:
		l.noteLook(f)
	case Restarted:
		l.noteRestart(f.At)
	case Asked:
		l.asked, l.look.final = true, false
	case Resolved:
		l.outcome, l.done = f.Verdict.Outcome, true
	}
}

// noteRestart takes what is missing as the worst that it could have been.
func (l *Ledger) noteRestart(now Instant) {
	l.restored, l.restart = true, now
	if l.done {
		return
	}
	if l.sending.sends == 0 && !l.sending.unsent {
		l.sent = true
		l.sending.begin()
	}
	if l.sending.open {
		l.doubt, l.outcome, l.sending.open = true, Unknown, false
	}
	l.fence = fenceState{toldApart: l.fence.toldApart}
	l.look = lookState{}
	l.endSending()
}

// Outcome is what is known now.
func (l *Ledger) Outcome() Outcome { return l.outcome }

// Done reports whether the outcome is decided: nothing of the write can change it.
func (l *Ledger) Done() bool { return l.done }

// Sent reports whether any byte of the write may have left.
func (l *Ledger) Sent() bool { return l.sent }

// Sends counts the sends of the call, without probes.
func (l *Ledger) Sends() int { return l.sending.sends }

// InDoubt reports whether a send that ended may have been applied.
func (l *Ledger) InDoubt() bool { return l.doubt }

// Sending reports whether the write is still in the hands of the loop that sends it.
func (l *Ledger) Sending() bool { return !l.sending.over && !l.done }

// Held reports whether nothing can run under the key any more.
func (l *Ledger) Held() bool { return l.held }

// Forget reports whether the write needs no resolution although its outcome is
// Unknown: its key may be another program's.
func (l *Ledger) Forget() bool { return l.forget }

// Late reports whether the probe placed the write.
func (l *Ledger) Late() bool { return l.late }

// MaybeLate reports whether a probe went unheard, so that it may have placed the
// write.
func (l *Ledger) MaybeLate() bool { return l.outcome == Applied && !l.late && l.probesOpen > 0 }

func (l *Ledger) resolve(o Outcome) { l.outcome, l.done, l.doubt = o, true, false }

// age is how long ago the write was decided; ok is false if no clock can tell.
func (l *Ledger) age(now Instant) (age time.Duration, ok bool) {
	if l.restored {
		if l.Decided.Service.IsZero() || now.Service.IsZero() || !agree(l.restart, now) {
			return 0, false
		}
		// A Date has whole seconds, so the age may be a second more.
		return now.Service.Sub(l.Decided.Service) + time.Second, now.Service.After(l.Decided.Service.Add(-time.Second))
	}
	mono, wall := now.Mono-l.Decided.Mono, now.Wall.Sub(l.Decided.Wall)
	return max(mono, wall), agree(l.Decided, now)
}

// agree reports whether wall and monotonic clock of one process ran alike.
func agree(then, now Instant) bool {
	return (now.Wall.Sub(then.Wall) - (now.Mono - then.Mono)).Abs() <= clocksAgree
}

// quietAt is the moment of this process from which on nothing of the write was sent
// lately.
func (l *Ledger) quietAt() time.Duration {
	at := l.lastByte.Mono
	if l.restored && l.restart.Mono > at || l.restored && l.probes == 0 {
		at = l.restart.Mono
	}
	return at + quietFor
}

// goneAt is the moment of this process from which on the write has run or never
// will.
func (l *Ledger) goneAt(now Instant) time.Duration {
	if !l.restored {
		return l.lastByte.Mono + Gone
	}
	at := l.restart.Mono + Gone
	if l.probedSinceRestart() {
		return max(at, l.lastByte.Mono+Gone)
	}
	age, ok := l.age(now)
	if !ok {
		return at
	}
	// The last byte left within the TTL, or with the last probe before the restart.
	since := age - max(l.TTL, 0)
	if l.probes > 0 && !l.lastByte.Service.IsZero() {
		since = min(since, now.Service.Sub(l.lastByte.Service))
	} else if l.probes > 0 {
		return at
	}
	return min(at, now.Mono-since+Gone)
}

func (l *Ledger) probedSinceRestart() bool {
	return l.probes > 0 && l.lastByte.Mono >= l.restart.Mono && l.fence.probed
}
