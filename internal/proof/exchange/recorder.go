package exchange

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"
)

// Recorder is an [http.RoundTripper] that takes down what passes through it.
type Recorder struct {
	next http.RoundTripper
	root string

	mu    sync.Mutex
	taken []*File
}

// NewRecorder records what goes to next. root is the path of the versioned root,
// such as "/v1".
func NewRecorder(next http.RoundTripper, root string) *Recorder {
	return &Recorder{next: next, root: root}
}

// RoundTrip sends a request on and takes it down with its answer. What got no
// answer is not an exchange.
func (r *Recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	sent, body, err := take(req, r.root)
	if err != nil {
		return nil, err
	}
	passed := req.Clone(req.Context())
	if req.Body != nil && req.Body != http.NoBody {
		passed.Body = io.NopCloser(bytes.NewReader(body))
		passed.ContentLength = int64(len(body))
	}
	resp, err := r.next.RoundTrip(passed)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(raw))

	r.mu.Lock()
	defer r.mu.Unlock()
	r.taken = append(r.taken, &File{Request: sent, Response: Response{
		Status: resp.StatusCode,
		Header: documented(resp.Header),
		Body:   NewBody(bytes.TrimSuffix(raw, []byte("\n"))),
	}})
	return resp, nil
}

// Take returns what was recorded since the last time.
func (r *Recorder) Take() []*File {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.taken
	r.taken = nil
	return taken
}

// take reads a request, wherever it is met: on its way out or at a server.
func take(req *http.Request, root string) (Request, []byte, error) {
	var body []byte
	if req.Body != nil {
		var err error
		if body, err = io.ReadAll(req.Body); err != nil {
			return Request{}, nil, err
		}
		if err := req.Body.Close(); err != nil {
			return Request{}, nil, err
		}
	}
	r := Request{
		Method: req.Method,
		Path:   strings.TrimPrefix(req.URL.EscapedPath(), root),
		Query:  req.URL.RawQuery,
		Header: map[string]string{},
	}
	if len(body) > 0 {
		r.Body = NewBody(body)
	}
	for name, values := range req.Header {
		if name = shownName(name); !ofTheConnection[name] {
			r.Header[name] = strings.Join(values, ", ")
		}
	}
	return r, body, nil
}

// ofTheConnection is what net/http adds, what is said to caches on the way, and what names
// the version of the client.
var ofTheConnection = map[string]bool{
	"Accept-Encoding": true,
	"Cache-Control":   true,
	"Connection":      true,
	"Content-Length":  true,
	"User-Agent":      true,
}

// answerHeaders are those that the contract documents, as it spells them.
var answerHeaders = []string{
	"Content-Type", "Idempotent-Replayed", "Retry-After", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset",
}

func documented(header http.Header) map[string]string {
	kept := map[string]string{}
	for _, name := range answerHeaders {
		if values := header.Values(name); len(values) > 0 {
			kept[name] = strings.Join(values, ", ")
		}
	}
	return kept
}

// shownName is a header's name as the contract spells it.
func shownName(name string) string {
	name = http.CanonicalHeaderKey(name)
	if name == "X-Api-Key" {
		return "X-API-Key"
	}
	return name
}
