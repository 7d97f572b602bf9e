package transport

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var errOld = errors.New("too old")

// until is a gate that lets a write leave until a moment.
type until time.Time

func (u until) MayLeave() error {
	if time.Now().After(time.Time(u)) {
		return errOld
	}
	return nil
}

// delays are how long the steps of a connection take.
type delays struct{ dial, proxy, handshake time.Duration }

// wire is a service behind pipes, so that time is virtual.
type wire struct {
	delays
	stall  atomic.Int64 // of what the service reads next
	bodies []string     // that arrived whole
	conns  chan net.Conn
	server http.Server
}

// start serves over TLS, with the certificate of a server that is trusted, by HTTP/2 where that
// is wanted, or over neither, and returns the service's address.
func (w *wire) start(t *testing.T, trusted *httptest.Server, secure, http2 bool) (tr *Transport, to string) {
	t.Helper()
	to = "http://service"
	w.conns = make(chan net.Conn)
	w.server.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			w.bodies = append(w.bodies, string(body))
		}
		ok(rw, r)
	})
	w.server.ErrorLog = log.New(io.Discard, "", 0)
	tr = New(nil)
	tr.pool.DialContext = w.connect
	var ln net.Listener = listener{w}
	if secure {
		to = "https://example.com"
		protocols := []string{"http/1.1"}
		if http2 {
			protocols = []string{"h2"}
		}
		w.server.TLSConfig = &tls.Config{Certificates: trusted.TLS.Certificates, NextProtos: protocols}
		tr.pool.TLSClientConfig = trusted.Client().Transport.(*http.Transport).TLSClientConfig
		go func() { _ = w.server.ServeTLS(ln, "", "") }()
	} else {
		go func() { _ = w.server.Serve(ln) }()
	}
	if w.proxy > 0 {
		tr.pool.Proxy = http.ProxyURL(&url.URL{Scheme: "http", Host: "proxy"})
	}
	t.Cleanup(func() {
		tr.Close()
		close(w.conns)
		_ = w.server.Close()
	})
	return tr, to
}

func (w *wire) connect(context.Context, string, string) (net.Conn, error) {
	time.Sleep(w.dial)
	near, far := net.Pipe()
	go func() {
		if w.proxy > 0 {
			request, err := http.ReadRequest(bufio.NewReader(far))
			if err != nil || request.Method != http.MethodConnect {
				_ = far.Close()
				return
			}
			time.Sleep(w.proxy)
			_, _ = io.WriteString(far, "HTTP/1.1 200 OK\r\n\r\n")
		}
		w.conns <- &slowConn{Conn: far, wire: w}
	}()
	return near, nil
}

// slowConn is the service's end of a connection.
type slowConn struct {
	net.Conn
	wire *wire
	read bool
}

func (c *slowConn) Read(p []byte) (int, error) {
	if !c.read {
		c.read = true
		time.Sleep(c.wire.handshake)
	}
	n, err := c.Conn.Read(p[:min(len(p), 1)])
	if stall := c.wire.stall.Swap(0); stall > 0 {
		time.Sleep(time.Duration(stall))
	}
	return n, err
}

type listener struct{ *wire }

func (l listener) Accept() (net.Conn, error) {
	if conn, more := <-l.conns; more {
		return conn, nil
	}
	return nil, net.ErrClosed
}
func (l listener) Close() error   { return nil }
func (l listener) Addr() net.Addr { return &net.TCPAddr{} }

// D 18: whatever of a connection takes its time, what is too old when it is there does not
// leave, and the connections serve others.
func TestEdge18_TheGateIsAskedOnceTheConnectionIsThere(t *testing.T) {
	const slow = 4 * time.Second
	trusted := httptest.NewTLSServer(nil) // outside the bubbles, for its certificate
	defer trusted.Close()
	for _, row := range []struct {
		name          string
		delays        delays
		secure, http2 bool
		stalls        bool // a connection that is kept, and not read from
	}{
		{name: "a dial", delays: delays{dial: slow}},
		{name: "a dial, TLS", delays: delays{dial: slow}, secure: true},
		{name: "a dial, HTTP/2", delays: delays{dial: slow}, secure: true, http2: true},
		{name: "a handshake", delays: delays{handshake: slow}, secure: true},
		{name: "a handshake, HTTP/2", delays: delays{handshake: slow}, secure: true, http2: true},
		{name: "a proxy", delays: delays{proxy: slow}, secure: true},
		{name: "a proxy, HTTP/2", delays: delays{proxy: slow}, secure: true, http2: true},
		{name: "a header that waits, HTTP/2", secure: true, http2: true, stalls: true},
	} {
		for _, body := range []string{"{}", ""} {
			if body == "" && row.stalls {
				continue // its header is all of it
			}
			t.Run(row.name+" "+body, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := &wire{delays: row.delays}
					tr, to := w.start(t, trusted, row.secure, row.http2)
					if row.stalls {
						tr.pool.HTTP2 = nil // a ping waits for a lock, and the bubble's clock for it
						require.NoError(t, tr.Send(t.Context(), write(to, "first")).Err)
						time.Sleep(time.Second)
						w.stall.Store(int64(slow))
					}
					old := write(to, body)
					old.Gate, old.Timeout = until(time.Now().Add(300*time.Millisecond)), 10*time.Second
					began := time.Now()
					a := tr.Send(t.Context(), old)
					require.ErrorIs(t, a.Err, errOld)
					assert.False(t, a.Written)
					assert.GreaterOrEqual(t, time.Since(began), slow)
					time.Sleep(time.Minute)
					assert.NotContains(t, w.bodies, body)

					young := write(to, "second")
					young.Gate, young.Timeout = until(time.Now().Add(10*time.Second)), 10*time.Second
					a = tr.Send(t.Context(), young)
					require.NoError(t, a.Err)
					assert.True(t, a.Written)
					assert.Equal(t, "second", w.bodies[len(w.bodies)-1])
				})
			})
		}
	}
}

// A kept connection that is fit, over which nothing leaves that the gate refuses.
func TestTheGateOfAKeptConnection(t *testing.T) {
	proxy, tr := service(t), transport(t)
	require.NoError(t, tr.Send(t.Context(), write(proxy.URL(), "first")).Err)
	for _, body := range []string{"{}", ""} {
		old := write(proxy.URL(), body)
		old.Gate = until(time.Now().Add(-time.Second))
		a := tr.Send(t.Context(), old)
		require.ErrorIs(t, a.Err, errOld)
		assert.False(t, a.Written)
	}
	require.NoError(t, tr.Send(t.Context(), write(proxy.URL(), "second")).Err)
	assert.Len(t, proxy.Requests(), 2)
}

// A transport of the program's that takes its time before it reads the body, or begins late.
func TestTheGateOfATransportOfTheProgram(t *testing.T) {
	for name, row := range map[string]struct {
		body   string
		before time.Duration
		begins bool
	}{
		"in the transport":    {body: "{}", begins: true},
		"before it":           {body: "{}", before: 2 * time.Second},
		"before it, no body ": {before: 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := false
				tr := New(trip(func(r *http.Request) (*http.Response, error) {
					began = true
					time.Sleep(4 * time.Second)
					_, err := io.ReadAll(r.Body)
					return nil, err
				}))
				old := write("http://here", row.body)
				old.Gate = until(time.Now().Add(time.Second))
				time.Sleep(row.before)
				a := tr.Send(t.Context(), old)
				require.ErrorIs(t, a.Err, errOld)
				assert.False(t, a.Written)
				assert.Equal(t, row.begins, began)
			})
		})
	}
}
