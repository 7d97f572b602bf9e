package disk

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Accounts keeps the accounts that this process trades from other processes of the same user on this
// machine: what one has not heard, and what its guards count, the other does not know. Each account
// is a locked file in a folder that all of them share, and that no other user can enter.
type Accounts struct {
	folder  string
	service string

	mu   sync.Mutex
	held map[string]*File // by account
}

// MostAccounts bounds what others can have locked by naming accounts.
const MostAccounts = 256

// LockAccounts makes the folder if there is none; empty is locks in the [UserFolder]. The service is
// a base URL.
func LockAccounts(folder, service string) (*Accounts, error) {
	if folder == "" {
		user, err := UserFolder(os.Getenv)
		if err != nil {
			return nil, fmt.Errorf("no folder in which accounts are locked: %w", err)
		}
		folder = filepath.Join(user, "locks")
	}
	err := os.MkdirAll(folder, 0o700)
	if err == nil {
		err = OwnFolder(folder, NoAccess)
	}
	if err != nil {
		return nil, fmt.Errorf("accounts cannot be locked: %w", err)
	}
	return &Accounts{folder: folder, service: strings.ToLower(strings.TrimRight(service, "/")), held: map[string]*File{}}, nil
}

// Take locks an account, unless it is locked here. It is locked until the end of the process at the
// latest.
func (l *Accounts) Take(account string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if held := l.held[account]; held != nil {
		if err := held.Check(); err != nil { // another process can have locked what is there now
			return fmt.Errorf("account %s: %w", account, err)
		}
		return nil
	}
	if len(l.held) == MostAccounts {
		return fmt.Errorf("%d accounts are locked: no more can be locked", MostAccounts)
	}
	sum := sha256.Sum256([]byte(l.service + "\n" + account))
	held, err := Lock(filepath.Join(l.folder, hex.EncodeToString(sum[:16])), os.O_RDWR|os.O_CREATE)
	if errors.Is(err, ErrLocked) {
		return fmt.Errorf("account %s: another process of this user on this machine trades it: %w", account, err)
	}
	if err != nil {
		return fmt.Errorf("account %s: %w", account, err)
	}
	l.held[account] = held
	return nil
}

// Close lets others have them.
func (l *Accounts) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for account, held := range l.held {
		_ = held.Close() // of a file that nothing was written to
		delete(l.held, account)
	}
}
