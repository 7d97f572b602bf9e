package record

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/tradingapi/trading-go"
)

// Flight is a flight recorder: it holds the last attempts of a client in memory, reads
// and writes alike, to be dumped when something went wrong and replayed in a test. It
// is safe for concurrent use.
type Flight struct {
	mu    sync.Mutex
	ring  []Record
	next  int // where the next one goes
	count int
	bytes int
}

// Record is one attempt, as it crossed the wire but for its headers.
type Record struct {
	// Sent is when it began; Took is how long it lasted, in nanoseconds.
	Sent time.Time     `json:"sent"`
	Took time.Duration `json:"tookNs"`
	// Operation, Environment, Account and Symbol say what it was.
	Operation   trading.Operation   `json:"operation"`
	Environment trading.Environment `json:"environment,omitempty"`
	Account     trading.AccountID   `json:"account,omitempty"`
	Symbol      string              `json:"symbol,omitempty"`
	// Priority is its priority in the rate limits.
	Priority string `json:"priority,omitempty"`
	// Write means that it changes the account, Entry that it can add exposure.
	Write bool `json:"write,omitempty"`
	Entry bool `json:"entry,omitempty"`
	// Intent is the write's place in the journal, Tag the caller's name for it.
	Intent trading.IntentID `json:"intent,omitempty"`
	Tag    string           `json:"tag,omitempty"`
	// Attempt counts the sends of the call, from 1.
	Attempt int `json:"attempt"`
	// Key is the idempotency key; empty on the sandbox and for reads.
	Key trading.Key `json:"key,omitempty"`
	// Status is the HTTP status, 0 without an answer; Code is the refusal's.
	Status int          `json:"status,omitempty"`
	Code   trading.Code `json:"code,omitempty"`
	// Outcome is what was known of a write after it; empty for a read.
	Outcome string `json:"outcome,omitempty"`
	// Replayed means that the service repeated its stored answer.
	Replayed bool `json:"replayed,omitempty"`
	// Written means that any of the request may have left.
	Written bool `json:"written,omitempty"`
	// Request and Response are the bodies. RequestSize and ResponseSize are the length
	// of the whole, where it was cut.
	Request      Body `json:"request,omitempty"`
	Response     Body `json:"response,omitempty"`
	RequestSize  int  `json:"requestSize,omitempty"`
	ResponseSize int  `json:"responseSize,omitempty"`
	// Err is why there was no answer, in words.
	Err string `json:"err,omitempty"`
}

const (
	// maxFlight bounds all bodies of a flight recorder: the oldest make room.
	maxFlight = 8 << 20
	// maxFlightBody bounds one of them. A request is far below.
	maxFlightBody = 256 << 10
	// defaultFlight is the number of records where none is given.
	defaultFlight = 256
)

// NewFlight returns a recorder of the last n attempts, 256 if n is not positive. It
// holds 8 MiB of bodies at most, of one body the first 256 KiB.
func NewFlight(n int) *Flight {
	if n <= 0 {
		n = defaultFlight
	}
	return &Flight{ring: make([]Record, n)}
}

// Hooks returns the hooks that fill the recorder.
func (f *Flight) Hooks() trading.Hooks { return trading.Hooks{AttemptDone: f.attemptDone} }

func (f *Flight) attemptDone(_ context.Context, c trading.Call, a trading.Attempt) {
	r := Record{
		Sent: a.Sent.UTC().Round(0), Took: max(a.Took, 0),
		Operation: c.Operation, Environment: c.Environment, Account: c.Account, Symbol: c.Symbol,
		Priority: c.Priority.String(), Write: c.Write, Entry: c.Entry, Intent: c.Intent, Tag: c.Tag,
		Attempt: a.Number, Key: a.Key, Status: a.Status, Code: a.Code, Replayed: a.Replayed, Written: a.Written,
	}
	if c.Write {
		r.Outcome = a.Outcome.String()
	}
	if a.Err != nil {
		r.Err = cutText(a.Err.Error(), maxName)
	}
	r.Request, r.RequestSize = cut(a.Request, maxFlightBody)
	r.Response, r.ResponseSize = cut(a.Response, maxFlightBody)
	r.Request, r.Response = bytes.Clone(r.Request), bytes.Clone(r.Response)
	f.add(r)
}

func (f *Flight) add(r Record) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.count == len(f.ring) {
		f.dropOldest()
	}
	f.ring[f.next] = r
	f.next = (f.next + 1) % len(f.ring)
	f.count++
	f.bytes += r.bytes()
	for f.bytes > maxFlight && f.count > 1 {
		f.dropOldest()
	}
}

// dropOldest forgets a record; the lock is held.
func (f *Flight) dropOldest() {
	at := (f.next - f.count + len(f.ring)) % len(f.ring)
	f.bytes -= f.ring[at].bytes()
	f.ring[at] = Record{}
	f.count--
}

func (r *Record) bytes() int { return len(r.Request) + len(r.Response) + len(r.Tag) + len(r.Symbol) }

// Records returns what is held, in the order in which the attempts ended. The bodies
// are shared, and not to be written to.
func (f *Flight) Records() []Record {
	f.mu.Lock()
	defer f.mu.Unlock()
	records := make([]Record, f.count)
	for i := range records {
		records[i] = f.ring[(f.next-f.count+i+len(f.ring))%len(f.ring)]
	}
	return records
}

// Dump writes what is held, a line of JSON for each [Record]. What looks like an API
// key is taken out.
func (f *Flight) Dump(w io.Writer) error {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	for _, r := range f.Records() {
		line.Reset()
		if err := enc.Encode(r); err != nil {
			return fmt.Errorf("record: %w", err)
		}
		if _, err := w.Write(redact(line.Bytes())); err != nil {
			return fmt.Errorf("record: %w", err)
		}
	}
	return nil
}

// maxAnswer bounds the answer of an attempt, and with it a line of a dump: the client
// reads no larger one.
const maxAnswer = 32 << 20

// Read reads a dump. Empty lines are passed over; anything else that is no [Record] is
// an error that names the line.
func Read(r io.Reader) ([]Record, error) {
	var records []Record
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxAnswer)
	for n := 1; lines.Scan(); n++ {
		text := bytes.TrimSpace(lines.Bytes())
		if len(text) == 0 {
			continue
		}
		var record Record
		if err := json.Unmarshal(text, &record); err != nil {
			return nil, fmt.Errorf("record: line %d of the dump: %w", n, err)
		}
		if record.Operation == "" {
			return nil, fmt.Errorf("record: line %d of the dump is no attempt: it has no operation", n)
		}
		records = append(records, record)
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, fmt.Errorf("record: a line of the dump is longer than any that is written: %w", err)
	} else if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	return records, nil
}
