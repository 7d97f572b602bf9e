package tradingsim

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/tradingapi/trading-go/internal/admit"
)

// TB is what [Start] needs of a test: testing.T, testing.B and testing.F have it.
type TB interface {
	// The methods of testing.TB, as documented there.
	Helper()
	Fatalf(format string, args ...any)
	Cleanup(func())
}

// Start makes a simulation that also serves on loopback, until the test ends.
func Start(t TB, opts ...Option) *Sim {
	t.Helper()
	s := New(opts...)
	if err := s.Listen("127.0.0.1:0"); err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

const (
	headerTimeout = 10 * time.Second // for the head of a request to arrive
	bodyTimeout   = 10 * time.Second // for its body
	idleTimeout   = 2 * time.Minute  // between two requests of a connection

	mostStrangers = 256  // connections that have shown no API key
	mostKnown     = 4096 // and those that have
)

// Listen serves on an address until [Sim.Close], and makes it the [Sim.URL]. A
// simulation listens once.
//
// On a loopback address it answers only requests to localhost or to a loopback
// address: its keys are no secret, and a page in a browser can reach it under a name
// of its own that leads here. On any other address every Host is answered.
func (s *Sim) Listen(address string) error {
	var config net.ListenConfig
	listener, err := config.Listen(context.Background(), "tcp", address)
	if err != nil {
		return err
	}
	few := admit.New(listener, mostStrangers, mostKnown, headerTimeout)
	server := s.newServer(isLoopback(listener.Addr().String()))
	server.ConnContext, server.ConnState = few.Context, few.State
	done := make(chan struct{})
	s.mu.Lock()
	s.server, s.served = server, done
	s.url = "http://" + dialAddress(listener.Addr().String()) + root
	s.mu.Unlock()
	go func() {
		defer close(done)
		_ = server.Serve(few) // until Close
	}()
	return nil
}

// newServer is what listens; local makes it turn away every Host but this machine.
func (s *Sim) newServer(local bool) *http.Server {
	return &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if local && !isLoopback(r.Host) {
				http.Error(w, "This simulation answers requests to this machine alone.", http.StatusMisdirectedRequest)
				return
			}
			bufferBody(w, r)
			s.ServeHTTP(w, r)
		}),
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		ErrorLog:          log.New(io.Discard, "", 0),
	}
}

// bufferBody reads a body within its time. A server's own ReadTimeout would go on
// while a fault holds the request, and end it.
func bufferBody(w http.ResponseWriter, r *http.Request) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(bodyTimeout))
	text, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	_ = control.SetReadDeadline(time.Time{})
	r.Body = io.NopCloser(bytes.NewReader(text))
}

// dialAddress is an address by which this machine reaches a listener: one that listens
// everywhere is reached on loopback.
func dialAddress(address string) string {
	host, port, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err != nil || !ip.IsUnspecified() {
		return address
	}
	return net.JoinHostPort("127.0.0.1", port)
}

// isLoopback reports whether an address, with or without a port, is of this machine.
func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = strings.Trim(address, "[]")
	}
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip.IsLoopback()
}

// ServeHTTP makes a simulation an http.Handler, for a server of one's own. A
// fault that cuts the connection panics with [http.ErrAbortHandler], which
// servers understand.
func (s *Sim) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	from, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		from = r.RemoteAddr
	}
	c := s.newCall(r, from)
	if s.knows(c) {
		admit.Known(r.Context())
	}
	f, err := s.begin(c)
	if err != nil || f.refuse {
		panic(http.ErrAbortHandler)
	}
	if err := readBody(c, r.Body); err != nil {
		panic(http.ErrAbortHandler)
	}
	rep, err := s.exchange(r.Context(), c, f)
	whole := false
	defer func() { s.ended(c, f, whole) }()
	if err != nil || rep.cut {
		panic(http.ErrAbortHandler)
	}
	maps.Copy(w.Header(), rep.headers(new([3]string)))
	w.WriteHeader(rep.status)
	if !rep.truncate {
		waits := r.Context().Err() == nil // afterwards a caller that has read everything may be gone
		_, err := w.Write(rep.body)
		flushed := http.NewResponseController(w).Flush()
		whole = waits && err == nil && (flushed == nil || errors.Is(flushed, http.ErrNotSupported))
		return
	}
	_, _ = w.Write(rep.body[:len(rep.body)/2])
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}
