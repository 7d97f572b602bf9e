package loopback

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
)

// Port is one of 127.0.0.1 that nobody listens on, for a program that is stopped and started again
// there. The system gives none of these to a connection while that program is down. Another program
// can take it before the caller's does, though rarely: who can, asks for another then.
func Port() (int, error) {
	first, end := ports(readRange())
	var last error
	for range 100 {
		port := first + rand.IntN(end-first)
		listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err == nil {
			return port, listener.Close()
		}
		last = err
	}
	return 0, fmt.Errorf("no free port of 127.0.0.1 in 100 that were tried: %w", last)
}

// readRange is what the kernel says of its ports for connections: nothing, where it is not Linux.
func readRange() string {
	text, _ := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	return string(text)
}

// ports are those that the system gives to no connection, from first to before end: the longer part
// of what lies before its range and behind it. Without a range it is Linux's own, which begins before
// those of others; where the range leaves too few, any port will do.
func ports(of string) (first, end int) {
	const lowest, highest, enough = 10_000, 65_536, 1_000
	from, to := 32_768, 60_999
	if n, err := fmt.Sscan(of, &from, &to); err != nil || n != 2 {
		from, to = 32_768, 60_999
	}
	before, behind := from-lowest, highest-(to+1)
	switch {
	case before >= behind && before >= enough:
		return lowest, from
	case behind >= enough:
		return to + 1, highest
	}
	return lowest, highest
}
