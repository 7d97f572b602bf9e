//go:build !linux && !darwin && !windows

package transport

import "syscall"

// boundPath does nothing where no system is known to have it.
func boundPath(_, _ string, _ syscall.RawConn) error { return nil }
