package tradingsim

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// pipes is a listener without a network, so that its connections have virtual time.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return simAddr("pipe") }

// overPipe runs a test against a server of a simulation.
func overPipe(t *testing.T, test func(*Sim, net.Conn)) {
	synctest.Test(t, func(t *testing.T) {
		sim := New()
		server, listener := sim.newServer(true), &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = server.Serve(listener)
		}()
		client, conn := net.Pipe()
		listener.conns <- conn
		test(sim, client)
		require.NoError(t, client.Close())
		require.NoError(t, server.Close())
		<-done
	})
}

// Whoever does not send what was announced is not waited for.
func TestASlowRequestIsCut(t *testing.T) {
	for name, c := range map[string]struct {
		sent string
		cut  time.Duration
	}{
		"in its head":      {"POST /v1/orders HTTP/1.1\r\nHost: localhost\r\n", headerTimeout},
		"in its body":      {"POST /v1/orders HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{", bodyTimeout},
		"before the first": {"", headerTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			overPipe(t, func(_ *Sim, conn net.Conn) {
				start := time.Now()
				_, err := io.WriteString(conn, c.sent)
				require.NoError(t, err)
				_, err = io.ReadAll(conn)
				require.NoError(t, err)
				require.Equal(t, c.cut, time.Since(start))
			})
		})
	}
}

// A request that a fault holds is not cut, however long.
func TestAHeldRequestIsNotCut(t *testing.T) {
	overPipe(t, func(sim *Sim, conn net.Conn) {
		sim.Fault("GET /me", Delay(time.Hour))
		start := time.Now()
		_, err := io.WriteString(conn, "GET /v1/me HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nX-API-Key: "+sim.LiveKey()+"\r\n\r\n")
		require.NoError(t, err)
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, 200, res.StatusCode)
		require.Equal(t, time.Hour, time.Since(start))
	})
}

// The keys of a simulation are no secret, so that a name which leads to this machine
// by somebody else's doing must not reach it.
func TestOnlyThisMachinesNamesAreAnswered(t *testing.T) {
	for host, status := range map[string]int{
		"localhost": 200, "LocalHost:9": 200, "127.0.0.1": 200, "127.9.9.9:80": 200, "[::1]": 200, "[::1]:80": 200,
		"evil.example": 421, "evil.example:80": 421, "192.168.0.1": 421, "localhost.evil.example": 421, "0.0.0.0": 421,
	} {
		overPipe(t, func(sim *Sim, conn net.Conn) {
			_, err := io.WriteString(conn, "GET /v1/me HTTP/1.1\r\nHost: "+host+"\r\nX-API-Key: "+sim.LiveKey()+"\r\n\r\n")
			require.NoError(t, err)
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			require.NoError(t, err)
			text, err := io.ReadAll(res.Body)
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
			require.Equal(t, status, res.StatusCode, host)
			require.Equal(t, status == 200, strings.Contains(string(text), "userId"), host)
		})
	}
	require.False(t, isLoopback("0.0.0.0:80"), "whoever listens everywhere is asked under any name")
}

// Where a simulation listens everywhere, its URL is one that a client can use.
func TestTheURLOfAnAddressThatIsEverywhere(t *testing.T) {
	for address, want := range map[string]string{
		"0.0.0.0:80": "127.0.0.1:80", "[::]:80": "127.0.0.1:80", "10.0.0.5:80": "10.0.0.5:80", "[::1]:80": "[::1]:80",
	} {
		require.Equal(t, want, dialAddress(address))
	}
}
