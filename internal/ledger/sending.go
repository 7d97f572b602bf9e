package ledger

import "time"

// sending is the state of the loop that sends, S0.
type sending struct {
	sends    int  // under any key
	keySends int  // under the present key
	open     bool // a send has begun and not ended
	unsent   bool // nothing left, and the loop is over
	over     bool
	prices   int  // refusals for want of a price
	refused  bool // every send under the key had an answer of the service's own below 500
	again    bool // the last answer allows another send
	rekey    bool // which needs another key
	wait     time.Duration
	at       Instant
}

func (s *sending) begin() {
	s.sends++
	s.keySends++
	s.open, s.again = true, false
}

func (s *sending) changeKey() {
	s.keySends, s.rekey = 0, false
}

// noteSend takes the end of a send in. Doubt sticks: behind an attempt that may have
// been applied only a success settles the write, or the repeated refusal of the one
// attempt that was in doubt. After two, a repeated refusal can be the second's, while
// the first was executed and failed after that.
func (l *Ledger) noteSend(f Fact) {
	s, a := &l.sending, f.Answer
	s.open, s.at = false, f.At
	if a.Class == Unsent {
		s.keySends-- // nothing of it can have been seen
	} else {
		l.lastByte = f.At
	}
	s.refused = a.Class == Refusal && a.Status < 500 && (s.keySends <= 1 || s.refused)
	outcome := Unknown
	switch a.Class {
	case Success:
		l.resolve(Applied)
		return
	case Unsent:
		outcome = NotApplied
	case Refusal:
		outcome = a.Says
		if a.Replayed && s.keySends == 2 && l.FirstUseKnown {
			l.doubt = false // this is what became of the one before
		}
		if a.Code == codeKeyReused && l.Source == Derived {
			outcome = Unknown // it was sent before, in other bytes
		}
		if a.Code == codeResultUnknown {
			l.held = true
		}
	}
	if l.doubt {
		outcome = Unknown
	}
	l.outcome, l.doubt = outcome, outcome == Unknown
	s.decide(l, a)
	if !s.again {
		l.endSending()
	}
}

// decide says whether to send once more, and when.
func (s *sending) decide(l *Ledger, a Answer) {
	r := l.Retry
	s.again, s.rekey, s.wait = false, false, 0
	switch a.Class {
	case Refusal:
		s.again = a.Advice == SameKey || a.Advice == WaitFirst || a.Price
		s.rekey = l.Keyed && (a.Advice == NewKey || a.Advice == WaitFirst && a.Replayed)
	case Foreign:
		s.again = l.Keyed
	case Silence:
		s.again = l.Keyed
	case Unsent:
		s.again = true
	}
	// Beside an attempt in doubt a new key would be a second order, and a key that
	// was given is never replaced.
	if s.rekey && (l.doubt || l.Source == Given) {
		s.again = false
	}
	if a.Price {
		s.prices++
		s.again = s.again && s.prices < r.PriceAttempts
	}
	s.again = s.again && s.sends < r.Attempts && !(r.FailFast && a.Advice == WaitFirst)
	s.wait = max(r.backoff(s.sends), a.RetryAfter)
}

// backoff is the most that is waited before the next send: it doubles. The loop
// spreads it.
func (r Retry) backoff(sends int) time.Duration {
	wait := r.MaxWait
	if shift := max(sends-1, 0); shift < 20 && r.MinWait<<shift < r.MaxWait {
		wait = r.MinWait << shift
	}
	return wait
}

// mayStillSend reports whether the TTL allows a send at a moment.
func (l *Ledger) mayStillSend(at time.Duration, now Instant) bool {
	if l.restored {
		return false
	}
	if l.sending.sends == 0 && l.TTL == 0 {
		return true // once
	}
	age := max(now.Mono-l.Decided.Mono, now.Wall.Sub(l.Decided.Wall)) + max(at-now.Mono, 0)
	return age < l.TTL
}

// endSending closes S0: what is not in doubt is decided.
func (l *Ledger) endSending() {
	s := &l.sending
	if s.over {
		return
	}
	s.over = true
	if s.open { // its caller has left it in flight
		l.outcome, l.doubt = Unknown, true
	}
	if s.sends == 0 && !s.open {
		s.unsent = true
	}
	switch {
	case l.done:
	case !l.sent:
		// Nothing left. Of a key that may be somebody else's that says nothing.
		l.outcome, l.done = NotApplied, true
		if l.Keyed && !l.FirstUseKnown {
			l.outcome, l.forget = Unknown, true
		}
	case !l.doubt:
		l.done = true
	case l.Keyed && !l.FirstUseKnown && s.refused && !s.open && !l.held:
		// The service refused this send. What an earlier one under the key came to is
		// not this write's to find out.
		l.done, l.forget = true, true
	case !l.Resolves:
		l.done = true
	}
}
