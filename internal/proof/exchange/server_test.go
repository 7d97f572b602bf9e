package exchange_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/proof/exchange"
)

// notebook is a test that takes down how it fails.
type notebook struct {
	mu     sync.Mutex
	failed []string
	ends   []func()
}

func (n *notebook) Helper()          {}
func (n *notebook) Cleanup(f func()) { n.ends = append(n.ends, f) }
func (n *notebook) Errorf(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.failed = append(n.failed, fmt.Sprintf(format, args...))
}

// end ends the test and returns how it failed.
func (n *notebook) end() string {
	for _, f := range n.ends {
		f()
	}
	return strings.Join(n.failed, "\n")
}

const recordedOrder = `{
	"operation": "placeOrder", "case": "200-x", "shows": "", "source": "simulation",
	"request": {
		"method": "POST", "path": "/orders", "query": "a=1",
		"header": {"Accept": "application/json", "Content-Type": "application/json",
			"Idempotency-Key": "[generated]", "X-API-Key": "pk_live_[redacted]"},
		"body": {"side": "long", "size": 0.5}
	},
	"response": {"status": 200, "header": {"Content-Type": "application/json"}, "body": {"success": true}},
	"expect": {}
}`

// Whatever differs fails the test, by name, and gets no answer of the service's.
func TestServerIsStrict(t *testing.T) {
	const uuid = "0b0d2e0e-5f2c-4d6b-9a54-1f2f3a4b5c6d"
	good := func() *http.Request {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/orders?a=1", strings.NewReader(`{"side":"long","size":0.5}`))
		require.NoError(t, err)
		r.Header = http.Header{
			"Accept": {"application/json"}, "Content-Type": {"application/json"},
			"Idempotency-Key": {uuid}, "X-Api-Key": {exchange.LiveKey}, "User-Agent": {"any"},
		}
		return r
	}
	body := func(text string) func(*http.Request) {
		return func(r *http.Request) {
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
		}
	}
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) {
			r.Header.Del(name)
			if value != "" {
				r.Header.Set(name, value)
			}
		}
	}
	for name, row := range map[string]struct {
		change func(*http.Request)
		shows  string // of the difference; "" for none
	}{
		"the same":               {func(*http.Request) {}, ""},
		"method":                 {func(r *http.Request) { r.Method = http.MethodPut }, "+ PUT /orders?a=1"},
		"path":                   {func(r *http.Request) { r.URL.Path = "/v1/orders/limit" }, "+ POST /orders/limit?a=1"},
		"query":                  {func(r *http.Request) { r.URL.RawQuery = "" }, "+ POST /orders\n"},
		"no key":                 {header("X-API-Key", ""), "- X-API-Key: pk_live_[redacted]"},
		"an unknown key":         {header("X-API-Key", "pk_live_secret"), "+ X-API-Key: pk_live_[unknown]"},
		"a key elsewhere too":    {header("Authorization", "Bearer "+exchange.LiveKey), "+ Authorization: Bearer pk_live_[redacted]"},
		"no idempotency key":     {header("Idempotency-Key", ""), "- Idempotency-Key: [generated]"},
		"another header":         {header("X-Debug", "1"), "+ X-Debug: 1"},
		"a member":               {body(`{"side":"short","size":0.5}`), `+   "side": "short",`},
		"a number's digits":      {body(`{"side":"long","size":0.50}`), `+   "size": 0.50`},
		"order of members":       {body(`{"size":0.5,"side":"long"}`), `"side": "long"`},
		"white space":            {body(`{"side":"long", "size":0.5}`), `+ {"side":"long", "size":0.5}`},
		"no body":                {func(r *http.Request) { r.Body, r.ContentLength = nil, 0 }, `-   "side": "long"`},
		"something after a body": {body(`{"side":"long","size":0.5}{}`), `+ {"side":"long","size":0.5}{}`},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := exchange.Decode([]byte(recordedOrder))
			require.NoError(t, err)
			var inner notebook
			server := exchange.Serve(&inner, f)
			r := good()
			row.change(r)
			resp := sendTo(t, server, r)
			failed := inner.end()
			if row.shows == "" {
				assert.Empty(t, failed)
				assert.Equal(t, 200, resp)
				return
			}
			assert.Contains(t, failed, "placeOrder/200-x.json: the request differs")
			assert.Contains(t, failed, row.shows)
			assert.NotContains(t, failed, "secret")
			assert.Equal(t, http.StatusNotImplemented, resp)
		})
	}

	t.Run("one request too many", func(t *testing.T) {
		var inner notebook
		server := exchange.Serve(&inner)
		assert.Equal(t, http.StatusNotImplemented, sendTo(t, server, good()))
		assert.Contains(t, inner.end(), "a request too many:\nPOST /orders?a=1")
	})
	t.Run("one request too few", func(t *testing.T) {
		f, err := exchange.Decode([]byte(recordedOrder))
		require.NoError(t, err)
		var inner notebook
		exchange.Serve(&inner, f)
		assert.Contains(t, inner.end(), "placeOrder/200-x.json: the request never came")
	})
}

// sendTo sends a request whose URL has no host yet, and returns the status.
func sendTo(t *testing.T, server *exchange.Server, r *http.Request) int {
	t.Helper()
	r.URL.Scheme = "http"
	r.URL.Host = strings.TrimSuffix(strings.TrimPrefix(server.URL, "http://"), "/v1")
	pool := &http.Transport{DisableCompression: true}
	defer pool.CloseIdleConnections()
	resp, err := pool.RoundTrip(r)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode
}
