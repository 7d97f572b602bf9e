package flatten

import (
	"context"
	"fmt"
	"sync"

	"github.com/tradingapi/trading-go"
)

// entries are the entries of the account whose outcome is not known: each may be
// executed after the looks that show nothing.
type entries struct {
	mu     sync.Mutex
	asking map[trading.IntentID]bool // being resolved
	asked  map[trading.IntentID]bool // was resolved, and the outcome is not known

	open  bool // the last round saw some
	stuck bool // and nothing more can be found out about any of them
}

// pend looks whether entries are pending, and has them resolved beside the rounds.
func (j *job) pend(ctx context.Context) {
	left, err := j.trader.Pending(ctx)
	j.report.Pending = nil
	for i := range left {
		if left[i].Entry && j.has(left[i].Symbol) {
			j.report.Pending = append(j.report.Pending, left[i])
		}
	}
	e := &j.entries
	e.open = e.open || err != nil || len(j.report.Pending) > 0
	e.stuck = err != nil || len(j.report.Pending) > 0
	if err != nil {
		j.refusals = append(j.refusals, fmt.Errorf("the pending entries cannot be read: %w", err))
		return
	}
	for i := range j.report.Pending {
		if !j.resolve(ctx, &j.report.Pending[i]) {
			e.stuck = false
		}
	}
}

// resolve has a write resolved, and reports whether nothing more can be found out.
func (j *job) resolve(ctx context.Context, w *trading.PendingWrite) (stuck bool) {
	e := &j.entries
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.asking[w.ID]:
		return false
	case e.asked[w.ID] && w.Waiting:
		return true
	}
	e.asking[w.ID] = true
	of := &trading.WriteError{Outcome: trading.Unknown, Operation: w.Operation, Account: w.Account, Symbol: w.Symbol, Intent: w.ID, Err: trading.ErrUndetermined}
	j.urgent.calls.Go(func() {
		_, err := j.trader.Resolve(trading.Exiting(ctx), of)
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.asking, w.ID)
		e.asked[w.ID] = err != nil
	})
	return false
}

// pendingError names the entries that are pending; nil if there are none.
func (j *job) pendingError() error {
	if len(j.report.Pending) == 0 {
		return nil
	}
	ids := make([]trading.IntentID, len(j.report.Pending))
	for i := range j.report.Pending {
		ids[i] = j.report.Pending[i].ID
	}
	first := &j.report.Pending[0]
	reason := ""
	if first.Reason != "" {
		reason = " (" + first.Reason + ")"
	}
	return fmt.Errorf("an entry may still be executed: %w%s", &trading.PendingError{IDs: ids}, reason)
}
