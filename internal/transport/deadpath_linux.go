package transport

import "syscall"

// boundPath ends a connection over which nothing is acknowledged for deadAfter. Else the kernel goes
// on sending what was written, also of a program that was killed, and a request arrives whole half a
// minute later.
func boundPath(_, _ string, raw syscall.RawConn) error {
	const tcpUserTimeout = 18
	var err error
	control := raw.Control(func(fd uintptr) {
		err = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(deadAfter.Milliseconds()))
	})
	if control != nil {
		return control
	}
	return err
}
