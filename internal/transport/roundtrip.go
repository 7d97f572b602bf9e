package transport

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"
)

// RoundTrip is a request that is on its way by itself. Who sent it can stop waiting for its answer, and hear
// of that later.
type RoundTrip struct {
	of     *Transport
	sent   Outgoing // whose gate it is
	gate   Gate     // of its caller; nil for none
	ctx    context.Context
	cancel context.CancelCauseFunc
	over   chan struct{}
	ended  Exchanged // once it is over, but for when it began
	alone  *http.Transport

	mu      sync.Mutex
	through http.RoundTripper
	conn    net.Conn    // that it has to itself, until the answer begins
	left    bool        // any of it may have left
	cut     error       // why nothing of it may leave any more
	retires *time.Timer // when later attempts go over other connections
	aborts  *time.Timer
	done    bool
}

// Begin sends the request once, beside its caller, where the transport [Transport.Listens]. No end of ctx ends
// it, but its gate, [RoundTrip.Leave] and [RoundTrip.Abort] do; r.Timeout is that of its caller's waiting.
func (t *Transport) Begin(ctx context.Context, r *Outgoing) *RoundTrip {
	a := &RoundTrip{of: t, sent: *r, gate: r.Gate, over: make(chan struct{})}
	a.sent.Gate, a.ended.Sent = a, time.Now()
	if r.Alone {
		a.alone = t.alone()
		a.of = New(a.alone)
	}
	a.ctx, a.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	t.workers.carryOut(a)
	return a
}

func (a *RoundTrip) run() {
	for a.of.exchange(a.ctx, func() { a.cancel(nil) }, &a.sent, &a.ended, a) { // as often as there are kept connections
	}
	a.mu.Lock()
	a.done = true
	for _, timer := range [...]*time.Timer{a.retires, a.aborts} {
		if timer != nil {
			timer.Stop()
		}
	}
	through := a.through
	a.mu.Unlock()
	a.cancel(nil)
	if a.alone != nil {
		a.alone.CloseIdleConnections()
		return
	}
	a.of.leaveIdle(through)
}

// Began returns when the attempt began.
func (a *RoundTrip) Began() time.Time { return a.ended.Sent }

// Over is closed once the attempt has ended, and Exchanged how it did.
func (a *RoundTrip) Over() <-chan struct{} { return a.over }

// Exchanged returns how an attempt that is over has ended.
func (a *RoundTrip) Exchanged() Exchanged { return a.ended }

// Leave ends the waiting for the attempt, for a reason. It returns whether the attempt is listened to: then
// its bytes may have left, and later attempts go over other connections once it has lasted for its time-out. Else
// nothing of it leaves any more, and it is over in a moment, or is already.
func (a *RoundTrip) Leave(why error) (listened bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.done {
		return false
	}
	if !a.left {
		a.cut = why
		a.cancel(why)
		return false
	}
	rest := a.sent.Timeout - time.Since(a.ended.Sent)
	if errors.Is(why, ErrTimeout) || overdue(why, a.ended.Sent) {
		a.of.retire(a.through)
	} else if a.sent.Timeout > 0 {
		a.retires = time.AfterFunc(rest, a.Retire)
	}
	return true
}

// Retire has later attempts go over other connections than this one.
func (a *RoundTrip) Retire() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.done {
		a.of.retire(a.through)
	}
}

// AbortAfter is [RoundTrip.Abort] in a while.
func (a *RoundTrip) AbortAfter(d time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.done {
		a.aborts = time.AfterFunc(d, a.Abort)
	}
}

// Abort ends the attempt. What of it has not left is dropped, where it has its connection to itself.
func (a *RoundTrip) Abort() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.conn != nil {
		abort(a.conn)
	}
	a.cut = errAborted
	a.cancel(errAborted)
}

var errAborted = errors.New("nobody waits for the attempt any more")

// MayLeave implements [Gate].
func (a *RoundTrip) MayLeave() error {
	if a.gate != nil {
		if err := a.gate.MayLeave(); err != nil {
			return err
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.cut == nil {
		a.left = true
	}
	return a.cut
}

// LeaveBy implements [Leaser].
func (a *RoundTrip) LeaveBy() time.Time {
	if leaser, ok := a.gate.(Leaser); ok {
		return leaser.LeaveBy()
	}
	return time.Time{}
}

// goes notes what it goes through.
func (a *RoundTrip) goes(through http.RoundTripper) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.through = through
}

// takes notes the connection that it has to itself; nil once the answer is there, with which another
// request may have it.
func (a *RoundTrip) takes(conn net.Conn) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.conn = conn
}

// overdue reports whether the end of an attempt speaks against its connection.
func overdue(err error, sent time.Time) bool {
	return errors.Is(err, ErrTimeout) || errors.Is(err, context.DeadlineExceeded) && time.Since(sent) >= longEnough
}
