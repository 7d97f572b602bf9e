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

	"github.com/tradingapi/trading-go"
)

// Flight is a flight recorder: it holds the last attempts of a client in memory, reads
// and writes alike, to be dumped when something went wrong and replayed in a test. It
// is safe for concurrent use.
type Flight struct {
	mu    sync.Mutex
	ring  []Event
	next  int // where the next one goes
	count int
	bytes int
}

const (
	// maxFlight bounds all bodies of a flight recorder: the oldest make room.
	maxFlight = 8 << 20
	// maxFlightBody bounds one of them. A request is far below.
	maxFlightBody = 256 << 10
	// defaultFlight is the number of attempts where none is given.
	defaultFlight = 256
)

// NewFlight returns a recorder of the last n attempts, 256 if n is not positive. It
// holds 8 MiB of bodies at most, of one body the first 256 KiB.
func NewFlight(n int) *Flight {
	if n <= 0 {
		n = defaultFlight
	}
	return &Flight{ring: make([]Event, n)}
}

// Hooks returns the hooks that fill the recorder.
func (f *Flight) Hooks() trading.Hooks { return trading.Hooks{AttemptDone: f.attemptDone} }

func (f *Flight) attemptDone(_ context.Context, c trading.Call, a trading.Attempt) {
	e := attemptOf(&c, &a, maxFlightBody)
	e.At = a.Sent.UTC().Round(0).Add(e.Took)
	e.bound()
	f.add(e.clone())
}

func (f *Flight) add(e Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.count == len(f.ring) {
		f.dropOldest()
	}
	f.ring[f.next] = e
	f.next = (f.next + 1) % len(f.ring)
	f.count++
	f.bytes += e.bytes()
	for f.bytes > maxFlight && f.count > 1 {
		f.dropOldest()
	}
}

// dropOldest forgets an attempt; the lock is held.
func (f *Flight) dropOldest() {
	at := (f.next - f.count + len(f.ring)) % len(f.ring)
	f.bytes -= f.ring[at].bytes()
	f.ring[at] = Event{}
	f.count--
}

// Events returns what is held, in the order in which the attempts ended. The bodies
// are shared, and not to be written to.
func (f *Flight) Events() []Event {
	f.mu.Lock()
	defer f.mu.Unlock()
	events := make([]Event, f.count)
	for i := range events {
		events[i] = f.ring[(f.next-f.count+i+len(f.ring))%len(f.ring)]
	}
	return events
}

// Dump writes what is held, a line of JSON for each attempt. What looks like an API
// key is taken out.
func (f *Flight) Dump(w io.Writer) error {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	for _, e := range f.Events() {
		line.Reset()
		if err := enc.Encode(e); err != nil {
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

// Read reads a dump. Empty lines are passed over; anything else that is no attempt is
// an error that names the line.
func Read(r io.Reader) ([]Event, error) {
	var events []Event
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxAnswer)
	for n := 1; lines.Scan(); n++ {
		text := bytes.TrimSpace(lines.Bytes())
		if len(text) == 0 {
			continue
		}
		var e Event
		if err := json.Unmarshal(text, &e); err != nil {
			return nil, fmt.Errorf("record: line %d of the dump: %w", n, err)
		}
		if e.Kind != KindAttempt || e.Operation == "" {
			return nil, fmt.Errorf("record: line %d of the dump is no attempt", n)
		}
		events = append(events, e)
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, fmt.Errorf("record: a line of the dump is longer than any that is written: %w", err)
	} else if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	return events, nil
}
