package trading

import (
	"context"
	"errors"
	"fmt"

	"github.com/tradingapi/trading-go/internal/ledger"
)

// Pending lists the writes whose outcome is not known, oldest first: those of this
// client, of others that share its journal, and those that earlier runs left.
func (c *Client) Pending(ctx context.Context) ([]PendingWrite, error) {
	if ctxErr := checkContext(ctx); ctxErr != nil {
		return nil, ctxErr
	}
	open, err := c.core.driver.Pending(ctx)
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

// Resolve waits for the outcome of the write that returned err. Where the client has
// stopped asking by itself, Resolve asks again. It waits until ctx ends, the outcome is
// known, or nothing more can be found out at the moment. The error is nil exactly if the
// outcome is known; the Resolution is not nil if the write is tracked. [Client.ResolveID]
// does the same by the id of a write, such as one of a [PendingError].
//
// Resolve never places the write anew. If asking for the stored answer placed it, the
// Resolution's Late is set.
func (c *Client) Resolve(ctx context.Context, err error) (*Resolution, error) {
	return c.core.resolveError(ctx, err)
}

// ResolveID is [Client.Resolve] by the id of a write.
func (c *Client) ResolveID(ctx context.Context, id IntentID) (*Resolution, error) {
	return c.core.resolveID(ctx, id)
}

// Recover waits for the outcomes of the writes that earlier runs of the program left in
// the journal. It takes some seconds where the service still has the answers, and up to
// half an hour where it does not. Trading in other markets may begin meanwhile, so run it
// in a goroutine. The error is nil exactly if all outcomes are known. A write whose
// outcome is not known keeps its market closed to entries until it is resolved or
// acknowledged.
func (c *Client) Recover(ctx context.Context) ([]Resolution, error) {
	if ctxErr := checkContext(ctx); ctxErr != nil {
		return nil, ctxErr
	}
	found, err := c.core.driver.Recover(ctx)
	if found == nil {
		return nil, err
	}
	resolutions := make([]Resolution, len(found))
	for i := range found {
		resolutions[i] = resolutionOf(&found[i])
	}
	return resolutions, err
}

// Acknowledge resolves a pending write by what a person has found: [Applied] or
// [NotApplied]. After that entries in its market are sent again. The write's key is not
// used again, since a late copy of the request may still arrive.
func (c *Client) Acknowledge(ctx context.Context, id IntentID, found Outcome, note string) error {
	if ctxErr := checkContext(ctx); ctxErr != nil {
		return ctxErr
	}
	if found != Applied && found != NotApplied {
		return fmt.Errorf("trading: Acknowledge: the outcome must be Applied or NotApplied, not %s", found)
	}
	return c.core.driver.Acknowledge(ctx, string(id), ledger.Outcome(found), note)
}

// ForgetClientOrderID deletes what the journal keeps of a client order id, once its
// write is resolved. After that the same id is a new order.
func (c *Client) ForgetClientOrderID(ctx context.Context, account AccountID, op Operation, id string) error {
	source := keySource{id: id}
	return c.core.driver.Forget(ctx, source.name(account, op))
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

// refusalIn returns the service's refusal in an error, without its wrapping.
func refusalIn(err error) error {
	if refusal := (*Error)(nil); errors.As(err, &refusal) {
		return refusal
	}
	return err
}
