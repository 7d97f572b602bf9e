package protect

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

// EventKind is what an [Event] is about.
type EventKind string

// The kinds.
const (
	// Changed is a change of State.
	Changed EventKind = "changed"
	// BlindBegan and BlindEnded are about looks that fail, or that show nothing fresh.
	BlindBegan EventKind = "blind began"
	BlindEnded EventKind = "blind ended"
	// Refused is an entry that the guard refused.
	Refused EventKind = "refused"
	// Alert is a floor that is known no longer, a state that could not be written, and
	// whatever else a person should look at.
	Alert EventKind = "alert"
)

// Event is something that happened to an account.
type Event struct {
	// At is when, by this machine's clock.
	At time.Time
	// Account is whom it is about, and Kind what it is.
	Account trading.AccountID
	Kind    EventKind
	// From and To are the states of a Changed; To is the present state of any other.
	From, To State
	// Reason says it to a person.
	Reason string
	// Room is how far the equity is above the floor, and Need how much of it the positions
	// need, in dollars; none if they are not known.
	Room, Need trading.Opt[decimal.Decimal]
	// Missed counts the events before this one that were dropped, because the reader of
	// the events was too slow.
	Missed int
}

// String is a line for an operator.
func (e Event) String() string {
	text := fmt.Sprintf("account %s: %s", e.Account, e.Kind)
	if e.Kind == Changed {
		text += fmt.Sprintf(" from %s to %s", e.From, e.To)
	}
	if e.Reason != "" {
		text += ": " + e.Reason
	}
	if room, ok := e.Room.Get(); ok {
		need, _ := e.Need.Get()
		text += fmt.Sprintf(" (room $%s, needed $%s)", room.StringFixed(2), need.StringFixed(2))
	}
	return text
}

// mostEvents bounds what waits for one reader.
const mostEvents = 1024

// hub hands events to whoever reads them.
type hub struct {
	mu      sync.Mutex
	readers map[*reader]struct{}
}

type reader struct {
	queue  []Event
	missed int
	more   chan struct{} // holds one if there is something
}

func (h *hub) emit(e Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for r := range h.readers {
		if len(r.queue) == mostEvents {
			r.queue = slices.Delete(r.queue, 0, 1)
			r.missed++
		}
		r.queue = append(r.queue, e)
		select {
		case r.more <- struct{}{}:
		default:
		}
	}
}

func (h *hub) join() *reader {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.readers == nil {
		h.readers = make(map[*reader]struct{})
	}
	r := &reader{more: make(chan struct{}, 1)}
	h.readers[r] = struct{}{}
	return r
}

func (h *hub) leave(r *reader) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.readers, r)
}

func (h *hub) take(r *reader) []Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	queue := r.queue
	if len(queue) > 0 {
		queue[0].Missed, r.missed = r.missed, 0
	}
	r.queue = nil
	return queue
}

// Events yields what happens to the accounts from this call on, until ctx ends. A
// reader that is too slow loses the oldest events, and learns how many.
func (p *Protection) Events(ctx context.Context) iter.Seq[Event] {
	r := p.hub.join()
	return func(yield func(Event) bool) {
		defer p.hub.leave(r)
		for {
			for _, e := range p.hub.take(r) {
				if !yield(e) {
					return
				}
			}
			select {
			case <-r.more:
			case <-ctx.Done():
				return
			}
		}
	}
}
