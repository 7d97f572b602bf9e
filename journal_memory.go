package trading

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"
)

// ErrSettled is a journal's error for an intent that is to go on although it is
// settled.
var ErrSettled = errors.New("trading: the intent is settled")

// ErrUnknownIntent is a journal's error for an intent that it does not have.
var ErrUnknownIntent = errors.New("trading: the journal does not have this intent")

// ErrUnnamedIntent is a journal's error for an intent without an ID.
var ErrUnnamedIntent = errors.New("trading: an intent needs an ID")

const (
	// keepSettled is how long a journal answers for a settled decision.
	keepSettled = 30 * 24 * time.Hour
	// memoryKeeps bounds the settled decisions in memory: the oldest goes first.
	memoryKeeps = 10_000
	// memoryRecalls is how many of the other settled intents are known by their ID
	// still, since an answer that comes late may settle one a second time.
	memoryRecalls = 1024
)

// memoryJournal is the default: it ends with the process. What is pending stays
// until it is settled. What is settled is kept only where a decision may be asked
// for again; of all else the ID alone remains, and that for a while.
//
// It has no clock. What is too old is judged by the settlements' own times, as
// each new one comes in.
type memoryJournal struct {
	mu        sync.Mutex
	entries   map[IntentID]*memoryEntry // nil where the ID alone remains
	decisions map[string][]*memoryEntry // oldest first
	pending   memoryEntry               // the ring's fixed point: newer is the oldest
	settled   memoryHeap                // of decisions
	recalled  memoryIDs                 // of those entries, in their order
	spare     []*memoryEntry
	begun     uint64
}

// memoryEntry owns every byte that it refers to.
type memoryEntry struct {
	intent       Intent
	settlement   Settlement
	settled      bool
	settledAt    time.Time
	age          uint64       // counts what was begun
	older, newer *memoryEntry // in the ring of what is pending
	body         []byte       // room for the next intent
}

func newMemoryJournal() *memoryJournal {
	j := &memoryJournal{entries: map[IntentID]*memoryEntry{}, decisions: map[string][]*memoryEntry{}}
	j.pending.older, j.pending.newer = &j.pending, &j.pending
	return j
}

func (j *memoryJournal) Begin(ctx context.Context, in Intent) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if in.ID == "" {
		return ErrUnnamedIntent
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	entry, known := j.entries[in.ID]
	switch {
	case known && (entry == nil || entry.settled):
		return fmt.Errorf("%w: %s", ErrSettled, in.ID)
	case known:
		if entry.intent.Decision != in.Decision {
			j.leaveDecision(entry)
			j.joinDecision(entry, in.Decision)
		}
	default:
		entry = j.take()
		j.begun++
		entry.age = j.begun
		entry.older, entry.newer = j.pending.older, &j.pending
		entry.older.newer, entry.newer.older = entry, entry
		j.entries[in.ID] = entry
		j.joinDecision(entry, in.Decision)
	}
	entry.hold(&in)
	return nil
}

func (j *memoryJournal) Settle(ctx context.Context, id IntentID, s Settlement) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	entry, known := j.entries[id]
	switch {
	case !known:
		return fmt.Errorf("%w: %s", ErrUnknownIntent, id)
	case entry == nil || entry.settled:
		return nil
	}
	entry.older.newer, entry.newer.older = entry.newer, entry.older
	entry.older, entry.newer = nil, nil
	if entry.intent.Decision == "" {
		j.entries[id] = nil
		if oldest, full := j.recalled.add(id); full {
			delete(j.entries, oldest)
		}
		j.give(entry)
		return nil
	}
	entry.settled, entry.settlement, entry.settledAt = true, s, s.At
	if s.At.IsZero() { // and yet it is not over since the year 1
		entry.settledAt = entry.intent.Created
	}
	entry.settlement.Answer = slices.Clone(s.Answer)
	heap.Push(&j.settled, entry)
	j.forget(entry.settledAt)
	return nil
}

// forget drops what was settled too long before now, and what is too much. Each
// settlement adds one and drops what it must, so that no call pays for others.
func (j *memoryJournal) forget(now time.Time) {
	for len(j.settled) > memoryKeeps || len(j.settled) > 0 && now.Sub(j.settled[0].settledAt) > keepSettled {
		entry := heap.Pop(&j.settled).(*memoryEntry)
		delete(j.entries, entry.intent.ID)
		j.leaveDecision(entry)
	}
}

