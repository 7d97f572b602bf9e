package trading

import (
	"cmp"
	"errors"

	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/limiter"
	"github.com/tradingapi/trading-go/internal/spec"
	"github.com/tradingapi/trading-go/internal/transport"
)

// The service's limits: 600 requests a minute for a key over everything, and for
// a user 150 a minute of each class of live writes, 20 of each Pro order type.
const (
	keyLimit   = 600
	classLimit = 150
	proLimit   = 20
)

func newLimiter(r RateLimits, log logger) *limiter.Limiter {
	cfg := limiter.Options{
		Store:      r.Store,
		Owner:      r.Owner,
		PerKey:     cmp.Or(r.PerKey, keyLimit),
		Classes:    make(map[string]int, 12),
		ReservePct: max(cmp.Or(r.ReservePct, 10), 0),
		Log:        log.rateLimitStore,
		Off:        r.Off,
	}
	for _, e := range spec.Endpoints() {
		switch {
		case e.Class == "":
		case e.Asks == spec.AsksRun:
			cfg.Classes[e.Class] = cmp.Or(r.PerPro, proLimit)
		default:
			cfg.Classes[e.Class] = cmp.Or(r.PerClass, classLimit)
		}
	}
	return limiter.New(cfg)
}

// baselines is how many looks at accounts entries have in a minute: a third of recovery's
// share, which is a third of the key's limit. A look is five reads.
func (r RateLimits) baselines() int { return max(cmp.Or(r.PerKey, keyLimit)/3/3/5, 1) }

// limitError is the client's word for an error of the limiter.
func limitError(env Environment, err error) error {
	full := (*limiter.Full)(nil)
	switch {
	case errors.As(err, &full):
		refusal := refuse(env, CodeRateLimited, "the rate limit %s is full, and the call may not wait for it: FailFast, its context or its send TTL is in the way", full.Bucket)
		refusal.RetryAfter = Some(full.Wait)
		return refusal
	case errors.Is(err, limiter.ErrClosed):
		return ErrClosed
	default:
		return err
	}
}

// closeLimit closes the rate limit that a 429 of the service names, no longer than its
// window lasts: the key's, which alone has the X-RateLimit headers, or the class of the
// write. It returns false for any other, which holds nobody up but the call that met it.
func closeLimit(limits *limiter.Limiter, key, class string, a *heard, said *ledger.Answer) bool {
	if said.Replayed { // a stored 429 is of the past
		return false
	}
	d := min(said.RetryAfter, limiter.Window)
	limit, ends, ofKey := transport.RateLimitOf(a.Header)
	switch {
	case ofKey:
		limits.BlockKey(key, d)
		window := d
		if !ends.IsZero() {
			window = ends.Sub(transport.Dated(a.Header, a.Received))
		}
		limits.Learn(key, limit, window)
	case class != "":
		limits.BlockClass(class, d)
	default:
		return false
	}
	// After no wait nothing is closed, and after a longer one than a window's the queue would let
	// the call go too early.
	return d > 0 && said.RetryAfter <= limiter.Window
}
