package trading

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"
)

// ErrSettled is a journal's error for an intent that is to go on although it is
// settled.
var ErrSettled = errors.New("trading: the intent is settled")

// ErrUnknownIntent is a journal's error for an intent that it does not have.
var ErrUnknownIntent = errors.New("trading: the journal does not have this intent")

// keepSettled is how long a journal answers for a settled decision.
const keepSettled = 30 * 24 * time.Hour

// memoryJournal is the default: it ends with the process. Settled intents are
// kept only where a decision may be asked for again.
type memoryJournal struct {
	mu        sync.Mutex
	entries   map[IntentID]*memoryEntry
	decisions map[string][]*memoryEntry // oldest first
	oldest    *memoryEntry              // of all entries, linked by age
	newest    *memoryEntry
}

type memoryEntry struct {
	Entry
	older, newer *memoryEntry
}

func newMemoryJournal() *memoryJournal {
	return &memoryJournal{entries: map[IntentID]*memoryEntry{}, decisions: map[string][]*memoryEntry{}}
}

func (j *memoryJournal) Begin(_ context.Context, in Intent) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if known, ok := j.entries[in.ID]; ok {
		if _, settled := known.Settlement.Get(); settled {
			return fmt.Errorf("%w: %s", ErrSettled, in.ID)
		}
		known.Intent = in
		return nil
	}
	entry := &memoryEntry{Entry: Entry{Intent: in}, older: j.newest}
	if j.newest != nil {
		j.newest.newer = entry
	} else {
		j.oldest = entry
	}
	j.newest = entry
	j.entries[in.ID] = entry
	if in.Decision != "" {
		j.decisions[in.Decision] = append(j.decisions[in.Decision], entry)
	}
	return nil
}

func (j *memoryJournal) Settle(_ context.Context, id IntentID, s Settlement) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	entry, ok := j.entries[id]
	if !ok {
		return fmt.Errorf("%w: %s", ErrUnknownIntent, id)
	}
	if _, settled := entry.Settlement.Get(); settled {
		return nil
	}
	entry.Settlement = Some(s)
	j.forget(s.At)
	return nil
}

// forget drops what was settled too long ago, and bounds what one run can keep.
// It stops at the first entry that stays, so each call costs what it drops.
func (j *memoryJournal) forget(now time.Time) {
	const bound = 10_000
	for entry := j.oldest; entry != nil; entry = entry.newer {
		s, settled := entry.Settlement.Get()
		if !settled || now.Sub(s.At) < keepSettled && len(j.entries) <= bound {
			return
		}
		j.drop(entry)
	}
}

func (j *memoryJournal) drop(entry *memoryEntry) {
	delete(j.entries, entry.Intent.ID)
	j.oldest = entry.newer
	if j.oldest != nil {
		j.oldest.older = nil
	} else {
		j.newest = nil
	}
	if name := entry.Intent.Decision; name != "" {
		if rest := j.decisions[name][1:]; len(rest) > 0 {
			j.decisions[name] = rest
		} else {
			delete(j.decisions, name)
		}
	}
}

func (j *memoryJournal) Pending(ctx context.Context) iter.Seq2[Intent, error] {
	return func(yield func(Intent, error) bool) {
		j.mu.Lock()
		var pending []Intent
		for entry := j.oldest; entry != nil; entry = entry.newer {
			if _, settled := entry.Settlement.Get(); !settled {
				pending = append(pending, entry.Intent)
			}
		}
		j.mu.Unlock()
		for _, in := range pending {
			if err := ctx.Err(); err != nil {
				yield(Intent{}, err)
				return
			}
			if !yield(in, nil) {
				return
			}
		}
	}
}

func (j *memoryJournal) Decision(_ context.Context, decision string) ([]Entry, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	var entries []Entry
	for _, entry := range j.decisions[decision] {
		entries = append(entries, entry.Entry)
	}
	return entries, nil
}
