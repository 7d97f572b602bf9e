package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/contrib/docs"
)

var update = flag.Bool("update", false, "write the list of tools anew")

// What a model reads of the tools is on file, and has a limit in tokens: characters over four.
func TestTheListOfTools(t *testing.T) {
	library, err := docs.New(docs.Config{URL: "https://docs.example.com"})
	require.NoError(t, err)
	defer func() { _ = library.Close() }()
	for _, c := range []struct {
		name  string
		mode  Mode
		docs  *docs.Client
		pro   bool
		tools int
		most  int
	}{
		{"read", Read, nil, false, 6, 450}, {"paper", Paper, nil, false, 12, 1450}, {"paper and docs", Paper, library, false, 14, 1450},
		{"live, docs and pro", Live, library, true, 15, 1450},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := &Engine{config: Config{Mode: c.mode, Docs: c.docs, Pro: c.pro}}
			client, _ := connect(t, e, nil)
			list, err := client.ListTools(t.Context(), nil)
			require.NoError(t, err)
			data, err := json.Marshal(list.Tools)
			require.NoError(t, err)
			t.Logf("%s: %d tools, %d tokens", c.name, len(list.Tools), len(data)/4)
			assert.Len(t, list.Tools, c.tools)
			assert.LessOrEqual(t, len(data)/4, c.most)
			for _, one := range list.Tools {
				if one.Annotations.ReadOnlyHint {
					assert.NotContains(t, []string{"execute", "close", "flatten", "halt"}, one.Name)
				}
			}
			if c.pro {
				var lines bytes.Buffer
				require.NoError(t, json.Indent(&lines, data, "", "  "))
				file := filepath.Join("testdata", "tools.json")
				if *update {
					require.NoError(t, os.WriteFile(file, append(lines.Bytes(), '\n'), 0o600))
				}
				want, err := os.ReadFile(file)
				require.NoError(t, err)
				assert.Equal(t, string(want), lines.String()+"\n", "go test -run TheListOfTools -update writes it anew")
			}
		})
	}
}

// connect joins a client of the protocol to an engine, by lines.
func connect(t *testing.T, e *Engine, options *mcp.ClientOptions) (*mcp.ClientSession, func()) {
	t.Helper()
	here, there := net.Pipe()
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = e.ServeLines(context.Background(), there, there)
	}()
	version := "" // the newest
	if options != nil {
		version = "2025-11-25" // later ones have no request of the server
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, options)
	session, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: here, Writer: here}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close(); _ = here.Close(); <-served })
	return session, func() { _ = here.Close() }
}

// callTool calls a tool as a host does.
func callTool(t *testing.T, s *mcp.ClientSession, name string, args any) reply {
	t.Helper()
	out, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	require.NoError(t, err)
	var v reply
	require.NoError(t, json.Unmarshal([]byte(out.Content[0].(*mcp.TextContent).Text), &v))
	return v
}

// A host that accepts, declines and cancels every elicitation, unseen, approves nothing.
func TestForgedElicitations(t *testing.T) {
	r := newRig(t, Live, func(c *Config) { c.Approve = ApproveEntries })
	for _, action := range []string{"accept", "decline", "cancel"} {
		var asked sync.WaitGroup
		asked.Add(1)
		session, _ := connect(t, r.engine, &mcp.ClientOptions{
			Capabilities: &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{URL: &mcp.URLElicitationCapabilities{}, Form: &mcp.FormElicitationCapabilities{}}},
			ElicitationHandler: func(_ context.Context, q *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				defer asked.Done()
				assert.Equal(t, "url", q.Params.Mode)
				return &mcp.ElicitResult{Action: action, Content: map[string]any{"approve": true, "passphrase": "yes"}}, nil
			},
		})
		v := callTool(t, session, "preview_order", r.buy())
		require.NotEmpty(t, v.text("ticket"), "%v", v)
		v = callTool(t, session, "execute", ticketOf(v.text("ticket")))
		assert.Equal(t, "approval", v.text("phase"))
		asked.Wait()
		_ = session.Close()
		r.engine.Deny(v.text("ticket"))
	}
	assert.Zero(t, r.fills())
}

