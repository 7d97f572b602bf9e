// Package health keeps the last assessment of whether it is safe to trade, and reads the
// next where that is too old. It knows nothing of what an assessment says.
package health

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/tradingapi/trading-go/internal/ledger"
)

// Config is what the last assessment is made of.
type Config[A any] struct {
	// Read asks for an assessment, HoldsFor says for how long one is used.
	Read     func(context.Context) (A, error)
	HoldsFor func(A) time.Duration
	// KeepWarm refreshes it in the background from the first question on; Default is how
	// long it waits where no assessment is known.
	KeepWarm bool
	Default  time.Duration
	// Background runs a function until the client closes; false once that has begun. Then
	// ErrClosed is the error.
	Background func(func(closing context.Context)) bool
	ErrClosed  error
}

// Last is the last assessment. Its callers share one request.
type Last[A any] struct {
	Config[A]

	mu        sync.Mutex
	known     A
	isKnown   bool
	asked     time.Time     // when the known assessment was asked for, by this machine's clock
	err       error         // why the last refresh brought none
	refreshed chan struct{} // closed when the refresh under way is done; nil without one
	warm      bool          // the background refresh has begun
}

// New returns one that knows no assessment yet.
func New[A any](c Config[A]) *Last[A] { return &Last[A]{Config: c} }

// Known returns the last assessment, however old.
func (l *Last[A]) Known() (known A, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.known, l.isKnown
}

// Get returns one that still holds, by when it was asked for. While a refresh is
// under way an older one is not used: its end is waited for.
func (l *Last[A]) Get(ctx context.Context) (A, error) {
	var none A
	l.mu.Lock()
	if l.isKnown && ledger.Elapsed(l.asked) <= l.HoldsFor(l.known) {
		defer l.mu.Unlock()
		return l.known, nil
	}
	done := l.refreshLocked(ctx)
	l.mu.Unlock()

	select {
	case <-done:
	case <-ctx.Done():
		return none, ctx.Err()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return none, l.err
	}
	if age := ledger.Elapsed(l.asked); age > l.HoldsFor(l.known) {
		return none, fmt.Errorf("the assessment was asked for %s ago, and holds for %s", age, l.HoldsFor(l.known))
	}
	return l.known, nil
}

// refreshLocked joins the refresh under way, or begins one.
func (l *Last[A]) refreshLocked(ctx context.Context) <-chan struct{} {
	if l.refreshed != nil {
		return l.refreshed
	}
	done := make(chan struct{})
	l.refreshed = done
	// The request is everybody's: it must not end with the caller who began it.
	ctx = context.WithoutCancel(ctx)
	if !l.Background(func(closing context.Context) {
		l.refresh(ctx, done)
		if l.KeepWarm {
			l.keepWarm(ctx, closing)
		}
	}) {
		l.isKnown, l.err = false, l.ErrClosed
		l.refreshed = nil
		close(done)
	}
	return done
}

// refresh asks once.
func (l *Last[A]) refresh(ctx context.Context, done chan<- struct{}) {
	asked := time.Now()
	read, err := l.Read(ctx)

	l.mu.Lock()
	defer l.mu.Unlock()
	l.known, l.isKnown, l.err = read, err == nil, err
	if err == nil {
		l.asked = asked
	}
	l.refreshed = nil
	close(done)
}

// keepWarm refreshes shortly before each assessment runs out, until Close. Only
// one goroutine does.
func (l *Last[A]) keepWarm(ctx, closing context.Context) {
	l.mu.Lock()
	first := !l.warm
	l.warm = true
	l.mu.Unlock()
	if !first {
		return
	}
	for {
		l.mu.Lock()
		wait := l.Default
		if l.isKnown {
			wait = time.Until(l.asked.Add(l.HoldsFor(l.known)))
		}
		l.mu.Unlock()
		timer := time.NewTimer(max(wait*4/5, 100*time.Millisecond))
		select {
		case <-timer.C:
		case <-closing.Done():
			timer.Stop()
			return
		}
		l.mu.Lock()
		if l.refreshed != nil {
			l.mu.Unlock()
			continue
		}
		done := make(chan struct{})
		l.refreshed = done
		l.mu.Unlock()
		l.refresh(ctx, done)
	}
}
