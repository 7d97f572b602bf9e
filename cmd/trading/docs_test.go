package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
)

// documentation serves answers of the two tools.
func documentation(t *testing.T, search, page string) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var message struct {
			ID     json.RawMessage
			Method string
			Params struct{ Name string }
		}
		_ = json.NewDecoder(r.Body).Decode(&message)
		answer := map[string]string{
			"initialize":  `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"docs","version":"1"}}`,
			"tools/list":  `{"tools":[{"name":"search_docs","inputSchema":{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}},{"name":"get_page","inputSchema":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}]}`,
			"search_docs": search,
			"get_page":    page,
		}[strings.Replace(message.Method, "tools/call", message.Params.Name, 1)]
		switch {
		case message.Method == "notifications/initialized":
			w.WriteHeader(http.StatusAccepted)
		case answer == "":
			w.WriteHeader(http.StatusMethodNotAllowed)
		default:
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, message.ID, answer)
		}
	}))
	t.Cleanup(server.Close)
	return server
}

// structured is a result with a text that a terminal would obey.
func structured(v any) string {
	text, _ := json.Marshal(map[string]any{"content": []any{}, "structuredContent": v})
	return string(text)
}

func TestDocs(t *testing.T) {
	r := newRig(t)
	search := structured(map[string]any{"results": []any{
		map[string]string{"title": "Keys \x1b[31m", "path": "/keys", "text": "one\n\ttwo \x1b[2J"},
		map[string]string{"title": "Orders", "path": "/orders", "text": "three"},
	}})
	page := structured(map[string]string{"title": "Keys", "text": "# Keys\x1b[2J\n" + strings.Repeat("long ", 10_000)})
	server := documentation(t, search, page)
	r.env = append(r.env, "TRADING_DOCS_URL="+server.URL)

	assert.Equal(t, "Keys \uFFFD[31m\n  page: /keys\n  one\n      two \uFFFD[2J\n\nOrders\n  page: /orders\n  three\n\n", r.done("docs", "search", "idempotency", "key"))
	var hits []hitView
	require.NoError(t, json.Unmarshal([]byte(r.done("docs", "search", "key", "-o", "json")), &hits))
	require.Len(t, hits, 2)
	assert.Equal(t, hitView{"Orders", "/orders", "three"}, hits[1])

	text := r.done("docs", "page", "/keys")
	assert.True(t, strings.HasPrefix(text, "Keys\n\n# Keys\uFFFD[2J\nlong "), text[:40])
	assert.True(t, strings.HasSuffix(text, "\n\n(the page is longer: it is cut here)\n"))
	var v pageView
	require.NoError(t, json.Unmarshal([]byte(r.done("docs", "page", "/keys", "-o", "json")), &v))
	assert.True(t, v.Truncated)
	assert.Equal(t, "/keys", v.Page)

	none := documentation(t, structured(map[string]any{"results": []any{}}), `{"isError":true,"content":[{"type":"text","text":"no such page \u001b[2J"}]}`)
	assert.Equal(t, "nothing found\n", r.done("docs", "search", "x", "--docs-url", none.URL))
	assert.JSONEq(t, "[]", r.done("docs", "search", "x", "--docs-url", none.URL, "-o", "json"))
	code, out, errs := r.run("docs", "page", "none", "--docs-url", none.URL)
	assert.Equal(t, cli.NotApplied, code)
	assert.Contains(t, errs, "no such page")
	assert.NotContains(t, errs, "\x1b")
	assert.Empty(t, out)
	assert.Empty(t, r.sim.Requests(), "the service itself is asked nothing")
}

func TestDocsRefuses(t *testing.T) {
	r := newRig(t)
	broken := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(broken.Close)
	r.refuses("docs", []refusal{
		{cli.Usage, "which documentation?", "search x"},
		{cli.Usage, "missing: QUERY", "search"},
		{cli.Usage, "https", "search x --docs-url http://docs.example.com"},
		{cli.Usage, "query", "search " + strings.Repeat("x", 5000) + " --docs-url " + broken.URL},
		{cli.Usage, "--timeout", "page x --docs-url " + broken.URL + " --timeout 0s"},
		{cli.NotApplied, "404", "page x --docs-url " + broken.URL},
	})
}
