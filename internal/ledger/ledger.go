package ledger

import (
	"math"
	"time"

	"github.com/tradingapi/trading-go/internal/servicetime"
)

// Ledger is what is known of one write. It has one owner: a copy shares what is found out.
type Ledger struct {
	Terms

	sending sending
	outcome Outcome
	doubt   bool // a send that ended may have been applied
	done    bool
	forget  bool
	// contradicted is [Ledger.Contradicted].
	contradicted bool
	restored     bool // an earlier process began it

	// lastByte is when the last byte of this process could have left, or when the
	// process took the write over.
	lastByte time.Duration
	running  running
	// quietBy is a moment by which all of the earlier processes had ended, and with them what they
	// sent; not known if no fact since says the service's time.
	quietBy servicetime.Time
	inquiry *inquiry // nil as long as nothing has to be found out, which is so of most writes
}

// New returns the ledger of a write that is about to be sent.
func New(t Terms) Ledger {
	l := Ledger{Terms: t, outcome: NotApplied, doubt: !t.FirstUseKnown}
	if l.doubt {
		l.outcome = Unknown
	}
	return l
}

// Restore folds what an earlier process noted. A fact that a crash took is taken as
// the worst that it could have been: the write was sent if nothing says that it was
// not. The result never sends.
func Restore(t Terms, facts []Fact, now Instant) Ledger {
	// What the earlier call still would have sent is not known here.
	t.Retry = Bounds{Attempts: math.MaxInt, PriceAttempts: math.MaxInt}
	l := New(t)
	for _, f := range facts {
		l.Note(f)
	}
	l.Note(Fact{Kind: Restarted, At: now})
	return l
}

// Note takes a fact in. Nothing changes an outcome that is decided: an answer that comes after it
// can only contradict it. Of a write that nobody resolves a late answer still says what became of it.
func (l *Ledger) Note(f Fact) {
	if l.done && l.outcome != Unknown {
		l.noteAfter(f)
		return
	}
	switch {
	case f.Kind == Restarted:
	case l.restored:
		l.isQuiet(f.At)
	default:
		l.Date(f.At)
	}
	switch f.Kind {
	case SendBegun:
		l.doubt = l.doubt || l.sending.open // the end of the one before is lost
		l.leaves(f.At)
		l.outcome = Unknown
		l.sending.begin()
	case SendEnded:
		l.noteSend(f)
	case SendHeard:
		l.noteHeard(f)
	case KeyChanged:
		l.sending.changeKey()
	case SendingOver:
		l.endSending()
	case FenceBegun:
		q := l.inquire()
		q.fence.begun++
		q.fence.at, q.fence.open = f.At.Mono, true
	case FenceEnded:
		l.noteFence(f)
	case ProbeBegun:
		l.beginProbe(f.At)
	case ProbeEnded:
		l.noteProbe(f)
	case Looked:
		l.noteLook(f)
	case Restarted:
		l.noteRestart(f.At)
	case Asked:
		q := l.inquire()
		q.look.final, q.look.next, q.fence.next = false, f.At.Mono, f.At.Mono
	case Acknowledged:
		l.resolve(f.Finding.Outcome)
	case Confirmed:
		l.noteConfirmed(f.Answer)
	}
}

// Date finds out when the write was decided by the service's clock, if no answer had
// said it before.
func (l *Ledger) Date(now Instant) {
	if !l.Decided.Service.IsZero() || l.restored {
		return
	}
	if agree(l.Decided, now) {
		l.Decided.Service = now.Service.Add(-since(l.Decided, now))
	}
}

// running is the last byte that may still run.
type running struct {
	at      time.Duration    // of this process, if here
	service servicetime.Time // the same by the service's clock
	here    bool             // it was this process's
}

// leaves notes that bytes may leave.
func (l *Ledger) leaves(at Instant) {
	l.lastByte = at.Mono
	l.running, l.quietBy = running{at.Mono, at.Service, true}, servicetime.Time{}
}

// isQuiet notes a moment of a process that has sent nothing.
func (l *Ledger) isQuiet(at Instant) {
	if l.restored && !l.running.here && l.quietBy.IsZero() {
		l.quietBy = at.Service
	}
}

// passed is how long ago a moment was at least, which may be one of an earlier process; 0 if that is
// not known.
func passed(then servicetime.Time, now Instant) time.Duration {
	d, _ := now.Service.Since(then)
	return max(d-2*servicetime.Tolerance, 0)
}

// quietAt is from when on nothing of the write has been sent for long enough to ask for its answer.
func (l *Ledger) quietAt(now Instant) time.Duration {
	return min(l.lastByte+quietFor, now.Mono-passed(l.quietBy, now)+quietFor)
}

// noteRestart takes what is missing as the worst that it could have been. Resolving
// begins anew, but for what the service has said for good: a key that is spent stays so, until
// it may be forgotten.
func (l *Ledger) noteRestart(now Instant) {
	l.restored, l.lastByte = true, now.Mono
	s := &l.sending
	// Where nothing has left under the key, by the facts, a send counts whose fact is lost; of an exit one counts
	// wherever the journal lacks some.
	if !s.over && (s.keySends == 0 || l.SendsMissing) {
		s.begin()
	}
	l.endSending()
	l.running.here = false
	q := l.inquire()
	q.restart = now
	q.denied = Answer{}
	q.probe.ended = 0
	reusedBy := q.fence.reusedBy
	if q.fence.open { // what it was answered is lost
		reusedBy = servicetime.Time{}
	}
	q.fence = fenceState{begun: q.fence.begun, toldApart: q.fence.toldApart, otherBytes: q.fence.otherBytes, reusedBy: reusedBy}
	q.look = lookState{}
	if q.held = q.held && !l.isForgotten(now); q.held {
		l.holdOn(now)
	}
}

