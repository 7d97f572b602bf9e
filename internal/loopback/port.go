package loopback

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// The system gives a connection any free port of its range, which begins at 32768 with Linux and
// later elsewhere: there a port can be gone while the program that listened on it is down.
const firstPort, portsOfConnections = 20_000, 32_768

// Port is one that nobody listens on, for a program that is stopped and started again there.
func Port() (int, error) {
	var last error
	for range 100 {
		port := firstPort + rand.IntN(portsOfConnections-firstPort)
		listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err == nil {
			return port, listener.Close()
		}
		last = err
	}
	return 0, fmt.Errorf("no free port of 127.0.0.1 in 100 that were tried: %w", last)
}
