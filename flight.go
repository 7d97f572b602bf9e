package trading

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// flight joins a write in flight with its caller. When the caller's context ends
// while bytes are under way, the caller gets Unknown at once and the attempt
// flies on alone for its grace, so that its answer is still seen.
type flight struct {
	mu        sync.Mutex
	airborne  *attemptContext // of the attempt under way; nil between attempts
	takeOffs  int
	abandoned bool
}

// takeOff notes an attempt; false if the caller has left meanwhile.
func (f *flight) takeOff(ctx *attemptContext) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.abandoned {
		return false
	}
	f.airborne = ctx
	f.takeOffs++
	return true
}

// taken returns how many attempts there have been.
func (f *flight) taken() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.takeOffs
}

// land notes the attempt's end.
func (f *flight) land() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.airborne = nil
}

// abandon ends the flight's further attempts and, after the grace, the one under
// way. It reports whether there was one; if so it has called left while that could
// not land.
func (f *flight) abandon(grace time.Duration, left func()) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.abandoned = true
	if f.airborne == nil {
		return false
	}
	left()
	// The attempt's own time-out ends it too, so this timer is harmless late.
	time.AfterFunc(grace, f.airborne.cancel)
	return true
}

// left reports whether the caller has gone: then the call may still be changing.
func (f *flight) left() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.abandoned
}

// fly runs a write whose caller may leave. It returns nil once the write is
// settled, and otherwise the error of the caller that left.
func (c *call) fly() *WriteError {
	if !c.core.enter() {
		c.stopped = ErrClosed
		return nil
	}
	done := make(chan struct{})
	go func() {
		defer c.core.leave()
		defer close(done)
		growStack(c == nil)
		c.run()
	}()
	select {
	case <-done:
		return nil
	case <-c.Done():
	}
	// Noted before the attempt can land: its verdict is kept for a caller who left.
	left := func() { c.core.unsettled.leave(c.intent, done) }
	if !c.flight.abandon(c.opts.grace, left) {
		<-done // nothing is under way, so this is at once, and exact
		return nil
	}
	// The goroutine still writes to c: nothing of it may be read from here on but
	// what was fixed before it began.
	ended := fmt.Errorf("the caller left while the write was in flight: %w", context.Cause(c.Context))
	unknown := c.writeError(Unknown, ended)
	unknown.Intent = c.intent // fixed before the attempt took off
	return unknown
}

// growStack takes the room that a send needs on the stack at once: a goroutine
// begins with two kilobytes, and each time they double all of it is copied. The room
// itself is never used, so nothing is cleared.
//
//go:noinline
func growStack(use bool) {
	if use {
		var room [6 << 10]byte
		touch(room[:])
	}
}

//go:noinline
func touch([]byte) {}

// stay runs a write whose caller cannot leave. Close waits for it all the same.
func (c *call) stay() {
	if !c.core.enter() {
		c.stopped = ErrClosed
		return
	}
	defer c.core.leave()
	c.run()
}

// enter counts what Close waits for; false once Close has begun.
func (c *core) enter() bool {
	c.flightsMu.Lock()
	defer c.flightsMu.Unlock()
	if c.closing.Err() != nil {
		return false
	}
	c.flights.Add(1)
	return true
}

func (c *core) leave() { c.flights.Done() }

// holdWriter takes the sandbox's one place for a writer: the service refuses a
// second with concurrent_request.
func (c *call) holdWriter() error {
	if !c.endpoint.write || c.env != EnvSandbox || c.writer {
		return nil
	}
	select {
	case c.core.sandboxWriter <- struct{}{}:
		c.writer = true
		return nil
	default:
	}
	select {
	case c.core.sandboxWriter <- struct{}{}:
		c.writer = true
		return nil
	case <-c.Done():
		return c.Err()
	case <-c.core.closing.Done():
		return ErrClosed
	}
}

func (c *call) releaseWriter() {
	if c.writer {
		<-c.core.sandboxWriter
	}
}

// withoutCancel is context.WithoutCancel, at no cost where there is nothing to end.
func withoutCancel(ctx context.Context) context.Context {
	if ctx.Done() == nil {
		return ctx
	}
	return context.WithoutCancel(ctx)
}
