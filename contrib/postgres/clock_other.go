//go:build !linux

package postgres

import (
	"syscall"
	"time"
)

// sinceBoot is the monotonic clock where no clock is known that runs through a suspend: there the
// wall shows a suspend.
func sinceBoot() time.Duration { return time.Since(began) }

var began = time.Now()

func boundUnacknowledged(_, _ string, _ syscall.RawConn) error { return nil }
