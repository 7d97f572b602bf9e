package trading

import (
	"cmp"

	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/limiter"
	"github.com/tradingapi/trading-go/internal/transport"
)

// The service's limits: 600 requests a minute for a key over everything, and for
// a user 150 a minute of each class of live writes, 20 of each Pro order type.
const (
	keyLimit   = 600
	classLimit = 150
	proLimit   = 20
)

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
	for _, e := range endpoints {
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

// baselines is how many looks at accounts entries have in a minute: a third of recovery's
// share, which is a third of the key's limit. A look is five reads.
func (r RateLimits) baselines() int { return max(cmp.Or(r.PerKey, keyLimit)/3/3/5, 1) }

// closeLimit closes the rate limit that a 429 of the service names, no longer than its
// window lasts: the key's, which alone has the X-RateLimit headers, or the class of the
// write. It returns false for any other, which holds nobody up but the call that met it.
func (c *call) closeLimit(said *ledger.Answer) bool {
	if said.Advice != ledger.WaitFirst || said.Replayed { // a stored 429 is of the past
		return false
	}
	limits, key, d := c.core.limits, c.apiKey.ID(), min(said.RetryAfter, limiter.Window)
	of, ofKey := transport.RateLimitOf(c.last.attempt.Header)
	switch {
	case ofKey:
		limits.BlockKey(key, d)
		window := d
		if !of.Reset.IsZero() {
			window = of.Reset.Sub(transport.Dated(c.last.attempt.Header, c.last.attempt.Received))
		}
		limits.Learn(key, of.Limit, window)
	case c.endpoint.class != "":
		limits.BlockClass(c.endpoint.class, d)
	default:
		return false
	}
	// After no wait nothing is closed, and after a longer one than a window's the queue would let
	// the call go too early.
	return d > 0 && said.RetryAfter <= limiter.Window
}
