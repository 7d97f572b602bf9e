package sidecar

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
)

// lock takes a name on this machine: a socket in no folder, which needs no disk, is the same in
// every sandbox that shares the network, and ends with its process.
func lock(name string) (io.Closer, error) {
	address := &net.UnixAddr{Net: "unix", Name: fmt.Sprintf("@trading-sidecar/%d/%s", os.Geteuid(), name)}
	for range 3 {
		l, err := net.ListenUnix("unix", address)
		if !errors.Is(err, syscall.EADDRINUSE) {
			return l, err
		}
		holder, err := holderOf(address)
		switch {
		case err != nil: // it has ended since, or many ask it
		case int(holder.Uid) != os.Geteuid(): // anybody can take a name: that must not stop anything
			return io.NopCloser(nil), nil
		default:
			return nil, fmt.Errorf("another sidecar of this user on this machine trades it, in process %d", holder.Pid)
		}
	}
	return nil, errors.New("another sidecar of this user on this machine trades it")
}

// holderOf returns the process that has a name.
func holderOf(address *net.UnixAddr) (holder *syscall.Ucred, err error) {
	conn, err := net.DialUnix("unix", nil, address)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }() // it carries nothing
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	if asked := raw.Control(func(fd uintptr) {
		holder, err = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	}); asked != nil {
		return nil, asked
	}
	return holder, err
}
