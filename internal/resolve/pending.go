package resolve

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/pending"
	"github.com/tradingapi/trading-go/internal/spec"
	"github.com/tradingapi/trading-go/journal"
)

// What a client asks about the writes whose outcome is not known.

// Durable reports whether what it keeps outlives the process.
func (d *Driver) Durable() bool { return d.store.journal != nil }

// Requests is the number of the last request of the drivers.
func (d *Driver) Requests() uint64 { return d.pending.requests.Load() }

// Forget deletes what the journal keeps of a name.
func (d *Driver) Forget(ctx context.Context, name string) error {
	if !d.Durable() {
		return errors.New("trading: ForgetClientOrderID: the client has no journal")
	}
	if err := d.store.journal.Forget(ctx, name); err != nil {
		return err
	}
	d.pending.kept.forget(name)
	return nil
}

// Named returns what the journal has of a name.
func (d *Driver) Named(ctx context.Context, name string) ([]journal.History, error) {
	if !d.Durable() {
		return nil, nil
	}
	return d.store.journal.Named(ctx, name)
}

// DoubtedIn returns the ids of the writes in a place whose outcome is not known.
func (d *Driver) DoubtedIn(ctx context.Context, at pending.Place) ([]pending.IntentID, error) {
	if err := d.Load(ctx); err != nil {
		return nil, err
	}
	return d.pending.doubtedIn(at), nil
}

// Pending lists the writes whose outcome is not known, oldest first.
func (d *Driver) Pending(ctx context.Context) ([]pending.Doubt, error) {
	if err := d.Load(ctx); err != nil {
		return nil, err
	}
	entries := d.pending.doubted()
	writes := make([]pending.Doubt, len(entries))
	for i, e := range entries {
		writes[i] = d.workerOf(e).describe(e)
	}
	return writes, nil
}

// PendingOn lists the writes of an account whose outcome is not known, and after them those
// that are being sent.
func (d *Driver) PendingOn(ctx context.Context, environment spec.Environment, account pending.AccountID) ([]pending.Doubt, error) {
	if err := d.Load(ctx); err != nil {
		return nil, err
	}
	var writes []pending.Doubt
	doubted, sent := d.pending.open()
	for _, e := range doubted {
		if in := &e.Intent; in.Environment == environment && in.Account == account {
			writes = append(writes, d.workerOf(e).describe(e))
		}
	}
	for _, e := range sent {
		if in := &e.Intent; in.Environment == environment && in.Account == account {
			writes = append(writes, pending.Doubt{Intent: e.intent(), Reason: "its call has not returned"})
		}
	}
	return writes, nil
}

// Resolve waits for the outcome of a write by its id. The error is that of the journal:
// why there is no outcome is in the resolution.
func (d *Driver) Resolve(ctx context.Context, id pending.IntentID) (r Found, known bool, err error) {
	asked := d.Requests()
	if err := d.Load(ctx); err != nil {
		return r, false, err
	}
	e := d.pending.find(id)
	if e == nil {
		if r, known = d.pending.resolved.find(id); !known {
			r.Err = fmt.Errorf("%w: write %s is not pending in this client", ErrUndetermined, id)
		}
		return r, known, nil
	}
	d.Ask(e, asked)
	r, known = d.Wait(ctx, e)
	return r, known, nil
}

// Ask has whoever works on a write go on with it, where nothing more is done. asked is the number of
// the last request when the caller began: a later one is not repeated.
func (d *Driver) Ask(w *OpenWrite, asked uint64) {
	worker := d.workerOf(w)
	worker.schedule.ask(w, asked, func() { w.Ledger.Note(ledger.Fact{Kind: ledger.Asked, At: worker.Clocks.Now()}) })
}

// Wait waits until a write is resolved, nothing more is done about it, or the context
// ends.
func (d *Driver) Wait(ctx context.Context, w *OpenWrite) (Found, bool) {
	return d.workerOf(w).wait(ctx, w)
}

// IsOpen reports whether a write has not ended.
func (d *Driver) IsOpen(w *OpenWrite) bool { return d.pending.find(w.Intent.ID) != nil }

// Recover waits for the outcomes of the writes that earlier runs left, or clients that
// have closed. The error joins those of the writes that have none.
func (d *Driver) Recover(ctx context.Context) ([]Found, error) {
	asked := d.Requests()
	if err := d.Load(ctx); err != nil {
		return nil, err
	}
	var left []*OpenWrite
	for _, e := range d.pending.doubted() {
		if d.pending.wasLeft(e) {
			left = append(left, e)
			d.Ask(e, asked)
		}
	}
	resolutions, open := make([]Found, len(left)), make([]error, len(left))
	var all sync.WaitGroup // so that their waits overlap
	for i, w := range left {
		all.Go(func() {
			r, known := d.Wait(ctx, w)
			if !known {
				open[i] = fmt.Errorf("write %s, %s %s: %w", w.Intent.ID, w.Intent.Operation, w.Intent.Symbol, r.Err)
			}
			resolutions[i] = r
		})
	}
	all.Wait()
	return resolutions, errors.Join(open...)
}

// Acknowledge notes a person's word.
func (d *Driver) Acknowledge(ctx context.Context, id pending.IntentID, found ledger.Outcome, note string) error {
	if err := d.Load(ctx); err != nil {
		return err
	}
	e := d.pending.find(id)
	if e == nil {
		return notPending(id)
	}
	return d.workerOf(e).acknowledge(ctx, e, found, note)
}

// Leave gives the writes of a client that has closed to another one, and returns those
// whose outcome is not known. The last one hands over what it knows of the accounts.
func (d *Driver) Leave() (left []pending.IntentID) {
	if ended := d.pending.lastOf(d); ended != nil {
		_ = d.store.handOver(*ended, d.Books.HandOver()) // without it the next run looks first
	}
	d.store.payLast()
	for _, w := range d.pending.leave(d) {
		left = append(left, w.Intent.ID)
	}
	return left
}
