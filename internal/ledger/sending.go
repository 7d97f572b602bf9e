package ledger

import "time"

// sending is the state of the loop that sends, S0.
type sending struct {
	sends    int // under any key
	left     int // of them those whose bytes may have left
	keySends int // of those the ones under the present key
	prices   int // refusals for want of a price
	polls    int // answers 409 in flight that used up no try
	before   int // sends under earlier keys
	wait     time.Duration
	at       time.Duration
	idle     uint64 // of the sends under the present key, by bit: its own answer says that it did nothing
	open     bool   // a send has begun and not ended
	over     bool   // S0 is closed: endSending was reached
	plain    bool   // each send under the key was answered, by a refusal that does not say that the write runs, or ran in part
	rekey    bool   // the next send needs another key
	exact    bool   // the wait was asked for, so that nothing of it is left out
	fresh    bool   // one succeeded, and that was no replay
	failed   bool   // one failed and may have run
	ended    bool   // an answer forbids another send; over follows once the one under way has ended
}

func (s *sending) begin() {
	s.sends++
	s.left++
	s.keySends++
	s.open = true
}

// changeKey takes the next key. The wait was before it.
func (s *sending) changeKey() {
	s.keySends, s.rekey, s.wait = 0, false, 0
	s.before, s.idle = s.sends, 0
}

// noteSend takes the end of a send in. Doubt sticks: behind a send that may have been
// applied only a success decides the write, or the repeated refusal of the one send
// that was in doubt. After two, a repeated refusal can be the second's, while the first
// was executed and failed after that.
func (l *Ledger) noteSend(f Fact) {
	s, a := &l.sending, f.Answer
	for !s.open || s.sends < f.Send { // the journal may lack a SendBegun, and with it the end of the send before
		l.doubt = l.doubt || s.open
		s.begin()
	}
	s.open, s.at = false, f.At.Mono
	switch a.Class {
	case Success:
	case Unsent:
		s.left--
		s.keySends--
	default:
		l.leaves(f.At)
		s.hear(a)
	}
	l.learn(s.sends, f)
	if l.done || s.over { // its caller left it in flight, which is doubt
		return
	}
	// Also beside the doubt of a key whose first use is not known: noteConfirmed forgets such a write.
	if a.Confirm && (!l.doubt || !l.FirstUseKnown && !l.NotBefore && s.plain) {
		l.inquire().denied, a.Says = a, Unknown
	}
	l.judge(a)
}

// judge takes the service's word for the write, as far as it goes, and says whether to send on.
func (l *Ledger) judge(a Answer) {
	l.outcome = l.says(a)
	l.doubt = l.outcome == Unknown
	if !l.sending.again(l, a) {
		l.endSending()
	}
}

// noteConfirmed takes the answer to the second question in. Nothing that was sent was in
// doubt before the write was turned away, so the same answer again ends it. Any other leaves
// it to the fences, or to the looks.
func (l *Ledger) noteConfirmed(a Answer) {
	denied := l.known().denied
	// A journal may lack the answer that the question was about.
	same := denied.Confirm && a.Class == Refusal && a.Confirm && a.Code == denied.Code && a.Status == denied.Status
	l.inquire().denied = Answer{}
	switch {
	case !same:
		l.done = !l.Resolves
	case !l.FirstUseKnown:
		l.done, l.forget = true, true // an earlier use of the key is not this write's to find out
	default:
		l.resolve(NotApplied)
	}
}

// hear notes what kind of answers the sends under the key had.
func (s *sending) hear(a Answer) {
	refused := a.Class == Refusal && a.Status < 500 && a.Code != codeInFlight && a.Code != codeResultUnknown
	s.plain = (s.keySends == 1 || s.plain) && refused
}

