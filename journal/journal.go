package journal

import (
	"context"
	"sync"

	"go.etcd.io/bbolt"

	"github.com/tradingapi/trading-go"
)

var _ trading.Journal = (*Journal)(nil)

// Journal is an open file. It is safe for concurrent use.
type Journal struct {
	path    string
	options Options
	db      *bbolt.DB
	finish  finish

	mu         sync.Mutex
	queue      []*write // the next batch
	committing bool
	closed     bool
	failed     *FailedError
	work       sync.WaitGroup
}

// Close waits for the writes that are under way and gives up the file. Whoever
// reads gets [ErrClosed].
func (j *Journal) Close() error {
	j.mu.Lock()
	if j.closed {
		j.mu.Unlock()
		return nil
	}
	j.closed = true
	j.mu.Unlock()
	j.work.Wait()
	return guard(j.db.Close)
}

// Begin implements [trading.Journal]: the intent is on the disk when it returns.
// If the context ends while it is written, it may be pending.
func (j *Journal) Begin(ctx context.Context, in trading.Intent) error {
	if in.ID == "" {
		return trading.ErrUnnamedIntent
	}
	if len(in.ID) > maxName || len(in.Decision) > maxName {
		return errTooLong
	}
	record, err := encodeIntent(&in)
	if err != nil {
		return err
	}
	id, decision, now := in.ID, in.Decision, in.Created
	return j.submit(ctx, func(c *change) error { return j.begin(c, id, decision, record, now) })
}

// Settle implements [trading.Journal]: the settlement is on the disk when it
// returns. If the context ends while it is written, it may stand.
func (j *Journal) Settle(ctx context.Context, id trading.IntentID, s trading.Settlement) error {
	record, at := encodeSettlement(&s), s.At
	return j.submit(ctx, func(c *change) error { return j.settle(c, id, record, at) })
}