// joinDecision keeps a decision's entries in the order of their first Begin.
func (j *memoryJournal) joinDecision(entry *memoryEntry, name string) {
	if name == "" {
		return
	}
	entries := j.decisions[name]
	at, _ := slices.BinarySearchFunc(entries, entry.age, func(e *memoryEntry, age uint64) int { return cmp.Compare(e.age, age) })
	j.decisions[name] = slices.Insert(entries, at, entry)
}

func (j *memoryJournal) leaveDecision(entry *memoryEntry) {
	name := entry.intent.Decision
	if name == "" {
		return
	}
	rest := slices.DeleteFunc(j.decisions[name], func(e *memoryEntry) bool { return e == entry })
	if len(rest) > 0 {
		j.decisions[name] = rest
	} else {
		delete(j.decisions, name)
	}
}

// take and give let a settled entry's memory serve the next one. A few are
// enough: as many as are pending at once.
func (j *memoryJournal) take() *memoryEntry {
	if n := len(j.spare); n > 0 {
		entry := j.spare[n-1]
		j.spare = j.spare[:n-1]
		return entry
	}
	return &memoryEntry{}
}

func (j *memoryJournal) give(entry *memoryEntry) {
	const spares, room = 64, 16 << 10
	if len(j.spare) < spares && cap(entry.body) <= room {
		*entry = memoryEntry{body: entry.body}
		j.spare = append(j.spare, entry)
	}
}

// hold copies the intent, the caller's memory being the caller's.
func (e *memoryEntry) hold(in *Intent) {
	e.intent = *in
	e.body = append(e.body[:0], in.Body...)
	e.intent.Body = e.body
	e.intent.Baseline = ownBaseline(in.Baseline)
}

// ownBaseline returns the baseline in memory of its own.
func ownBaseline(o Opt[Baseline]) Opt[Baseline] {
	b := o.value
	b.Orders, b.Runs = slices.Clone(b.Orders), slices.Clone(b.Runs)
	b.Finished, b.Trades = slices.Clone(b.Finished), slices.Clone(b.Trades)
	return Opt[Baseline]{value: b, ok: o.ok}
}

// copyOut returns what the entry holds, in memory of the caller's.
func (e *memoryEntry) copyOut() Entry {
	out := Entry{Intent: e.intent}
	out.Intent.Body = slices.Clone(e.intent.Body)
	out.Intent.Baseline = ownBaseline(e.intent.Baseline)
	if e.settled {
		s := e.settlement
		s.Answer = slices.Clone(s.Answer)
		out.Settlement = Some(s)
	}
	return out
}

func (j *memoryJournal) Pending(ctx context.Context) iter.Seq2[Intent, error] {
	return func(yield func(Intent, error) bool) {
		j.mu.Lock()
		var pending []Intent
		for entry := j.pending.newer; entry != &j.pending; entry = entry.newer {
			pending = append(pending, entry.copyOut().Intent)
		}
		j.mu.Unlock()
		for _, in := range pending {
			if ctx.Err() != nil {
				break
			}
			if !yield(in, nil) {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(Intent{}, err)
		}
	}
}

func (j *memoryJournal) Decision(ctx context.Context, decision string) ([]Entry, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	var entries []Entry
	for _, entry := range j.decisions[decision] {
		entries = append(entries, entry.copyOut())
	}
	return entries, nil
}

// memoryHeap has the one that was settled first on top.
type memoryHeap []*memoryEntry

func (h memoryHeap) Len() int           { return len(h) }
func (h memoryHeap) Less(a, b int) bool { return h[a].settledAt.Before(h[b].settledAt) }
func (h memoryHeap) Swap(a, b int)      { h[a], h[b] = h[b], h[a] }
func (h *memoryHeap) Push(entry any)    { *h = append(*h, entry.(*memoryEntry)) }
func (h *memoryHeap) Pop() any {
	last := len(*h) - 1
	entry := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return entry
}

// memoryIDs holds the last IDs that it was given.
type memoryIDs struct {
	ring []IntentID
	next int // the oldest, once the ring is full
}

// add returns the ID that makes room for this one, if one has to.
func (m *memoryIDs) add(id IntentID) (oldest IntentID, full bool) {
	if len(m.ring) < memoryRecalls {
		m.ring = append(m.ring, id)
		return "", false
	}
	oldest, m.ring[m.next] = m.ring[m.next], id
	m.next = (m.next + 1) % memoryRecalls
	return oldest, true
}
