package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
)

// TestHeldMeasuresAllInFlight shows that every call waits for its answer when the
// memory is measured, and that a call which fails ends the measurement.
func TestHeldMeasuresAllInFlight(t *testing.T) {
	const calls = 40
	s := &service{answers: answers(0)}
	var inFlight, looks atomic.Int64
	arrived := make(chan struct{}) // until the third look, none has
	arrive := sync.OnceFunc(func() { close(arrived) })
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case pathHold:
			looks.Add(1)
		case pathHeld:
			if looks.Add(1) == 4 {
				arrive()
			}
		case pathRelease:
			s.mu.Lock()
			inFlight.Store(int64(s.held))
			s.mu.Unlock()
			arrive()
		case pathOrder:
			if looks.Load() > 0 {
				<-arrived
			}
		}
		s.ServeHTTP(w, r)
	}))
	defer server.Close()
	transport := newTransport()
	defer transport.CloseIdleConnections()
	order, err := bareOrders(floatOrder)(place{base: server.URL, transport: transport})
	if err != nil {
		t.Fatal(err)
	}
	f, err := held(t.Context(), order, server.URL, calls)
	if err != nil {
		t.Fatal(err)
	}
	if n := inFlight.Load(); n != calls {
		t.Errorf("%d of %d were in flight", n, calls)
	}
	if f.Goroutines < calls {
		t.Errorf("%d goroutines more", f.Goroutines)
	}

	failed := errors.New("failed")
	done := false
	failing := untilDone(func(context.Context) (any, error) {
		if done {
			return nil, failed
		}
		done = true
		return nil, nil
	})
	if _, err := held(t.Context(), failing, server.URL, 1); !errors.Is(err, failed) {
		t.Error(err)
	}
}
