package trading

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

func (c *core) listPending(ctx context.Context) ([]PendingWrite, error) {
	if ctxErr := checkContext(ctx); ctxErr != nil {
		return nil, ctxErr
	}
	if err := c.load(ctx); err != nil {
		return nil, err
	}
	entries := c.pending.Doubted()
	writes := make([]PendingWrite, len(entries))
	for i, e := range entries {
		writes[i] = c.driver.workerOf(e.Write).describe(e.Write)
		writes[i].Left = c.pending.wasLeft(e.Write)
	}
	return writes, nil
}

// pendingOn lists the writes of an account whose outcome is not known, those that are
// being sent too.
func (c *core) pendingOn(ctx context.Context, env Environment, id AccountID) ([]PendingWrite, error) {
	if ctxErr := checkContext(ctx); ctxErr != nil {
		return nil, ctxErr
	}
	if err := c.load(ctx); err != nil {
		return nil, err
	}
	var writes []PendingWrite
	doubted, sent := c.pending.Open()
	for _, e := range doubted {
		if in := &e.Write.intent; in.Environment == env && in.Account == id {
			writes = append(writes, c.driver.workerOf(e.Write).describe(e.Write))
		}
	}
	for _, e := range sent {
		if in := &e.Write.intent; in.Environment == env && in.Account == id {
			writes = append(writes, PendingWrite{Intent: in.withoutKey(), Reason: "its call has not returned"})
		}
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
	since := c.pending.requests.Load()
	if err := c.load(ctx); err != nil {
		return nil, err
	}
	r, known := c.driver.resolve(ctx, id, since)
	if !known {
		return &r, r.Err
	}
	return &r, nil
}

func (c *core) recoverLeft(ctx context.Context) ([]Resolution, error) {
	if ctxErr := checkContext(ctx); ctxErr != nil {
		return nil, ctxErr
	}
	since := c.pending.requests.Load()
	if err := c.load(ctx); err != nil {
		return nil, err
	}
	var left []*write
	for _, e := range c.pending.Doubted() {
		if c.pending.wasLeft(e.Write) {
			left = append(left, e.Write)
			c.driver.workerOf(e.Write).ask(e.Write, since)
		}
	}
	resolutions, open := make([]Resolution, len(left)), make([]error, len(left))
	var all sync.WaitGroup // so that their waits overlap
	for i, w := range left {
		all.Go(func() {
			r, known := c.driver.workerOf(w).wait(ctx, w)
			if !known {
				open[i] = fmt.Errorf("write %s, %s %s: %w", w.intent.ID, w.intent.Operation, w.intent.Symbol, r.Err)
			}
			resolutions[i] = r
		})
	}
	all.Wait()
	return resolutions, errors.Join(open...)
}

func (c *core) acknowledge(ctx context.Context, id IntentID, found Outcome, note string) error {
	if ctxErr := checkContext(ctx); ctxErr != nil {
		return ctxErr
	}
	if found != Applied && found != NotApplied {
		return fmt.Errorf("trading: Acknowledge: the outcome must be Applied or NotApplied, not %s", found)
	}
	if err := c.load(ctx); err != nil {
		return err
	}
	e := c.pending.Find(string(id))
	if e == nil {
		return fmt.Errorf("trading: Acknowledge: write %s is not pending", id)
	}
	return c.driver.workerOf(e.Write).acknowledge(ctx, e.Write, found, note)
}

func (c *core) forgetClientOrderID(ctx context.Context, account AccountID, op Operation, id string) error {
	if c.store.journal == nil {
		return errors.New("trading: ForgetClientOrderID: the client has no journal")
	}
	source := keySource{id: id}
	return c.store.journal.Forget(ctx, source.name(account, op))
}

// refusalIn returns the service's refusal in an error, without its wrapping.
func refusalIn(err error) error {
	if refusal := (*Error)(nil); errors.As(err, &refusal) {
		return refusal
	}
	return err
}
