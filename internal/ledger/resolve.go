package ledger

import (
	"net/http"
	"time"

	"github.com/tradingapi/trading-go/internal/servicetime"
)

// inquiry is where finding out what became of the write stands.
type inquiry struct {
	denied  Answer  // by which the write was turned away, until a second question confirms it
	restart Instant // when this process took it over
	probe   probeState
	fence   fenceState
	look    lookState
	held    bool             // nothing can run under the key any more
	heldAt  time.Duration    // of this process
	heldBy  servicetime.Time // by the service's clock, in any process
	late    bool             // the probe placed it
}

// inquire returns the inquiry, which begins now if it had not.
func (l *Ledger) inquire() *inquiry {
	if l.inquiry == nil {
		l.inquiry = new(inquiry)
	}
	return l.inquiry
}

// known is what the inquiry knows: nothing before it begins.
func (l *Ledger) known() inquiry {
	if l.inquiry == nil {
		return inquiry{}
	}
	return *l.inquiry
}

// fenceState is where S1 and S2 stand.
type fenceState struct {
	begun      int           // fences of any process
	at         time.Duration // when the last one began
	toldApart  bool          // this service distinguishes a write that runs from one that it has received
	otherBytes bool          // another program's bytes are under the key
	useless    bool          // no answer to a fence proves anything
	reused     int           // answers 422 in a row: 2 if two of them are Gap apart
	reusedFrom time.Duration // the first of them
	reusedAt   Instant       // the last of them
	// reusedBy is when the first of them had come by the service's clock, in any process that has asked
	// since the key was answered otherwise.
	reusedBy servicetime.Time
	open     bool // one was begun, and not answered
	fails    int  // in a row, for the wait
	refused  int  // in a row, in front of the key, since the write is gone
	next     time.Duration
	ended    bool // this process has had an end of a fence
	last     time.Duration
}

// probeState is where S3 stands.
type probeState struct {
	begun  int     // noted, and not taken back
	open   int     // of them those without an answer that shows what they did
	before running // the last byte before the last of them
	ended  int     // of this process, for the wait
}

// lookState is where S5 and S6 stand.
type lookState struct {
	next    time.Duration
	since   servicetime.Time // when an earlier process held it: the first look here is due a lag after that
	first   time.Duration    // the first look that may show absence
	any     bool             // there was one
	pairs   int              // of equal looks
	paired  time.Duration    // the last of them
	final   bool             // no more until asked
	refusal bool             // a replayed refusal waits for one look, which only Applied contradicts
}

// noteFence takes the end of a fence in.
func (l *Ledger) noteFence(f Fact) {
	q := l.inquire()
	a, s := f.Answer, &q.fence
	s.ended, s.last, s.open = true, f.At.Mono, false
	if f.Useless {
		s.useless = true
		return
	}
	if f.Holds() {
		l.hold(f.At)
		return
	}
	if a.Code == codeKeyReused {
		asked := Instant{Service: f.At.Service.Add(s.at - f.At.Mono)}
		if s.reused > 0 && s.at-s.reusedFrom >= Gap || passed(s.reusedBy, asked) >= Gap {
			s.reused = 2
		}
		if s.reused == 0 {
			s.reused, s.reusedFrom = 1, f.At.Mono
		}
		if s.reusedBy.IsZero() {
			s.reusedBy = f.At.Service
		}
		s.reusedAt, s.fails, s.refused = f.At, 0, 0
		return
	}
	if a.Code == codeInFlight && s.begun == 1 && l.FirstUseKnown {
		s.toldApart = true
	}
	if s.refused++; !a.inFront() || !l.IsGone(f.At) {
		s.refused = 0
	}
	s.retry(f, s.fails)
	s.fails++
}

// inFront reports whether the service has refused a fence without a look at its key: for its fields, or for the
// account. As long as it does, no fence holds.
func (a *Answer) inFront() bool {
	return a.Class == Refusal && a.Status < 500 && a.Status != http.StatusTooManyRequests && a.Code != codeInFlight
}

// retry waits before the next fence, longer after each fail. The answers 422 are
// counted anew.
func (s *fenceState) retry(f Fact, fails int) {
	s.reused, s.reusedBy = 0, servicetime.Time{}
	s.next = f.At.Mono + min(max(fenceWait<<min(fails, 6), f.Answer.RetryAfter), maxFenceWait)
}

