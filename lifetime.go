package trading

import (
	"fmt"
	"time"
)

// checkLifetime refuses to send a write that was decided too long ago: its price
// is gone. A lifetime of 0 sends once and never again.
func (c *call) checkLifetime() error {
	if !c.endpoint.write {
		return nil
	}
	lifetime := c.opts.lifetimeOf(c.entry)
	if c.sends == 0 && lifetime == 0 && !c.resumed {
		return nil
	}
	if age := elapsed(c.began); age >= lifetime {
		return &GuardError{
			Kind:   ErrExpired,
			Reason: fmt.Sprintf("it was decided %s ago and may be sent for %s", age.Round(time.Millisecond), lifetime),
		}
	}
	return nil
}

// outlives reports whether a wait would end after the write's lifetime or the
// caller's deadline, so that waiting cannot help.
func (c *call) outlives(wait time.Duration) bool {
	if deadline, ok := c.Deadline(); ok && time.Until(deadline) <= wait {
		return true
	}
	return c.endpoint.write && elapsed(c.began)+wait >= c.opts.lifetimeOf(c.entry)
}

// elapsed is how long ago that was, by whichever clock ran further: the wall clock
// can be set back, and the monotonic one stands still while the machine sleeps.
func elapsed(since time.Time) time.Duration {
	now := time.Now()
	return max(now.Sub(since), now.Round(0).Sub(since.Round(0)))
}
