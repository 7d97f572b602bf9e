package sidecar

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/tradingapi/trading-go/internal/disk"
)

// locks keep the accounts that this sidecar trades from other sidecars of the same user on this
// machine: what one has not heard, and what its guards count, the other does not know. Each account
// is a locked file in a folder that all of them share, and that no other user can enter.
type locks struct {
	folder  string
	service string

	mu   sync.Mutex
	held map[string]*disk.File // by account
}

// mostLocks bounds what bots can have locked by naming accounts.
const mostLocks = 256

// newLocks makes the folder if there is none.
func newLocks(folder, baseURL string) (*locks, error) {
	if folder == "" {
		user, err := disk.UserFolder(os.Getenv)
		if err != nil {
			return nil, fmt.Errorf("sidecar: Config.Locks is missing: %w", err)
		}
		folder = filepath.Join(user, "locks")
	}
	err := os.MkdirAll(folder, 0o700)
	if err == nil {
		err = disk.OwnFolder(folder, disk.NoAccess)
	}
	if err != nil {
		return nil, fmt.Errorf("sidecar: accounts cannot be locked, see Config.Locks: %w", err)
	}
	return &locks{folder: folder, service: strings.ToLower(strings.TrimRight(baseURL, "/")), held: map[string]*disk.File{}}, nil
}

// take locks an account, unless it is locked here. It is locked until the end of the process at the
// latest.
func (l *locks) take(account string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if held := l.held[account]; held != nil {
		if err := held.Check(); err != nil { // another sidecar can have locked what is there now
			return fmt.Errorf("account %s: %w", account, err)
		}
		return nil
	}
	if len(l.held) == mostLocks {
		return fmt.Errorf("this sidecar trades %d accounts: no more can be locked", mostLocks)
	}
	sum := sha256.Sum256([]byte(l.service + "\n" + account))
	held, err := disk.Lock(filepath.Join(l.folder, hex.EncodeToString(sum[:16])), os.O_RDWR|os.O_CREATE)
	if errors.Is(err, disk.ErrLocked) {
		return fmt.Errorf("account %s: another sidecar of this user on this machine trades it: %w", account, err)
	}
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
		_ = held.Close() // of a file that nothing was written to
		delete(l.held, account)
	}
}
