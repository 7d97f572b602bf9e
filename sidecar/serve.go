package sidecar

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/tradingapi/trading-go/internal/admit"
	"github.com/tradingapi/trading-go/sidecar/internal/heard"
	"github.com/tradingapi/trading-go/sidecar/internal/hearing"
)

// Listen makes a listener for bots on this machine: on a port of the loopback interface, such as
// 127.0.0.1:8700, or on a Unix socket in a folder that its owner alone can enter. What connects to
// a distant port may be a proxy; its bots are heard by further requests alone.
func Listen(address string, distant bool) (net.Listener, error) {
	if strings.Contains(address, "/") {
		return heard.Unix(address)
	}
	return heard.TCP(address, distant)
}

// Serve answers bots until the listener or the server is closed. The listener is one of [Listen]:
// of any other it is not known which answers are heard, and all count as heard.
func (s *Server) Serve(l net.Listener) error {
	s.once.Do(s.background)
	return s.serve(admit.New(l, mostStrangers, mostKnown, bodyTime), s)
}

// ServeOperator answers a person, on another listener than the bots': see [Server.Operator].
func (s *Server) ServeOperator(l net.Listener) error {
	operator := s.Operator()
	return s.serve(admit.New(l, mostStrangers, mostKnown, bodyTime), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		admit.Known(r.Context()) // whoever can enter the folder
		operator.ServeHTTP(w, r)
	}))
}

func (s *Server) serve(l *admit.Listener, h http.Handler) error {
	const headerTime, headerSize, idleTime = 5 * time.Second, 16 << 10, 5 * time.Minute
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: headerTime, MaxHeaderBytes: headerSize, IdleTimeout: idleTime, Protocols: protocols,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return l.Context(heard.Context(ctx, c), c) },
		ConnState: func(c net.Conn, state http.ConnState) {
			heard.State(c, state)
			l.State(c, state)
		},
	}
	if s.config.Logger != nil {
		server.ErrorLog = slog.NewLogLogger(s.config.Logger.Handler(), slog.LevelDebug)
	} else {
		server.ErrorLog = log.New(io.Discard, "", 0)
	}
	s.mu.Lock()
	s.serving = append(s.serving, server)
	s.mu.Unlock()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// What a listener has at once of connections that have shown no local key, and of those that have.
// The oldest make room: strangers never for long, since bots connect when they have to get out.
const (
	mostStrangers = 256
	mostKnown     = 768
)

// background finds out what earlier runs left, and forgets what is too old.
func (s *Server) background() {
	s.work.Go(func() {
		if _, err := s.client.Recover(s.closing); err != nil && s.closing.Err() == nil {
			s.alert(fmt.Sprintf("writes of earlier runs are not resolved: %v", err))
		}
	})
	if s.guard != nil {
		s.work.Go(func() { s.guard.run(s.closing, s.alert) })
		s.work.Go(func() { s.guard.report(s.closing, s.alert) })
	}
	s.work.Go(func() {
		ticks := time.NewTicker(time.Minute)
		defer ticks.Stop()
		for {
			select {
			case <-s.closing.Done():
				return
			case now := <-ticks.C:
				s.tidy(s.closing, now)
			}
		}
	})
}

// Stop refuses entries from now on, and carries exits out for some time more. Then it takes no
// requests, and waits for those under way, for ten seconds at the most.
func (s *Server) Stop(exits time.Duration) error {
	s.stopping.Store(true)
	const most = 10 * time.Second
	timer := time.NewTimer(exits)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.closing.Done():
	}
	ctx, cancel := context.WithTimeout(s.closing, most)
	defer cancel()
	s.mu.Lock()
	serving := s.serving
	s.mu.Unlock()
	var failed error
	for _, server := range serving {
		failed = errors.Join(failed, server.Shutdown(ctx))
	}
	return failed
}

// Close ends everything that is served, and the client. It returns a [*trading.PendingError]
// as the client does.
func (s *Server) Close() error {
	s.stopping.Store(true)
	s.mu.Lock()
	serving := s.serving
	s.mu.Unlock()
	for _, server := range serving {
		_ = server.Close() // its listeners and connections
	}
	s.end()
	left := s.client.Close()
	s.under.Wait()
	s.work.Wait()
	s.unheard.listen(func(hearing.Place) bool { return true }, hearing.Place{})
	s.locks.Close()
	return errors.Join(left, s.guard.Close(), s.file.Close())
}
