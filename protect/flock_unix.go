//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package protect

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lockFile locks a file that it may create, for as long as the process lives or until
// unlock.
func lockFile(path string) (unlock func() error, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err == nil {
		return f.Close, nil // which unlocks it
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = fmt.Errorf("%w: %s", ErrLocked, path)
	}
	return nil, errors.Join(err, f.Close())
}
