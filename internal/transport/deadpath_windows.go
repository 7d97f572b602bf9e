package transport

import (
	"syscall"
	"time"
)

// boundPath ends a connection over which nothing is acknowledged for deadAfter, in whole seconds.
func boundPath(_, _ string, raw syscall.RawConn) error {
	const tcpMaxRT = 5 // of ws2ipdef.h
	var err error
	control := raw.Control(func(fd uintptr) {
		err = syscall.SetsockoptInt(syscall.Handle(fd), syscall.IPPROTO_TCP, tcpMaxRT, int((deadAfter+time.Second-1)/time.Second))
	})
	if control != nil {
		return control
	}
	return err
}
