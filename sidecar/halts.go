package sidecar

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/disk"
	"github.com/tradingapi/trading-go/protect"
)

// halts are what takes no entries at the moment, and why: an account, a real API key, or everything
// under "".
type halts struct {
	writing sync.Mutex // the file of an operator's halt; before mu

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

// An operator's halt is in a file, since it stands until somebody resumes, whatever becomes of the
// process. The file holds the reason, as JSON.

const mostHalt = 1 << 20 // bytes: more than a command has

func (s *Server) haltFile() string { return filepath.Join(s.config.Dir, "halt") }

// halt refuses the entries of all bots, at once, whatever the disk does. They are refused also where
// the error says that the next process will not know of it.
func (s *Server) halt(reason string) error {
	s.client.Halt(reason)
	s.halts.writing.Lock()
	defer s.halts.writing.Unlock()
	s.client.Halt(reason) // also after a resume that was waited for
	s.noteHalt()
	text, _ := json.Marshal(reason) // of a string it cannot fail
	if err := disk.Replace(s.haltFile(), text, true); err != nil {
		return fmt.Errorf("entries are refused, until the sidecar is started again, since the halt could not be written down: %w", err)
	}
	return nil
}

// resume ends a halt, unless the next process would halt again.
func (s *Server) resume() error {
	s.halts.writing.Lock()
	defer s.halts.writing.Unlock()
	if err := disk.Remove(s.haltFile()); err != nil {
		return fmt.Errorf("entries are still refused, since the halt stays written down: %w", err)
	}
	s.client.Resume()
	s.noteHalt()
	return nil
}

// restoreHalt takes over a halt of an earlier process.
func (s *Server) restoreHalt() error {
	text, _, err := disk.Read(s.haltFile(), mostHalt, disk.NoWrite)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("sidecar: whether somebody has halted it is not known: %w", err)
	}
	var reason string
	if json.Unmarshal(text, &reason) != nil || reason == "" {
		reason = "the halt file is damaged"
	}
	s.client.Halt(reason)
	s.noteHalt()
	return nil
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
