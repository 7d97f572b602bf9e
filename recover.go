package trading

import (
	"context"
	"errors"
	"fmt"

	"github.com/tradingapi/trading-go/internal/pending"
)

// Exiting returns the context of a program that gets out of the market: whatever it finds
// executed, it closes. Under it [Client.Resolve] and its like also ask for the stored answer
// of an entry while [Client.Halt] is on, which else holds such requests back.
func Exiting(ctx context.Context) context.Context { return pending.Exiting(ctx) }

// resolveError is [Client.Resolve].
func (c *core) resolveError(ctx context.Context, err error) (*Resolution, error) {
	if ctxErr := checkContext(ctx); ctxErr != nil {
		return nil, ctxErr
	}
	write := (*WriteError)(nil)
	switch {
	case err == nil:
		return &Resolution{Outcome: Applied, Evidence: EvidenceAnswer}, nil
	case !errors.As(err, &write):
		return nil, fmt.Errorf("trading: Resolve: not the error of a write: %w", err)
	case write.Outcome != Unknown:
		return &Resolution{
			Intent:  Intent{ID: write.Intent, Operation: write.Operation, Account: write.Account, Symbol: write.Symbol},
			Outcome: write.Outcome, Evidence: EvidenceAnswer, Err: refusalIn(write),
		}, nil
	case write.Intent == "":
		if !errors.Is(err, ErrUndetermined) {
			err = fmt.Errorf("%w: %w", ErrUndetermined, err)
		}
		return nil, fmt.Errorf("it is not tracked, so read the account: %w", err)
	}
	return c.resolveID(ctx, write.Intent)
}

// pendingOn lists the writes of an account whose outcome is not known, those that are
// being sent too.
func (c *core) pendingOn(ctx context.Context, env Environment, id AccountID) ([]PendingWrite, error) {
	if ctxErr := checkContext(ctx); ctxErr != nil {
		return nil, ctxErr
	}
	open, err := c.driver.PendingOn(ctx, string(env), string(id))
	if err != nil {
		return nil, err
	}
	return pendingOf(open), nil
}

func (c *core) resolveID(ctx context.Context, id IntentID) (*Resolution, error) {
	if ctxErr := checkContext(ctx); ctxErr != nil {
		return nil, ctxErr
	}
	found, known, err := c.driver.Resolve(ctx, string(id))
	if err != nil {
		return nil, err
	}
	r := resolutionOf(&found)
	if !known {
		return &r, r.Err
	}
	return &r, nil
}

// refusalIn returns the service's refusal in an error, without its wrapping.
func refusalIn(err error) error {
	if refusal := (*Error)(nil); errors.As(err, &refusal) {
		return refusal
	}
	return err
}
