//go:build unix

package transport

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
)

func (r *reader) init(c *pooledConn) {
	r.conn = c
	if raw, err := c.Conn.(syscall.Conn).SyscallConn(); err == nil { // of a net.Dialer
		r.raw, r.take, r.peek = raw, r.takeFrom, r.peekAt
	}
}

func (r *reader) read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if r.raw == nil {
		return 0, net.ErrClosed
	}
	r.p = p
	err := r.raw.Read(r.take)
	r.p = nil
	switch {
	case err != nil: // closed, or a deadline
		return 0, err
	case r.err != nil:
		return 0, &net.OpError{Op: "read", Net: "tcp", Source: r.conn.LocalAddr(), Addr: r.conn.RemoteAddr(), Err: os.NewSyscallError("read", r.err)}
	case r.n == 0:
		return 0, io.EOF
	default:
		return r.n, nil
	}
}

// takeFrom reads what has come; false if nothing has.
func (r *reader) takeFrom(fd uintptr) bool {
	r.conn.mu.Lock()
	defer r.conn.mu.Unlock()
	for {
		r.n, r.err = syscall.Read(int(fd), r.p)
		if errors.Is(r.err, syscall.EINTR) {
			continue
		}
		if errors.Is(r.err, syscall.EAGAIN) {
			return false
		}
		r.conn.waiting = false
		return true
	}
}

// unread reports whether anything has come that the waiting Read has not been
// given, be it the end.
func (r *reader) unread() bool {
	return r.raw == nil || r.raw.Control(r.peek) != nil || r.left
}

func (r *reader) peekAt(fd uintptr) {
	var b [1]byte
	for {
		_, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		r.left = !errors.Is(err, syscall.EAGAIN)
		return
	}
}
