package journal

import (
	"bytes"
	"context"
	"errors"
	"iter"

	berrors "go.etcd.io/bbolt/errors"

	"github.com/tradingapi/trading-go"
)

// chunk is how many entries are read at once. No transaction is open while one is
// yielded: the loop may write, or take its time.
const chunk = 64

// Pending implements [trading.Journal]. It yields what was begun before its first
// entry, so it ends even if the loop begins others.
func (j *Journal) Pending(ctx context.Context) iter.Seq2[trading.Intent, error] {
	return func(yield func(trading.Intent, error) bool) {
		for entry, err := range j.entries(ctx, tablePending) {
			if !yield(entry.Intent, err) {
				return
			}
		}
	}
}

// All yields every entry that the journal keeps, pending and settled, in the
// order of their first Begin. An error ends it.
func (j *Journal) All(ctx context.Context) iter.Seq2[trading.Entry, error] {
	return j.entries(ctx, tableEntries)
}

// entries yields those whose numbers are the keys of a table.
func (j *Journal) entries(ctx context.Context, table table) iter.Seq2[trading.Entry, error] {
	return func(yield func(trading.Entry, error) bool) {
		var last uint64 // that had begun when it started
		from := numberKey(0)
		for from != nil {
			var entries []trading.Entry
			err := ctx.Err()
			if err == nil {
				err = j.view(func(s *snapshot, now state) (err error) {
					if last == 0 {
						last = now.begun
					}
					entries, from, err = readChunk(s, table, from, numberKey(last))
					return err
				})
			}
			for _, entry := range entries {
				if err = ctx.Err(); err != nil {
					break
				}
				if !yield(entry, nil) {
					return
				}
			}
			if err == nil && from == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(trading.Entry{}, err)
				return
			}
		}
	}
}

// readChunk returns some entries between two numbers, and where the next begin;
// nil if there are no more.
func readChunk(s *snapshot, table table, from, to []byte) (entries []trading.Entry, next []byte, err error) {
	for key := range s.scan(table, from) {
		switch {
		case bytes.Compare(key, to) > 0:
			return entries, nil, nil
		case len(entries) == chunk:
			return entries, bytes.Clone(key), nil
		}
		entry, err := decodeEntry(s.get(tableEntries, key))
		if err != nil {
			return nil, nil, err
		}
		entries = append(entries, entry)
	}
	return entries, nil, nil
}

// Decision implements [trading.Journal].
func (j *Journal) Decision(ctx context.Context, decision string) ([]trading.Entry, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(decision) > maxName {
		return nil, errTooLong
	}
	var entries []trading.Entry
	err := j.view(func(s *snapshot, _ state) error {
		prefix := decisionKey(decision, nil)
		for key := range s.scan(tableDecisions, prefix) {
			if !bytes.HasPrefix(key, prefix) {
				break
			}
			entry, err := decodeEntry(s.get(tableEntries, numberOf(key)))
			if err != nil {
				return err
			}
			entries = append(entries, entry)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return entries, nil
}

// view reads. What cannot be read is a failure for good, like a failed write: a
// journal that answers for a part only is worse than none.
func (j *Journal) view(read func(*snapshot, state) error) error {
	j.mu.Lock()
	closed, failed := j.closed, j.failed
	j.mu.Unlock()
	if closed {
		return ErrClosed
	}
	if failed != nil {
		return failed
	}
	err := guard(func() error {
		s, now, err := j.snapshot()
		if err != nil {
			return err
		}
		defer rollback(s.tx)
		return read(s, now)
	})
	switch {
	case err == nil:
		return nil
	case errors.Is(err, berrors.ErrDatabaseNotOpen):
		return ErrClosed
	}
	return j.fail(err)
}
