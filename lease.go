package trading

import (
	"fmt"
	"time"

	"github.com/tradingapi/trading-go/journal"
)

// A journal that several machines reach is held under a lease: a client on it sends only while
// that lasts.

// leaseAllows says, right before the first byte of a write and with its last, why the lease does
// not let it leave; nil without one.
func (c *core) leaseAllows(env Environment, account AccountID, entry bool) error {
	if c.lease == nil {
		return nil
	}
	if late := time.Since(c.lease.Deadline()); late >= 0 {
		return &GuardError{Kind: ErrJournal, Reason: "the lease of the journal is over, and nothing leaves without it", Err: journal.ErrFenced}
	}
	if env == EnvLive && !c.lease.Covers(c.baseURL, string(account)) {
		return &GuardError{
			Kind: ErrJournal, Reason: fmt.Sprintf("the lease of the journal is not for account %s at %s", account, c.baseURL),
			Err: journal.ErrFenced,
		}
	}
	if reason, halted := c.lease.Halted(); halted && entry {
		return &GuardError{Kind: ErrHalted, Reason: reason}
	}
	return nil
}

// leaveBy is until when the bytes of a write may leave; the zero time where nothing ends that.
func (c *core) leaveBy() time.Time {
	if c.lease == nil {
		return time.Time{}
	}
	return c.lease.Deadline()
}

// halted returns whether entries are refused, by this program or by the lease.
func (c *core) halted() (reason string, halted bool) {
	if reason, halted = c.halt.Get(); halted || c.lease == nil {
		return reason, halted
	}
	return c.lease.Halted()
}
