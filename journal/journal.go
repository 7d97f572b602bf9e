package journal

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"go.etcd.io/bbolt"

	"github.com/tradingapi/trading-go"
)

var _ trading.Journal = (*Journal)(nil)

// Journal is an open file. It is safe for concurrent use.
type Journal struct {
	path    string
	options Options
	disk    disk
	db      *bbolt.DB
	log     *log // none if it is read only

	look sync.Mutex // for a look at the file and the log at the same moment
	now  published

	mu         sync.Mutex
	queue      []*write // the next batch
	committing bool
	closed     bool
	failed     *FailedError
	work       sync.WaitGroup
}

// Close waits for the writes that are under way, puts everything into one file and
// gives it up. Whoever reads gets [ErrClosed]. Nothing is lost where it fails, or
// is never called: the next Open does it.
func (j *Journal) Close() error {
	j.mu.Lock()
	if j.closed {
		j.mu.Unlock()
		return nil
	}
	j.closed = true
	j.mu.Unlock()
	j.work.Wait()
	return errors.Join(j.finish(), guard(j.db.Close))
}

// finish leaves the file whole, without a log, unless something has failed: then
// what is in the log is all there is to rely on.
func (j *Journal) finish() error {
	if j.log == nil {
		return nil
	}
	j.mu.Lock()
	whole := j.failed == nil
	j.mu.Unlock()
	var err error
	if whole {
		err = guard(func() error { return j.checkpoint(j.now.state.whole()) })
	}
	if err = errors.Join(err, j.log.file.Close()); err == nil && whole {
		err = j.disk.remove(logPath(j.path))
	}
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return nil
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
