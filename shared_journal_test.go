package trading_test

import (
	"context"
	"iter"
	"sync"

	"github.com/tradingapi/trading-go"
)

// sharedJournal is a journal that outlives its client within one test, as a file
// outlives a process.
type sharedJournal struct {
	mu      sync.Mutex
	order   []trading.IntentID
	entries map[trading.IntentID]trading.Entry

	slow func(trading.Intent)       // takes its time over a Begin
	fail func(trading.Intent) error // refuses a Begin

	failSettle, failRead error
}

func newSharedJournal() *sharedJournal {
	return &sharedJournal{entries: map[trading.IntentID]trading.Entry{}}
}

func (j *sharedJournal) Begin(_ context.Context, in trading.Intent) error {
	if j.slow != nil {
		j.slow(in)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.fail != nil {
		if err := j.fail(in); err != nil {
			return err
		}
	}
	known, begun := j.entries[in.ID]
	if !begun {
		j.order = append(j.order, in.ID)
	}
	if _, settled := known.Settlement.Get(); settled {
		return trading.ErrSettled
	}
	j.entries[in.ID] = trading.Entry{Intent: in}
	return nil
}

func (j *sharedJournal) Settle(_ context.Context, id trading.IntentID, s trading.Settlement) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.failSettle != nil {
		return j.failSettle
	}
	entry, known := j.entries[id]
	if !known {
		return trading.ErrUnknownIntent
	}
	if _, settled := entry.Settlement.Get(); !settled {
		entry.Settlement = trading.Some(s)
		j.entries[id] = entry
	}
	return nil
}

func (j *sharedJournal) Pending(context.Context) iter.Seq2[trading.Intent, error] {
	return func(yield func(trading.Intent, error) bool) {
		if j.failRead != nil {
			yield(trading.Intent{}, j.failRead)
			return
		}
		for _, entry := range j.all() {
			if _, settled := entry.Settlement.Get(); !settled && !yield(entry.Intent, nil) {
				return
			}
		}
	}
}

func (j *sharedJournal) Decision(_ context.Context, decision string) ([]trading.Entry, error) {
	if j.failRead != nil {
		return nil, j.failRead
	}
	var entries []trading.Entry
	for _, entry := range j.all() {
		if entry.Intent.Decision == decision {
			entries = append(entries, entry)
		}
	}
	return entries, nil
}

func (j *sharedJournal) all() []trading.Entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	entries := make([]trading.Entry, 0, len(j.order))
	for _, id := range j.order {
		entries = append(entries, j.entries[id])
	}
	return entries
}
