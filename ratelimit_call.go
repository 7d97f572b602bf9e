package trading

import (
	"context"
	"net/http"
	"time"
)

// waitForBudget gets the next send its place in the rate limits. A wait that the
// call would not survive is refused at once, with its length.
func (c *call) waitForBudget() error {
	if c.endpoint.keyless {
		return nil
	}
	return c.core.budgets.take(c)
}

// waitsUntil is when the call has no use for a place any more: its context has
// ended by then, or its lifetime. Zero if there is no such time.
func (c *call) waitsUntil() time.Time {
	until, _ := c.Deadline()
	lifetime := c.opts.lifetimeOf(c.entry)
	if !c.endpoint.write || lifetime == 0 && c.sends == 0 { // which may be sent once, but not wait
		return until
	}
	if end := time.Now().Add(lifetime - elapsed(c.began)); until.IsZero() || end.Before(until) {
		until = end
	}
	return until
}

// budgetClosed reports whether the service has closed one of the call's budgets
// since it got its place.
func (c *call) budgetClosed() bool {
	if c.endpoint.keyless {
		return false
	}
	b := c.core.budgets
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.closed) == 0 {
		return false
	}
	return b.closedFor(c.apiKey.ID()) > 0 || b.closedFor(b.classes[c.endpoint.class]) > 0
}

// leavePlace ends the holding of the call's place, if it has one.
func (c *call) leavePlace(sent bool) {
	p := c.place
	if p.store == nil {
		return
	}
	c.place = place{}
	c.core.budgets.giveBack(p, c.claimed(), sent)
}

// claimed is what the call's place is of, by the limits of now.
func (c *call) claimed() []Claim {
	b := c.core.budgets
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.claims(c.claims[:0], c.apiKey, c.endpoint, LaneExit)
}

// blockBudget closes the budget that a 429 speaks of. Only the key's own comes
// with the X-RateLimit headers.
func (c *call) blockBudget(d time.Duration) {
	b := c.core.budgets
	claims := c.claimed()
	bucket := claims[len(claims)-1].Bucket
	if _, ofKey := parseRateLimit(c.last.header).Get(); ofKey {
		bucket = claims[0].Bucket
	}
	b.mu.Lock()
	b.block(bucket, d)
	b.mu.Unlock()
	if b.store != nil {
		b.tell(b.store, "Block", func(ctx context.Context, s BudgetStore) error { return s.Block(ctx, bucket, d) })
	}
}

// believeHeaders takes over what an answer's X-RateLimit headers say of the key:
// its limit, and what is left of it until the service's window ends.
func (c *call) believeHeaders() {
	told, ok := parseRateLimit(c.last.header).Get()
	if !ok || c.endpoint.keyless || told.Limit < 1 || told.Limit > maxToldLimit || told.Remaining < 0 {
		return
	}
	b := c.core.budgets
	bucket := b.believe(c.apiKey.ID(), told.Limit)
	window := min(told.Reset.Sub(c.last.serviceTime()), limitWindow)
	if b.store != nil && window > 0 {
		b.tell(b.store, "Learn", func(ctx context.Context, s BudgetStore) error {
			return s.Learn(ctx, bucket, told.Remaining, window)
		})
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.freePlaces()
}

// believe takes over the limit of a key, and returns its bucket.
func (b *budgets) believe(name string, limit int) Bucket {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.limit.key != keyLimit: // the program's own stands
	case limit != keyLimit:
		if b.limits == nil {
			b.limits = make(map[string]int, 1)
		}
		b.limits[name] = limit
	case b.limits != nil:
		delete(b.limits, name)
	}
	return b.bucket(name, b.limit.key)
}

// maxToldLimit is above any limit that a service could mean.
const maxToldLimit = 1_000_000

// serviceTime is the service's clock when it answered; this machine's may be wrong.
func (a *attempt) serviceTime() time.Time {
	if date, err := http.ParseTime(first(a.header, "Date")); err == nil {
		return date
	}
	return a.received
}
