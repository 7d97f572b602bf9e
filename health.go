package trading

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/tradingapi/trading-go/internal/api"
)

// Health is the service's assessment of itself, made at AsOf and reused for
// CacheFor. It is platform-wide: a single market can still have no price.
type Health struct {
	// OK is true only when Status is Healthy.
	OK bool
	// Status is healthy, degraded or unavailable.
	Status HealthStatus
	// Feed is how fresh the prices are; FeedUnknown is never to be taken for live.
	Feed Feed
	// Service and Version name what answered.
	Service, Version string
	// AsOf is when the assessment was made, by the service's clock.
	AsOf time.Time
	// CacheFor is how long the service reuses it.
	CacheFor time.Duration
	// Extra holds members that have no field here.
	Extra Extra
}

// Safe reports whether it is safe to trade: OK, Healthy and FeedLive together.
// Any value that this version does not know is not safe.
func (h *Health) Safe() bool {
	return h != nil && h.OK && h.Status == Healthy && h.Feed == FeedLive
}

// HealthGate holds back entries unless the service says, in an assessment that is
// fresh, that it is safe to trade; also where the assessment cannot be read. It
// is on by default. Exits pass. The zero value is the default gate.
type HealthGate struct {
	// Off lets everything pass and asks nothing.
	Off bool
	// KeepWarm refreshes the assessment in the background from the first entry
	// until Close, so that no later entry waits for it.
	KeepWarm bool
	// Strict holds back exits too.
	Strict bool
}

// defaultCacheFor stands in for a cacheSeconds that is missing or absurd.
const defaultCacheFor = 5 * time.Second

// healthGate keeps the last assessment. Its callers share one request.
type healthGate struct {
	core *core
	HealthGate

	mu        sync.Mutex
	known     *Health
	asked     time.Time     // when the known assessment was asked for, by this machine's clock
	err       error         // why the last refresh brought none
	refreshed chan struct{} // closed when the refresh under way is done; nil without one
	warm      bool          // the background refresh has begun
}

func newHealthGate(c *core, g HealthGate) *healthGate { return &healthGate{core: c, HealthGate: g} }

// guard refuses entries, and exits too where it is strict, while it is not safe to
// trade.
func (g *healthGate) guard(ctx context.Context, w Write) error {
	if g.Off || w.skipHealth || !w.Entry && !g.Strict {
		return nil
	}
	return g.check(ctx)
}

// check returns nil if it is safe to trade, and otherwise the reason.
func (g *healthGate) check(ctx context.Context) error {
	health, err := g.assessment(ctx)
	switch {
	case err != nil:
		return &GuardError{Kind: ErrUnhealthy, Reason: "health cannot be read", Err: err}
	case !health.Safe():
		return &GuardError{
			Kind:   ErrUnhealthy,
			Reason: fmt.Sprintf("status %s, feed %s", health.Status, health.Feed),
			Health: health,
		}
	default:
		return nil
	}
}

// assessment returns one that was asked for at most CacheFor ago, or twice that
// while a refresh is under way and the old one was good: what is still unsafe
// must not be, once it has recovered.
func (g *healthGate) assessment(ctx context.Context) (*Health, error) {
	g.mu.Lock()
	age := time.Since(g.asked)
	if g.known != nil && age <= g.known.CacheFor {
		defer g.mu.Unlock()
		return g.known, nil
	}
	done := g.refreshLocked(ctx)
	if g.known != nil && age <= 2*g.known.CacheFor && g.known.Safe() {
		defer g.mu.Unlock()
		return g.known, nil
	}
	g.mu.Unlock()

	select {
	case <-done:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.known, g.err
}

// refreshLocked joins the refresh under way, or begins one.
func (g *healthGate) refreshLocked(ctx context.Context) <-chan struct{} {
	if g.refreshed != nil {
		return g.refreshed
	}
	done := make(chan struct{})
	g.refreshed = done
	if !g.core.enter() {
		g.known, g.err = nil, ErrClosed
		g.refreshed = nil
		close(done)
		return done
	}
	// The request is everybody's: it must not end with the caller who began it.
	ctx = context.WithoutCancel(ctx)
	go func() {
		defer g.core.leave()
		g.refresh(ctx, done)
		if g.KeepWarm {
			g.keepWarm(ctx)
		}
	}()
	return done
}

// refresh asks once. A gate's question is not sent again: the next entry asks anew.
func (g *healthGate) refresh(ctx context.Context, done chan<- struct{}) {
	asked := time.Now()
	defaults := defaultCallOptions()
	defaults.retry.Attempts = 1
	call := caller{g.core, defaults}.begin(ctx, &endpointHealth, nil)
	var answer api.Health
	err := call.do(call.healthAnswer(&answer))

	g.mu.Lock()
	defer g.mu.Unlock()
	g.known, g.err = nil, err
	if err == nil {
		g.known, g.asked = healthOf(&answer), asked
	}
	g.refreshed = nil
	close(done)
}

// keepWarm refreshes shortly before each assessment runs out, until Close. Only
// one goroutine does.
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
		wait := defaultCacheFor
		if g.known != nil {
			wait = time.Until(g.asked.Add(g.known.CacheFor))
		}
		g.mu.Unlock()
		timer := time.NewTimer(max(wait*4/5, 100*time.Millisecond))
		select {
		case <-timer.C:
		case <-g.core.closing.Done():
			timer.Stop()
			return
		}
		g.mu.Lock()
		if g.refreshed != nil {
			g.mu.Unlock()
			continue
		}
		done := make(chan struct{})
		g.refreshed = done
		g.mu.Unlock()
		g.refresh(ctx, done)
	}
}

// healthOf gives an answer its meaning.
func healthOf(answer *api.Health) *Health {
	h := &Health{
		OK:       answer.OK,
		Status:   HealthStatus(answer.Status),
		Feed:     Feed(answer.Feed),
		Service:  answer.Service,
		Version:  answer.Version,
		AsOf:     timeOf(answer.AsOf, "asOf", &answer.Extra),
		CacheFor: durationOf(answer.CacheSeconds, time.Second),
		Extra:    answer.Extra,
	}
	if h.CacheFor <= 0 || h.CacheFor > time.Minute {
		h.CacheFor = defaultCacheFor
	}
	return h
}
