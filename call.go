package trading

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/tradingapi/trading-go/internal/books"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/limiter"
	"github.com/tradingapi/trading-go/internal/resolve"
	"github.com/tradingapi/trading-go/internal/transport"
	"github.com/tradingapi/trading-go/internal/transport/address"
	"github.com/tradingapi/trading-go/internal/wire"
)

// caller is what a handle needs to begin calls.
type caller struct {
	core     *core
	defaults callOptions
}

// call is one API call. It is the context of its own requests, which is how the
// loop that sends finds it; so the context in it is not kept beyond the call.
type call struct {
	context.Context
	request
	core *core

	apiKey apiKey         // of the next attempt, or the last
	slot   limiter.Slot   // that the next send has
	write  *resolve.Write // nil for a read
	since  uint64         // the number of the drivers' last request before the journal was read

	sends   int // attempts so far
	wait    time.Duration
	last    heard
	lastCtx context.Context // of the last attempt, for the hooks

	writer  bool // it holds the sandbox's one place for a writer
	outcome Outcome
	doubt   bool  // an attempt that ended may have been applied
	doubted bool  // there has been doubt, whether or not it is over
	left    bool  // any byte of a write may have left
	forget  bool  // the write needs no resolution
	stopped error // why there is no further attempt, or none at all, where the last answer does not say it
	found   error // what resolving it came to, beside the answer

	result wire.Value // what a success is decoded into; nil if nobody wants it
}

// begin starts a call to an endpoint.
func (h caller) begin(ctx context.Context, e *endpoint, opts []CallOption) *call {
	noContext := checkContext(ctx)
	if noContext != nil {
		ctx = context.Background()
	}
	c := &call{Context: ctx, stopped: noContext, core: h.core, outcome: NotApplied}
	c.request = request{endpoint: e, env: e.env, opts: h.defaults, url: h.core.urls[e], entry: e.spec.Asks.Adds(false), began: time.Now()}
	for _, opt := range opts {
		if opt == nil {
			c.stopped = errNilOption()
			break
		}
		if err := opt.applyCall(&c.opts); err != nil {
			c.stopped = err
			break
		}
	}
	c.began = c.began.Add(-c.opts.age)
	return c
}

// place has the call place an order.
func (c *call) place(o Order) {
	c.order, c.orders, c.symbol, c.entry = o, true, o.Symbol, c.endpoint.spec.Asks.Adds(o.ReduceOnly)
}

// aimAtAccount aims the call at a path below its account.
func (c *call) aimAtAccount(rest string) {
	c.aim(address.BelowAccount(c.core.urls[endpointOf(OpAccounts)], string(c.account), rest))
}

// aimByQuery adds the one query parameter of the call's endpoint.
func (c *call) aimByQuery(name, value string) {
	c.aim(address.WithQuery(c.core.urls[c.endpoint], name, value))
}

func (c *call) aim(at *url.URL, err error) {
	if err != nil && c.stopped == nil {
		c.stopped = err
	}
	c.url = at
}

// Value finds the call itself, besides what the caller's context holds.
func (c *call) Value(key any) any {
	if key == (transport.SenderKey{}) {
		return transport.Sender(c)
	}
	return c.Context.Value(key)
}

// errConcluded: the earlier write has ended, so what it came to is looked up.
var errConcluded = errors.New("the earlier write has ended")

// question is what the next answer is judged by.
func (c *call) question() question {
	return question{endpoint: c.endpoint, env: c.env, result: c.result, fresh: c.opts.recovering, meta: c.facts()}
}

// shownAt is when a read showed what its answer says; of a kept one that is not known.
func (c *call) shownAt() books.Read {
	if transport.Aged(c.last.attempt.Header) {
		return books.Read{}
	}
	return books.Read{Begun: c.last.attempt.Sent, Ended: c.last.attempt.Received}
}

// key is the idempotency key of the next send, or the last; empty where there is none.
func (c *call) key() Key {
	switch {
	case c.write != nil:
		return Key(c.write.Try().Key)
	case c.opts.recovering: // a request of the driver
		return c.opts.key.given
	default:
		return ""
	}
}

