package trading

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/tradingapi/trading-go/internal/limiter"
	"github.com/tradingapi/trading-go/ratelimit"
)

// The service's limits: 600 requests a minute for a key over everything, and for
// a user 150 a minute of each class of live writes, 20 of each Pro order type.
const (
	keyLimit   = 600
	classLimit = 150
	proLimit   = 20
)

// RateLimits is how a client keeps within the service's rate limits. Its zero value
// is the default: exact windows in this process, and a tenth of each limit reserved
// for exits and for finding out the outcome of a write.
//
// The limits are counted as sliding windows: a slot is held from the moment it is
// taken until a minute after the answer. So the service sees no more than it allows,
// wherever it begins its own minutes.
type RateLimits struct {
	// Off counts nothing. What the service closes by a 429 stays closed all the same
	// until its Retry-After has passed.
	Off bool
	// Store counts the slots; nil counts in this process, for this client alone.
	// Clients that share a key or a user share a store: [ratelimit.NewMemoryStore]
	// within a process, contrib/redis or the program's own across processes. A call of
	// a store that takes longer than a second is abandoned, and a store that fails is
	// left alone for five seconds, while the client counts by itself.
	Store ratelimit.Store
	// Owner names the user whose limits are counted in Store. It must be the same in
	// every client that shares them, and is required with a Store.
	Owner string
	// PerKey, PerClass and PerPro are the slots a minute of a key, of a class of live
	// writes and of a Pro order type; 0 is the contract's 600, 150 and 20. Programs
	// that share a key or a user without a Store take a part of them each.
	PerKey, PerClass, PerPro int
	// ReservePct is the share of each limit, in percent, that reads and entries leave
	// to higher priorities: 10 if 0, none if less than 0, 90 at the most.
	ReservePct int
}

// WithRateLimits configures how the client keeps within the rate limits.
func WithRateLimits(r RateLimits) Option {
	return clientOption(func(c *config) error {
		switch {
		case r.ReservePct > 90:
			return fmt.Errorf("trading: WithRateLimits: ReservePct must be at most 90, and is %d", r.ReservePct)
		case r.Store != nil && r.Owner == "":
			return errors.New("trading: WithRateLimits: a Store requires an Owner, the user whose limits it counts")
		case r.PerKey < 0 || r.PerClass < 0 || r.PerPro < 0:
			return fmt.Errorf("trading: WithRateLimits: PerKey, PerClass and PerPro must not be negative, and are %d, %d and %d",
				r.PerKey, r.PerClass, r.PerPro)
		case r.Store != nil && r.Off:
			return errors.New("trading: WithRateLimits: Store and Off exclude each other")
		}
		c.rateLimits = r
		return nil
	})
}

// Priority orders the calls that wait for a rate limit. The highest is served first,
// and within a priority whoever came first.
type Priority = ratelimit.Priority

// The priorities, lowest first. They are those of package ratelimit.
const (
	// PriorityRead is for reads, such as polling.
	PriorityRead = ratelimit.Read
	// PriorityEntry is for writes that can add exposure.
	PriorityEntry = ratelimit.Entry
	// PriorityRecovery is for finding out the outcome of a write. It may use half of
	// the reserve, and holds at most a third of a limit.
	PriorityRecovery = ratelimit.Recovery
	// PriorityExit is for closes, cancels, triggers and reduce-only orders, and for the
	// reads that they need. It may use the whole reserve.
	PriorityExit = ratelimit.Exit
)

// RateLimitUsage returns what is left of the client's rate limits: of its keys, and
// with a live key of each class of live writes.
func (c *Client) RateLimitUsage(ctx context.Context) ([]ratelimit.Usage, error) {
	var keys, classes []string
	for _, env := range [...]Environment{EnvSandbox, EnvLive} {
		if c.core.keys(env).isZero() {
			continue
		}
		key, err := c.core.keys(env).current(ctx, env)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key.bucket())
		for _, e := range fixedEndpoints {
			if e.env == env && e.class != "" && !slices.Contains(classes, e.class) {
				classes = append(classes, e.class)
			}
		}
	}
	usages, err := c.core.limits.Usage(ctx, keys, classes)
	if err != nil {
		return nil, fmt.Errorf("trading: RateLimitUsage: %w", err)
	}
	return usages, nil
}

