package tradingsim

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/shopspring/decimal"
)

// Execution is something that really happened to an account. What a request did
// by itself has the Actor "api", one entry for each time that it was executed: an
// order, a close, an order that rests, a Pro order, a cancel, an edit, a change of
// levels, a reset.
type Execution struct {
	ID        int64           `json:"id"`                  // counts from 1
	At        time.Time       `json:"at"`                  // by the clock of the simulation
	Operation string          `json:"operation,omitempty"` // what did it, what placed it, or the read that it happened on
	Account   string          `json:"account,omitempty"`   // empty on the sandbox
	Symbol    string          `json:"symbol,omitempty"`    // of the market
	Side      string          `json:"side,omitempty"`      // the direction of a fill: closing a long is "short"
	Request   int64           `json:"request,omitempty"`   // the [Request.ID] that did it, that placed what filled, or that it happened on; 0 for none
	Copy      bool            `json:"copy"`                // done by a copy of the request, which a fault made
	Key       string          `json:"key,omitempty"`       // the Idempotency-Key that did it, or that placed what filled
	Body      []byte          `json:"body,omitempty"`      // of the request that did it; nil for what filled by itself
	Actor     string          `json:"actor"`               // "api", "terminal", or "service" for what filled by itself
	Filled    bool            `json:"filled"`              // it traded; setting triggers, resting or cancelling does not
	Size      decimal.Decimal `json:"-"`                   // of the fill, in base units
	Price     decimal.Decimal `json:"-"`                   // of the fill
}

// String is the execution on one line, for a test's log.
func (e Execution) String() string {
	text := fmt.Sprintf("%d %s %s %s", e.ID, e.At.UTC().Format("15:04:05.000"), cmp.Or(e.Account, "sandbox"), e.Operation)
	if e.Filled {
		text += fmt.Sprintf(": %s %s %s at %s", e.Side, e.Size, e.Symbol, e.Price)
	} else if e.Symbol != "" {
		text += " " + e.Symbol
	}
	if len(e.Body) > 0 {
		text += " " + string(e.Body)
	}
	return text
}

// Request is what a caller sent, without API keys. Requests that a fault lost on
// their way are here too, with the Status 0 of a call that got no answer; copies
// that a fault made are not.
type Request struct {
	// ID counts from 1, in the order of arrival.
	ID int64 `json:"id"`
	// When it came, by the clock of the simulation, what it was ("POST /orders"), its
	// path below the root with the query, and what it held.
	At        time.Time   `json:"at"`
	Operation string      `json:"operation"`
	Path      string      `json:"path"`
	Header    http.Header `json:"header"`
	Body      []byte      `json:"body"`
	// KeyFingerprint is the [KeyFingerprint] of the API key that it carried; empty
	// without one.
	KeyFingerprint string `json:"keyFingerprint,omitempty"`
	// Connection is the network address of the caller's end of the connection.
	Connection string `json:"connection"`
	// Lag is how far back a read shows the account and the marks; see [Sim.SetLag].
	Lag time.Duration `json:"lag,omitempty"`
	// Fault names what was planned for it, such as "drop_response"; empty for nothing.
	Fault string `json:"fault,omitempty"`
	// Status is what it was answered with, and AnsweredAt when. Both are zero where no
	// answer was sent. Code is the service's own refusal, empty where something in front
	// answered, and RetryAfter the wait in seconds that the answer named. MarkMissing means
	// that a market of the answer had no mark.
	Status      int       `json:"status,omitempty"`
	Code        string    `json:"code,omitempty"`
	RetryAfter  int       `json:"retryAfter,omitempty"`
	MarkMissing bool      `json:"markMissing,omitempty"`
	AnsweredAt  time.Time `json:"answeredAt,omitzero"`
	// Delivered means that the whole answer was written to the caller, whether it is the
	// service's own or that of a proxy.
	Delivered bool `json:"delivered"`
}

// Ledger is what was really executed, oldest first, whatever callers were answered.
func (s *Sim) Ledger() []Execution {
	s.enter()
	defer s.leave()
	return slices.Clone(s.ledger)
}

// Executed is what requests with an Idempotency-Key have really done, oldest first,
// whatever their callers were answered: each entry is one execution, so that more than one
// is a write that happened more than once. What filled later, of an order that rested
// or of a Pro run, is in [Sim.Ledger] alone.
func (s *Sim) Executed(key string) []Execution {
	s.enter()
	defer s.leave()
	var list []Execution
	for _, e := range s.ledger {
		if e.Actor == "api" && e.Key == key {
			list = append(list, e)
		}
	}
	return list
}

// Position is what an account really holds in a market, however much reads lag:
// more than zero is long, less is short. The account "" is the sandbox.
func (s *Sim) Position(accountID, symbol string) decimal.Decimal {
	s.enter()
	defer s.leave()
	var held *position
	if accountID != "" {
		held = s.mustAccount(accountID).find(symbol)
	} else if d, ok := s.desks[""]; ok {
		held = d.paper.find(symbol)
	}
	if held == nil {
		return decimal.Zero
	}
	return held.size.Mul(direction(held.side))
}

// Requests are the latest requests, oldest first.
func (s *Sim) Requests() []Request {
	s.enter()
	defer s.leave()
	kept := s.log.kept()
	list := make([]Request, len(kept))
	for i, r := range kept {
		list[i] = *r
	}
	return list
}

// record notes an execution.
func (s *Sim) record(c *call, e Execution) {
	e.ID, e.At = int64(len(s.ledger))+1, s.now
	if c != nil {
		e.Operation, e.Request, e.Copy = c.name, c.id, c.copied
		if e.Actor == "api" {
			e.Key, e.Body = c.idempotencyKey(), c.body
		}
		if e.Actor == "api" && c.terminal {
			e.Actor = "terminal"
		}
	}
	s.ledger = append(s.ledger, e)
	s.emit(Event{Kind: EventExecution, Execution: &e})
	if !e.Filled {
		return
	}
	t, b := s.trackOf(c, e.Account)
	t.fills++
	s.changed(t, b)
}

// trackOf finds where a fill is to be noted.
func (s *Sim) trackOf(c *call, account string) (*track, *book) {
	if account != "" {
		a := s.accounts[account]
		return &a.track, &a.book
	}
	d := s.desks[s.deskOwner(c.key)]
	return &d.track, &d.paper.book
}

func (s *Sim) recordClose(c *call, account, actor string, t trade) {
	s.record(c, Execution{
		Account: account, Symbol: t.symbol, Side: opposite(t.side), Actor: actor,
		Filled: true, Size: t.size, Price: t.exitPrice,
	})
}

// requestLog keeps the latest requests. Of a month of polling it must not hold more
// than it has to: whatever it holds, every collection of garbage looks through.
type requestLog struct {
	count   int64 // so far
	size    int
	entries []*Request
	oldest  int // once there are size entries
}

func (l *requestLog) add(r *Request) {
	switch {
	case len(l.entries) < l.size:
		l.entries = append(l.entries, r)
	case l.size > 0:
		l.entries[l.oldest] = r
		l.oldest = (l.oldest + 1) % l.size
	}
}

func (l *requestLog) kept() []*Request {
	return append(slices.Clone(l.entries[l.oldest:]), l.entries[:l.oldest]...)
}
