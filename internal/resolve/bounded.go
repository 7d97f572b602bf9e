package resolve

import (
	"context"
	"sync"
	"time"
)

// bounded is a context that ends after a while, as one of [context.WithTimeoutCause] does. Its timer begins once
// somebody waits for its end, which nobody does at a journal that has room.
type bounded struct {
	context.Context // that it is within
	until           time.Time
	why             error

	mu     sync.Mutex
	timed  context.Context // nil before
	cancel context.CancelFunc
	over   bool
}

func bound(ctx context.Context, d time.Duration, why error) *bounded {
	return &bounded{Context: ctx, until: time.Now().Add(d), why: why}
}

// stop is for the end of what it bounds. Who looks at it for the first time after that finds it canceled.
func (b *bounded) stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over = true
	if b.cancel != nil {
		b.cancel()
	}
}

func (b *bounded) withTimer() context.Context {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.timed != nil:
	case b.over:
		b.timed, b.cancel = context.WithCancel(context.WithoutCancel(b.Context))
		b.cancel()
	default:
		b.timed, b.cancel = context.WithDeadlineCause(b.Context, b.until, b.why)
	}
	return b.timed
}

func (b *bounded) Deadline() (time.Time, bool) { return b.withTimer().Deadline() }
func (b *bounded) Done() <-chan struct{}       { return b.withTimer().Done() }
func (b *bounded) Value(key any) any           { return b.withTimer().Value(key) } // among others its cause

func (b *bounded) Err() error {
	b.mu.Lock()
	timed, over := b.timed, b.over
	b.mu.Unlock()
	if timed == nil && !over && b.Context.Err() == nil && time.Now().Before(b.until) {
		return nil
	}
	return b.withTimer().Err() // what it says from now on
}
