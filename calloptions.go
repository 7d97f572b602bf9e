package trading

import (
	"cmp"
	"time"

	"github.com/tradingapi/trading-go/internal/check"
)

// The options of a call. Most can be the default of a client too.

// WithRetry replaces the bounds of sending again; fields left zero keep their default.
func WithRetry(r Retry) SharedOption {
	return sharedOption(func(c *callOptions) error {
		if r.Attempts < 0 || r.PriceAttempts < 0 || r.MinWait < 0 || r.MaxWait < 0 {
			return invalid("WithRetry", "it is %+v: no bound must be negative", r)
		}
		was := &c.retry
		was.Attempts, was.PriceAttempts = cmp.Or(r.Attempts, was.Attempts), cmp.Or(r.PriceAttempts, was.PriceAttempts)
		was.MinWait, was.MaxWait = cmp.Or(r.MinWait, was.MinWait), cmp.Or(r.MaxWait, was.MaxWait)
		return refusedIf(c.retry.MinWait > c.retry.MaxWait, "WithRetry",
			"MinWait is %s: it must not be above MaxWait, which is %s", c.retry.MinWait, c.retry.MaxWait)
	})
}

// WithAttemptTimeout bounds the waiting for one attempt, from connecting to the last byte of the
// answer; 5 seconds unless set. A write's answer that comes later counts all the same: the client listens
// for it for two minutes, to two attempts of a write and to 64 attempts of calls that are over. The context
// bounds the whole call.
func WithAttemptTimeout(d time.Duration) SharedOption {
	return shared(refusedIf(d <= 0, "WithAttemptTimeout", "it is %s: it must be greater than 0", d), func(c *callOptions) { c.attemptTimeout = d })
}

// WithSendTTL bounds how long after the call began a write may still be sent, waits
// included: a decision taken at one price must not go out at another. 10 seconds for
// entries and 2 minutes for exits unless set; 0 sends once, within the time of one
// attempt, and implies [Recovery.WithoutProbe]; 12 minutes is the most. It is judged once the
// connection is there, by the wall clock too: a suspended machine sends nothing old.
func WithSendTTL(d time.Duration) SharedOption {
	return shared(refusedIf(d < 0 || d > maxTTL, "WithSendTTL", "it is %s: it must be between 0 and %s", d, maxTTL),
		func(c *callOptions) { c.ttl = durations{d, d} })
}

// WithResolveTimeout bounds how long a write waits, after its last send, for an outcome
// that is in doubt: 30 seconds for entries and 5 for exits unless set; 0 returns
// [Unknown] at once. The client then resolves the write in the background.
func WithResolveTimeout(d time.Duration) SharedOption {
	return shared(refusedIf(d < 0, "WithResolveTimeout", "it is %s: it must not be negative", d), func(c *callOptions) { c.patience = durations{d, d} })
}

// WithTag names the decision behind a call in logs and guards. It is never sent.
func WithTag(tag string) SharedOption { return shared(nil, func(c *callOptions) { c.tag = tag }) }

// FailFast refuses with [CodeRateLimited] where the call would otherwise wait
// for a rate limit.
func FailFast() SharedOption { return shared(nil, func(c *callOptions) { c.retry.FailFast = true }) }

// ForExit serves this call as an exit in the rate limits: it is for the reads that an exit depends
// on. It does not raise an entry: the reserve is for exits.
func ForExit() CallOption { return shared(nil, func(c *callOptions) { c.forExit = true }) }

// SkipHealthGate sends this entry whatever the health gate says.
func SkipHealthGate() CallOption {
	return shared(nil, func(c *callOptions) { c.skipHealthGate = true })
}

// AllowPending sends this entry although the outcome of an earlier write in its
// market is not known. If that one was executed, this one comes on top of it.
func AllowPending() CallOption {
	return shared(nil, func(c *callOptions) { c.allowPending = true })
}

// ResponseInto writes the facts of the answer, raw body included, into m, also
// when the call fails.
func ResponseInto(m *Meta) CallOption {
	return shared(refusedIf(m == nil, "ResponseInto", "the Meta is nil"), func(c *callOptions) { c.meta = m })
}

// WithClientOrderID names what was decided, such as "breakout 2026-11-20T10:15". A
// program that decides the same again, after a crash or in another process, sends
// the same idempotency keys. A program with one journal places nothing twice until
// [Client.ForgetClientOrderID]. Of two takes at once the second waits for the first. An id
// names one decision, and
// not the day or the strategy alone: a second order under the same id is taken for
// the first, whose answer comes back. Where its request differs, the levels included, it
// is refused with [CodeIdempotencyKeyReused]: the decision was made before, and a new id
// would execute it again. Account, operation and the number of the try are added by the
// client.
//
// Use it with a journal ([WithJournal]). Without one an earlier run may have sent the
// order, so a refusal does not say that it was not executed: it is [Unknown]. And an id
// runs again, without a journal or from another one, where the service knows nothing of
// the key any more: at once after a 5xx, which it does not store, 15 minutes after a worker of
// it died, and 24 hours after its answer.
//
// A resting limit or a Pro order that somebody cancelled before the client could look reads
// [NotApplied] if its answer is lost; the next take places it again.
//
// The paper account executes a repeated order again, so an id is refused there.
func WithClientOrderID(id string, more ...UseOption) CallOption {
	return sharedOption(func(c *callOptions) error {
		if id == "" {
			return invalid("WithClientOrderID", "the id is empty: it must name one decision")
		}
		if c.key.given != "" {
			return invalid("WithClientOrderID", "the call has WithIdempotencyKey too: it must have a key or an id")
		}
		c.key = keySource{id: id}
		for _, option := range more {
			option(&c.key)
		}
		return nil
	})
}

// WithIdempotencyKey sends the write under this key and no other: the client
// never replaces it, not even where a refusal is stored under it. The key is of this
// operation, account and request: any other one under it is refused.
//
// The paper account executes a repeated order again, so a key is refused there.
func WithIdempotencyKey(k Key, more ...UseOption) CallOption {
	return sharedOption(func(c *callOptions) error {
		wrong := invalidFor("WithIdempotencyKey", local(EnvLive, check.IdempotencyKey(string(k))))
		if wrong == nil && c.key.id != "" {
			wrong = invalid("WithIdempotencyKey", "the call has WithClientOrderID too: it must have a key or an id")
		}
		c.key = keySource{given: k}
		for _, option := range more {
			option(&c.key)
		}
		if wrong == nil && !c.key.since.IsZero() {
			wrong = invalid("WithIdempotencyKey", "it has Since, which must be of a client order id")
		}
		return wrong
	})
}
