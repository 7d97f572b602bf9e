package tradingsim

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"time"
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

// Listen serves on an address until [Sim.Close], and makes it the [Sim.URL]. A
// simulation listens once.
func (s *Sim) Listen(address string) error {
	var config net.ListenConfig
	listener, err := config.Listen(context.Background(), "tcp", address)
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          log.New(io.Discard, "", 0),
	}
	done := make(chan struct{})
	s.mu.Lock()
	s.server, s.served = server, done
	s.url = "http://" + listener.Addr().String() + root
	s.mu.Unlock()
	go func() {
		defer close(done)
		_ = server.Serve(listener) // until Close
	}()
	return nil
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
	f, err := s.begin(c)
	if err != nil || f.refuse {
		panic(http.ErrAbortHandler)
	}
	if err := readBody(c, r.Body); err != nil {
		panic(http.ErrAbortHandler)
	}
	rep, err := s.exchange(r.Context(), c, f)
	if err != nil || rep.cut {
		panic(http.ErrAbortHandler)
	}
	for name, values := range rep.header {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(rep.body)))
	w.WriteHeader(rep.status)
	if !rep.truncate {
		_, _ = w.Write(rep.body)
		return
	}
	_, _ = w.Write(rep.body[:len(rep.body)/2])
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}
