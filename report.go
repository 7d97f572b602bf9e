package trading

import (
	"context"
	"time"
)

// What a call reports to the hooks and to the log.

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

// call logs how a call ended.
func (l logger) call(c *call, err error) {
	if l.to == nil {
		return
	}
	l.ended(c.Context, callFacts{
		operation: c.endpoint.op, account: c.account, intent: c.intentID(), symbol: c.symbol, tag: c.opts.tag, write: c.endpoint.write,
		attempts: c.sends, status: c.last.attempt.Status, took: time.Since(c.began),
	}, err)
}
