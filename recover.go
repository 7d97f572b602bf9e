package trading

import (
	"context"
	"errors"
	"fmt"

	"github.com/tradingapi/trading-go/internal/ledger"
)

func (c *core) listPending(ctx context.Context) ([]PendingWrite, error) {
	if ctxErr := checkContext(ctx); ctxErr != nil {
		return nil, ctxErr
	}
	open, err := c.driver.Pending(ctx)
	if err != nil {
		return nil, err
	}
	writes := make([]PendingWrite, len(open))
	for i := range open {
		w := &open[i]
		writes[i] = PendingWrite{Intent: intentOf(&w.Intent), Reason: w.Reason, Left: w.Left, Waiting: w.Waiting}
	}
	return writes, nil
}

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
		return nil, fmt.Errorf("%w: %s is not tracked, so read the account: %w", ErrUndetermined, write.Operation, err)
	}
	return c.resolveID(ctx, write.Intent)
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

func (c *core) recoverLeft(ctx context.Context) ([]Resolution, error) {
	if ctxErr := checkContext(ctx); ctxErr != nil {
		return nil, ctxErr
	}
	found, err := c.driver.Recover(ctx)
	if found == nil {
		return nil, err
	}
	resolutions := make([]Resolution, len(found))
	for i := range found {
		resolutions[i] = resolutionOf(&found[i])
	}
	return resolutions, err
}

func (c *core) acknowledge(ctx context.Context, id IntentID, found Outcome, note string) error {
	if ctxErr := checkContext(ctx); ctxErr != nil {
		return ctxErr
	}
	if found != Applied && found != NotApplied {
		return fmt.Errorf("trading: Acknowledge: the outcome must be Applied or NotApplied, not %s", found)
	}
	return c.driver.Acknowledge(ctx, string(id), ledger.Outcome(found), note)
}

func (c *core) forgetClientOrderID(ctx context.Context, account AccountID, op Operation, id string) error {
	source := keySource{id: id}
	return c.driver.Forget(ctx, source.name(account, op))
}

// refusalIn returns the service's refusal in an error, without its wrapping.
func refusalIn(err error) error {
	if refusal := (*Error)(nil); errors.As(err, &refusal) {
		return refusal
	}
	return err
}
