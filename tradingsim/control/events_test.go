package control

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// stream reads events as a browser does, over a pipe.
type stream struct {
	t     *testing.T
	lines *bufio.Scanner
	end   context.CancelFunc
	done  chan struct{}
	code  int
}

// pipeWriter is a ResponseWriter whose reader waits for each event.
type pipeWriter struct {
	*io.PipeWriter
	header http.Header
	code   *int
}

func (w pipeWriter) Header() http.Header  { return w.header }
func (w pipeWriter) WriteHeader(code int) { *w.code = code }
func (w pipeWriter) FlushError() error    { return nil }

func (r rig) stream(lastEventID string) *stream {
	r.t.Helper()
	ctx, end := context.WithCancel(r.t.Context())
	req, err := http.NewRequestWithContext(ctx, "GET", "http://"+testHost+root+"/events", nil)
	require.NoError(r.t, err)
	req.Header.Set("Authorization", "Bearer "+testToken)
	if lastEventID != "" {
		req.Header.Set("Last-Event-ID", lastEventID)
	}
	reader, writer := io.Pipe()
	s := &stream{t: r.t.(*testing.T), lines: bufio.NewScanner(reader), end: end, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		defer writer.Close()
		r.http.ServeHTTP(pipeWriter{writer, http.Header{}, &s.code}, req)
	}()
	return s
}

// next is the next event: its name, id and data.
func (s *stream) next() (name, id, data string) {
	s.t.Helper()
	for s.lines.Scan() {
		field, value, _ := strings.Cut(s.lines.Text(), ": ")
		switch field {
		case "event":
			name = value
		case "id":
			id = value
		case "data":
			data = value
		case "":
			return name, id, data
		}
	}
	s.t.Fatal("the stream has ended")
	return "", "", ""
}

// close ends the stream and waits for its handler.
func (s *stream) close() {
	s.end()
	go func() { // what is being written has a reader
		for s.lines.Scan() {
		}
	}()
	<-s.done
}

// A stream that broke off goes on where it was: nothing is missing, nothing comes twice.
func TestAStreamResumes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		first := r.stream("")
		name, id, _ := first.next()
		require.Equal(t, "reset", name, "a reader that has nothing asks for everything")
		require.NotEmpty(t, id)
		name, stateID, data := first.next()
		require.Equal(t, "state", name)
		require.Empty(t, stateID, "the state is no event to resume by")
		require.Contains(t, data, `"symbol":"BTC"`)

		require.NoError(t, r.order(buyBTC))
		var names, ids []string
		for range 3 {
			name, id, data = first.next()
			names, ids = append(names, name), append(ids, id)
		}
		require.Equal(t, []string{"request", "execution", "answer"}, names)
		require.Contains(t, data, `"delivered":true`)
		require.Contains(t, data, `"Idempotency-Key":["decision-1"]`)
		require.NotContains(t, data, r.sim.LiveKey())
		first.close()

		r.feed.show(Write{ID: "7", Outcome: "pending"})
		second := r.stream(ids[0])
		for _, want := range []string{"execution", "answer", "write"} {
			name, _, data = second.next()
			require.Equal(t, want, name)
		}
		require.Contains(t, data, `"id":"7"`)
		name, _, _ = second.next()
		require.Equal(t, "state", name)
		second.close()
	})
}

// What cannot be resumed begins anew, and says so.
func TestAStreamThatCannotResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		for i := range 2*keptEvents + 1 {
			r.feed.show(Write{ID: strconv.Itoa(i)})
		}
		for _, id := range []string{"", "nonsense", "OTHERRUN-5", r.feed.id(1), r.feed.id(-1), r.feed.id(1 << 40), r.feed.name + "-x"} {
			s := r.stream(id)
			name, at, _ := s.next()
			require.Equal(t, "reset", name, id)
			require.Equal(t, r.feed.id(r.feed.last), at)
			s.close()
		}
		s := r.stream(r.feed.id(r.feed.last - keptEvents))
		for i := range keptEvents {
			name, id, _ := s.next()
			require.Equal(t, "write", name)
			require.Equal(t, r.feed.id(r.feed.last-int64(keptEvents)+int64(i)+1), id, "without a gap")
		}
		s.close()
	})
}

// The number of streams is bounded, and one that ends makes room.
func TestTooManyStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		var open []*stream
		for range maxStreams {
			s := r.stream("")
			s.next()
			open = append(open, s)
		}
		require.Equal(t, 503, r.send("GET", "/events", "").Code)
		open[0].close()
		s := r.stream("")
		s.next()
		for _, s := range append(open[1:], s) {
			s.close()
		}
	})
}

// A body or a header of any size does not fill the memory with events.
func TestEventsAreShort(t *testing.T) {
	r := newRig(t)
	require.NoError(t, r.order(fmt.Sprintf(`{"x":%q}`, strings.Repeat("x", 100_000))))
	for _, e := range r.feed.events {
		require.Less(t, len(e.data), 2*maxEventBody)
	}
	require.Len(t, r.sim.Requests()[0].Body, 100_008, "the log has the whole")
}
