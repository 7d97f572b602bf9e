package tradingsim

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"
)

// EventKind says what an [Event] is.
type EventKind string

// The kinds of events.
const (
	EventRequest   EventKind = "request"   // a request has arrived
	EventAnswer    EventKind = "answer"    // the exchange of a request has ended, with an answer or without
	EventRefused   EventKind = "refused"   // a fault refused a connection, so that there is no request
	EventExecution EventKind = "execution" // something was executed

	EventHealth EventKind = "health" // the service became healthy, or not, as of now
	EventStatus EventKind = "status" // an account changed its status
	EventPrice  EventKind = "price"  // a mark was set, "" for none; what a feed does is not noted
	EventStart  EventKind = "start"  // a program started, as [Sim.Note] says
	EventKill   EventKind = "kill"   // it was killed, or ended
	EventLate   EventKind = "late"   // the machine was so busy that what waited for a time was that much late
)

// Change is a change of the world around the requests.
type Change struct {
	At      time.Time `json:"at"`                // by the clock of the simulation
	Account string    `json:"account,omitempty"` // whose status; empty is the sandbox's
	Symbol  string    `json:"symbol,omitempty"`  // whose price
	Value   string    `json:"value"`             // the new status or price, or what a note says
}

// Event is something that the simulation has noted.
type Event struct {
	Kind EventKind `json:"event"` // what it is
	// Request is the request as it is known by now; nil for an execution. A refused
	// connection has no ID.
	Request *Request `json:"request,omitempty"`
	// Execution is what was executed; nil for all other kinds.
	Execution *Execution `json:"execution,omitempty"`
	// Change is what changed, of the kinds from health to kill; nil for all other kinds.
	Change *Change `json:"change,omitempty"`
}

// Note puts into the log what the simulation cannot see: the start or the end of a program that
// uses it, with a text for a person, or how late the machine was, as time.Duration writes it.
func (s *Sim) Note(kind EventKind, text string) {
	if kind != EventStart && kind != EventKill && kind != EventLate {
		panic(fmt.Sprintf("tradingsim: a note is %s, %s or %s, and not %q", EventStart, EventKill, EventLate, kind))
	}
	s.enter()
	defer s.leave()
	s.changedTo(kind, Change{Value: text})
}

func (s *Sim) changedTo(kind EventKind, c Change) {
	c.At = s.now
	s.emit(Event{Kind: kind, Change: &c})
}

// watcher is a function that sees every event.
type watcher struct{ see func(Event) }

// Watch calls see for every event from now on, one after the other, until stop is called.
// see runs in the middle of a request: it must be quick, and must not use the simulation.
func (s *Sim) Watch(see func(Event)) (stop func()) {
	w := &watcher{see}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watchers = append(s.watchers, w)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.watchers = slices.DeleteFunc(slices.Clone(s.watchers), func(other *watcher) bool { return other == w })
	}
}

// emit shows an event to all that watch. What it holds is theirs to keep.
func (s *Sim) emit(e Event) {
	for _, w := range s.watchers {
		w.see(e)
	}
}

// WithLog writes every event to w as a line of JSON, from the beginning and without a
// bound. The first error of w ends the log, and [Sim.Close] returns it.
func WithLog(w io.Writer) Option {
	return option(func(c *config) { c.logTo = w })
}

// logTo is called before anybody else knows of the simulation.
func (s *Sim) logTo(w io.Writer) {
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	s.watchers = append(s.watchers, &watcher{func(e Event) {
		if s.logErr == nil {
			s.logErr = lines.Encode(e)
		}
	}})
}

func (s *Sim) logError() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.logErr
}

// arrived notes a request.
func (s *Sim) arrived(c *call, f *fault) {
	s.log.count++
	c.id, c.at = s.log.count, s.now
	if s.log.size == 0 && len(s.watchers) == 0 {
		return
	}
	c.entry = s.requestOf(c, f)
	s.log.add(c.entry)
	s.noteRequest(EventRequest, c.entry)
}

// refused notes a connection that a fault refused.
func (s *Sim) refused(c *call, f *fault) {
	s.enter()
	defer s.leave()
	c.at = s.now
	s.noteRequest(EventRefused, s.requestOf(c, f))
}

// ended notes how the exchange of a request has ended.
func (s *Sim) ended(c *call, f *fault, delivered bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.entry == nil && len(s.watchers) == 0 {
		return
	}
	if c.entry == nil {
		c.entry = s.requestOf(c, f)
	}
	c.entry.Status, c.entry.AnsweredAt, c.entry.Delivered = c.status, c.answered, delivered
	if a := c.sent; a != nil {
		c.entry.Code = a.code
		c.entry.RetryAfter, _ = strconv.Atoi(a.header.Get("Retry-After")) // the simulator's own are whole seconds
	}
	c.entry.MarkMissing = c.markMissing
	s.noteRequest(EventAnswer, c.entry)
}

func (s *Sim) noteRequest(kind EventKind, r *Request) {
	if len(s.watchers) == 0 {
		return
	}
	now := *r
	s.emit(Event{Kind: kind, Request: &now})
}

func (s *Sim) requestOf(c *call, f *fault) *Request {
	var lag time.Duration
	if c.operation != nil && !c.operation.write {
		lag = c.operation.lag
	}
	return &Request{
		ID: c.id, At: c.at, Operation: c.name, Path: c.path, Header: received(c.header), Body: c.body,
		KeyFingerprint: s.printOf(c), Connection: c.remote, Lag: lag, Fault: f.String(),
	}
}

// printOf is the fingerprint of the key that a call carries.
func (s *Sim) printOf(c *call) string {
	text := s.sentKey(c)
	if k, ok := s.keys[text]; ok {
		return k.print
	}
	if text == "" {
		return ""
	}
	return KeyFingerprint(text)
}

// KeyFingerprint names an API key without showing it: the beginning of its SHA-256.
func KeyFingerprint(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:6])
}

// origin is what placed something that waits on the server.
type origin struct {
	operation string
	key       string // the Idempotency-Key it was placed under
	request   int64
	copied    bool
}

func originOf(c *call) origin {
	return origin{c.name, c.idempotencyKey(), c.id, c.copied}
}
