package control

import (
	"bytes"
	"fmt"
	"net/http"
	"time"
)

// streamTimeout is how long a stream may take to read what was sent.
const streamTimeout = 10 * time.Second

// events streams what happens. It resumes after Last-Event-ID where that is possible;
// otherwise it begins with a reset, after which a reader asks for everything anew.
func (s *server) events(w http.ResponseWriter, r *http.Request) error {
	select {
	case s.streams <- struct{}{}:
		defer func() { <-s.streams }()
	default:
		return problem{http.StatusServiceUnavailable, "too_many_streams", fmt.Sprintf("at most %d event streams are served", maxStreams)}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	at := position{event: -1}
	if number, ok := s.feed.parseID(r.Header.Get("Last-Event-ID")); ok {
		at.event = number
	}
	control := http.NewResponseController(w)
	for {
		text, changed := s.chunk(&at)
		_ = control.SetWriteDeadline(time.Now().Add(streamTimeout))
		if _, err := w.Write(text); err != nil {
			return nil // the reader has gone
		}
		if err := control.Flush(); err != nil {
			return nil
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return nil
		}
	}
}

// chunk is what a stream sends next.
func (s *server) chunk(at *position) (text []byte, changed <-chan struct{}) {
	events, state, changed, ok := s.feed.next(at)
	var b bytes.Buffer
	if !ok {
		fmt.Fprintf(&b, "retry: 1000\nevent: reset\nid: %s\ndata: {}\n\n", s.feed.id(at.event))
	}
	for _, e := range events {
		fmt.Fprintf(&b, "event: %s\nid: %s\ndata: %s\n\n", e.name, s.feed.id(e.number), e.data)
	}
	if state != nil {
		fmt.Fprintf(&b, "event: state\ndata: %s\n\n", state)
	}
	return b.Bytes(), changed
}
