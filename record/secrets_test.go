package record

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
)

const (
	taintLive    = `pk_live_Ta1nt<&"\'of+the/live~key`
	taintSandbox = `pk_test_Ta1nt<&"\'of+the/paper~key`
	taintMark    = "Ta1nt" // what must be nowhere
)

// echoing is something in front of the service that repeats the request's headers in
// its answers, in one form or another.
type echoing struct {
	status int
	body   func(key string) string
	err    func(key string) error
}

func (e echoing) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		_, _ = io.Copy(io.Discard, req.Body)
	}
	key := req.Header.Get("X-API-Key")
	if e.err != nil {
		return nil, e.err(key)
	}
	header := http.Header{"Content-Type": {"application/json"}, "X-Echo": {key}, "Location": {"https://elsewhere.test/" + key}}
	body := e.body(key)
	return &http.Response{StatusCode: e.status, Header: header, Body: io.NopCloser(strings.NewReader(body))}, nil
}

func quoted(key string) string {
	text, _ := json.Marshal(key) // < and & escaped, as many do
	return string(text)
}

// TestTrap_T88_NoKeyInARecord has a proxy echo the keys in every form that it might,
// and looks for their secret part in all that is kept.
func TestTrap_T88_NoKeyInARecord(t *testing.T) {
	for name, echo := range map[string]echoing{
		"success": {status: 200, body: func(key string) string {
			return `{"success":true,"action":"opened","fill":{"price":64000,"size":0.01,"fee":0.288},"newBalance":1,"echo":` + quoted(key) + `}`
		}},
		"refusal": {status: 400, body: func(key string) string {
			return `{"error":"bad_size","message":` + quoted("no: "+key) + `,"hint":` + quoted(key) + `}`
		}},
		"code": {status: 400, body: func(key string) string { return `{"error":` + quoted(key) + `,"message":"no"}` }},
		"page": {status: 502, body: func(key string) string { return "<html>X-API-Key: " + key + "</html>" }},
		"html page": {status: 502, body: func(key string) string {
			return "<html>X-API-Key: " + strings.NewReplacer("&", "&amp;", "<", "&lt;", `"`, "&quot;").Replace(key)
		}},
		"escaped": {status: 502, body: func(key string) string { return strings.ReplaceAll(key, "<", "%3C") }},
		"in JSON in JSON": {status: 502, body: func(key string) string {
			return `{"request":` + quoted(`{"key":`+quoted(key)+`}`) + `}`
		}},
		"another key":   {status: 502, body: func(string) string { return "the key was pk_live_Ta1nt-of-before" }},
		"end of a body": {status: 502, body: func(key string) string { return strings.Repeat("x", 300) + key }},
		"redirect":      {status: 307, body: func(key string) string { return key }},
		"error": {err: func(key string) error {
			return errors.New("proxy says: " + key)
		}},
		"error, escaped": {err: func(key string) error {
			return fmt.Errorf("proxy says: %q", key)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "audit.jsonl")
			a, err := OpenAudit(path, Options{MaxBody: 330})
			require.NoError(t, err)
			flight := NewFlight(100)
			client, err := trading.New("https://api.test/v1",
				trading.WithSandboxKey(taintSandbox), trading.WithLiveKey(taintLive), trading.WithTransport(echo),
				trading.WithHooks(a.Hooks()), trading.WithHooks(flight.Hooks()), trading.WithGuard(a.Guard()),
				trading.WithHealthGate(trading.HealthGate{Off: true}), trading.WithRetry(trading.Retry{Attempts: 1}),
				trading.WithTag("bot of "+taintLive), trading.WithResolveTimeout(0), trading.WithRecovery(trading.Recovery{WithoutBackground: true}),
			)
			require.NoError(t, err)
			account := client.Live.Account("acc_1")
			_, _ = account.PlaceOrder(t.Context(), buy("0.01"))
			_, _ = account.ClosePosition(t.Context(), "BTC", trading.All)
			_, _ = account.Positions(t.Context())
			_, _ = client.Sandbox.PlaceOrder(t.Context(), buy("0.01"))
			_, _ = client.Sandbox.Price(t.Context(), "BTC")
			_ = client.Close() // writes may be pending
			require.NoError(t, a.Close())

			var dump bytes.Buffer
			require.NoError(t, flight.Dump(&dump))
			contents := string(bytes.Join(contentsOf(t, path), nil))
			for where, text := range map[string]string{"audit": contents, "dump": dump.String()} {
				assert.NotContains(t, text, taintMark, where)
				assert.NotContains(t, text, hex.EncodeToString([]byte(taintMark)), where)
				assert.Contains(t, text, "[redacted]", where)
				assert.Contains(t, text, "bot of ", where)
			}
			_, err = VerifyFile(path)
			require.NoError(t, err, "and it is still the chain that was written")
			assert.Len(t, only(eventsOf(t, path), KindDone), 3)
			records, err := Read(&dump)
			require.NoError(t, err)
			assert.Len(t, records, 5)
		})
	}
}

func TestRedact(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":"pk_live_abc"}`:            `{"a":"pk_live_[redacted]"}`,
		`{"a":"pk_live_abc pk_test_x."}`: `{"a":"pk_live_[redacted] pk_test_[redacted]"}`,
		`{"a":"pk_live_ab\"c","b":1}`:    `{"a":"pk_live_[redacted]","b":1}`,
		`{"a":"pk_live_ab\u003cc\\","b"`: `{"a":"pk_live_[redacted]","b"`,
		`{"a":"pk_live_[redacted]"}`:     `{"a":"pk_live_[redacted]"}`,
		`{"a":"pk_live_"}`:               `{"a":"pk_live_"}`,
		`{"a":"pk_other_abc"}`:           `{"a":"pk_other_abc"}`,
		`{"a":"pk_test_pk_live_x"}`:      `{"a":"pk_test_[redacted]"}`,
		`{"a":"pk_live_xé"}`:             `{"a":"pk_live_[redacted]é"}`,
		`{"a":"pk_li"}`:                  `{"a":"pk_li"}`,
	} {
		got := string(redact([]byte(in)))
		assert.Equal(t, want, got)
		assert.Equal(t, got, string(redact([]byte(got))), "again")
	}
}

// A body that a hook is told of is looked at, not changed.
func TestRedactLeavesTheClientsBytes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	a, err := OpenAudit(path, Options{})
	require.NoError(t, err)
	defer a.Close()
	body := []byte(`{"tag":"pk_live_abc"}`)
	a.Hooks().CallStart(context.Background(), trading.Call{Write: true, Body: body})
	assert.JSONEq(t, `{"tag":"pk_live_abc"}`, string(body))
}
