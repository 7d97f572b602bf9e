package crash

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/tradingapi/trading-go"
)

// disk is what survives a process in one schedule, for the oracle: to a bot in
// process the journal itself, to a real one what it left in its file.
type disk struct {
	mu      sync.Mutex
	order   []trading.IntentID
	entries map[trading.IntentID]trading.Entry
	keys    map[trading.IntentID][]trading.Key // each that the intent was ever begun under
}

func newDisk() *disk {
	return &disk{entries: map[trading.IntentID]trading.Entry{}, keys: map[trading.IntentID][]trading.Key{}}
}

// Begin implements [trading.Journal].
func (d *disk) Begin(ctx context.Context, in trading.Intent) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	old, known := d.entries[in.ID]
	if _, settled := old.Settlement.Get(); settled {
		return fmt.Errorf("%w: %s", trading.ErrSettled, in.ID)
	}
	if !known {
		d.order = append(d.order, in.ID)
	}
	in.Body = slices.Clone(in.Body)
	d.entries[in.ID] = trading.Entry{Intent: in}
	return nil
}

// Settle implements [trading.Journal].
func (d *disk) Settle(ctx context.Context, id trading.IntentID, s trading.Settlement) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	entry, known := d.entries[id]
	if !known {
		return trading.ErrUnknownIntent
	}
	if _, settled := entry.Settlement.Get(); !settled {
		entry.Settlement = trading.Some(s)
		d.entries[id] = entry
	}
	return nil
}

// Pending implements [trading.Journal].
func (d *disk) Pending(ctx context.Context) iter.Seq2[trading.Intent, error] {
	return func(yield func(trading.Intent, error) bool) {
		for _, entry := range d.all() {
			if _, settled := entry.Settlement.Get(); !settled && !yield(entry.Intent, ctx.Err()) {
				return
			}
		}
	}
}

// Decision implements [trading.Journal].
func (d *disk) Decision(ctx context.Context, decision string) ([]trading.Entry, error) {
	var entries []trading.Entry
	for _, entry := range d.all() {
		if decision != "" && entry.Intent.Decision == decision {
			entries = append(entries, entry)
		}
	}
	return entries, ctx.Err()
}

// begun notes a key that an intent was begun under.
func (d *disk) begun(id trading.IntentID, key trading.Key) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.begunLocked(id, key)
}

func (d *disk) begunLocked(id trading.IntentID, key trading.Key) {
	if !slices.Contains(d.keys[id], key) {
		d.keys[id] = append(d.keys[id], key)
	}
}

// read takes what a real process has left in its file. Nothing that was there
// before may be missing.
func (d *disk) read(entries iter.Seq2[trading.Entry, error]) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	before := d.entries
	d.order, d.entries = nil, map[trading.IntentID]trading.Entry{}
	for entry, err := range entries {
		if err != nil {
			return err
		}
		id := entry.Intent.ID
		d.order = append(d.order, id)
		d.entries[id] = entry
		d.begunLocked(id, entry.Intent.Key)
	}
	for id := range before {
		if _, known := d.entries[id]; !known {
			return fmt.Errorf("%.8s is forgotten", id)
		}
	}
	return nil
}

// all returns every entry, oldest first.
func (d *disk) all() []trading.Entry {
	d.mu.Lock()
	defer d.mu.Unlock()
	entries := make([]trading.Entry, len(d.order))
	for i, id := range d.order {
		entries[i] = d.entries[id]
	}
	return entries
}

// keysOf returns the keys that an intent was ever begun under.
func (d *disk) keysOf(id trading.IntentID) []trading.Key {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.keys[id])
}

// turnClock moves the times in the journal against the machine's clock. To the
// next process it is the clock that was set: back, where they are moved on.
func (d *disk) turnClock(by time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for id, entry := range d.entries {
		in := &entry.Intent
		in.Created, in.Expires = in.Created.Add(by), in.Expires.Add(by)
		if b, known := in.Baseline.Get(); known {
			b.At = b.At.Add(by)
			in.Baseline = trading.Some(b)
		}
		if s, settled := entry.Settlement.Get(); settled {
			s.At = s.At.Add(by)
			entry.Settlement = trading.Some(s)
		}
		d.entries[id] = entry
	}
}
