package trading

import (
	"errors"
	"time"

	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/limiter"
	"github.com/tradingapi/trading-go/internal/resolve"
	"github.com/tradingapi/trading-go/journal"
)

// What every send of a call passes, in the order of [call.pass], and below it what a send
// leaves behind.

// stillOpen refuses what comes after Close, or after the caller has left.
func (c *call) stillOpen() error {
	if c.core.closing.Err() != nil {
		return ErrClosed
	}
	return c.Err()
}

// awaitBaseline has the first entry wait for a look at the account.
func (c *call) awaitBaseline() error {
	if c.write == nil || !c.write.Ledger.Resolves {
		return nil
	}
	return c.core.driver.AwaitBaseline(c, c.write)
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
	if w := c.write; err == nil && w != nil && c.entry && w.APIKey != "" && w.APIKey != key.ID() {
		return &GuardError{Kind: ErrExpired, Reason: "the API key was replaced, and with another one the order may run again"}
	}
	return err
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

// waitForLimit gets the next send its slot in the rate limits. A wait that the call
// would not survive is refused at once, with its length.
func (c *call) waitForLimit() error {
	if c.endpoint.keyless {
		return nil
	}
	needs := limiter.Request{
		Key:      c.apiKey.ID(),
		Class:    c.endpoint.class,
		Priority: c.priority(),
		Hold:     2 * c.opts.attemptTimeout, // the guards may ask for the health first
		FailFast: c.opts.failFast,
	}
	switch ttl := c.opts.ttlOf(c.entry); {
	case !c.endpoint.write:
	case ttl == 0 && c.sends == 0: // it may be sent once, but not wait
		needs.FailFast = true
	default:
		needs.Until = time.Now().Add(ttl - ledger.Elapsed(c.began))
	}
	if len(c.core.hooks) > 0 {
		needs.Waiting = func(wait time.Duration, bucket string) { c.hookWait(wait, WaitRateLimit, bucket) }
	}
	slot, err := c.core.limits.Take(c, &needs)
	c.slot = slot
	return c.limitError(err)
}

// limitError is the client's word for an error of the limiter.
func (c *call) limitError(err error) error {
	if err == nil {
		return nil
	}
	full := (*limiter.Full)(nil)
	switch {
	case errors.As(err, &full):
		refusal := refuse(c.env, CodeRateLimited, "the rate limit %s is full, and the call may not wait for it: FailFast, its context or its send TTL is in the way", full.Bucket)
		refusal.RetryAfter = Some(full.Wait)
		return refusal
	case errors.Is(err, limiter.ErrClosed):
		return ErrClosed
	default:
		return err
	}
}

// holdWriter takes the sandbox's one place for a writer: the service refuses a
// second with concurrent_request.
func (c *call) holdWriter() error {
	if !c.endpoint.write || c.env != EnvSandbox || c.writer {
		return nil
	}
	err := c.core.sandboxWriter.take(c, !c.entry, c.core.closing.Done())
	c.writer = err == nil
	return err
}

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
		Order:        c.placed(),
		Tag:          c.opts.tag,
		skipHealth:   c.opts.skipHealthGate,
		allowPending: c.opts.allowPending || c.doubt, // its own doubt does not hold it back
	}
	if c.core.isExclusive(c.account) {
		w.books = c.core.books
	}
	for _, guard := range c.core.guards {
		if err := guard(c.Context, w); err != nil {
			if errors.Is(err, ErrPendingWrite) { // which may wait for the health
				c.core.gate.ahead(c.Context, w)
			}
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
	case err == nil:
		return nil
	case c.Err() != nil:
		return c.Err()
	case errors.Is(err, resolve.ErrTooOld):
		return c.tooOld()
	case c.entry:
		return &GuardError{Kind: ErrJournal, Reason: "entries wait until it can be written", Err: err}
	case journal.IsFencing(err):
		return &GuardError{Kind: ErrJournal, Reason: "exits go out beside a journal that fails, and not beside one that is another's", Err: err}
	}
	c.core.driver.Missing(w, err)
	return nil
}

// limitClosed reports whether the service has closed one of the call's rate limits
// since it got its slot.
func (c *call) limitClosed() bool {
	return !c.endpoint.keyless && c.core.limits.Closed(c.apiKey.ID(), c.endpoint.class)
}

// returnSlot ends the call's slot, if it has one.
func (c *call) returnSlot(sent bool) {
	slot := c.slot
	c.slot = limiter.Slot{}
	c.core.limits.Return(slot, sent)
}

func (c *call) releaseWriter() {
	if c.writer {
		c.core.sandboxWriter.giveBack()
		c.writer = false
	}
}

// noteKey trips the breaker of a key that was refused, and resets it when one works.
func (c *call) noteKey() {
	if !c.endpoint.keyless {
		noteKey(&c.core.breaker, c.apiKey, &c.last)
	}
}
