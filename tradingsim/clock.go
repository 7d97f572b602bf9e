package tradingsim

import (
	"context"
	"sync"
	"time"
)

// clock is the service's time. Inside a synctest bubble the system clock is
// already virtual; a manual clock serves tests across processes.
type clock interface {
	now() time.Time
	// wait returns after d, or with the context's error.
	wait(ctx context.Context, d time.Duration) error
}

// readClock reads the time from a function and waits with timers.
type readClock func() time.Time

func (c readClock) now() time.Time { return c() }

func (c readClock) wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// fastClock runs faster than the machine's, and its waits are as much shorter.
type fastClock struct {
	start time.Time
	times float64
}

func (c fastClock) now() time.Time {
	return c.start.Add(time.Duration(float64(time.Since(c.start)) * c.times))
}

func (c fastClock) wait(ctx context.Context, d time.Duration) error {
	return readClock(time.Now).wait(ctx, time.Duration(float64(d)/c.times))
}

// manualClock stands still until it is moved.
type manualClock struct {
	mu    sync.Mutex
	at    time.Time
	moved chan struct{} // closed and replaced at every move
}

func newManualClock(start time.Time) *manualClock {
	return &manualClock{at: start, moved: make(chan struct{})}
}

func (c *manualClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *manualClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
	close(c.moved)
	c.moved = make(chan struct{})
}

func (c *manualClock) wait(ctx context.Context, d time.Duration) error {
	due := c.now().Add(d)
	for {
		c.mu.Lock()
		at, moved := c.at, c.moved
		c.mu.Unlock()
		if !at.Before(due) {
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
