package trading

import (
	"context"
	"errors"
	"sync"
)

// guardsOf returns everything that can hold a write back, in the order in which it
// is asked: what the client knows by itself, what it may have to ask the service,
// and the program's own.
func guardsOf(c *core, own []Guard) []Guard {
	return append([]Guard{c.halt.guard, c.guardAccount, c.guardUnsettled, c.gate.guard}, own...)
}

// askGuards asks every guard, before every send.
func (c *call) askGuards() error {
	if !c.endpoint.write {
		return nil
	}
	w := Write{
		Operation:     c.endpoint.op,
		Environment:   c.env,
		Account:       c.account,
		Symbol:        c.symbol,
		Entry:         c.entry,
		Order:         c.order,
		Tag:           c.opts.tag,
		skipHealth:    c.opts.skipHealthGate,
		skipUnsettled: c.opts.skipUnsettled || c.doubt, // its own doubt does not hold it back
	}
	for _, guard := range c.core.guards {
		if err := guard(c.Context, w); err != nil {
			return guardError(err)
		}
	}
	return nil
}

// guardAccount refuses entries on an account whose status, as last seen, takes
// none. A status that this version does not know takes none either.
func (c *core) guardAccount(_ context.Context, w Write) error {
	if !w.Entry || w.Environment != EnvLive {
		return nil
	}
	status := c.accounts.status(w.Account)
	if status == "" || status.AllowsEntry() {
		return nil
	}
	return &GuardError{Kind: ErrAccountLocked, Err: refuse(EnvLive, CodeAccountLocked,
		"account %s was last seen %s; read its state if that has changed", w.Account, status)}
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

// guard refuses entries while the program is halted.
func (h *halt) guard(_ context.Context, w Write) error {
	if reason, halted := h.get(); halted && w.Entry {
		return &GuardError{Kind: ErrHalted, Reason: reason}
	}
	return nil
}

func (h *halt) get() (reason string, halted bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.reason, h.halted
}
