//go:build !darwin && !dragonfly && !freebsd && !illumos && !linux && !netbsd && !openbsd && !windows

package protect

import (
	"errors"
	"fmt"
)

func lockFile(path string) (unlock func() error, err error) {
	return nil, fmt.Errorf("lock %q: %w on this system", path, errors.ErrUnsupported)
}
