package trading

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tradingapi/trading-go/internal/books"
	"github.com/tradingapi/trading-go/internal/health"
	"github.com/tradingapi/trading-go/internal/pending"
	"github.com/tradingapi/trading-go/internal/resolve"
)

// Write describes a write to guards.
type Write struct {
	Operation   Operation   // the endpoint
	Environment Environment // sandbox or live
	Account     AccountID   // the live account; empty on the sandbox
	Symbol      string      // the market, empty where the write is for none
	Entry       bool        // the write can add exposure; an exit cannot
	Order       *Order      // nil unless the write is one
	Tag         string      // the caller's name for the decision

	// What the caller asked the client's own guards to let pass.
	skipHealth, allowPending bool

	// books are those of the client that sends it, where the account is declared by
	// [WithExclusiveAccounts].
	books *books.Books
}

// Guard is asked before every send of a write by its call. An error holds the write back:
// nothing is sent, and the caller gets a [GuardError] that wraps it. It is not asked when
// the client resolves a write in doubt, which it let pass: [WithoutProbe] holds that back.
type Guard func(ctx context.Context, w Write) error

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
		at := pending.Place{Environment: string(w.Environment), Account: string(w.Account), Symbol: cmp.Or(w.Symbol, pending.AnyMarket)}
		ids, err := doubtedIn(ctx, at)
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

// askGuards asks every guard, before every send.
func askGuards(ctx context.Context, guards []Guard, w Write) error {
	for _, guard := range guards {
		if err := guard(ctx, w); err != nil {
			return guardError(err)
		}
	}
	return nil
}

// guardError keeps a guard's own GuardError, and makes one of anything else.
func guardError(err error) error {
	if own := (*GuardError)(nil); errors.As(err, &own) {
		return err
	}
	return &GuardError{Kind: ErrGuard, Err: err}
}

// guardHalt refuses entries while the program is halted.
func guardHalt(halted func() (string, bool)) Guard {
	return func(_ context.Context, w Write) error {
		if reason, halted := halted(); halted && w.Entry {
			return &GuardError{Kind: ErrHalted, Reason: reason}
		}
		return nil
	}
}

// healthGate holds writes back while it is not safe to trade.
type healthGate struct {
	HealthGate
	last *health.Last[*Health]
}

func newHealthGate(g HealthGate, c health.Config[*Health]) *healthGate {
	c.ReusedFor = func(h *Health) time.Duration { return h.CacheFor }
	c.KeepWarm, c.ErrClosed = g.KeepWarm, ErrClosed
	return &healthGate{g, health.New(c)}
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
	h, err := g.last.Get(ctx)
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
		_, _ = g.last.Fresh(ctx)
	}
}

// holdsProbe returns why a probe of an entry waits, "" if it does not, and for how long.
func (g *healthGate) holdsProbe(ctx context.Context) (why string, again time.Duration) {
	if g.Off {
		return "", 0
	}
	h, err := g.last.Fresh(ctx)
	switch {
	case errors.Is(err, health.ErrReading):
		return ErrUnhealthy.Error() + ": " + err.Error(), resolve.AskSoon
	case err != nil || !h.Safe():
		return ErrUnhealthy.Error(), resolve.AskLater
	default:
		return "", 0
	}
}

// OnlyAccounts is a guard that refuses writes to any other account: one live key
// reaches every account of its owner.
func OnlyAccounts(ids ...AccountID) Guard {
	allowed := slices.Clone(ids)
	return func(_ context.Context, w Write) error {
		if w.Environment == EnvLive && !slices.Contains(allowed, w.Account) {
			return fmt.Errorf("account is %q: it must be one of those of OnlyAccounts", w.Account)
		}
		return nil
	}
}
