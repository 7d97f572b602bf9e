package trading

import (
	"context"
	"errors"
	"fmt"
)

// Pending lists the writes whose outcome is not known, oldest first: those of this
// client, of others that share its journal, and those that earlier runs left.
func (c *Client) Pending(ctx context.Context) ([]PendingWrite, error) {
	if ctxErr := checkContext(ctx); ctxErr != nil {
		return nil, ctxErr
	}
	if err := c.core.load(ctx); err != nil {
		return nil, err
	}
	entries := c.core.pending.Doubted()
	writes := make([]PendingWrite, len(entries))
	for i, e := range entries {
		writes[i] = c.core.ownerOf(e.Write).driver.describe(e.Write)
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
	return c.ResolveID(ctx, write.Intent)
}

// ResolveID is [Client.Resolve] by the id of a write.
func (c *Client) ResolveID(ctx context.Context, id IntentID) (*Resolution, error) {
	if ctxErr := checkContext(ctx); ctxErr != nil {
		return nil, ctxErr
	}
	if err := c.core.load(ctx); err != nil {
		return nil, err
	}
	r, known := c.core.driver.resolve(ctx, id)
	if !known {
		return &r, r.Err
	}
	return &r, nil
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
	if err := c.core.load(ctx); err != nil {
		return nil, err
	}
	var left []*write
	for _, e := range c.core.pending.Doubted() {
		if e.Write.left {
			left = append(left, e.Write)
			c.core.ownerOf(e.Write).driver.ask(e.Write)
		}
	}
	var resolutions []Resolution
	var open []error
	for _, w := range left {
		r, known := c.core.driver.waitOf(ctx, w)
		resolutions = append(resolutions, r)
		if !known {
			open = append(open, fmt.Errorf("write %s, %s %s: %w", w.intent.ID, w.intent.Operation, w.intent.Symbol, r.Err))
		}
	}
	return resolutions, errors.Join(open...)
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
	if err := c.core.load(ctx); err != nil {
		return err
	}
	e := c.core.pending.Find(string(id))
	if e == nil {
		return fmt.Errorf("trading: Acknowledge: write %s is not pending", id)
	}
	return c.core.ownerOf(e.Write).driver.acknowledge(ctx, e.Write, found, note)
}

// ForgetClientOrderID deletes what the journal keeps of a client order id, once its
// write is resolved. After that the same id is a new order.
func (c *Client) ForgetClientOrderID(ctx context.Context, account AccountID, op Operation, id string) error {
	if c.core.store.journal == nil {
		return errors.New("trading: ForgetClientOrderID: the client has no journal")
	}
	source := keySource{id: id}
	return c.core.store.journal.Forget(ctx, source.name(account, op))
}

// refusalIn returns the service's refusal in an error, without its wrapping.
func refusalIn(err error) error {
	if refusal := (*Error)(nil); errors.As(err, &refusal) {
		return refusal
	}
	return err
}
