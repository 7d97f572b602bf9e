package trading

import (
	"context"
	"time"
)

// Hooks are told what a client does, for metrics, traces and records. A member
// that is nil costs nothing. Hooks are called by many goroutines, in the middle of
// the calls that they are told of: one that blocks holds its call up.
//
// A write whose caller left while it was under way goes on for its grace: its
// AttemptDone, and Settled once its outcome is known, come after its CallDone.
type Hooks struct {
	// CallStart is told of each call that begins. The context that it returns is
	// the call's from then on, and must come from ctx; nil keeps ctx.
	CallStart func(ctx context.Context, c Call) context.Context
	// CallDone is told how each call ended, once.
	CallDone func(ctx context.Context, c Call, d Done)
	// AttemptStart is told of each send, right before its first byte. The context
	// that it returns is the request's, and must come from ctx; nil keeps ctx.
	AttemptStart func(ctx context.Context, c Call, attempt int) context.Context
	// AttemptDone is told how each send ended.
	AttemptDone func(ctx context.Context, c Call, a Attempt)
	// Waiting is told of each wait before it begins.
	Waiting func(ctx context.Context, c Call, w Wait)
	// Settled is told of each write that had been Unknown to its caller, or was left
	// by an earlier run, once its outcome is known.
	Settled func(ctx context.Context, v Verdict)
}

// WithHooks adds hooks; those of several options are called in their order.
func WithHooks(h Hooks) Option {
	return clientOption(func(c *config) error {
		c.hooks = append(c.hooks, h)
		return nil
	})
}

// Call is what hooks are told of a call.
type Call struct {
	// Operation is the endpoint.
	Operation Operation
	// Environment is sandbox or live; empty where no key is sent.
	Environment Environment
	// Account is the live account, Symbol the market; empty where there is none.
	Account AccountID
	Symbol  string
	// Priority is that of the call's next request in the rate limits.
	Priority Priority
	// Write means that the call changes the account, Entry that it can add exposure.
	Write, Entry bool
	// Intent is the write's place in the journal, once it has one.
	Intent IntentID
	// Key is the idempotency key of the next send, or the last; empty where there is
	// none.
	Key Key
	// Tag is the caller's name for the decision.
	Tag string
	// Body is what is sent, the same bytes with every attempt; nil for reads, and
	// for what was refused before it was encoded. It is the client's, and must be
	// copied to be kept.
	Body []byte
}

// Attempt is how one send ended. The API key is in none of it.
type Attempt struct {
	// Number counts from 1.
	Number int
	// Key is the idempotency key; empty on the sandbox and for reads.
	Key Key
	// Status is the HTTP status, 0 without an answer.
	Status int
	// Code is the refusal's; empty unless the service refused.
	Code Code
	// Request and Response are the bodies. They are the client's, and must be
	// copied to be kept.
	Request, Response []byte
	// Replayed means that the service repeated its stored answer.
	Replayed bool
	// Written means that any of the request may have left.
	Written bool
	// Outcome is what is known of a write after it.
	Outcome Outcome
	// Err is why there is no answer.
	Err error
	// Sent is when it began, Took how long it lasted.
	Sent time.Time
	Took time.Duration
}

// Done is how a call ended.
type Done struct {
	// Err is what the caller got.
	Err error
	// Outcome is a write's.
	Outcome Outcome
	// Attempts counts the sends.
	Attempts int
	// Took is how long the call lasted, waits included.
	Took time.Duration
}

// WaitReason says what a call waits for.
type WaitReason string

// The reasons.
const (
	// WaitRateLimit is for a rate limit that is full, or that the service has closed.
	WaitRateLimit WaitReason = "rate limit"
	// WaitBackoff is before sending again.
	WaitBackoff WaitReason = "backoff"
)

// Wait is a wait that begins.
type Wait struct {
	// For is how long, as far as it is known: in a rate limit it can be longer.
	For time.Duration
	// Reason is why.
	Reason WaitReason
	// Bucket names the rate limit, where it is one.
	Bucket string
}

// hookCall is the call as hooks see it now.
func (c *call) hookCall() Call {
	return Call{
		Operation:   c.endpoint.op,
		Environment: c.env,
		Account:     c.account,
		Symbol:      c.symbol,
		Priority:    c.priority(),
		Write:       c.endpoint.write,
		Entry:       c.entry,
		Intent:      c.intent,
		Key:         c.key,
		Tag:         c.opts.tag,
		Body:        c.body,
	}
}

// hookStart tells the hooks that the call begins.
func (c *call) hookStart() {
	for i := range c.core.hooks {
		if start := c.core.hooks[i].CallStart; start != nil {
			if ctx := start(c.Context, c.hookCall()); ctx != nil {
				c.Context = ctx
			}
		}
	}
}

// hookDone tells the hooks how the call ended. Of a write that is still under way
// only what was fixed before it began is read.
func (c *call) hookDone(told Call, d Done) {
	d.Took = time.Since(c.began)
	for i := range c.core.hooks {
		if done := c.core.hooks[i].CallDone; done != nil {
			done(c.Context, told, d)
		}
	}
}

// hookSend tells the hooks of a send, and returns its context.
func (c *call) hookSend(ctx context.Context) context.Context {
	for i := range c.core.hooks {
		if start := c.core.hooks[i].AttemptStart; start != nil {
			if with := start(ctx, c.hookCall(), c.sends); with != nil {
				ctx = with
			}
		}
	}
	return ctx
}

// hookSent tells the hooks how the last send ended.
func (c *call) hookSent() {
	if len(c.core.hooks) == 0 || c.last.ctx == nil { // it never took off
		return
	}
	a := Attempt{
		Number:   c.sends,
		Key:      c.last.key,
		Status:   c.last.status,
		Request:  c.body,
		Response: c.last.body,
		Replayed: c.last.replayed(),
		Written:  c.last.err == nil || c.last.written,
		Outcome:  c.outcome,
		Err:      c.last.err,
		Sent:     c.last.sent,
		Took:     c.last.received.Sub(c.last.sent),
	}
	if c.refusal != nil {
		a.Code = c.refusal.Code
	}
	for i := range c.core.hooks {
		if done := c.core.hooks[i].AttemptDone; done != nil {
			done(c.last.ctx, c.hookCall(), a)
		}
	}
}

// hookWait tells the hooks of a wait.
func (c *call) hookWait(d time.Duration, why WaitReason, bucket string) {
	for i := range c.core.hooks {
		if waiting := c.core.hooks[i].Waiting; waiting != nil {
			waiting(c.Context, c.hookCall(), Wait{For: d, Reason: why, Bucket: bucket})
		}
	}
}

// hookSettled tells the hooks what a write in doubt has come to.
func (c *core) hookSettled(ctx context.Context, v Verdict) {
	for i := range c.hooks {
		if settled := c.hooks[i].Settled; settled != nil {
			settled(context.WithoutCancel(ctx), v)
		}
	}
}
