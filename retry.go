package trading

import (
	"math/rand/v2"
	"net/http"
	"time"
)

// judge looks at the attempt that has just ended: what it says of the outcome,
// and whether to send once more. It is go-retryablehttp's CheckRetry.
func (c *call) judge() (again bool) {
	c.classify()
	rule := c.rule()
	c.noteOutcome(rule)
	c.noteKey()
	c.hookSent()

	c.rekey = c.newKeyNeeded(rule)
	// A key that the caller gave is never replaced, and beside an attempt in doubt
	// a new key would be a second order.
	if !c.mayResend(rule) || c.rekey && (c.doubt || c.opts.key.given != "") {
		return false
	}
	c.wait = c.backoff()
	blocked := false
	if c.answer == answerRefusal && rule.Advice == AdviseWait {
		c.wait = max(c.last.retryAfter(), c.wait)
		if blocked = !c.endpoint.keyless && !c.last.replayed(); blocked { // a stored 429 is of then
			c.blockBudget(c.wait)
		}
	}
	if rule.Kind == ErrNoPrice {
		c.prices++
		if c.prices >= c.opts.retry.PriceAttempts {
			return false
		}
	}
	if c.opts.failFast && rule.Advice == AdviseWait || c.outlives(c.wait) {
		c.nameWait()
		return false
	}
	if blocked {
		c.wait = 0 // the line waits for the budget, lane by lane
	}
	return c.sends < c.opts.retry.Attempts && c.Err() == nil
}

// rule is the row for a refusal; the zero Rule for anything else.
func (c *call) rule() Rule {
	if c.refusal != nil {
		return c.refusal.rule()
	}
	return Rule{}
}

// noteOutcome keeps what is known of the write. Doubt sticks: after an attempt
// that may have been applied, only a success settles the call, or the repeated
// refusal of the one attempt that was in doubt. Every other answer speaks for its
// own attempt alone: after two in doubt, a repeated refusal can be the second's,
// while the first was executed and failed after that.
func (c *call) noteOutcome(rule Rule) {
	if !c.endpoint.write {
		return // nothing to apply
	}
	switch c.answer {
	case answerSuccess:
		c.outcome, c.doubt = Applied, false
		return
	case answerRefusal:
		c.outcome = rule.Outcome
		c.heard.held = c.heard.held || c.last.replayed() || rule.Code == CodeIdempotencyResultUnknown
		c.heard.failed = c.heard.failed || c.last.status >= 500 && rule.Outcome == Unknown
		if c.last.replayed() && c.keySends == 2 && !c.begunInDoubt {
			c.doubt = false // this is what became of the one before
		}
		if rule.Code == CodeIdempotencyKeyReused && c.decision != "" {
			c.outcome = Unknown // the decision was sent before, in other bytes
		}
	case answerForeign, answerRedirect:
		c.outcome = Unknown
	case answerNone:
		c.outcome = NotApplied
		if c.last.written {
			c.outcome = Unknown
		}
	}
	if c.doubt {
		c.outcome = Unknown
	}
	c.doubt = c.outcome == Unknown
	c.doubted = c.doubted || c.doubt
}

// noteKey trips the breaker of a key that was refused, and resets it when one works.
// A 429 may come from in front of the key, and a 5xx from anywhere: they say
// nothing of it.
func (c *call) noteKey() {
	if c.endpoint.keyless {
		return
	}
	refusal := c.refusal
	switch {
	case refusal != nil && (refusal.Status == http.StatusUnauthorized || refusal.Code == CodeAPIAccessDenied):
		c.core.breaker.Trip(c.apiKey, string(refusal.Code), refusal.Message)
	case c.answer == answerSuccess || refusal != nil && refusal.Status < 500 && refusal.Status != http.StatusTooManyRequests:
		c.core.breaker.Reset(c.apiKey)
	}
}

// mayResend reports whether sending again can do no harm and may do some good.
func (c *call) mayResend(rule Rule) bool {
	// The sandbox has no idempotency: what may have arrived is not sent again.
	// A live write may be, since its key is executed once.
	safe := !c.endpoint.write || c.env == EnvLive
	switch c.answer {
	case answerRefusal:
		return c.mayResendRefused(rule)
	case answerForeign:
		// A page by something in front. A read is asked again where that thing
		// says that it failed; a write, since it may have passed it.
		return c.endpoint.write && safe || !c.endpoint.write && c.last.status >= 500
	case answerNone:
		return safe || !c.last.written
	default:
		return false
	}
}

func (c *call) mayResendRefused(rule Rule) bool {
	if !c.endpoint.write {
		// To a read a missing price is an answer, and not one that is worth
		// waiting for unasked.
		return rule.Advice == AdviseWait || rule.Advice == AdviseRead && c.last.status >= 500
	}
	return rule.Advice == AdviseSameKey || rule.Advice == AdviseWait || rule.Kind == ErrNoPrice
}

// newKeyNeeded reports whether the refusal is stored under the call's key.
func (c *call) newKeyNeeded(rule Rule) bool {
	if c.key == "" || c.answer != answerRefusal {
		return false
	}
	return rule.Advice == AdviseNewKey || rule.Advice == AdviseWait && c.last.replayed()
}

// backoff returns the wait before the next attempt: doubled each time, and
// spread over its upper half so that callers who failed together do not come
// back together.
func (c *call) backoff() time.Duration {
	r := c.opts.retry
	wait := r.MaxWait
	if shift := max(c.sends-1, 0); shift < 20 && r.MinWait<<shift < r.MaxWait {
		wait = r.MinWait << shift
	}
	return wait/2 + rand.N(wait/2+1)
}

// retryAfter is what the answer asks for. The full window stands for a 429 that
// does not say.
func (a *attempt) retryAfter() time.Duration {
	if d := parseRetryAfter(a.header, a.received); d > 0 {
		return d
	}
	return time.Minute
}

// nameWait tells in the refusal how long waiting would have taken.
func (c *call) nameWait() {
	if c.refusal != nil && c.refusal.RetryAfter == 0 && c.rule().Advice == AdviseWait {
		c.refusal.RetryAfter = c.wait
	}
}

// again waits and takes the next send through the stages. It is
// go-retryablehttp's PrepareRetry; an error ends the loop.
func (c *call) again() error {
	if c.wait > 0 {
		c.hookWait(c.wait, WaitBackoff, "")
	}
	err := c.pause(c.wait)
	if err == nil && c.rekey {
		c.nextKey()
	}
	if err == nil {
		err = c.admit()
	}
	if err != nil {
		c.stopped = err
	}
	return err
}
