package trading

import "sync"

// halt is the program's own stop. The zero value does not stop.
type halt struct {
	mu     sync.Mutex
	halted bool
	reason string
}

// set stops, or goes on.
func (h *halt) set(halted bool, reason string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.halted, h.reason = halted, reason
}

// get returns whether it stops, and the reason.
func (h *halt) get() (reason string, halted bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.reason, h.halted
}
