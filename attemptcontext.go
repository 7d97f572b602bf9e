package trading

import (
	"context"
	"slices"
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
	timer   *time.Timer   // once somebody waits
	done    chan struct{} // once somebody has asked for it
	waiting []*func()     // nearly always one, net/http's
	err     error         // that it has ended
	cause   error         // and why
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

func (a *attemptContext) end(err, cause error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.endLocked(err, cause)
}

func (a *attemptContext) endLocked(err, cause error) {
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
	for _, f := range a.waiting {
		go (*f)()
	}
	a.waiting = nil
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
	err, _ := a.ended()
	return err
}

// why returns the cause of its end; nil while it goes on.
func (a *attemptContext) why() error {
	_, cause := a.ended()
	return cause
}

// ended looks at the clock too: there need not be a timer.
func (a *attemptContext) ended() (err, cause error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !time.Now().Before(a.until) {
		a.endLocked(context.DeadlineExceeded, errAttemptTimeout)
	}
	return a.err, a.cause
}

// wind starts the timer, once. The lock is held.
func (a *attemptContext) wind() {
	if a.timer == nil && a.err == nil {
		a.timer = time.AfterFunc(time.Until(a.until), func() { a.end(context.DeadlineExceeded, errAttemptTimeout) })
	}
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
	a.waiting = append(a.waiting, &f)
	return func() bool { return a.forget(&f) }
}

func (a *attemptContext) forget(f *func()) (was bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	at := slices.Index(a.waiting, f)
	if at < 0 {
		return false
	}
	a.waiting = slices.Delete(a.waiting, at, at+1)
	return true
}

// with returns ctx so that package context finds AfterFunc, where hooks and the trace
// have added no more than values to it.
func (a *attemptContext) with(ctx context.Context) context.Context {
	if ctx == context.Context(a) || ctx.Done() != a.Done() {
		return ctx
	}
	return attemptValues{a, ctx}
}

// attemptValues is an attempt's context with more values.
type attemptValues struct {
	*attemptContext
	values context.Context
}

// Value finds them.
func (v attemptValues) Value(key any) any { return v.values.Value(key) }
