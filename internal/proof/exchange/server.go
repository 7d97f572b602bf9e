package exchange

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
)

// TB is what [Serve] needs of a test.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Cleanup(func())
}

// The keys that a [Server] takes for good.
const (
	SandboxKey = "pk_test_4Qz81mWc"
	LiveKey    = "pk_live_4Qz81mWc"
)

// Server answers from recorded exchanges, in their order, on loopback.
type Server struct {
	// URL is the versioned root.
	URL string

	t    TB
	mu   sync.Mutex
	rest []*File
}

// root is the path of the versioned root.
const root = "/v1"

// Serve starts a server that ends with the test. A request that differs from the
// next exchange in method, path, query, header or body fails the test, and so
// does one request too many or too few. Header means every header but those of
// the connection and User-Agent.
func Serve(t TB, files ...*File) *Server {
	t.Helper()
	s := &Server{t: t, rest: slices.Clone(files)}
	server := httptest.NewServer(s)
	s.URL = server.URL + root
	t.Cleanup(func() {
		server.Close()
		for _, f := range s.rest {
			t.Errorf("%s: the request never came", f.Path())
		}
	})
	return s
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	got, _, err := take(r, root)
	if err != nil {
		s.fail(w, "the request cannot be read: %v", err)
		return
	}
	got.hideKeys([]string{SandboxKey, LiveKey})
	f := s.next()
	if f == nil {
		s.fail(w, "a request too many:\n%s", strings.Join(got.lines(), "\n"))
		return
	}
	if difference := compare(&f.Request, &got); difference != "" {
		s.fail(w, "%s: the request differs (- recorded, + sent):\n%s", f.Path(), difference)
		return
	}
	for name, value := range f.Response.Header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(f.Response.Status)
	if _, err := w.Write(f.Response.Bytes()); err != nil {
		s.t.Errorf("%s: the answer cannot be written: %v", f.Path(), err)
	}
}

func (s *Server) next() *File {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.rest) == 0 {
		return nil
	}
	f := s.rest[0]
	s.rest = s.rest[1:]
	return f
}

// fail fails the test, and answers what no client takes for the service's.
func (s *Server) fail(w http.ResponseWriter, format string, args ...any) {
	s.t.Errorf(format, args...)
	http.Error(w, "not recorded", http.StatusNotImplemented)
}

// compare returns where a request differs from the recorded one; "" if it does not.
func compare(want, got *Request) string {
	a, b := want.lines(), got.lines()
	if slices.Equal(a, b) {
		if bytes.Equal(want.Bytes(), got.Bytes()) {
			return ""
		}
		// Laid out they are the same: only the bytes differ.
		a, b = []string{string(want.Bytes())}, []string{string(got.Bytes())}
	}
	return diff(a, b)
}

// lines are a request laid out for people.
func (r *Request) lines() []string {
	first := r.Method + " " + r.Path
	if r.Query != "" {
		first += "?" + r.Query
	}
	lines := []string{first}
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		lines = append(lines, fmt.Sprintf("%s: %s", name, r.Header[name]))
	}
	body := r.Bytes()
	var b bytes.Buffer
	if json.Indent(&b, body, "", "  ") == nil {
		body = b.Bytes()
	}
	return append(append(lines, ""), strings.Split(string(body), "\n")...)
}

// diff shows the lines of which two texts are made, those of one alone marked.
func diff(a, b []string) string {
	// common[i][j] is how many lines a[i:] and b[j:] share, in order.
	common := make([][]int, len(a)+1)
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			common[i][j] = max(common[i+1][j], common[i][j+1])
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	var out strings.Builder
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			fmt.Fprintf(&out, "  %s\n", a[i])
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			fmt.Fprintf(&out, "- %s\n", a[i])
			i++
		default:
			fmt.Fprintf(&out, "+ %s\n", b[j])
			j++
		}
	}
	return out.String()
}
