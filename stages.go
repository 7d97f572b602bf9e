package trading

import (
	"context"
	"errors"
	"net/url"
	"time"

	"github.com/tradingapi/trading-go/internal/address"
	"github.com/tradingapi/trading-go/internal/resolve"
)

// askGuards asks every guard, before every send.
func (c *call) askGuards() error {
	if !c.endpoint.write {
		return nil
	}
	w := Write{
		Operation:    c.endpoint.op,
		Environment:  c.env,
		Account:      c.account,
		Symbol:       c.symbol,
		Entry:        c.entry,
		Order:        c.order,
		Tag:          c.opts.tag,
		skipHealth:   c.opts.skipHealthGate,
		allowPending: c.opts.allowPending || c.doubt, // its own doubt does not hold it back
	}
	for _, guard := range c.core.guards {
		if err := guard(c.Context, w); err != nil {
			return guardError(err)
		}
	}
	return nil
}

// noteInJournal makes a write durable before its first byte, and each new key and send.
func (c *call) noteInJournal() error {
	w := c.write
	if w == nil || !w.Ledger.Resolves {
		return nil
	}
	err := c.core.driver.Before(c, w, c.sends > 0)
	switch {
	case err == nil || errors.Is(err, resolve.ErrTaken):
		return err
	case c.Err() != nil:
		return c.Err()
	case c.entry:
		return &GuardError{Kind: ErrJournal, Reason: "entries wait until it can be written", Err: err}
	}
	c.core.driver.Missing(w, err)
	return nil
}

// takeKey gets the key for the next attempt. One that has been rotated since the
// last is another key: what was held against the old one does not hold.
func (c *call) takeKey() error {
	if c.endpoint.keyless {
		return nil
	}
	key, err := c.core.keys(c.env).current(c.Context, c.env)
	c.apiKey = key
	c.core.scrubber.Know(string(c.env), key)
	return err
}

// noteKey trips the breaker of a key that was refused, and resets it when one works.
func (c *call) noteKey() {
	if !c.endpoint.keyless {
		noteKey(&c.core.breaker, c.apiKey, &c.last)
	}
}

// checkBreaker refuses a call whose key was refused a moment ago. Exits may try at
// any time.
func (c *call) checkBreaker() error {
	exit := c.endpoint.write && !c.entry
	if c.endpoint.keyless || exit {
		return nil
	}
	return checkBreaker(&c.core.breaker, c.env, c.apiKey)
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
		Intent:      c.intentID(),
		Key:         c.key(),
		Tag:         c.opts.tag,
		Body:        c.body,
	}
}

// hookStart reports to the hooks that the call begins.
func (c *call) hookStart() { c.Context = c.core.hooks.callStart(c.Context, c.hookCall) }

// hookDone reports to the hooks how the call ended. Of a write that is still under way
// only what was fixed before it began is read.
func (c *call) hookDone(seen Call, d Done) {
	d.Took = time.Since(c.began)
	c.core.hooks.callDone(c.Context, seen, d)
}

// hookSend reports a send to the hooks, and returns its context.
func (c *call) hookSend(ctx context.Context) context.Context {
	return c.core.hooks.attemptStart(ctx, c.hookCall, c.sends)
}

// hookSent reports to the hooks how the last send ended.
func (c *call) hookSent() {
	if len(c.core.hooks) == 0 || c.lastCtx == nil {
		return
	}
	last := &c.last.attempt
	a := Attempt{
		Number:   c.sends,
		Key:      last.key,
		Status:   last.Status,
		Request:  c.body,
		Response: last.Body,
		Replayed: last.replayed(),
		Written:  last.Written,
		Outcome:  c.outcome,
		Err:      last.Err,
		Sent:     last.Sent,
		Took:     last.Received.Sub(last.Sent),
	}
	if c.last.refusal != nil {
		a.Code = c.last.refusal.Code
	}
	c.core.hooks.attemptDone(c.lastCtx, c.hookCall, a)
}

// hookWait reports a wait to the hooks.
func (c *call) hookWait(d time.Duration, why WaitReason, bucket string) {
	c.core.hooks.waiting(c.Context, c.hookCall, Wait{For: d, Reason: why, Bucket: bucket})
}

func (c *call) intentID() IntentID {
	if c.write == nil || !c.write.Tracked() {
		return ""
	}
	return IntentID(c.write.Intent.ID)
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
	if err != nil && c.invalid == nil {
		c.invalid = err
	}
	c.url = at
}

// call logs how a call ended.
func (l logger) call(c *call, err error) {
	if l.to == nil {
		return
	}
	l.ended(c.Context, callFacts{
		operation: c.endpoint.op, symbol: c.symbol, tag: c.opts.tag, write: c.endpoint.write,
		attempts: c.sends, status: c.last.attempt.Status, took: time.Since(c.began),
	}, err)
}
