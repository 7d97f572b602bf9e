package trading

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/resolve"
	"github.com/tradingapi/trading-go/internal/servicetime"
)

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

// healthGate holds writes back while it is not safe to trade. It keeps the last assessment, and reads the next
// where that is too old: its callers share one request.
type healthGate struct {
	HealthGate
	life *resolve.Life
	ask  func(context.Context) (*Health, error)
	// ageOf is how old an assessment is at a moment, by the service's clock, at the most;
	// false where that is not known.
	ageOf func(h *Health, at time.Time) (time.Duration, bool)
	// without is what is not relied on: an assessment of which that is not known, say.
	without func() ledger.Without

	mu        sync.Mutex
	known     *Health       // nil without one
	asked     time.Time     // when it was last asked for, by this machine's clock
	err       error         // why the last refresh brought none
	old       int           // how many in a row were too old when they came
	refreshed chan struct{} // closed when the refresh under way is done; nil without one
	warm      bool          // the background refresh has begun
}

// guard refuses entries while it is not safe to trade.
func (g *healthGate) guard(ctx context.Context, w Write) error {
	if g.Off || w.skipHealth || !w.Entry {
		return nil
	}
	h, err := g.get(ctx)
	switch {
	case err != nil:
		return &GuardError{Kind: ErrUnhealthy, Reason: "health cannot be read", Err: err}
	case !h.Safe():
		return &GuardError{
			Kind:   ErrUnhealthy,
			Reason: fmt.Sprintf("status %s, feed %s", h.Status, h.Feed),
			Health: h,
		}
	default:
		return nil
	}
}

// ahead has the health read for an entry that a pending write holds back: else nothing
// would, where a bot has no other market.
func (g *healthGate) ahead(ctx context.Context, w Write) {
	if !g.Off && !w.skipHealth && w.Entry {
		_, _ = g.fresh(ctx)
	}
}

// holdsProbe returns why a probe of an entry waits, "" if it does not, and for how long.
func (g *healthGate) holdsProbe(ctx context.Context) (why string, again time.Duration) {
	if g.Off {
		return "", 0
	}
	h, err := g.fresh(ctx)
	switch {
	case errors.Is(err, errReading):
		return ErrUnhealthy.Error() + ": " + err.Error(), resolve.AskSoon
	case err != nil || !h.Safe():
		return ErrUnhealthy.Error(), resolve.AskLater
	default:
		return "", 0
	}
}

// errReading is the error of fresh while an assessment is read.
var errReading = errors.New("the health is being read")

// fresh returns an assessment that is young enough, without waiting. Where there is none it
// is asked for, unless that has failed a moment ago, or brought one that was too old.
func (g *healthGate) fresh(ctx context.Context) (*Health, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.known != nil && g.tooOld(ageless) == nil:
		return g.known, nil
	case g.err != nil && resolve.Elapsed(g.asked) < maxHealthAge:
		return nil, g.err
	case g.refreshed == nil && g.old > mostAgain && resolve.Elapsed(g.asked) < maxHealthAge:
		return nil, g.tooOld(ageless)
	case g.old > 0 && resolve.Elapsed(g.asked) < againAfter:
		return nil, errReading
	default:
		g.refreshLocked(ctx)
		return nil, errReading
	}
}

// get returns an assessment that is young enough. While a refresh is under way an older
// one is not used: its end is waited for.
func (g *healthGate) get(ctx context.Context) (*Health, error) {
	for again := 0; ; again++ {
		g.mu.Lock()
		if g.known != nil && g.tooOld(ageless) == nil {
			known := g.known
			g.mu.Unlock()
			return known, nil
		}
		done := g.refreshLocked(ctx)
		g.mu.Unlock()
		select {
		case <-done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		g.mu.Lock()
		known, err := g.known, g.err
		old := err == nil
		if old {
			err = g.tooOld(maxHealthAge)
		}
		g.mu.Unlock()
		switch {
		case err == nil:
			return known, nil
		case !old || again == mostAgain:
			return nil, err
		}
		select {
		case <-time.After(againAfter):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// tooOld says why the known assessment is not used; nil if it is. One whose age is not known
// is used for so long from when it was asked for. The lock is held.
func (g *healthGate) tooOld(unknownFor time.Duration) error {
	holds, asked := g.holdsFor(), resolve.Elapsed(g.asked)
	age, ok := g.ageOf(g.known, time.Now())
	switch {
	case asked > holds:
		return fmt.Errorf("the assessment was asked for %s ago, and holds for %s", asked, holds)
	case age > holds:
		return fmt.Errorf("the assessment is up to %s old by the service's clock, and holds for %s", age, holds)
	case !ok && (asked > unknownFor || g.without().AgeUnknown):
		return fmt.Errorf("the assessment was asked for %s ago, and its age is not known", asked)
	default:
		return nil
	}
}

// holdsFor is how old the known assessment may be: as long as the service reuses it, and no
// shorter than an age can be known. The lock is held.
func (g *healthGate) holdsFor() time.Duration {
	return min(max(g.known.CacheFor, shortest), maxHealthAge)
}

// refreshLocked joins the refresh under way, or begins one.
func (g *healthGate) refreshLocked(ctx context.Context) <-chan struct{} {
	if g.refreshed != nil {
		return g.refreshed
	}
	done := make(chan struct{})
	g.refreshed = done
	// The request is everybody's: it must not end with the caller who began it.
	ctx = context.WithoutCancel(ctx)
	if !g.life.Go(func() {
		g.refresh(ctx, done)
		if g.KeepWarm {
			g.keepWarm(ctx)
		}
	}) {
		g.known, g.err = nil, ErrClosed
		g.refreshed = nil
		close(done)
	}
	return done
}

func (g *healthGate) refresh(ctx context.Context, done chan<- struct{}) {
	asked := time.Now()
	read, err := g.ask(ctx) // nil if it fails

	g.mu.Lock()
	defer g.mu.Unlock()
	g.known, g.err, g.asked = read, err, asked
	if g.known != nil && g.tooOld(maxHealthAge) != nil {
		g.old++
	} else {
		g.old = 0
	}
	g.refreshed = nil
	close(done)
}

// keepWarm refreshes when each assessment runs out, until Close. Only one goroutine does.
func (g *healthGate) keepWarm(ctx context.Context) {
	g.mu.Lock()
	first := !g.warm
	g.warm = true
	g.mu.Unlock()
	if !first {
		return
	}
	for {
		g.mu.Lock()
		wait := g.runsOut()
		g.mu.Unlock()
		timer := time.NewTimer(max(wait, againAfter))
		select {
		case <-timer.C:
		case <-g.life.Closing.Done():
			timer.Stop()
			return
		}
		g.mu.Lock()
		done := g.refreshLocked(ctx)
		g.mu.Unlock()
		<-done
	}
}

// runsOut is how long the known assessment is used yet. The service has no younger one
// before. Where none is known, or not how old it is, the next is asked for in a while. The
// lock is held.
func (g *healthGate) runsOut() time.Duration {
	if g.known == nil {
		return maxHealthAge * 4 / 5
	}
	if age, ok := g.ageOf(g.known, time.Now()); ok {
		return g.holdsFor() - age
	}
	return ageless
}

// ageBy is how old an assessment is by the service's clock, at the most: a Date has whole
// seconds. One that is of later than now says nothing.
func ageBy(clocks resolve.Clocks) func(h *Health, at time.Time) (time.Duration, bool) {
	return func(h *Health, at time.Time) (time.Duration, bool) {
		age, known := clocks.At(at).Service.Add(time.Second).Since(servicetime.Shown(h.AsOf))
		return age, known && age >= 0
	}
}
