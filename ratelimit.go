package trading

import (
	"sync"
	"time"
)

// closures are the budgets that the service has closed: a 429 closes its budget
// for every caller of this client until its Retry-After has passed, since
// another try before can only be refused too.
type closures struct {
	mu    sync.Mutex
	until map[Environment]time.Time
}

// block closes the key's budget for d.
func (b *closures) block(env Environment, d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.until == nil {
		b.until = make(map[Environment]time.Time, 2)
	}
	if at := time.Now().Add(d); at.After(b.until[env]) {
		b.until[env] = at
	}
}

// wait returns how long the key's budget stays closed.
func (b *closures) wait(env Environment) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	at, ok := b.until[env]
	if !ok {
		return 0
	}
	wait := time.Until(at)
	if wait <= 0 {
		delete(b.until, env)
	}
	return max(wait, 0)
}

// waitForBudget waits until the key's budget is open. A wait that the call would
// not survive is refused at once, with its length.
func (c *call) waitForBudget() error {
	if c.endpoint.keyless {
		return nil
	}
	for {
		wait := c.core.closures.wait(c.env)
		if wait == 0 {
			return nil
		}
		if c.opts.failFast || c.outlives(wait) {
			refusal := refuse(c.env, CodeRateLimited, "the service has closed this key's budget for another %s", wait.Round(time.Millisecond))
			refusal.RetryAfter = wait
			return refusal
		}
		if err := c.pause(wait); err != nil {
			return err
		}
	}
}
