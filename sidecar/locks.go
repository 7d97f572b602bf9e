package sidecar

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"sync"
)

// locks keep the accounts that this sidecar trades from other sidecars of the same user on this
// machine: what one has not heard, and what its guards count, the other does not know.
type locks struct {
	service string

	mu   sync.Mutex
	held map[string]io.Closer // by account
}

// mostLocks bounds what bots can have locked by naming accounts.
const mostLocks = 256

func newLocks(baseURL string) *locks {
	return &locks{service: strings.ToLower(strings.TrimRight(baseURL, "/")), held: map[string]io.Closer{}}
}

// take locks an account, unless it is locked here. It is locked until the end of the process at the
// latest.
func (l *locks) take(account string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held[account] != nil {
		return nil
	}
	if len(l.held) == mostLocks {
		return fmt.Errorf("this sidecar trades %d accounts: no more can be locked", mostLocks)
	}
	sum := sha256.Sum256([]byte(l.service + "\n" + account))
	held, err := lock(hex.EncodeToString(sum[:16]))
	if err != nil {
		return fmt.Errorf("account %s: %w", account, err)
	}
	l.held[account] = held
	return nil
}

// Close lets others have them.
func (l *locks) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for account, held := range l.held {
		_ = held.Close() // of a socket that nobody reads
		delete(l.held, account)
	}
}
