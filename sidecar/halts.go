package sidecar

import (
	"errors"
	"sync"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/protect"
)

// halts are what takes no entries at the moment, and why: an account, a real API key, or everything
// under "".
type halts struct {
	mu sync.Mutex
	on map[string]string
}

// begin reports whether a halt is a new one.
func (h *halts) begin(of, why string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if before, is := h.on[of]; is && before == why {
		return false
	}
	if h.on == nil {
		h.on = map[string]string{}
	}
	h.on[of] = why
	return true
}

func (h *halts) end(of string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.on, of)
}

// noteHalt alerts of a halt of the client, once: an operator's, or one of the lease.
func (s *Server) noteHalt() {
	reason, halted := s.client.Halted()
	if !halted {
		s.halts.end("")
	} else if s.halts.begin("", reason) {
		s.alert("entries of all bots are refused: halted: " + reason)
	}
}

// noteGuard alerts of a guard that takes no entries of an account, once until one passes. The
// protection's own reports say so themselves.
func (s *Server) noteGuard(account trading.AccountID, err error) {
	switch {
	case errors.Is(err, trading.ErrHalted):
		s.noteHalt()
	case s.guard.has(account):
	case errors.Is(err, protect.ErrHalted), errors.Is(err, trading.ErrAccountLocked):
		if s.halts.begin(string(account), "") {
			s.alert("entries of account " + string(account) + " are refused: " + reasonOf(err))
		}
	case err == nil:
		s.halts.end(string(account))
	}
}