// says is what is known of the write after an answer that is no success.
func (l *Ledger) says(a Answer) Outcome {
	s := &l.sending
	// It is the stored answer of the one send before.
	ofTheFirst := a.Replayed && s.keySends == 2 && l.FirstUseKnown && !s.failed
	switch {
	case a.Class == Unsent && !l.doubt:
		return NotApplied
	case a.Class != Refusal:
		return Unknown
	case l.doubt && !ofTheFirst && !l.refusedBy(a):
		return Unknown
	case a.Code == codeKeyReused && l.Source == Derived:
		return Unknown // it was sent before, in other bytes
	default:
		return a.Says
	}
}

// again says whether to send once more, and notes when.
func (s *sending) again(l *Ledger, a Answer) bool {
	r := l.Retry
	var again bool
	s.rekey = false
	switch a.Class {
	case Refusal:
		again = a.Advice == SameKey || a.Advice == WaitFirst || a.Price
		s.rekey = l.Keyed && (a.Advice == NewKey || a.Advice == WaitFirst && a.Replayed)
	case Foreign, Silence:
		again = l.Keyed // a paper write that may have arrived is not repeated
	case Unsent:
		again = true
	}
	if s.ended {
		again = false // it may have run, and would run again
	}
	// Beside a send in doubt a new key would be a second order, and a key that was
	// given is never replaced.
	if s.rekey && (l.doubt || l.Source == Given) {
		again = false
	}
	if a.Price {
		s.prices++
		again = again && s.prices < r.PriceAttempts
	}
	runs := a.Class == Refusal && a.Code == codeInFlight && l.AsksTwice()
	if runs {
		s.polls++
	}
	again = again && s.sends-s.polls < r.Attempts && !(r.FailFast && a.Advice == WaitFirst)
	s.pause(r, a)
	if runs {
		s.wait, s.exact = max(pollWaits[min(s.polls, len(pollWaits))-1], a.RetryAfter), true
		again = again && s.at+s.wait-l.Decided.Mono <= pollFor
	}
	return again
}

// pollWaits are the waits before a write that runs is asked for again; the last one stays.
var pollWaits = [...]time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 5 * time.Second}

// AsksTwice reports whether a write that may run is asked for again: once while its first send is listened to,
// and again and again once the service says that it runs. It changes nothing when it runs twice. Its own bytes
// ask, so what forbids a probe forbids that, and who wants one attempt has one.
func (l *Ledger) AsksTwice() bool {
	return l.Idempotent && !l.Entry && l.TTL > 0 && l.Retry.Attempts > 1 && !l.NoProbe && !l.Without.Probe
}

// pause sets the wait before the next send. A wait that the service asked for is kept
// in full.
func (s *sending) pause(r Bounds, a Answer) {
	s.wait = r.Backoff(s.sends)
	if s.exact = a.RetryAfter >= s.wait; s.exact {
		s.wait = a.RetryAfter
	}
}

// Backoff is the most that is waited before the next send: it doubles. The loop
// spreads it.
func (r Bounds) Backoff(sends int) time.Duration {
	const mostDoublings = 20
	return min(r.MinWait<<min(max(sends-1, 0), mostDoublings), r.MaxWait)
}

// mayStillSend reports whether the TTL allows a send at a moment.
func (l *Ledger) mayStillSend(at time.Duration, now Instant) bool {
	once := l.TTL <= 0 || l.Entry && l.Keyed && l.Without.Resend
	if l.restored || once && l.sending.left > 0 {
		return false
	}
	return since(l.Decided, now)+max(at-now.Mono, 0) < l.SendTTL()
}

// endSending closes S0: what is not in doubt is decided.
func (l *Ledger) endSending() {
	s := &l.sending
	if s.over {
		return
	}
	s.over = true
	if s.open { // its caller has left it in flight, or the process has ended
		l.outcome, l.doubt, s.plain = Unknown, true, false
	}
	switch {
	case !l.doubt:
		l.done = true
	case !l.FirstUseKnown && !l.Denied() && (s.left == 0 || s.plain && !l.NotBefore):
		// Nothing of this write can run. What became of an earlier one under its key is
		// not this write's to find out. With NotBefore the account can show that there was none.
		l.done, l.forget = true, true
	case !l.Resolves && !l.Denied():
		l.done = true
	}
}