// Holds reports whether a fence's answer proves that nothing can run under the key
// any more.
func (f *Fact) Holds() bool {
	a := f.Answer
	switch {
	case a.Class == Success:
		return !f.OwnRoute || a.Replayed
	case a.Class != Refusal || a.Status >= 500 || a.Code == codeNoAccount || a.Code == codeKeyReused:
		return false
	case a.Code == codeResultUnknown:
		return true
	case f.OwnRoute: // keys are kept by route: only what is stored there counts
		return a.Replayed
	default:
		return a.Replayed || a.Code == codeOrderNotFound && a.Status == 404
	}
}

// hold begins S5. The looks that count are those that show all that ran until then.
func (l *Ledger) hold(at Instant) {
	q := l.inquire()
	q.held, q.heldAt, q.heldBy = true, at.Mono, at.Service
	q.look = lookState{next: at.Mono + l.Without.ReadLag()}
}

func (l *Ledger) beginProbe(at Instant) {
	q := l.inquire()
	q.fence.reusedBy, q.fence.refused = servicetime.Time{}, 0 // the answers 422 are counted anew behind it
	p := &q.probe
	p.begun++
	p.open++
	p.before = l.running
	l.leaves(at)
}

// noteProbe takes the end of the probe in.
func (l *Ledger) noteProbe(f Fact) {
	q := l.inquire()
	a, p := f.Answer, &q.probe
	if p.open == 0 { // a journal that did not take its beginning: it never left
		return
	}
	q.fence.retry(f, p.ended)
	p.ended++
	l.leaves(f.At)
	switch {
	case a.Class == Success:
		p.open--
		q.late = !a.Replayed
		l.sending.fresh = q.late
		l.resolve(Applied)
	case a.Code == codeResultUnknown:
		p.open--
		l.hold(f.At)
	case a.Code == codeKeyReused:
		p.open--
		q.fence.otherBytes = l.Source != Fresh // of a fresh key they are the fence's
	case a.Class == Refusal && a.Status < 500 && a.Replayed:
		p.open--
		l.noteStored(f.At)
	case a.tookNothing():
		p.begun--
		p.open--
		l.running = p.before
	}
	// A fresh refusal, a 5xx, a page of something in front or silence: the probe stays
	// noted, since it may have run.
}

// tookNothing reports whether the service cannot have run the request, nor kept it.
func (a Answer) tookNothing() bool {
	if a.Class == Unsent {
		return true
	}
	front := a.InFront || a.Status == 429 || a.Status == 401
	return a.Class == Refusal && !a.Replayed && (front || a.Code == codeInFlight || a.Code == codeUnavailable)
}

// noteStored takes in that the service keeps a refusal under the key. It is the
// write's own if nothing else was sent that could have had it.
func (l *Ledger) noteStored(at Instant) {
	q := l.inquire()
	only := l.sending.keySends == 1 && !l.SendsMissing && q.probe.open == 0 && l.FirstUseKnown
	if only && !l.Exclusive { // else the account can still show that it ran
		l.resolve(NotApplied)
		return
	}
	l.hold(at)
	q.look.refusal = only
	if only {
		q.look.next = at.Mono // it need not be a lag later
	}
}

// noteLook takes a look at the account in. Absence counts only if nothing can run any
// more, by two looks that are a lag apart.
func (l *Ledger) noteLook(f Fact) {
	q := l.inquire()
	s, v, lag := &q.look, f.Finding, l.Without.ReadLag()
	s.next, s.since = f.At.Mono+lag, servicetime.Time{}
	if s.refusal {
		s.refusal = false
		if v.Outcome != Applied {
			l.resolve(NotApplied)
			return
		}
	}
	absent := q.held || l.IsGone(f.At) && (l.Lasting || l.Exclusive || !l.Keyed)
	first := absent && !s.any
	if first {
		s.any, s.first = true, f.At.Mono
	}
	switch {
	case !v.Enough || first && v.Outcome != Applied:
		return
	case v.Outcome == Applied, v.Outcome == NotApplied && absent && f.At.Mono-s.first >= lag:
		l.resolve(v.Outcome)
		return
	}
	s.pairs, s.paired = s.pairs+1, f.At.Mono
	gone := l.IsGone(f.At)
	s.final = v.Stays && (q.held || gone) || gone && l.Keyed && !l.mayFence(f.At) // no later fence can hold
	s.next = f.At.Mono + max(min(lag<<min(s.pairs, 6), maxLookWait), lag)
}
