package docs

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The tests run in a bubble of testing/synctest, so that time-outs take no time: the
// server is a real one of net/http, and the network a pipe in memory.

// pipes is a listener, and the network that leads to it.
type pipes struct {
	accept chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.accept:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 443} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.accept <- theirs:
		return ours, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// rig is a server, a client of it, and what the client sent.
type rig struct {
	*Client
	mu       sync.Mutex
	requests []*http.Request
	bodies   []string
}

// open starts a server in the bubble, and makes a client of it. The network is as by
// default, but for where it leads. The test closes the client.
func open(t *testing.T, handler http.Handler, config Config) *rig {
	t.Helper()
	rig := &rig{}
	listener := &pipes{accept: make(chan net.Conn), closed: make(chan struct{})}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rig.note(r)
		handler.ServeHTTP(w, r)
	})}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	network := newNetwork()
	network.Proxy, network.DialContext = nil, listener.dial
	config.URL, config.Transport = "http://localhost/reference", network
	client, err := New(config)
	require.NoError(t, err)
	rig.Client = client
	t.Cleanup(func() {
		require.NoError(t, client.Close())
		network.CloseIdleConnections()
		require.NoError(t, server.Close())
		require.ErrorIs(t, <-served, http.ErrServerClosed)
	})
	return rig
}

func (r *rig) note(request *http.Request) {
	text, _ := io.ReadAll(request.Body)
	request.Body = io.NopCloser(bytes.NewReader(text))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests = append(r.requests, request)
	r.bodies = append(r.bodies, string(text))
}

// sent are the methods that were called, or the HTTP method of what is no call.
func (r *rig) sent() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var methods []string
	for i, body := range r.bodies {
		var message struct {
			Method string `json:"method"`
		}
		if json.Unmarshal([]byte(body), &message) != nil {
			message.Method = r.requests[i].Method
		}
		methods = append(methods, message.Method)
	}
	return methods
}

// script is a server that answers by hand: each method as it should unless the test has
// another answer.
type script map[string]func(w http.ResponseWriter, r *http.Request, id string)

// tools are two tools as another maker of such servers would describe them.
const tools = `{"tools":[
	{"name":"search_docs","inputSchema":{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer"}},"required":["query"]}},
	{"name":"get_page","inputSchema":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}]}`

func (s script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var message struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	_ = json.NewDecoder(r.Body).Decode(&message)
	if message.Method == "" {
		message.Method = r.Method
	}
	id := string(message.ID)
	if answer, ok := s[message.Method]; ok {
		answer(w, r, id)
		return
	}
	switch message.Method {
	case "initialize":
		asJSON(w, result(id, `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"docs","version":"1"}}`))
	case "notifications/initialized":
		w.WriteHeader(http.StatusAccepted)
	case "tools/list":
		asJSON(w, result(id, tools))
	case "tools/call":
		asJSON(w, result(id, `{"content":[{"type":"text","text":"found"}]}`))
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

func result(id, value string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, value)
}

func asJSON(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, text)
}

// call answers tools/call, and everything else as it should be.
func call(answer func(w http.ResponseWriter, r *http.Request, id string)) script {
	return script{"tools/call": answer}
}

// handClock is a clock that a test reads: waits end at once, and move it.
type handClock struct {
	now   time.Time
	waits []time.Duration
}

func (c *handClock) Now() time.Time { return c.now }

func (c *handClock) Wait(_ context.Context, d time.Duration) error {
	c.waits = append(c.waits, d)
	c.now = c.now.Add(d)
	return nil
}
