//go:build !linux

package transport

import "syscall"

// boundUnacknowledged does nothing where no system is known to have it.
func boundUnacknowledged(_, _ string, _ syscall.RawConn) error { return nil }
