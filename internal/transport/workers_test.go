package transport

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"testing"
	"testing/synctest"
	"time"
)

// lasting answers nothing, after a while.
type lasting time.Duration

func (d lasting) RoundTrip(*http.Request) (*http.Response, error) {
	time.Sleep(time.Duration(d))
	return nil, errors.New("there is no answer")
}

// idleWorkers is how many workers wait, once all that is under way rests.
func (t *Transport) idleWorkers() int {
	synctest.Wait()
	t.workers.mu.Lock()
	defer t.workers.mu.Unlock()
	return len(t.workers.idle)
}

func beginLasting(ctx context.Context, t *Transport, n int) (begun []*RoundTrip) {
	for range n {
		begun = append(begun, t.Begin(ctx, &Outgoing{Method: http.MethodPost, URL: &url.URL{Scheme: "http", Host: "localhost"}, Write: true}))
	}
	return begun
}

func awaitAll(attempts []*RoundTrip) {
	for _, a := range attempts {
		<-a.Over()
	}
}

// An attempt that follows another goes by the worker that carried that out. Who is not needed ends, and so do
// all where no attempt comes: the bubble would not end beside one that is left.
func TestWorkersAreKeptWhileTheyAreNeeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := New(lasting(neededFor / 10))
		awaitAll(beginLasting(t.Context(), of, 3))
		if got := of.idleWorkers(); got != 3 {
			t.Fatalf("%d workers wait after three attempts at once; want 3", got)
		}
		for range 15 {
			awaitAll(beginLasting(t.Context(), of, 1))
		}
		if got := of.idleWorkers(); got != 3 {
			t.Fatalf("%d workers wait after the first look, before which all were needed; want 3", got)
		}
		for range 10 {
			awaitAll(beginLasting(t.Context(), of, 1))
		}
		if got := of.idleWorkers(); got != 1 {
			t.Fatalf("%d workers wait after the second look, before which one was needed; want 1", got)
		}
		time.Sleep(2*neededFor + neededFor/2)
		if got := of.idleWorkers(); got != 0 {
			t.Fatalf("%d workers wait after no attempt for two looks; want 0", got)
		}
		awaitAll(beginLasting(t.Context(), of, 2))
		if got := of.idleWorkers(); got != 2 {
			t.Fatalf("%d workers wait after two attempts once all had ended; want 2", got)
		}
		time.Sleep(2*neededFor + neededFor/2)
	})
}

// Close ends who waits at once, and who works once the attempt is over.
func TestCloseEndsTheWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of, began := New(lasting(neededFor/10)), time.Now()
		first := beginLasting(t.Context(), of, 3)
		awaitAll(first)
		late := beginLasting(t.Context(), of, 1)
		of.Close()
		awaitAll(late)
		awaitAll(beginLasting(t.Context(), of, 1))
		if got := of.idleWorkers(); got != 0 || time.Since(began) >= neededFor {
			t.Fatalf("%d workers wait after Close, %v after the beginning; want 0 before a look", got, time.Since(began))
		}
	})
}
