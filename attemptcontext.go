package trading

import (
	"context"
	"net/http/httptrace"
	"sync"
	"time"
)

// attemptContext is the context of one attempt: it ends with its parent, with its
// time, or with the attempt.
//
// context.WithTimeoutCause would do, but net/http puts a context of its own under that
// of every request, and package context joins the two by a map, made and thrown away
// with each order, unless the upper one has AfterFunc.
//
// Its timer begins when somebody first waits: a transport in memory, such as the
// simulator's, never does.
type attemptContext struct {
	context.Context
	until  time.Time
	orphan func() bool // lets go of the parent; nil if that never ends

	mu      sync.Mutex
	timer   *time.Timer
	done    chan struct{} // once somebody has asked for it
	err     error         // why it has ended
	cause   error
	waiting map[*func()]struct{}
	first   *func() // of those; nearly always there is one
}

func newAttemptContext(parent context.Context, now time.Time, timeout time.Duration) *attemptContext {
	a := &attemptContext{Context: parent, until: now.Add(timeout)}
	if parent.Done() != nil {
		a.orphan = context.AfterFunc(parent, func() { a.end(parent.Err(), context.Cause(parent)) })
	}
	return a
}

// cancel ends it, as the end of the attempt does.
func (a *attemptContext) cancel() {
	if a.orphan != nil {
		a.orphan()
	}
	a.end(context.Canceled, context.Canceled)
}

func (a *attemptContext) timeOut() { a.end(context.DeadlineExceeded, errAttemptTimeout) }

func (a *attemptContext) end(err, cause error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.err != nil {
		return
	}
	if a.timer != nil {
		a.timer.Stop()
	}
	a.err, a.cause = err, cause
	if a.done != nil {
		close(a.done)
	}
	if a.first != nil {
		go (*a.first)()
	}
	for f := range a.waiting {
		go (*f)()
	}
	a.first, a.waiting = nil, nil
}

// Deadline, Done and Err are those of any context.
func (a *attemptContext) Deadline() (time.Time, bool) {
	if sooner, ok := a.Context.Deadline(); ok && sooner.Before(a.until) {
		return sooner, true
	}
	return a.until, true
}

func (a *attemptContext) Done() <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.done == nil {
		a.done = make(chan struct{})
		if a.err != nil {
			close(a.done)
		}
		a.wind()
	}
	return a.done
}

func (a *attemptContext) Err() error {
	a.mu.Lock()
	waited := a.timer != nil || a.err != nil
	a.mu.Unlock()
	if !waited && !time.Now().Before(a.until) {
		a.timeOut()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.err
}

// wind starts the timer, once. The lock is held.
func (a *attemptContext) wind() {
	if a.timer == nil && a.err == nil {
		a.timer = time.AfterFunc(time.Until(a.until), a.timeOut)
	}
}

// why returns the cause of its end; nil while it goes on.
func (a *attemptContext) why() error {
	if a.Err() == nil {
		return nil
	}
	return a.cause // which changes no more
}

// AfterFunc runs f in a goroutine of its own once the context has ended, unless stop
// comes first, which tells whether it did. Package context asks for it by its shape.
func (a *attemptContext) AfterFunc(f func()) (stop func() bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.err != nil {
		go f()
		return func() bool { return false }
	}
	a.wind()
	switch {
	case a.first == nil:
		a.first = &f
	case a.waiting == nil:
		a.waiting = map[*func()]struct{}{&f: {}}
	default:
		a.waiting[&f] = struct{}{}
	}
	return func() bool { return a.forget(&f) }
}

func (a *attemptContext) forget(f *func()) (was bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.first == f {
		a.first = nil
		return true
	}
	_, was = a.waiting[f]
	delete(a.waiting, f)
	return was
}

// traced returns ctx with the trace in it, so that package context still finds
// AfterFunc.
func traced(ctx context.Context, trace *httptrace.ClientTrace) context.Context {
	values := httptrace.WithClientTrace(ctx, trace)
	if a, ok := ctx.(*attemptContext); ok {
		return tracedContext{a, values}
	}
	return values
}

type tracedContext struct {
	*attemptContext
	values context.Context
}

func (t tracedContext) Value(key any) any { return t.values.Value(key) }
