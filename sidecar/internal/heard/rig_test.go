package heard

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// rig is a server that answers when it is asked to.
type rig struct {
	listener *Listener
	body     string
	asked    chan *request
}

// request is one that waits for its answer.
type request struct {
	path    string
	conn    *Conn
	answer  *Answer
	gone    <-chan struct{}
	release chan struct{}
	done    chan struct{}
}

// respond has the request answered, and returns when its handler has.
func (r *request) respond() *Answer {
	close(r.release)
	<-r.done
	return r.answer
}

func start(t *testing.T, l *Listener, err error) *rig {
	t.Helper()
	require.NoError(t, err)
	r := &rig{listener: l, body: `{"success":true}`, asked: make(chan *request, 16)}
	server := &http.Server{Handler: r, ConnContext: Context, ConnState: State, ReadHeaderTimeout: time.Minute}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(l)
	}()
	t.Cleanup(func() {
		_ = l.Close()
		_ = server.Close()
		<-ended
	})
	return r
}

func (r *rig) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	one := &request{q.URL.Path, From(q.Context()), From(q.Context()).Answer(), q.Context().Done(), make(chan struct{}), make(chan struct{})}
	defer close(one.done)
	_, _ = io.Copy(io.Discard, q.Body)
	r.asked <- one
	<-one.release
	w.Header().Set("Content-Length", fmt.Sprint(len(r.body)))
	one.answer.Writing()
	_, _ = io.WriteString(w, r.body)
}

// forEach runs a test on each kind of connection that the system knows something of.
func forEach(t *testing.T, f func(t *testing.T, r *rig)) {
	t.Run("unix", func(t *testing.T) {
		l, err := Unix(filepath.Join(t.TempDir(), "own", "s"))
		f(t, start(t, l, err))
	})
	t.Run("tcp", func(t *testing.T) {
		l, err := TCP("127.0.0.1:0", false)
		f(t, start(t, l, err))
	})
}

// caller is a client by hand.
type caller struct {
	t *testing.T
	net.Conn
	*bufio.Reader
}

func (r *rig) dial(t *testing.T) *caller {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(t.Context(), r.listener.Addr().Network(), r.listener.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return &caller{t, c, bufio.NewReader(c)}
}

// asks sends a request, and returns it as the server has it.
func (c *caller) asks(r *rig, header ...string) *request {
	c.t.Helper()
	_, err := io.WriteString(c.Conn, "POST /orders HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n"+strings.Join(append(header, ""), "\r\n")+"\r\n{}")
	require.NoError(c.t, err)
	return <-r.asked
}

// hears reads an answer.
func (c *caller) hears(r *rig) {
	c.t.Helper()
	a, err := http.ReadResponse(c.Reader, nil)
	require.NoError(c.t, err)
	text, err := io.ReadAll(a.Body)
	require.NoError(c.t, err)
	require.Equal(c.t, r.body, string(text))
}

func (c *caller) closeWrite() {
	require.NoError(c.t, c.Conn.(interface{ CloseWrite() error }).CloseWrite())
}

// Read and Close are those of the reader and of the connection.
func (c *caller) Read(b []byte) (int, error) { return c.Reader.Read(b) }

// eventually waits for something that the kernel or another goroutine brings about.
func eventually(t *testing.T, what func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for !what() {
		require.NoError(t, ctx.Err(), "it never happened")
		time.Sleep(time.Millisecond)
	}
}
