package reliance

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/profile"
)

// Withdrawn is what a client does not rely on. The zero value relies on all that the contract says.
type Withdrawn struct {
	// Without is of each live write.
	ledger.Without
	// AgeUnknown: no assessment of the health is used for an entry whose age is not known.
	AgeUnknown bool
}

// Client is what one client does not rely on, as long as what was seen counts. It is safe for
// concurrent use.
type Client struct {
	seen       *profile.Profile // nil without one
	by, always Withdrawn
	over       atomic.Bool // the profile counts no longer
	once       sync.Once
	say        func(why error)
}

// For is what a client of a service does not rely on: what was seen, nil for nothing, and that reads are
// behind by no more than lag, if it is longer than usual. say is called once, if the profile does not
// count, or no longer.
func For(seen *profile.Profile, service string, lag time.Duration, say func(why error)) *Client {
	c := &Client{seen: seen, say: say, always: Withdrawn{Without: ledger.Without{Lag: lag}}}
	if seen == nil {
		return c
	}
	c.by = withdrawnBy(seen)
	c.by.Without = c.by.And(c.always.Without)
	if why := counts(seen, service, time.Now()); why != nil {
		c.drop(why)
	}
	return c
}

// Now is what is not relied on at the moment.
func (c *Client) Now() *Withdrawn {
	if c.seen == nil || c.over.Load() {
		return &c.always
	}
	if why := c.seen.Stale(time.Now()); why != nil {
		c.drop(why)
		return &c.always
	}
	return &c.by
}

// Of is what is not relied on of a write that begins: what was seen is of live accounts.
func (c *Client) Of(live bool) ledger.Without {
	if live {
		return c.Now().Without
	}
	return c.always.Without
}

// HolderIs takes in whose API keys the client has.
func (c *Client) HolderIs(id string) {
	if p := c.seen; p != nil && p.Holder != "" && p.Holder != profile.Token("holder", id) {
		c.drop(errors.New("the profile is of another holder's API keys"))
	}
}

func (c *Client) drop(why error) {
	c.over.Store(true)
	c.once.Do(func() { c.say(why) })
}
