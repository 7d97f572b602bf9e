package health

import "sync"

// Halt is the program's own stop. The zero value does not stop.
type Halt struct {
	mu     sync.Mutex
	halted bool
	reason string
}

// Set stops, Clear goes on.
func (h *Halt) Set(reason string) { h.set(true, reason) }

// Clear goes on after Set.
func (h *Halt) Clear() { h.set(false, "") }

func (h *Halt) set(halted bool, reason string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.halted, h.reason = halted, reason
}

// Get returns whether it stops, and the reason.
func (h *Halt) Get() (reason string, halted bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.reason, h.halted
}
