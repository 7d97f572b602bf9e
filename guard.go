package trading

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tradingapi/trading-go/internal/pending"
)

// guardAccount refuses entries on an account whose status, as last seen, takes
// none. A status that this version does not know takes none either.
func guardAccount(lastSeen func(Environment, AccountID) AccountStatus) Guard {
	return func(_ context.Context, w Write) error {
		if !w.Entry || w.Environment != EnvLive {
			return nil
		}
		status := lastSeen(w.Environment, w.Account)
		if status == "" || status.AllowsEntry() {
			return nil
		}
		return &GuardError{Kind: ErrAccountLocked, Err: refuse(EnvLive, CodeAccountLocked,
			"account %s was last seen %s; read its state if that has changed", w.Account, status)}
	}
}

// guardPending refuses entries beside a write whose outcome is not known: the
// caller's own retry would be a second order.
func guardPending(doubtedIn func(context.Context, pending.Place) ([]string, error)) Guard {
	return func(ctx context.Context, w Write) error {
		if !w.Entry || w.allowPending {
			return nil
		}
		ids, err := doubtedIn(ctx, pending.Place{Environment: string(w.Environment), Account: string(w.Account), Symbol: w.Symbol})
		if err != nil {
			return &GuardError{Kind: ErrJournal, Err: err}
		}
		if len(ids) == 0 {
			return nil
		}
		e := &PendingError{IDs: make([]IntentID, len(ids))}
		for i, id := range ids {
			e.IDs[i] = IntentID(id)
		}
		return &GuardError{Kind: ErrPendingWrite, Err: e}
	}
}

// guardError keeps a guard's own GuardError, and makes one of anything else.
func guardError(err error) error {
	if own := (*GuardError)(nil); errors.As(err, &own) {
		return err
	}
	return &GuardError{Kind: ErrGuard, Err: err}
}

// halt is the program's own stop.
type halt struct {
	mu     sync.Mutex
	halted bool
	reason string
}

func (h *halt) set(reason string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.halted, h.reason = true, reason
}

func (h *halt) clear() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.halted, h.reason = false, ""
}

// guard refuses entries while the program is halted.
func (h *halt) guard(_ context.Context, w Write) error {
	if reason, halted := h.get(); halted && w.Entry {
		return &GuardError{Kind: ErrHalted, Reason: reason}
	}
	return nil
}

func (h *halt) get() (reason string, halted bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.reason, h.halted
}

// healthGate keeps the last assessment. Its callers share one request.
type healthGate struct {
	HealthGate
	read       func(context.Context) (*Health, error)
	background func(func(closing context.Context)) bool // false once the client closes

	mu        sync.Mutex
	known     *Health
	asked     time.Time     // when the known assessment was asked for, by this machine's clock
	err       error         // why the last refresh brought none
	refreshed chan struct{} // closed when the refresh under way is done; nil without one
	warm      bool          // the background refresh has begun
}

func newHealthGate(g HealthGate, read func(context.Context) (*Health, error), background func(func(context.Context)) bool) *healthGate {
	return &healthGate{HealthGate: g, read: read, background: background}
}

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

// assessment returns one that was asked for at most CacheFor ago. While a refresh is
// under way an older one is not used: its end is waited for.
func (g *healthGate) assessment(ctx context.Context) (*Health, error) {
	g.mu.Lock()
	if g.known != nil && elapsed(g.asked) <= g.known.CacheFor {
		defer g.mu.Unlock()
		return g.known, nil
	}
	done := g.refreshLocked(ctx)
	g.mu.Unlock()

	select {
	case <-done:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err != nil {
		return nil, g.err
	}
	if age := elapsed(g.asked); age > g.known.CacheFor {
		return nil, fmt.Errorf("the assessment was asked for %s ago, and holds for %s", age, g.known.CacheFor)
	}
	return g.known, nil
}

// knownUnsafe reports whether the last assessment says that it is not safe to trade.
func (g *healthGate) knownUnsafe() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.Off && g.known != nil && !g.known.Safe()
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
	if !g.background(func(closing context.Context) {
		g.refresh(ctx, done)
		if g.KeepWarm {
			g.keepWarm(ctx, closing)
		}
	}) {
		g.known, g.err = nil, ErrClosed
		g.refreshed = nil
		close(done)
	}
	return done
}

// refresh asks once.
func (g *healthGate) refresh(ctx context.Context, done chan<- struct{}) {
	asked := time.Now()
	health, err := g.read(ctx)

	g.mu.Lock()
	defer g.mu.Unlock()
	g.known, g.err = health, err
	if err == nil {
		g.asked = asked
	}
	g.refreshed = nil
	close(done)
}

// keepWarm refreshes shortly before each assessment runs out, until Close. Only
// one goroutine does.
func (g *healthGate) keepWarm(ctx, closing context.Context) {
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
		case <-closing.Done():
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

// elapsed is how long ago that was, by whichever clock ran further: the wall clock
// can be set back, and the monotonic one stands still while the machine sleeps.
func elapsed(since time.Time) time.Duration {
	now := time.Now()
	return max(now.Sub(since), now.Round(0).Sub(since.Round(0)))
}