// facts are what the call knows before there is an answer.
func (c *call) facts() Meta {
	m := Meta{Operation: c.endpoint.op, Key: c.key(), Attempts: c.sends}
	if c.write != nil {
		m.Unjournaled = c.write.Unjournaled
	}
	return m
}

// meta returns the facts of the last answer.
func (c *call) meta() Meta {
	q := question{meta: c.facts()}
	m := q.metaOf(&c.last.attempt)
	if m.Replayed {
		m.ResolvedAfter = ledger.Elapsed(c.began)
	}
	return m
}

// pause waits, unless the caller or the client goes first.
func (c *call) pause(d time.Duration) error {
	if d <= 0 {
		return c.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-c.Done():
		return c.Err()
	case <-c.core.closing.Done():
		return ErrClosed
	}
}

// MayLeave is the gate of a write: it refuses what was decided too long ago, since its
// price is gone, what a newer setting has replaced, what nobody waits for any more, and what the
// journal's lease does not allow.
// Other goroutines ask it too, so it reads only what no attempt changes.
func (c *call) MayLeave() error {
	switch {
	case c.Err() != nil:
		return c.Err()
	case ledger.Elapsed(c.began) >= c.write.Ledger.SendTTL():
		return c.tooOld()
	case !c.core.driver.MayLeave(c.write):
		return &GuardError{Kind: ErrExpired, Reason: "a newer setting of the levels was sent"}
	default:
		return c.core.leaseAllows(c.env, c.account, c.entry)
	}
}

// tooOld refuses a write that was decided too long ago.
func (c *call) tooOld() error {
	return &GuardError{
		Kind:   ErrExpired,
		Reason: fmt.Sprintf("decided %s ago, may be sent for %s", ledger.Elapsed(c.began).Round(time.Millisecond), c.write.Ledger.SendTTL()),
	}
}

// LeaveBy implements [transport.Leaser] for the gate of a write.
func (c *call) LeaveBy() time.Time { return c.core.leaveBy() }

// gate returns the gate of the next attempt; nil for a read.
func (c *call) gate() transport.Gate {
	if c.write == nil {
		return nil
	}
	return c
}

// outlives reports whether a wait would end after the write's TTL or the caller's
// deadline, so that waiting cannot help. A read without a deadline waits for the service's
// longest window, and no more.
func (c *call) outlives(wait time.Duration) bool {
	deadline, bounded := c.Deadline()
	switch {
	case bounded && time.Until(deadline) <= wait:
		return true
	case c.endpoint.write:
		return ledger.Elapsed(c.began)+wait >= c.opts.ttlOf(c.entry)
	default:
		return !bounded && wait > limiter.Window
	}
}

// nameWait says in the refusal how long waiting would have taken.
func (c *call) nameWait(wait time.Duration) {
	if r := c.last.refusal; r != nil && r.RetryAfter.IsZero() && r.rule().Advice == AdviseWait {
		r.RetryAfter = Some(wait)
	}
}

// exitPriority is that of an exit: what gets out at once comes first.
func exitPriority(op Operation) Priority {
	switch op {
	case OpClose, OpSandboxClose, OpOrder, OpSandboxOrder:
		return PriorityClose
	default:
		return PriorityExit
	}
}

// priority returns the priority of the next send.
func (c *call) priority() Priority {
	priority := PriorityRead
	switch {
	case c.opts.recovering:
		return PriorityRecovery
	case c.entry:
		priority = PriorityEntry
	case c.endpoint.write:
		priority = exitPriority(c.endpoint.op)
	}
	if asked, ok := c.opts.priority.Get(); ok && !c.entry {
		priority = max(priority, asked)
	}
	if c.doubt {
		priority = max(priority, PriorityRecovery)
	}
	return priority
}

// only is the error of a method whose result is in the Meta.
func only[T any](_ T, err error) error { return err }

func errNoOperation(op Operation) error {
	return invalid("op", "it is %q: it must be an operation of the contract", string(op))
}
