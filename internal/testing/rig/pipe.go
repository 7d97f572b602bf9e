package rig

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tradingapi/trading-go"
)

// Pipes are connections of net/http to a service on virtual time, such as a client's own are on a network.
type Pipes struct {
	*http.Transport

	// Drops: a connection that swallows is on a path that drops packets. Nothing comes back over it
	// either, and it ends soon after something was sent, as the client's own connections do.
	Drops bool

	dies func() time.Duration // nil for never

	mu   sync.Mutex
	cut  bool
	open map[*pipe]struct{}
}

// pipe is the client's end of a connection.
type pipe struct {
	net.Conn
	of       *Pipes
	swallows atomic.Bool
	dies     time.Time // zero for never
	found    sync.Once // that the path drops
}

// isDead reports whether it swallows by now.
func (p *pipe) isDead() bool {
	return p.swallows.Load() || !p.dies.IsZero() && !time.Now().Before(p.dies)
}

// foundAfter is how long it takes to find a path that drops what is sent.
const foundAfter = 1500 * time.Millisecond

// Close closes the connection.
func (p *pipe) Close() error {
	p.of.mu.Lock()
	delete(p.of.open, p)
	p.of.mu.Unlock()
	return p.Conn.Close()
}

// Write loses what a connection is given that swallows.
func (p *pipe) Write(b []byte) (int, error) {
	if !p.isDead() {
		return p.Conn.Write(b)
	}
	if p.of.Drops {
		p.found.Do(func() { time.AfterFunc(foundAfter, func() { _ = p.Close() }) })
	}
	return len(b), nil
}

// Read loses what comes over a path that drops.
func (p *pipe) Read(b []byte) (int, error) {
	for {
		n, err := p.Conn.Read(b)
		if err != nil || !p.of.Drops || !p.isDead() {
			return n, err
		}
	}
}

// Swallow has the connections that there are lose what is sent over them from now on, without a word.
func (p *Pipes) Swallow() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.swallow()
}

func (p *Pipes) swallow() {
	for c := range p.open {
		c.swallows.Store(true)
	}
}

// Cut ends a process's part: nothing that it sends arrives from now on, over any connection.
func (p *Pipes) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = true
	p.swallow()
}

// Open is how many connections there are.
func (p *Pipes) Open() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.open)
}

// SwallowAfter has each connection swallow what is sent from some time after it was opened; 0 is never.
func (p *Pipes) SwallowAfter(of func() time.Duration) { p.dies = of }

// Option joins a client to the service over them.
func (p *Pipes) Option() trading.Option { return trading.WithTransport(p.Transport) }

// OverPipes serves a service over pipes until the test ends.
func OverPipes(t testing.TB, service http.Handler) *Pipes {
	listener := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	p := listener.serves(t, service, listener)
	p.DialTLSContext = p.DialContext // no TLS: nobody is in between
	return p
}

// OverHTTP2 is OverPipes over HTTP/2, which has a client share one of them, by the certificate of a server that
// need not serve anything.
func OverHTTP2(t testing.TB, service http.Handler, by *httptest.Server) *Pipes {
	listener := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	p := listener.serves(t, service, tls.NewListener(listener, &tls.Config{Certificates: by.TLS.Certificates, NextProtos: []string{"h2"}}))
	p.TLSClientConfig = by.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	p.TLSClientConfig.ServerName, p.ForceAttemptHTTP2 = "example.com", true
	return p
}

// serves has a service serve what is accepted, and returns the pipes that lead to it.
func (l *pipeListener) serves(t testing.TB, service http.Handler, accepts net.Listener) *Pipes {
	server := &http.Server{Handler: service, ErrorLog: log.New(io.Discard, "", 0)}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(accepts)
	}()
	p := &Pipes{open: map[*pipe]struct{}{}}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		near, far := net.Pipe()
		select {
		case l.conns <- far:
		case <-l.closed:
			return nil, net.ErrClosed
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		c := &pipe{Conn: near, of: p}
		if p.dies != nil {
			if lasts := p.dies(); lasts > 0 {
				c.dies = time.Now().Add(lasts)
			}
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		c.swallows.Store(p.cut)
		p.open[c] = struct{}{}
		return c, nil
	}
	p.Transport = &http.Transport{DialContext: dial}
	t.Cleanup(func() {
		p.CloseIdleConnections()
		_ = server.Close()
		<-served
	})
	return p
}

// Through serves what a round tripper leads to.
func Through(to http.RoundTripper) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		sent := r.Clone(context.WithoutCancel(r.Context()))
		sent.RequestURI, sent.Body = "", io.NopCloser(bytes.NewReader(body))
		sent.URL.Scheme, sent.URL.Host = "https", r.Host
		answer, err := to.RoundTrip(sent)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		defer answer.Body.Close()
		read, err := io.ReadAll(answer.Body)
		maps.Copy(w.Header(), answer.Header)
		if answer.Header["Date"] == nil {
			w.Header()["Date"] = nil // else the server adds one
		}
		w.WriteHeader(answer.StatusCode)
		_, _ = w.Write(read)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
	})
}

// pipeListener hands the far ends out.
type pipeListener struct {
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{} }
