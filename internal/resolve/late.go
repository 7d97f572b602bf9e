package resolve

import (
	"context"
	"errors"
	"sync"

	"github.com/tradingapi/trading-go/internal/ledger"
)

// The answer to a send that nobody waits for any more comes at any time: while the call sends once more,
// while the driver finds out, and after the end. Who has the write by then takes it in.

// late are such answers to a write.
type late struct {
	mu       sync.Mutex
	come     []Response    // that the call has not taken in yet
	signal   chan struct{} // something has come
	handed   bool          // the call is over, so that the driver takes them in
	ends     bool          // no send may leave any more
	stop     func()        // ends what the call waits for before its next send; nil where it waits for nothing
	reported bool          // that they contradict each other
}

// Listen is called before a send is listened to.
func (w *OpenWrite) Listen() {
	if w.late.Load() == nil {
		w.late.Store(&late{signal: make(chan struct{}, 1)})
	}
}

// LateCame is signaled when an answer has come; nil where nobody listens.
func (w *OpenWrite) LateCame() <-chan struct{} {
	if l := w.late.Load(); l != nil {
		return l.signal
	}
	return nil
}

// WakeCall has the call look again at what it listens to.
func (w *OpenWrite) WakeCall() {
	select {
	case w.late.Load().signal <- struct{}{}:
	default:
	}
}

// MaySend is [ledger.Ledger.MaySend] for any goroutine: no send leaves either while an answer to an earlier one
// is not noted yet, since that may end the sending.
func (w *OpenWrite) MaySend() bool {
	l := w.late.Load()
	if l == nil {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.come) == 0 && !l.ends
}

// UntilHeard calls do within a context that an answer to an earlier send ends: what that says is taken in first.
// That the service has hung up on such a send ends nothing.
func (w *OpenWrite) UntilHeard(ctx context.Context, do func(context.Context) error) error {
	l := w.late.Load()
	if l == nil {
		return do(ctx)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	l.mu.Lock()
	l.stop = stop
	come := len(l.come) > 0 || l.ends
	l.mu.Unlock()
	if come {
		stop()
	}
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.stop = nil
	}()
	return do(ctx)
}

// push keeps an answer for the call; false once that is over.
func (l *late) push(a Response) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.handed {
		return false
	}
	l.come = append(l.come, a)
	if l.stop != nil {
		l.stop()
	}
	select {
	case l.signal <- struct{}{}:
	default:
	}
	return true
}

// take returns what has come. last means that the call takes no more.
func (l *late) take(last bool) (come []Response) {
	l.mu.Lock()
	defer l.mu.Unlock()
	come, l.come, l.handed = l.come, nil, l.handed || last
	return come
}

// TakeLate takes in what has come for a write whose call sends it. It returns the answer that has
// decided the write, or ended its sending; nil if none has.
func (d *Driver) TakeLate(w *OpenWrite) (ends *Response) {
	l := w.late.Load()
	if l == nil {
		return nil
	}
	for _, one := range l.take(false) {
		if d.noteLate(w, &one) {
			ends = &one
		}
	}
	return ends
}

// HeardLate takes the answer in to a send that nobody waits for any more, by its number.
func (d *Driver) HeardLate(w *OpenWrite, send int, a Response) {
	a.Send = send
	if l := w.late.Load(); !l.push(a) {
		d.hearAfter(w, &a)
	}
}

// noteLate notes a late answer, and returns whether it has ended anything. Its caller has the write.
func (d *Driver) noteLate(w *OpenWrite, a *Response) (ends bool) {
	f := ledger.Fact{Kind: ledger.SendHeard, At: d.Clocks.At(a.Received), Answer: a.Answer, Send: a.Send}
	going, known := w.Ledger.MaySend() && w.Ledger.Sending(), w.Ledger.Outcome() != ledger.Unknown
	doubted := w.Ledger.InDoubt()
	w.Ledger.Note(f)
	d.store.note(w, f)
	l := w.late.Load()
	l.mu.Lock()
	l.ends = !w.Ledger.MaySend()
	l.mu.Unlock()
	if w.Ledger.InDoubt() {
		d.say(func() { w.noting().reason = factText(&f, code) })
	} else if doubted && !w.Ledger.Done() {
		d.pending.clear(w) // its own doubt is over, and would hold it back
	}
	decided := !known && w.Ledger.Done() && w.Ledger.Outcome() != ledger.Unknown
	if decided {
		w.heardLate = true
	}
	return decided || going && !(w.Ledger.MaySend() && w.Ledger.Sending())
}

// hearAfter takes in what comes once the call is over: the driver has the write, or it has ended.
func (d *Driver) hearAfter(w *OpenWrite, a *Response) {
	worker := d.workerOf(w)
	release, there, err := worker.schedule.hold(d.cfg.Life.Closing, w)
	if err != nil { // the client closes: that there was no answer is noted
		return
	}
	defer release()
	if !there {
		d.noteAfterEnd(w, a)
		return
	}
	worker.noteLate(w, a)
	switch {
	case w.Ledger.Outcome() == ledger.Unknown || !w.Ledger.Done():
		worker.schedule.goOn(w) // with what is to be done next
	default:
		w.Answer, w.by = a, ByAnswer
		if a.Replayed {
			w.by = ByReplay
		}
		if w.Traits.Levels { // a newer setting may have to be sent again
			worker.schedule.goOn(w)
			return
		}
		worker.finish(w)
	}
}

// noteAfterEnd holds a late answer against how the write has ended.
func (d *Driver) noteAfterEnd(w *OpenWrite, a *Response) {
	l := w.late.Load()
	l.mu.Lock()
	w.Ledger.Note(ledger.Fact{Kind: ledger.SendHeard, At: d.Clocks.At(a.Received), Answer: a.Answer, Send: a.Send})
	l.mu.Unlock()
	d.reportContradiction(w)
}

// isForAPerson reports whether its answers contradict each other, and that was reported.
func (w *OpenWrite) isForAPerson() bool {
	l := w.late.Load()
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.reported
}

// errContradicted is why a write whose outcome is known keeps its market closed.
var errContradicted = errors.New("the answers to its sends contradict each other: it ran after all, or may have run twice; read the account, and acknowledge the write")

// reportContradiction reports, once, that a write that has ended ran after all or may have run twice: the answers
// to it cannot all be true of one execution. Its market
// is closed to entries until a person has acknowledged it.
func (d *Driver) reportContradiction(w *OpenWrite) {
	l := w.late.Load()
	if l == nil {
		return
	}
	l.mu.Lock()
	first := !l.reported && w.Ledger.Contradicted()
	l.reported = l.reported || first
	l.mu.Unlock()
	if !first {
		return
	}
	r := Found{Intent: w.intent(), Outcome: w.Ledger.Outcome(), Evidence: ByAnswer, Contradicted: true, Err: errContradicted, Why: errContradicted}
	if _, kept := d.pending.resolved.find(w.Intent.ID); !kept {
		d.pending.resolved.keep(w.Intent.ID, r)
	}
	d.say(func() { w.noting().reason = errContradicted.Error() })
	if d.pending.add(w) {
		d.pending.doubt(w)
	}
	d.report(r)
}
