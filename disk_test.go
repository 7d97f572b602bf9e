package trading_test

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"sync"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
)

// disk keeps a journal that outlives the clients of a test, as a file outlives
// processes.
type disk struct {
	kept journal.Store

	mu      sync.Mutex
	records []journal.Record // all that was appended

	slow     func(journal.Record)       // takes its time over a record
	fail     func(journal.Record) error // refuses a record
	failRead error
	gap      bool
}

func newDisk() *disk { return &disk{kept: journal.NewMemory()} }

// failOn sets what fails from now on; nil for nothing.
func (d *disk) failOn(fail func(journal.Record) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fail = fail
}

// open returns a handle, as another process opens the file.
func (d *disk) open() journal.Store { return &handle{Store: d.kept, disk: d} }

// pending are the intents that have no end.
func (d *disk) pending() (intents []string) {
	for h, err := range d.kept.Pending(context.Background()) {
		if err != nil {
			panic(err)
		}
		intents = append(intents, h.Intent)
	}
	return intents
}

// appended returns the records of a kind: begin, key, fact or end.
func (d *disk) appended(kind string) (records []json.RawMessage) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, r := range d.records {
		if isOf(r, kind) {
			records = append(records, r.Data)
		}
	}
	return records
}

func isOf(r journal.Record, kind string) bool {
	return bytes.HasPrefix(r.Data, []byte(`{"`+kind+`":`))
}

// handle is a disk as one process has it open.
type handle struct {
	journal.Store
	disk   *disk
	shared journal.Shared
}

func (h *handle) Append(ctx context.Context, durable bool, records ...journal.Record) error {
	d := h.disk
	for _, r := range records {
		if d.slow != nil {
			d.slow(r)
		}
		d.mu.Lock()
		fail := d.fail
		d.mu.Unlock()
		if fail == nil {
			continue
		}
		if err := fail(r); err != nil {
			return err
		}
	}
	if err := h.Store.Append(ctx, durable, records...); err != nil {
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

func (h *handle) Pending(ctx context.Context) iter.Seq2[journal.History, error] {
	if h.disk.failRead != nil {
		return func(yield func(journal.History, error) bool) { yield(journal.History{}, h.disk.failRead) }
	}
	return h.Store.Pending(ctx)
}

func (h *handle) Named(ctx context.Context, name string) ([]journal.History, error) {
	if h.disk.failRead != nil {
		return nil, h.disk.failRead
	}
	return h.Store.Named(ctx, name)
}

func (h *handle) SetGap(missing bool) error {
	h.disk.gap = missing
	return nil
}

func (h *handle) Gap() (bool, error) { return h.disk.gap, nil }

func (h *handle) Shared() *journal.Shared { return &h.shared }

// restart ends the process and begins another with the journal.
func (r rig) restart(d *disk, opts ...trading.Option) rig {
	r.t.Helper()
	closeClient(r.t, r.Client)
	return join(r.t, r.sim, append(opts, trading.WithJournal(d.open()))...)
}
