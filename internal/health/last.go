// Package health keeps the last assessment of whether it is safe to trade, and reads the
// next where that is too old; and the program's own stop. It knows nothing of what an
// assessment says.
package health

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tradingapi/trading-go/internal/ledger"
)

// MaxAge is how old an assessment may be that is used, whatever the service says of it.
const MaxAge = 5 * time.Second

// ageless is how long an assessment is used whose age is not known, from when it was
// asked for: as long as those who asked together take.
const ageless = time.Second

// shortest is how long an assessment of a service is used that reuses none: those who ask together
// share it, and a Date has whole seconds.
const shortest = 2 * ageless

// Where an assessment is too old already when it comes, the service had it for as long as
// it reuses one: the next is made any moment, and asked for so often.
const (
	againAfter = 500 * time.Millisecond
	mostAgain  = 3
)

// Config is what the last assessment is made of.
type Config[A any] struct {
	// Read asks for an assessment, ReusedFor is how long the service says that it reuses it.
	Read      func(context.Context) (A, error)
	ReusedFor func(A) time.Duration
	// Age is how old an assessment is at a moment, by the service's clock, at the most;
	// false where that is not known.
	Age func(a A, at time.Time) (time.Duration, bool)
	// AgeNeeded reports whether one of which that is not known is not used; nil for never.
	AgeNeeded func() bool
	// KeepWarm refreshes it in the background from the first question on.
	KeepWarm bool
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
	asked     time.Time     // when it was last asked for, by this machine's clock
	err       error         // why the last refresh brought none
	old       int           // how many in a row were too old when they came
	refreshed chan struct{} // closed when the refresh under way is done; nil without one
	warm      bool          // the background refresh has begun
}

// New returns one that knows no assessment yet.
func New[A any](c Config[A]) *Last[A] { return &Last[A]{Config: c} }

// ErrReading is the error of Fresh while an assessment is read.
var ErrReading = errors.New("the health is being read")

// Fresh returns an assessment that is young enough, without waiting. Where there is none it
// is asked for, unless that has failed a moment ago, or brought one that was too old.
func (l *Last[A]) Fresh(ctx context.Context) (A, error) {
	var none A
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.isKnown && l.tooOld(ageless) == nil:
		return l.known, nil
	case l.err != nil && ledger.Elapsed(l.asked) < MaxAge:
		return none, l.err
	case l.isKnown && l.refreshed == nil && l.old > mostAgain && ledger.Elapsed(l.asked) < MaxAge:
		return none, l.tooOld(ageless)
	case l.isKnown && l.refreshed == nil && l.old > 0 && ledger.Elapsed(l.asked) < againAfter:
		return none, ErrReading
	default:
		l.refreshLocked(ctx)
		return none, ErrReading
	}
}

// Get returns an assessment that is young enough. While a refresh is under way an older
// one is not used: its end is waited for.
func (l *Last[A]) Get(ctx context.Context) (A, error) {
	var none A
	for again := 0; ; again++ {
		l.mu.Lock()
		if l.isKnown && l.tooOld(ageless) == nil {
			known := l.known
			l.mu.Unlock()
			return known, nil
		}
		done := l.refreshLocked(ctx)
		l.mu.Unlock()
		select {
		case <-done:
		case <-ctx.Done():
			return none, ctx.Err()
		}
		l.mu.Lock()
		known, err := l.known, l.err
		old := err == nil
		if old {
			err = l.tooOld(MaxAge)
		}
		l.mu.Unlock()
		switch {
		case err == nil:
			return known, nil
		case !old || again == mostAgain:
			return none, err
		}
		select {
		case <-time.After(againAfter):
		case <-ctx.Done():
			return none, ctx.Err()
		}
	}
}

// tooOld says why the known assessment is not used; nil if it is. One whose age is not known
// is used for so long from when it was asked for. The lock is held.
func (l *Last[A]) tooOld(unknownFor time.Duration) error {
	holds, asked := l.holdsFor(), ledger.Elapsed(l.asked)
	age, ok := l.Age(l.known, time.Now())
	switch {
	case asked > holds:
		return fmt.Errorf("the assessment was asked for %s ago, and holds for %s", asked, holds)
	case ok && age > holds:
		return fmt.Errorf("the assessment is up to %s old by the service's clock, and holds for %s", age, holds)
	case !ok && (asked > unknownFor || l.AgeNeeded != nil && l.AgeNeeded()):
		return fmt.Errorf("the assessment was asked for %s ago, and its age is not known", asked)
	default:
		return nil
	}
}

// holdsFor is how old the known assessment may be: as long as the service reuses it, and no
// shorter than an age can be known. The lock is held.
func (l *Last[A]) holdsFor() time.Duration {
	return min(max(l.ReusedFor(l.known), shortest), MaxAge)
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
	l.known, l.isKnown, l.err, l.asked = read, err == nil, err, asked
	if l.isKnown && l.tooOld(MaxAge) != nil {
		l.old++
	} else {
		l.old = 0
	}
	l.refreshed = nil
	close(done)
}

// keepWarm refreshes when each assessment runs out, until Close. Only one goroutine does.
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
		wait := l.runsOut()
		l.mu.Unlock()
		timer := time.NewTimer(max(wait, againAfter))
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

// runsOut is how long the known assessment is used yet. The service has no younger one
// before. Where none is known, or not how old it is, the next is asked for in a while. The
// lock is held.
func (l *Last[A]) runsOut() time.Duration {
	if !l.isKnown {
		return MaxAge * 4 / 5
	}
	if age, ok := l.Age(l.known, time.Now()); ok {
		return l.holdsFor() - age
	}
	return ageless
}
