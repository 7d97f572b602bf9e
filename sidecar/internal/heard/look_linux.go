//go:build linux && !386 && !s390x

package heard

import (
	"os"
	"syscall"
	"time"
	"unsafe"
)

// States of a TCP connection, as in the kernel's tcp_states.h.
const (
	tcpEstablished = 1
	tcpFinWait1    = 4
	tcpFinWait2    = 5
	tcpClose       = 7
	tcpCloseWait   = 8
	tcpLastAck     = 9
	tcpClosing     = 11
)

// tcpInfo is the beginning of the kernel's struct tcp_info.
type tcpInfo struct {
	state        uint8
	_            [7]uint8
	_            [11]uint32
	lastDataRecv uint32 // ms since something came
}

// ask runs a function on the descriptor of the connection.
func (c *Conn) ask(f func(fd int)) bool {
	conn, ok := c.Conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := conn.SyscallConn()
	return err == nil && raw.Control(func(fd uintptr) { f(int(fd)) }) == nil
}

func queue(fd int, which uintptr) (n int32, ok bool) {
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), which, uintptr(unsafe.Pointer(&n)))
	return n, errno == 0
}

func infoOf(fd int) (info tcpInfo, ok bool) {
	size := uint32(unsafe.Sizeof(info))
	_, _, errno := syscall.Syscall6(syscall.SYS_GETSOCKOPT, uintptr(fd), syscall.IPPROTO_TCP, syscall.TCP_INFO,
		uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0)
	return info, errno == 0 && size >= uint32(unsafe.Sizeof(info))
}

// look looks at the connection. The lock is held.
func (c *Conn) look() (s seen) {
	if c.failed {
		return lost
	}
	if c.kind == distant {
		return unknown
	}
	ok := c.ask(func(fd int) {
		// First what is on its way, then the end: a peer that leaves between was there.
		out, known := queue(fd, syscall.TIOCOUTQ)
		info, stated := tcpInfo{state: tcpEstablished}, true
		if c.kind == nearTCP {
			info, stated = infoOf(fd)
		}
		failure, err := syscall.GetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_ERROR)
		switch {
		case !known || !stated || err != nil:
			s = unknown
		case failure != 0: // which is reported once
			c.failed, s = true, lost
		case c.kind == nearUnix && c.reading > 0 && c.hasEnded(fd):
			s = underway // whether something is left unread, the read says that is under way
		case c.failed:
			s = lost
		default:
			s = c.judge(info.state, out)
		}
	})
	if !ok {
		return unknown
	}
	return s
}

// hasEnded reports whether the peer sends nothing more. The lock is held.
func (c *Conn) hasEnded(fd int) bool {
	var b [1]byte
	n, _, err := syscall.Recvfrom(fd, b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	c.failed = err != nil && err != syscall.EAGAIN
	return n == 0 && err == nil
}

// judge says what the state of a connection without a failure shows.
func (c *Conn) judge(state uint8, out int32) seen {
	switch state {
	case tcpEstablished, tcpCloseWait, tcpFinWait2:
		if out == 0 {
			return delivered
		}
		return underway
	case tcpFinWait1, tcpClosing, tcpLastAck:
		return underway
	case tcpClose: // both halves are closed; a reset would have left a failure
		if c.shut && c.ended && out == 0 {
			return delivered
		}
	}
	return lost
}

// present reports whether the peer is there. The lock is held.
func (c *Conn) present() (p Presence) {
	p = Unsure
	c.ask(func(fd int) {
		if c.kind == nearUnix {
			p = Here // also if it has closed its half alone
			if _, err := syscall.SendmsgN(fd, nil, nil, nil, syscall.MSG_DONTWAIT|syscall.MSG_NOSIGNAL); err == syscall.EPIPE {
				p = Gone
			}
			return
		}
		info, ok := infoOf(fd)
		switch {
		case !ok, info.state == tcpCloseWait:
		case info.state == tcpEstablished:
			p = Here
		default:
			p = Gone
		}
	})
	return p
}

// pending reports whether something has come that was not read.
func (c *Conn) pending() (is bool) {
	c.ask(func(fd int) {
		n, ok := queue(fd, syscall.TIOCINQ)
		is = ok && n > 0
	})
	return is
}

// age is how long ago what is read now came to this machine.
func (c *Conn) age(now time.Time) time.Duration {
	if c.kind != nearUnix {
		var info tcpInfo
		known := false
		c.ask(func(fd int) { info, known = infoOf(fd) })
		if known {
			return time.Duration(info.lastDataRecv) * time.Millisecond
		}
	}
	return c.listener.stalls.age(now)
}

// allowed reports whether the peer is the user of this process, or root.
func (c *Conn) allowed() (is bool) {
	if c.kind != nearUnix {
		return true
	}
	c.ask(func(fd int) {
		peer, err := syscall.GetsockoptUcred(fd, syscall.SOL_SOCKET, syscall.SO_PEERCRED)
		is = err == nil && (peer.Uid == 0 || int(peer.Uid) == os.Geteuid())
	})
	return is
}
