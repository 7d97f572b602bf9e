//go:build !darwin && !dragonfly && !freebsd && !illumos && !linux && !netbsd && !openbsd && !windows

package journal

import (
	"errors"
	"fmt"
)

const openFlags = 0

func tryLock(path string) (unlock func() error, err error) {
	return nil, fmt.Errorf("lock %q: %w on this system", path, errors.ErrUnsupported)
}
