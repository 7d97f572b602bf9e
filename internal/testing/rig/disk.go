package rig

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
)

// Disk keeps a journal that outlives the clients of a test, as a file outlives
// processes.
type Disk struct {
	Kept journal.Store

	mu      sync.Mutex
	records []journal.Record // all that was appended

	Slow     func(journal.Record)       // takes its time over a record
	Fail     func(journal.Record) error // refuses a record
	FailRead error
	Gap      bool
}

// NewDisk is an empty disk.
func NewDisk() *Disk { return &Disk{Kept: journal.NewMemory()} }

// FailOn sets what fails from now on; nil for nothing.
func (d *Disk) FailOn(fail func(journal.Record) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.Fail = fail
}

// Open returns a handle, as another process opens the file.
func (d *Disk) Open() journal.Store { return &Handle{Store: d.Kept, Disk: d} }

// Pending are the intents that have no end.
func (d *Disk) Pending() (intents []string) {
	for h, err := range d.Kept.Pending(context.Background()) {
		if err != nil {
			panic(err)
		}
		intents = append(intents, h.Intent)
	}
	return intents
}

// Appended returns the records of a kind: begin, key, fact or end.
func (d *Disk) Appended(kind string) (records []json.RawMessage) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, r := range d.records {
		if IsOf(r, kind) {
			records = append(records, r.Data)
		}
	}
	return records
}

// IsOf reports whether a record is of a kind: begin, key, fact or end.
func IsOf(r journal.Record, kind string) bool {
	return bytes.HasPrefix(r.Data, []byte(`{"`+kind+`":`))
}

// Handle is a disk as one process has it open.
type Handle struct {
	journal.Store
	Disk   *Disk
	shared journal.Shared
}

// Append takes the records, or fails as the disk does. A slow disk finishes what it has begun,
// whoever waits for it.
func (h *Handle) Append(ctx context.Context, durable bool, records ...journal.Record) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	d := h.Disk
	for _, r := range records {
		if d.Slow != nil {
			d.Slow(r)
		}
		d.mu.Lock()
		fail := d.Fail
		d.mu.Unlock()
		if fail == nil {
			continue
		}
		if err := fail(r); err != nil {
			return err
		}
	}
	if err := h.Store.Append(context.WithoutCancel(ctx), durable, records...); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, r := range records {
		r.Data = bytes.Clone(r.Data)
		d.records = append(d.records, r)
	}
	return nil
}

// Pending returns what the disk keeps, or its failure.
func (h *Handle) Pending(ctx context.Context) iter.Seq2[journal.History, error] {
	if h.Disk.FailRead != nil {
		return func(yield func(journal.History, error) bool) { yield(journal.History{}, h.Disk.FailRead) }
	}
	return h.Store.Pending(ctx)
}

// Named returns what the disk keeps of a name, or its failure.
func (h *Handle) Named(ctx context.Context, name string) ([]journal.History, error) {
	if h.Disk.FailRead != nil {
		return nil, h.Disk.FailRead
	}
	return h.Store.Named(ctx, name)
}

// SetGap notes that something is missing.
func (h *Handle) SetGap(missing bool) error {
	h.Disk.Gap = missing
	return nil
}

// Gap reports what SetGap noted.
func (h *Handle) Gap() (bool, error) { return h.Disk.Gap, nil }

// Shared is what all clients on the handle share.
func (h *Handle) Shared() *journal.Shared { return &h.shared }

// Restart ends the process and begins another with the journal.
func (r Rig) Restart(d *Disk, opts ...trading.Option) Rig {
	r.T.Helper()
	CloseClient(r.T, r.Client)
	return Join(r.T, r.Sim, append(opts, trading.WithJournal(d.Open()))...)
}

// SlowDisk is a journal whose disk is slow, or fails, and can note a gap all the same.
type SlowDisk struct {
	journal.Store
	Sync    func() time.Duration // of what is to be durable; nil for none
	Fails   func() bool          // nil for never
	missing atomic.Bool
}

// ErrFull is what a [SlowDisk] fails with.
var ErrFull = errors.New("the disk is full")

// Append implements [journal.Store].
func (d *SlowDisk) Append(ctx context.Context, durable bool, records ...journal.Record) error {
	if d.Fails != nil && d.Fails() {
		return ErrFull
	}
	if err := d.Store.Append(ctx, durable, records...); err != nil || !durable || d.Sync == nil {
		return err
	}
	select {
	case <-time.After(d.Sync()):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// SetGap implements [journal.Gapper].
func (d *SlowDisk) SetGap(missing bool) error {
	d.missing.Store(missing)
	return nil
}

// Gap implements [journal.Gapper].
func (d *SlowDisk) Gap() (bool, error) { return d.missing.Load(), nil }
