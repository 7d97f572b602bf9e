package journal

import (
	"bytes"
	"context"
	"errors"
	"iter"

	"go.etcd.io/bbolt"
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
func (j *Journal) entries(ctx context.Context, table []byte) iter.Seq2[trading.Entry, error] {
	return func(yield func(trading.Entry, error) bool) {
		var last uint64 // that had begun when it started
		from := numberKey(0)
		for from != nil {
			var entries []trading.Entry
			err := ctx.Err()
			if err == nil {
				err = j.view(func(tx *bbolt.Tx) (err error) {
					if last == 0 {
						state, err := decodeState(tx.Bucket(tableState).Get(keyState))
						if err != nil {
							return err
						}
						last = state.begun
					}
					entries, from, err = readChunk(tx, table, from, numberKey(last))
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
func readChunk(tx *bbolt.Tx, table, from, to []byte) (entries []trading.Entry, next []byte, err error) {
	records := tx.Bucket(tableEntries)
	cursor := tx.Bucket(table).Cursor()
	key, _ := cursor.Seek(from)
	for ; key != nil && bytes.Compare(key, to) <= 0; key, _ = cursor.Next() {
		if len(entries) == chunk {
			return entries, bytes.Clone(key), nil
		}
		entry, err := decodeEntry(records.Get(key))
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
	err := j.view(func(tx *bbolt.Tx) error {
		records := tx.Bucket(tableEntries)
		prefix := decisionKey(decision, nil)
		cursor := tx.Bucket(tableDecisions).Cursor()
		for key, _ := cursor.Seek(prefix); bytes.HasPrefix(key, prefix); key, _ = cursor.Next() {
			entry, err := decodeEntry(records.Get(numberOf(key)))
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
func (j *Journal) view(read func(*bbolt.Tx) error) error {
	j.mu.Lock()
	closed, failed := j.closed, j.failed
	j.mu.Unlock()
	if closed {
		return ErrClosed
	}
	if failed != nil {
		return failed
	}
	err := guard(func() error { return j.db.View(read) })
	switch {
	case err == nil:
		return nil
	case errors.Is(err, berrors.ErrDatabaseNotOpen):
		return ErrClosed
	}
	return j.fail(err)
}
