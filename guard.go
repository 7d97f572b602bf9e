package trading

import (
	"errors"
	"sync"
)

// askGuards asks everything that can hold a write back: halt, health, and the
// program's own guards. It is asked again before every resend.
func (c *call) askGuards() error {
	if !c.endpoint.write {
		return nil
	}
	if c.entry {
		if reason, halted := c.core.halt.get(); halted {
			return &GuardError{Kind: ErrHalted, Reason: reason}
		}
	}
	if err := c.checkAccount(); err != nil {
		return err
	}
	if err := c.checkUnsettled(); err != nil {
		return err
	}
	gate := c.core.gate
	if !gate.Off && !c.opts.skipHealthGate && (c.entry || gate.Strict) {
		if err := gate.check(c); err != nil {
			return err
		}
	}
	if len(c.core.guards) == 0 {
		return nil
	}
	w := Write{
		Operation:   c.endpoint.op,
		Environment: c.env,
		Account:     c.account,
		Symbol:      c.symbol,
		Entry:       c.entry,
		Order:       c.order,
		Tag:         c.opts.tag,
	}
	for _, guard := range c.core.guards {
		if err := guard(c.Context, w); err != nil {
			return guardError(err)
		}
	}
	return nil
}

// checkAccount refuses entries on an account whose status, as last seen, takes
// none. A status that this version does not know takes none either.
func (c *call) checkAccount() error {
	if !c.entry || c.env != EnvLive {
		return nil
	}
	status := c.core.accounts.status(c.account)
	if status == "" || status.AllowsEntry() {
		return nil
	}
	return refuse(EnvLive, CodeAccountLocked, "account %s was last seen %s; read its state if that has changed", c.account, status)
}

// guardError keeps a guard's own GuardError, and makes one of anything else.
func guardError(err error) error {
	if own := (*GuardError)(nil); errors.As(err, &own) {
		return err
	}
	return &GuardError{Kind: ErrGuard, Err: err}
}

// halt is the program's own stop.
type halt struct {
	mu     sync.Mutex
	halted bool
	reason string
}

func (h *halt) set(reason string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.halted, h.reason = true, reason
}

func (h *halt) clear() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.halted, h.reason = false, ""
}

func (h *halt) get() (reason string, halted bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.reason, h.halted
}
