package postgres

import (
	"syscall"
	"time"
	"unsafe"
)

// sinceBoot reads CLOCK_BOOTTIME, which runs while the machine is suspended.
func sinceBoot() time.Duration {
	const clockBoottime = 7
	var at syscall.Timespec
	if _, _, failed := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockBoottime, uintptr(unsafe.Pointer(&at)), 0); failed != 0 {
		return time.Since(began)
	}
	return time.Duration(at.Nano())
}

var began = time.Now()

// boundUnacknowledged ends a connection to which nothing is acknowledged for 5 s.
func boundUnacknowledged(network, _ string, raw syscall.RawConn) error {
	const tcpUserTimeout, most = 18, 5000
	if len(network) < 3 || network[:3] != "tcp" {
		return nil
	}
	var err error
	control := raw.Control(func(fd uintptr) { err = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, most) })
	if control != nil {
		return control
	}
	return err
}
