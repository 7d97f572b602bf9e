package resolve

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/journal"
)

// disk is a journal that outlives its process, and can fail.
type disk struct {
	journal.Store
	shared *journal.Shared

	mu      sync.Mutex
	records []journal.Record
	durable []bool
	fail    func(what string) error // in the words of [disk.says]
	slow    time.Duration           // each append takes so long
	slowOf  string                  // the first of this write alone
	hung    [][]journal.Record      // while it hangs: what comes once it goes on; nil if it does not
	// unanswered says that nobody hears of a record that it takes.
	unanswered func(what string) bool
	noRead     error
	isNew      bool
	quiet      []byte
	gap        bool
	noGap      error // it cannot be noted
	onGap      func()
	onRead     func()
	// afterRead is called behind the moment that the read shows.
	afterRead func()
}

func newDisk() *disk { return &disk{Store: journal.NewMemory(), shared: new(journal.Shared)} }

// restart is the same journal in the next process.
func (k *disk) restart() *disk {
	next := &disk{Store: k.Store, shared: new(journal.Shared), gap: k.gap}
	for _, err := range k.Store.Pending(context.Background()) {
		_ = err // any is one
		return next
	}
	if n := len(k.records); n > 0 && k.records[n-1].Final {
		next.quiet = k.records[n-1].Data
	}
	return next
}

var errDisk = errors.New("the disk is full")

func (k *disk) Append(ctx context.Context, durable bool, records ...journal.Record) error {
	if slow := k.takes(records); slow > 0 {
		select {
		case <-time.After(slow):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.hung != nil {
		if durable {
			k.hung = append(k.hung, records)
		}
		k.mu.Unlock()
		<-ctx.Done()
		k.mu.Lock()
		return ctx.Err()
	}
	for _, r := range records {
		if k.fail != nil {
			if err := k.fail(says(r, false)); err != nil {
				return err
			}
		}
	}
	if err := k.Store.Append(ctx, durable, records...); err != nil {
		return err
	}
	for _, r := range records {
		k.records, k.durable = append(k.records, r), append(k.durable, durable)
	}
	if len(records) == 0 {
		k.records, k.durable = append(k.records, journal.Record{}), append(k.durable, true)
	}
	for _, r := range records {
		if durable && k.unanswered != nil && k.unanswered(says(r, false)) {
			return journal.ErrUnanswered
		}
	}
	return nil
}

// hangs has it hang, or go on: what somebody waited for comes then.
func (k *disk) hangs(hangs bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	hung := k.hung
	if k.hung = nil; hangs {
		k.hung = [][]journal.Record{}
	}
	for _, records := range hung {
		_ = k.Store.Append(context.Background(), true, records...)
	}
}

// takes is how long records take.
func (k *disk) takes(records []journal.Record) time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	slow := k.slow
	if k.slowOf != "" {
		if len(records) == 0 || records[0].Intent != k.slowOf {
			return 0
		}
		k.slow = 0
	}
	return slow
}

func (k *disk) Pending(ctx context.Context) iter.Seq2[journal.History, error] {
	if k.onRead != nil {
		k.onRead()
	}
	return func(yield func(journal.History, error) bool) {
		var left []journal.History
		for h, err := range k.Store.Pending(ctx) {
			if err != nil {
				yield(h, err)
				return
			}
			left = append(left, h)
		}
		if k.afterRead != nil {
			k.afterRead()
		}
		for _, h := range left {
			if !yield(h, nil) {
				return
			}
		}
		if k.noRead != nil {
			yield(journal.History{}, k.noRead)
		}
	}
}

func (k *disk) Shared() *journal.Shared { return k.shared }
func (k *disk) New() bool               { return k.isNew }
func (k *disk) Quiet() []byte           { return k.quiet }
func (k *disk) Gap() (bool, error)      { return k.gap, nil }

func (k *disk) SetGap(missing bool) error {
	if missing && k.onGap != nil {
		k.onGap()
	}
	if k.noGap == nil {
		k.gap = missing
	}
	return k.noGap
}

// says is a record in a word, with a mark where it was waited for.
func says(r journal.Record, durable bool) string {
	var is record
	if len(r.Data) == 0 {
		return "sync!"
	}
	if err := json.Unmarshal(r.Data, &is); err != nil {
		return err.Error()
	}
	word := ""
	switch {
	case is.Begin != nil:
		word = "begin"
	case is.Key != nil:
		word = "key"
	case is.Fact != nil:
		word = [...]string{"", "send", "answer", "rekey", "over", "fence", "fenced", "probe", "probed", "looked", "restart", "asked", "acknowledged", "confirmed", "heard"}[is.Fact.Kind]
	case is.Beside != nil:
		word = "beside"
	case is.Newer != nil:
		word = "newer"
	case is.NewerEnd != nil:
		word = "newer end"
	case is.End != nil:
		word = "end"
	}
	if durable {
		word += "!"
	}
	return word
}

// of are the records of a write, each in a word.
func (k *disk) of(id string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	var words []string
	for i, r := range k.records {
		if r.Intent == id || r.Intent == "" {
			words = append(words, says(r, k.durable[i]))
		}
	}
	return strings.Join(words, ", ")
}

// end is how the journal says that a write ended.
func (k *disk) end(t *testing.T, id string) *Final {
	t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	at := slices.IndexFunc(k.records, func(r journal.Record) bool { return r.Intent == id && r.Final })
	require.GreaterOrEqual(t, at, 0, "%s has no end", id)
	var r record
	require.NoError(t, json.Unmarshal(k.records[at].Data, &r))
	return r.End
}

// failsAt fails a journal at a record, once.
func (k *disk) failsAt(word string) {
	k.fail = func(what string) error {
		if what == word {
			k.fail = nil
			return errDisk
		}
		return nil
	}
}

func on(k *disk) func(*Config) { return func(c *Config) { c.Journal = k } }
