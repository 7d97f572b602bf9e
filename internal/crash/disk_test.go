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

// disk is what survives a process in one schedule: a journal, and beside it
// everything that was ever in it, for the oracle.
type disk struct {
	mu      sync.Mutex
	order   []trading.IntentID
	entries map[trading.IntentID]trading.Entry
	keys    map[trading.IntentID][]trading.Key // each that the intent was ever begun under
}

func newDisk() *disk {
	return &disk{entries: map[trading.IntentID]trading.Entry{}, keys: map[trading.IntentID][]trading.Key{}}
}

func (d *disk) begin(in trading.Intent) error {
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
	if !slices.Contains(d.keys[in.ID], in.Key) {
		d.keys[in.ID] = append(d.keys[in.ID], in.Key)
	}
	return nil
}

func (d *disk) settle(id trading.IntentID, s trading.Settlement) error {
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

// journal is the disk as one process has it open.
type journal struct {
	*disk
	p *process
}

func (j journal) Begin(ctx context.Context, in trading.Intent) error {
	return j.write(ctx, "journal begins "+string(in.Operation), func() error { return j.begin(in) })
}

func (j journal) Settle(ctx context.Context, id trading.IntentID, s trading.Settlement) error {
	return j.write(ctx, "journal settles "+s.Outcome.String(), func() error { return j.settle(id, s) })
}

// write is one commit, which the process can die before or after.
func (j journal) write(ctx context.Context, what string, commit func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if j.p.step("before the " + what) {
		return errKilled
	}
	err := commit()
	if j.p.step("after the " + what) {
		return errKilled
	}
	return err
}

func (j journal) Pending(ctx context.Context) iter.Seq2[trading.Intent, error] {
	return func(yield func(trading.Intent, error) bool) {
		for _, entry := range j.all() {
			if _, settled := entry.Settlement.Get(); !settled && !yield(entry.Intent, ctx.Err()) {
				return
			}
		}
	}
}

func (j journal) Decision(ctx context.Context, decision string) ([]trading.Entry, error) {
	var entries []trading.Entry
	for _, entry := range j.all() {
		if decision != "" && entry.Intent.Decision == decision {
			entries = append(entries, entry)
		}
	}
	return entries, ctx.Err()
}