// Over both versions of the protocol, and two transports at once, there is one engine.
func TestHTTP(t *testing.T) {
	r := newRig(t, Paper, nil)
	token := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(token, []byte(strings.Repeat("x", 40)), 0o600))
	server := httptest.NewUnstartedServer(nil)
	host := server.Listener.Addr().String()
	handler, err := Guarded(r.engine.HTTP(), []string{host}, token)
	require.NoError(t, err)
	server.Config.Handler = handler
	server.Start()
	defer server.Close()
	state := ""
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		post := func(method, params string) reply {
			t.Helper()
			meta := ""
			if version > "2026" {
				meta = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
			}
			body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s%s}}`, method, params, meta)
			q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/mcp", strings.NewReader(body))
			require.NoError(t, err)
			q.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Authorization": {"Bearer " + strings.Repeat("x", 40)}, "Mcp-Protocol-Version": {version}, "Mcp-Method": {method}, "Mcp-Name": {"account"}}
			a, err := http.DefaultClient.Do(q)
			require.NoError(t, err)
			defer func() { _ = a.Body.Close() }()
			text, err := io.ReadAll(a.Body)
			require.NoError(t, err)
			require.Equal(t, 200, a.StatusCode, "%s: %s", version, text)
			var v reply
			require.NoError(t, json.Unmarshal(text, &v), "%s", text)
			result, _ := v["result"].(map[string]any)
			structured, _ := result["structuredContent"].(map[string]any)
			return structured
		}
		v := post("tools/call", `"name":"account","arguments":{}`)
		require.NotEmpty(t, v.text("state"), "%v", v)
		state = v.text("state")
	}
	session, _ := connect(t, r.engine, nil)
	v := callTool(t, session, "preview_order", map[string]string{"symbol": "BTC", "side": "long", "size": "0.1", "state": state})
	assert.Equal(t, "applied", callTool(t, session, "execute", ticketOf(v.text("ticket"))).text("outcome"), "%v", v)

	for name, c := range map[string]struct {
		change func(*http.Request)
		body   string
		status int
	}{
		"another host":   {func(q *http.Request) { q.Host = "evil.example" }, "{}", 403},
		"another port":   {func(q *http.Request) { q.Host = "127.0.0.1:1" }, "{}", 403},
		"another origin": {func(q *http.Request) { q.Header.Set("Origin", "http://evil.example") }, "{}", 403},
		"no token":       {func(q *http.Request) { q.Header.Del("Authorization") }, "{}", 401},
		"a wrong token":  {func(q *http.Request) { q.Header.Set("Authorization", "Bearer "+strings.Repeat("y", 40)) }, "{}", 401},
		"too large":      {nil, `{"a":"` + strings.Repeat("a", 64<<10) + `"}`, 413},
		"no JSON":        {nil, "{", 400},
		"a member twice": {nil, `{"method":"ping","method":"tools/call"}`, 400},
		"too deep":       {nil, strings.Repeat("[", 1000), 400},
	} {
		q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/mcp", strings.NewReader(c.body))
		require.NoError(t, err)
		q.Header.Set("Authorization", "Bearer "+strings.Repeat("x", 40))
		if c.change != nil {
			c.change(q)
		}
		a, err := http.DefaultClient.Do(q)
		require.NoError(t, err)
		_ = a.Body.Close()
		assert.Equal(t, c.status, a.StatusCode, name)
	}
	http.DefaultClient.CloseIdleConnections()
}

// A line that is garbage, too long or too deep is answered, and the server goes on.
func TestBadLines(t *testing.T) {
	r := newRig(t, Paper, nil)
	here, there := net.Pipe()
	go func() { _ = r.engine.ServeLines(context.Background(), there, there) }()
	defer func() { _ = here.Close() }()
	answers := bufio.NewReaderSize(here, 1<<20)
	send := func(line string) string {
		go func() { _, _ = io.WriteString(here, line+"\n") }()
		answer, err := answers.ReadString('\n')
		require.NoError(t, err)
		return answer
	}
	for _, line := range []string{
		"garbage", "{", "[]", "1", `{"a":1,"a":2}`, `{"jsonrpc":"2.0","id":1,"method":"ping","Method":"x"}`, strings.Repeat("[", 1000) + strings.Repeat("]", 1000),
		`{"a":"` + strings.Repeat("a", 70<<10) + `"}`, "\x00", "{} {}",
	} {
		assert.Equal(t, parseError, send(line), "%.40s", line)
	}
	assert.Contains(t, send(`{"jsonrpc":"2.0","id":7,"method":"ping"}`), `"id":7`)
}

// Two fronts start one engine, and each lives on when the other is ended. A front with other settings
// is refused.
func TestTwoFronts(t *testing.T) {
	r := newRig(t, Paper, nil)
	dir, err := os.MkdirTemp("", "mcp") // a path of a socket is short
	require.NoError(t, err)
	defer func() { _ = os.RemoveAll(dir) }()
	ctx, end := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- r.engine.Serve(ctx, dir, "settings") }()
	type front struct {
		in      *io.PipeWriter
		answers *bufio.Reader
		ended   chan error
	}
	begin := func(settings string) front {
		in, inWriter := io.Pipe()
		out, outWriter := io.Pipe()
		f := front{inWriter, bufio.NewReader(out), make(chan error, 1)}
		go func() {
			f.ended <- Relay(ctx, dir, settings, in, outWriter, func() error { return nil })
			_ = outWriter.Close()
		}()
		return f
	}
	ping := func(f front) string {
		_, err := io.WriteString(f.in, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n")
		require.NoError(t, err)
		line, err := f.answers.ReadString('\n')
		require.NoError(t, err)
		return line
	}
	one, two := begin("settings"), begin("settings")
	assert.Contains(t, ping(one), `"result"`)
	assert.Contains(t, ping(two), `"result"`)
	_ = one.in.Close()
	require.NoError(t, <-one.ended)
	assert.Contains(t, ping(two), `"result"`)
	require.ErrorContains(t, <-begin("others").ended, "other settings")
	a, err := (&http.Client{Transport: Dial(dir)}).Get("http://engine/operator/waiting")
	require.NoError(t, err)
	_ = a.Body.Close()
	end()
	require.NoError(t, <-served)
	<-two.ended //nolint:errcheck // it may hear that the engine has closed
	_ = two.in.Close()
}

func mustJSON(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}

// The limits of a minute hold reads and previews, and no exit.
func TestCallsAMinute(t *testing.T) {
	r := newRig(t, Paper, nil)
	for range readsAMinute {
		r.must("explain_code", map[string]string{"code": "no_price"})
	}
	r.refused("too_many_calls", "account", nil)
	for range 70 {
		v, refused := r.call(t.Context(), "close", map[string]string{"symbol": "BTC"})
		require.False(t, refused && v.text("code") == "too_many_calls")
	}
}
