package trading

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/tradingapi/trading-go/internal/books"
	"github.com/tradingapi/trading-go/internal/pending"
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
// the client resolves a write in doubt, which it let pass: [Recovery.WithoutProbe] holds that back.
type Guard func(ctx context.Context, w Write) error

// guardAccount refuses entries on an account whose status, as last seen, takes
// none. A status that this version does not know takes none either.
func guardAccount(seen *books.Books) Guard {
	return func(_ context.Context, w Write) error {
		if !w.Entry || w.Environment != EnvLive {
			return nil
		}
		status := AccountStatus(seen.Status(books.AccountKey{Environment: EnvLive, ID: w.Account}))
		if status == "" || status.AllowsEntry() {
			return nil
		}
		return &GuardError{Kind: ErrAccountLocked, Err: refuse(EnvLive, CodeAccountLocked,
			"account %s was last seen %s; read its state if that has changed", w.Account, status)}
	}
}

// guardPending refuses entries beside a write whose outcome is not known: the
// caller's own retry would be a second order.
func guardPending(doubtedIn func(context.Context, pending.Place) ([]IntentID, error)) Guard {
	return func(ctx context.Context, w Write) error {
		if !w.Entry || w.allowPending {
			return nil
		}
		at := pending.Place{Environment: w.Environment, Account: w.Account, Symbol: cmp.Or(w.Symbol, pending.AnyMarket)}
		ids, err := doubtedIn(ctx, at)
		if err != nil {
			return &GuardError{Kind: ErrJournal, Err: err}
		}
		if len(ids) == 0 {
			return nil
		}
		return &GuardError{Kind: ErrPendingWrite, Err: &PendingError{IDs: ids}}
	}
}

func guardHalt(halted func() (string, bool)) Guard {
	return func(_ context.Context, w Write) error {
		if reason, halted := halted(); halted && w.Entry {
			return &GuardError{Kind: ErrHalted, Reason: reason}
		}
		return nil
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
