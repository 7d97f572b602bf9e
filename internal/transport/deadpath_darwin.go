package transport

import (
	"syscall"
	"time"
)

// boundPath ends a connection over which nothing is acknowledged for deadAfter, in whole seconds.
func boundPath(_, _ string, raw syscall.RawConn) error {
	const tcpRxtConnDropTime = 0x80 // of netinet/tcp.h
	var err error
	control := raw.Control(func(fd uintptr) {
		err = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpRxtConnDropTime, int((deadAfter+time.Second-1)/time.Second))
	})
	if control != nil {
		return control
	}
	return err
}
