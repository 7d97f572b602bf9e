package transport

import "syscall"

// boundUnacknowledged ends a connection to which nothing is acknowledged for as long as an attempt
// takes. Else the kernel goes on sending what was written, also of a program that was killed, and
// a request arrives whole half a minute later.
func boundUnacknowledged(_, _ string, raw syscall.RawConn) error {
	const tcpUserTimeout = 18
	var err error
	control := raw.Control(func(fd uintptr) {
		err = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(pingAfter.Milliseconds()))
	})
	if control != nil {
		return control
	}
	return err
}
