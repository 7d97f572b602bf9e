package ledger

import "time"

// fenceState is where S1 and S2 stand.
type fenceState struct {
	toldApart bool // a 409 came to the first fence: this service tells received from running
	reused    int  // answers 422 in a row, each Gap after the one before
	reusedAt  Instant
	fails     int // in a row, for the wait
	next      time.Duration
	ended     bool // this process has an answer to a fence
	probed    bool // this process has sent a probe
	noProbe   bool // another program's bytes are under the key
	last      Instant
}

// lookState is where S5 and S6 stand.
type lookState struct {
	next    time.Duration
	pairs   int // of equal looks since the write is held or gone
	final   bool
	late    int  // looks of S6 that are over
	fenced  bool // the fence before the next look of S6 has been sent
	refusal bool // a replayed refusal waits for a look that agrees
}

// noteFence takes the answer to a fence in.
func (l *Ledger) noteFence(f Fact) {
	a, s := f.Answer, &l.fence
	first := !s.ended && l.fences <= 1
	s.ended, s.last = true, f.At
	l.look.fenced = true
	switch {
	case f.holds():
		l.hold(f.At)
	case a.Class == Refusal && a.Code == codeKeyReused:
		if s.reused == 0 || f.At.Mono-s.reusedAt.Mono >= Gap {
			s.reused++
		}
		s.reusedAt, s.fails = f.At, 0
		s.next = f.At.Mono + Gap
	default:
		if first && l.probes == 0 && a.Code == codeInFlight && l.FirstUseKnown {
			s.toldApart = true
		}
		s.reused = 0
		s.next = f.At.Mono + max(fenceBackoff(s.fails), min(a.RetryAfter, maxFenceWait))
		s.fails++
	}
}

func fenceBackoff(fails int) time.Duration {
	if fails > 5 {
		return maxFenceWait
	}
	return min(fenceWait<<fails, maxFenceWait)
}

// holds reports whether a fence's answer proves that nothing can run under the key
// any more.
func (f *Fact) holds() bool {
	a := f.Answer
	switch {
	case f.OwnRoute: // keys are kept by route: only what is stored there tells
		return a.Replayed && a.Status < 500 && (a.Class == Success || a.Class == Refusal)
	case a.Class == Success:
		return true
	case a.Class != Refusal || a.Code == codeNoAccount || a.Code == codeKeyReused:
		return false
	case a.Code == codeOrderNotFound && a.Status == 404, a.Code == codeResultUnknown:
		return true
	default:
		return a.Replayed && a.Status < 500
	}
}

func (l *Ledger) hold(at Instant) {
	l.held = true
	l.look.next, l.look.pairs, l.look.final = at.Mono, 0, false
}

// noteProbe takes the answer to the probe in.
func (l *Ledger) noteProbe(f Fact) {
	a := f.Answer
	l.fence.probed = true
	l.fence.reused, l.fence.fails = 0, 0
	l.fence.next = f.At.Mono + fenceWait
	stored := a.Class == Refusal && a.Status < 500 && a.Replayed
	switch {
	case a.Class == Success:
		l.probesOpen--
		l.late = !a.Replayed
		l.resolve(Applied)
	case a.Class == Unsent:
		l.takeBackProbe()
	case a.Class == Refusal && a.Code == codeResultUnknown:
		l.probesOpen--
		l.hold(f.At)
	case stored && !a.InFront:
		l.probesOpen--
		switch {
		case l.sending.keySends > 1 || l.probesOpen > 0 || !l.FirstUseKnown:
			l.hold(f.At)
		case l.Exclusive:
			l.hold(f.At)
			l.look.refusal = true
		default:
			l.resolve(NotApplied)
		}
	case a.Class == Refusal && a.Code == codeKeyReused:
		l.probesOpen--
		if l.Source != Fresh {
			l.fence.noProbe = true // another program sent other bytes
		}
	case a.Class == Refusal && (a.Code == codeInFlight || a.InFront || a.Advice == SameKey && a.Status == 503):
		l.takeBackProbe()
		l.fence.next = f.At.Mono + max(fenceWait, min(a.RetryAfter, maxFenceWait))
	}
	// A fresh refusal, a 5xx, a page of something in front or silence: the probe stays
	// noted, since it may have run.
}

// takeBackProbe: the service cannot have run it.
func (l *Ledger) takeBackProbe() {
	l.probesOpen--
}

// noteLook takes a look at the account in.
func (l *Ledger) noteLook(f Fact) {
	s, v := &l.look, f.Verdict
	s.next = f.At.Mono + Lag
	switch {
	case s.refusal && v.Outcome != Applied: // one look agrees with the stored refusal
		l.resolve(NotApplied)
	case s.refusal:
		s.refusal = false
	case !v.Equal:
	case v.Outcome != Unknown:
		l.resolve(v.Outcome)
	default:
		s.pairs++
		s.late, s.fenced = s.late+1, false
		s.final = v.Lasting
		s.next = f.At.Mono + max(Lag, lookWait(s.pairs))
	}
}

func lookWait(pairs int) time.Duration { return min(Lag<<min(pairs, 6), 5*time.Minute) }
