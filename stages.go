package trading

import (
	"errors"
	"time"

	"github.com/tradingapi/trading-go/internal/limiter"
	"github.com/tradingapi/trading-go/internal/resolve"
)

// The stages that each send of a call passes.

// pass takes one send of the call through the stages. Guards follow what can wait, since a wait would outlive
// what they saw. What ages is judged after all of them, with the connection there: by [writing.MayLeave].
func (c *call) pass() error {
	for w := c.write; ; {
		switch {
		case c.core.life.Closing.Err() != nil:
			return ErrClosed
		case c.ctx.Err() != nil:
			return c.ctx.Err()
		}
		if w != nil && w.of.Ledger.Resolves { // the first entry waits for a look at the account
			if err := w.driver.AwaitBaseline(w.ctx, w.of, c.opts.allowPending); err != nil {
				return err
			}
		}
		err := c.takeKey()
		if err == nil && (w == nil || c.entry) && !c.endpoint.Keyless { // exits may try at any time
			err = checkBreaker(&c.core.breaker, c.env, c.apiKey)
		}
		if err == nil {
			err = c.takeSlot()
		}
		if err != nil || w == nil {
			return err
		}
		if c.env == EnvSandbox {
			err = c.takeTurn()
		}
		if err == nil {
			err = c.askGuards()
		}
		if err == nil {
			err = w.beforeSend(c.sends > 0)
		}
		if err != nil || !c.core.limits.Closed(c.apiKey.ID(), c.endpoint.Class) {
			return err
		}
		c.returnSlot(false) // the service has closed the limit while the guards were asked
	}
}

// takeTurn takes the sandbox's one place for a writer: the service refuses a second with concurrent_request.
func (c *call) takeTurn() (err error) {
	if !c.write.holdsTurn {
		err = c.core.sandboxWriter.take(c.ctx, !c.entry, c.core.life.Closing.Done())
		c.write.holdsTurn = err == nil
	}
	return err
}

func (c *call) giveTurnBack() {
	c.core.sandboxWriter.giveBack()
	c.write.holdsTurn = false
}

func (c *call) askGuards() (err error) {
	w := Write{
		Operation: c.endpoint.Name, Environment: c.env, Account: c.account, Symbol: c.symbol,
		Entry: c.entry, Order: c.write.placed, Tag: c.opts.tag,
		skipHealth:   c.opts.skipHealthGate,
		allowPending: c.opts.allowPending || c.write.doubt, // its own doubt does not hold it back
	}
	if c.core.isExclusive(c.account) {
		w.books = c.core.books
	}
	for i := 0; i < len(c.core.guards) && err == nil; i++ {
		err = c.core.guards[i](c.ctx, w)
	}
	if err != nil && !errors.As(err, new(*GuardError)) {
		err = &GuardError{Kind: ErrGuard, Err: err}
	}
	if errors.Is(err, ErrPendingWrite) { // which may wait for the health
		c.core.gate.ahead(c.ctx, w)
	}
	return err
}

// takeKey takes the API key of the next send.
func (c *call) takeKey() (err error) {
	if c.endpoint.Keyless {
		return nil
	}
	keys := c.core.keys(c.env)
	if c.apiKey, err = keys.current(c.ctx, c.env); keys.fetch != nil {
		c.core.scrubber.Know(string(c.env), c.apiKey)
	}
	if err == nil && c.write != nil {
		err = c.write.sameKey(c.apiKey.ID())
	}
	return err
}

// takeSlot gets the next send its place in the rate limits. A wait that the call would not survive is refused
// at once, with its length.
func (c *call) takeSlot() error {
	if c.endpoint.Keyless {
		return nil
	}
	needs := limiter.Ask{
		Key:      c.apiKey.ID(),
		Class:    c.endpoint.Class,
		Priority: c.priority(),
		Hold:     2 * c.opts.attemptTimeout, // the guards may ask for the health first
		FailFast: c.opts.retry.FailFast || c.write != nil && c.write.second(),
	}
	if w := c.write; w != nil {
		if ttl := c.opts.ttl.of(w.entry); ttl == 0 && c.sends == 0 { // it may be sent once, but not wait
			needs.FailFast = true
		} else {
			needs.Until = time.Now().Add(ttl - resolve.Elapsed(w.began))
		}
	}
	if len(c.core.hooks) > 0 {
		needs.Waiting = func(wait time.Duration, bucket string) {
			c.core.hooks.waiting(c.ctx, c.describe(), Wait{For: wait, Reason: WaitRateLimit, Bucket: bucket})
		}
	}
	slot, err := c.core.limits.Take(c.ctx, &needs)
	c.slot = slot
	if err != nil {
		err = limitError(c.env, err)
	}
	return err
}

// returnSlot ends the call's slot, if it has one.
func (c *call) returnSlot(sent bool) {
	slot := c.slot
	c.slot = limiter.Slot{}
	c.core.limits.Return(slot, sent)
}