// newLimiter returns the limiter of one client.
func newLimiter(r RateLimits, log logger) *limiter.Limiter {
	cfg := limiter.Config{
		Store:      r.Store,
		Owner:      r.Owner,
		PerKey:     cmp.Or(r.PerKey, keyLimit),
		Classes:    make(map[string]int, 12),
		ReservePct: max(cmp.Or(r.ReservePct, 10), 0),
		Log:        log.rateLimitStore,
	}
	cfg.Off = r.Off
	for _, e := range fixedEndpoints {
		switch {
		case e.class == "":
		case e.pro:
			cfg.Classes[e.class] = cmp.Or(r.PerPro, proLimit)
		default:
			cfg.Classes[e.class] = cmp.Or(r.PerClass, classLimit)
		}
	}
	return limiter.New(cfg)
}

// priority returns the priority of the next send.
func (c *call) priority() Priority {
	priority := PriorityRead
	switch {
	case c.opts.resolving:
		return PriorityRecovery
	case c.entry:
		priority = PriorityEntry
	case c.endpoint.write:
		priority = PriorityExit
	}
	if asked, ok := c.opts.priority.Get(); ok && !c.entry {
		priority = max(priority, asked)
	}
	if c.doubt {
		priority = max(priority, PriorityRecovery)
	}
	return priority
}

// waitForLimit gets the next send its slot in the rate limits. A wait that the call
// would not survive is refused at once, with its length.
func (c *call) waitForLimit() error {
	if c.endpoint.keyless {
		return nil
	}
	c.ask = limiter.Ask{
		Key:      c.apiKey.bucket(),
		Class:    c.endpoint.class,
		Priority: c.priority(),
		Hold:     2 * c.opts.attemptTimeout, // the guards may ask for the health first
		FailFast: c.opts.failFast,
	}
	switch lifetime := c.opts.lifetimeOf(c.entry); {
	case !c.endpoint.write:
	case lifetime == 0 && c.sends == 0: // it may be sent once, but not wait
		c.ask.FailFast = true
	default:
		c.ask.Until = time.Now().Add(lifetime - elapsed(c.began))
	}
	if len(c.core.hooks) > 0 {
		c.ask.Waiting = func(wait time.Duration, bucket string) { c.hookWait(wait, WaitRateLimit, bucket) }
	}
	slot, err := c.core.limits.Take(c, &c.ask)
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
		refusal := refuse(c.env, CodeRateLimited, "the rate limit %s has no room in time", full.Bucket)
		refusal.RetryAfter = full.Wait
		return refusal
	case errors.Is(err, limiter.ErrClosed):
		return ErrClosed
	default:
		return err
	}
}

// limitClosed reports whether the service has closed one of the call's rate limits
// since it got its slot.
func (c *call) limitClosed() bool { return !c.endpoint.keyless && c.core.limits.Closed(&c.ask) }

// returnSlot ends the call's slot, if it has one.
func (c *call) returnSlot(sent bool) {
	slot := c.slot
	c.slot = limiter.Slot{}
	c.core.limits.Return(slot, sent)
}

// closeLimit closes the rate limit that a 429 is about. Only the key's own comes with
// the X-RateLimit headers, which are believed on the documented answer alone, and no
// longer than until the service's window ends.
func (c *call) closeLimit(d time.Duration) {
	limits, key := c.core.limits, c.apiKey.bucket()
	told, ofKey := parseRateLimit(c.last.header).Get()
	ofKey = ofKey && c.refusal.Code == CodeRateLimited
	if c.endpoint.class != "" && !ofKey {
		limits.BlockClass(c.endpoint.class, d)
		return
	}
	limits.BlockKey(key, d)
	if ofKey {
		limits.Learn(key, told.Limit, told.Reset.Sub(c.last.serviceTime()))
	}
}

// askedToWait is how long an answer asks to wait before the next request: at most the
// longest window that the service has.
func (a *attempt) askedToWait() time.Duration {
	return min(parseRetryAfter(a.header, a.received), limiter.Window)
}

// serviceTime is the service's clock when it answered; this machine's may be wrong.
func (a *attempt) serviceTime() time.Time {
	if date, err := http.ParseTime(first(a.header, "Date")); err == nil {
		return date
	}
	return a.received
}
