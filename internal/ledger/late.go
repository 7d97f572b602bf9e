package ledger

import "github.com/tradingapi/trading-go/internal/servicetime"

// A send that had no answer in time is listened to, and may be followed by others under its key.
// What comes of it then says what that send did, and no more: another may have run.

// noteHeard takes a late answer in.
func (l *Ledger) noteHeard(f Fact) {
	s := &l.sending
	if f.Send < 1 || f.Send > s.sends || s.open && f.Send == s.sends {
		return // none of the sends that have ended
	}
	l.learn(f.Send, f)
	switch {
	case s.ended && !s.open:
		l.endSending()
	case l.refusedBy(f.Answer):
		l.judge(f.Answer)
	}
}

// learn takes in what an answer says of its send, in time or late. A success decides. A refusal
// decides once each send has its own answer and did nothing.
func (l *Ledger) learn(send int, f Fact) {
	s, a := &l.sending, f.Answer
	if a.Class == Success {
		l.contradicted, s.fresh = l.contradicts(send, a), !a.Replayed
		l.resolve(Applied)
		return
	}
	s.idles(send, a)
	if a.Code == codeResultUnknown {
		l.hold(f.At)
	}
	if a.failedAfterAll() && l.inquiry != nil {
		// The key is free again, and a fence that was answered before that says nothing of it: a
		// probe would run the write.
		fence := &l.inquiry.fence
		fence.reused, fence.reusedAt, fence.reusedBy, fence.toldApart = 0, Instant{}, servicetime.Time{}, false
	}
	s.failed = s.failed || a.failedAfterAll()
	s.ended = s.ended || a.mayHaveRun()
	if s.over && l.refusedBy(a) {
		l.resolve(NotApplied)
	}
}

// noteAfter holds an answer that comes once nothing more is to be found out against the outcome.
func (l *Ledger) noteAfter(f Fact) {
	s, send := &l.sending, f.Send
	switch f.Kind {
	case SendHeard:
	case SendEnded:
		send = s.sends
	default:
		return
	}
	s.failed = s.failed || f.Answer.failedAfterAll()
	switch {
	case f.Answer.Class == Success:
		l.contradicted = l.contradicted || l.contradicts(send, f.Answer)
		s.fresh = s.fresh || !f.Answer.Replayed
	case s.fresh && s.failed:
		l.contradicted = true
	}
}

// contradicts reports whether a success cannot be all that happened.
func (l *Ledger) contradicts(send int, a Answer) bool {
	s := &l.sending
	if l.outcome == NotApplied || send <= s.before { // a key is left for another only where nothing ran
		return true
	}
	return !a.Replayed && (s.fresh || s.failed)
}

// mostSends bounds the sends under a key of which each one's own answer is known.
const mostSends = 64

// idles notes that a send did nothing, if its own answer says so. A 409 in flight says besides that
// another one runs: one that has no answer yet, or none that is known here.
func (s *sending) idles(send int, a Answer) {
	n := send - s.before - 1
	if n < 0 || !a.idle() {
		return
	}
	alone := s.idle|1<<n == s.all()
	if a.Code == codeInFlight && alone {
		return
	}
	s.idle |= 1 << n
}

// all has the bit of each send under the key.
func (s *sending) all() uint64 { return 1<<min(s.sends-s.before, mostSends) - 1 }

// refusedBy reports whether an answer refuses the write, and each send of it did nothing by its own
// answer. One that is only repeated, or in front of the write, does not say what another did.
func (l *Ledger) refusedBy(a Answer) bool {
	s := &l.sending
	known := s.sends > s.before && l.FirstUseKnown && !l.SendsMissing && !l.restored && l.known().probe.open == 0
	return known && a.refuses() && s.sends-s.before <= mostSends && s.idle == s.all()
}

// idle reports whether the send that had the answer did nothing itself.
func (a Answer) idle() bool {
	switch {
	case a.Class == Unsent:
		return true
	case a.Class != Refusal || a.Confirm:
		return false
	case a.Replayed, a.Code == codeInFlight, a.Code == codeKeyReused:
		return true
	default:
		return a.Says == NotApplied
	}
}

// refuses reports whether it is the service's no to the write, and not to its pace, its key or who
// sends it.
func (a Answer) refuses() bool {
	return a.Says == NotApplied && a.Status < 500 && a.Status != 429 && !a.InFront && !a.Confirm && a.Code != codeKeyReused
}

// mayHaveRun reports whether the send that had the answer may have run, and leaves nothing that
// would keep another from running.
func (a Answer) mayHaveRun() bool {
	return a.failedAfterAll() || a.Class == Unclear || a.Code == codeResultUnknown
}

// failedAfterAll is a failure of the service, or what looks like one, that may have come after the work.
func (a Answer) failedAfterAll() bool {
	return (a.Class == Refusal || a.Class == Unclear) && a.Status >= 500 && a.Says != NotApplied
}
