package trading

import (
	"errors"

	"github.com/tradingapi/trading-go/journal"
)

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
		Order:        c.order,
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
	case c.entry:
		return &GuardError{Kind: ErrJournal, Reason: "entries wait until it can be written", Err: err}
	case journal.IsFencing(err):
		return &GuardError{Kind: ErrJournal, Reason: "exits go out beside a journal that fails, and not beside one that is another's", Err: err}
	}
	c.core.driver.Missing(w, err)
	return nil
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
	return err
}

// noteKey trips the breaker of a key that was refused, and resets it when one works.
func (c *call) noteKey() {
	if !c.endpoint.keyless {
		noteKey(&c.core.breaker, c.apiKey, &c.last)
	}
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