// holdOn is hold over a restart. What was waited for by the service's clock counts, once that is known.
func (l *Ledger) holdOn(now Instant) {
	q := l.inquire()
	l.hold(Instant{Mono: now.Mono, Service: q.heldBy})
	q.look.since = q.heldBy
}

// Outcome is what is known now.
func (l *Ledger) Outcome() Outcome { return l.outcome }

// Done reports whether nothing more is to be found out: the outcome is decided, or
// stays Unknown because the write is none that is resolved, or is to be forgotten.
func (l *Ledger) Done() bool { return l.done }

// Sent reports whether any byte of the write may have left.
func (l *Ledger) Sent() bool { return l.sending.left > 0 }

// Sends counts the sends of the call, without probes.
func (l *Ledger) Sends() int { return l.sending.sends }

// InDoubt reports whether a send that ended may have been applied.
func (l *Ledger) InDoubt() bool { return l.doubt }

// Sending reports whether the write is still in the hands of the loop that sends it.
func (l *Ledger) Sending() bool { return !l.sending.over && !l.done }

// Denied reports whether the write was turned away before its route, and a second question
// has still to confirm it.
func (l *Ledger) Denied() bool { return l.inquiry != nil && l.inquiry.denied.Confirm }

// Held reports whether nothing can run under the key any more.
func (l *Ledger) Held() bool { return l.known().held }

// WasOver reports whether it could run no more at a moment.
func (l *Ledger) WasOver(at Instant) bool {
	q := l.known()
	return q.held && q.heldAt <= at.Mono || l.IsGone(at)
}

// Forget reports whether the write needs no resolution although its outcome is
// Unknown: it sent nothing that may run, and its key may be another program's.
func (l *Ledger) Forget() bool { return l.forget }

// Contradicted reports whether answers cannot all be true of one execution: a send succeeded of a
// write that is NotApplied, or it succeeded, no replay, beside another send that did or that failed
// and may have run. It ran after all, or may have run twice, and that is for a person.
func (l *Ledger) Contradicted() bool { return l.contradicted }

// MaySend reports whether a send may leave, as far as the answers to earlier ones are noted: one may have
// ended the sending, or decided the write.
func (l *Ledger) MaySend() bool { return !l.done && !l.sending.ended }

// Late reports whether the probe placed the write.
func (l *Ledger) Late() bool { return l.known().late }

// MaybeLate reports whether a probe went unheard, so that it may have placed the
// write.
func (l *Ledger) MaybeLate() bool {
	q := l.known()
	return l.outcome == Applied && !q.late && q.probe.open > 0
}

// IsGone reports whether the write has run or never will, so that a look counts as if
// the key were held.
func (l *Ledger) IsGone(now Instant) bool {
	return l.sending.over && now.Mono >= l.goneAt(now)
}

// StaysReceived reports whether no fence will say more of a write that has run or never will: the
// service has said since that it knows the key, and says so until it forgets; or it has refused two
// without a look at the key, of which it would have said the second again had it stored the first; or none may go.
func (l *Ledger) StaysReceived(now Instant) bool {
	fence := l.known().fence
	received := fence.reused > 0 && fence.reusedAt.Mono >= l.goneAt(now)
	return l.IsGone(now) && (received || fence.refused >= 2 || !l.mayFence(now))
}

func (l *Ledger) resolve(o Outcome) { l.outcome, l.done, l.doubt = o, true, false }

// age is how long ago the write was decided; ok is false if no clock knows.
func (l *Ledger) age(now Instant) (age time.Duration, ok bool) {
	if !l.restored {
		return since(l.Decided, now), agree(l.Decided, now)
	}
	ago, known := now.Service.Since(l.Decided.Service)
	if !known || !agree(l.known().restart, now) {
		return 0, false
	}
	age = ago + max(ago, 0)/clockLoses + servicetime.Tolerance
	return age, age >= 0
}

// isForgotten reports whether the service may have forgotten the key, by any clock.
func (l *Ledger) isForgotten(now Instant) bool {
	if age, ok := l.age(now); ok {
		return age >= Forgotten
	}
	return now.Wall.Sub(l.Decided.Wall) >= Forgotten || !l.restored && now.Mono-l.Decided.Mono >= Forgotten
}

// goneAt is the moment of this process from which on the write has run or never will.
func (l *Ledger) goneAt(now Instant) time.Duration {
	if !l.Keyed {
		return l.lastByte + paperHeld
	}
	if l.running.here {
		return l.running.at + Gone
	}
	// Every byte left before the restart: within the TTL, or with the last probe.
	q := l.known()
	at := min(q.restart.Mono, now.Mono-passed(l.quietBy, now)) + Gone
	probed := q.probe.begun > 0
	if _, ok := l.age(now); !ok || probed && l.running.service.IsZero() {
		return at
	}
	last := l.Decided.Service.Add(l.SendTTL())
	if probed && l.running.service.After(last) {
		last = l.running.service
	}
	ago, _ := now.Service.Since(last)
	return min(at, now.Mono-ago+servicetime.Tolerance+Gone)
}

// SendTTL is how long after the decision the first byte of a send may leave.
func (t *Terms) SendTTL() time.Duration {
	switch {
	case t.TTL > 0:
		return t.TTL
	case t.Attempt > 0:
		return min(t.Attempt, Window)
	default:
		return Window
	}
}
