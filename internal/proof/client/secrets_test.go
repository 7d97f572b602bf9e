package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/check"
	"github.com/tradingapi/trading-go/internal/proof/rig"
)

// outputs prints v in every way that a program or its logger might.
func outputs(v any) string {
	var out strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%T"} {
		fmt.Fprintf(&out, verb+"\n", v)
	}
	for _, text := range []bool{true, false} {
		var handler slog.Handler = slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})
		if text {
			handler = slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})
		}
		slog.New(handler).Info("swept", "v", v)
	}
	if encoded, err := json.Marshal(v); err == nil {
		out.Write(encoded)
	}
	if err, ok := v.(error); ok {
		out.WriteString(err.Error())
	}
	return out.String()
}

// assertNoKey fails if a key, or its secret part, or either in hexadecimal, is
// in what was printed.
func assertNoKey(t *testing.T, where, printed string) {
	t.Helper()
	for _, key := range []string{rig.SandboxKey, rig.LiveKey} {
		secret := key[len(check.SandboxPrefix):]
		assert.NotContains(t, printed, secret, where)
		assert.NotContains(t, printed, fmt.Sprintf("%x", secret), where)
		assert.NotContains(t, printed, fmt.Sprintf("%X", secret), where)
		assert.NotContains(t, strings.ToLower(printed), strings.ToLower(secret[:len(secret)-3]), where)
		assert.NotContains(t, strings.ToLower(printed), strings.ToLower(jsonEscaped(secret)), where)
		assert.NotContains(t, printed, percentEncoded(secret), where)
	}
}

// echo is a hostile or misconfigured thing in front of the service that puts the
// request's headers into its answer.
func echo(status int, format string) rig.Step {
	return func(req *http.Request) (*http.Response, error) {
		key := req.Header.Get("X-API-Key")
		return rig.Answered(status, fmt.Sprintf(format, key), "X-Echo", key, "Location", "https://elsewhere.test/"+key)(req)
	}
}

// echoed is [echo] of the key in another form.
func echoed(status int, before string, form func(string) string, after string) rig.Step {
	return func(req *http.Request) (*http.Response, error) {
		key := form(req.Header.Get("X-API-Key"))
		location := "https://elsewhere.test/" + percentEncoded(req.Header.Get("X-API-Key"))
		return rig.Answered(status, before+key+after, "X-Echo", key, "Location", location)(req)
	}
}

func jsonEscaped(key string) (text string) {
	for _, c := range key {
		text += fmt.Sprintf(`\u%04X`, c)
	}
	return text
}

func percentEncoded(key string) (text string) {
	for _, c := range key {
		text += fmt.Sprintf("%%%02x", c)
	}
	return text
}

func secretPart(key string) string { return key[len(check.SandboxPrefix):] }

func headerNamed(req *http.Request) (*http.Response, error) {
	return rig.Answered(502, "<html>", req.Header.Get("X-API-Key"), "1")(req)
}

func TestTrap_T88_NoKeyInAnyOutput(t *testing.T) {
	var logged bytes.Buffer
	script := rig.NewScript(t)
	client := rig.ScriptedClient(t, script,
		trading.WithLogger(slog.New(slog.NewJSONHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))),
		trading.WithRetry(trading.Retry{Attempts: 1}),
	)
	assertNoKey(t, "the client", outputs(client))
	assertNoKey(t, "the client by value", outputs(*client))
	assertNoKey(t, "the sandbox", outputs(*client.Sandbox))
	assertNoKey(t, "the market data", outputs(*client.Sandbox.MarketData))
	assertNoKey(t, "an option", outputs(trading.WithLiveKey(rig.LiveKey)))

	for name, answer := range map[string]rig.Step{
		"success":         rig.Answered(200, rig.OrderBody),
		"refusal":         echo(400, `{"error":"bad_size","message":"no: %s"}`),
		"refusal, extras": echo(400, `{"error":"bad_size","message":"no","reason":"%[1]s","symbol":"%[1]s","hint":"%[1]s"}`),
		"refusal, odd":    echo(400, `{"error":"bad_size","message":"no","reason":5,"hint":"%s"}`),
		"code":            echo(400, `{"error":"%s","message":"no"}`),
		"page":            echo(502, "<html>X-API-Key: %s</html>"),
		"long page":       echo(200, strings.Repeat("x", 256-10)+"%s"),
		"JSON escapes":    echoed(400, `{"error":"bad_size","message":"no","hint":"`, jsonEscaped, `"}`),
		"percent":         echoed(502, "<html>", percentEncoded, "</html>"),
		"without prefix":  echoed(502, "<html>", secretPart, "</html>"),
		"cut":             echoed(502, "<html>", func(key string) string { return key[:len(key)-3] }, ""),
		"header name":     headerNamed,
		"undecodable":     echo(200, `{"ok":true,"fill":"%s"}`),
		"redirect":        echo(307, "%s"),
		"broken": func(req *http.Request) (*http.Response, error) {
			return nil, errors.New("proxy says: " + req.Header.Get("X-API-Key"))
		},
	} {
		for _, read := range []bool{true, false} {
			script.Steps = []rig.Step{answer}
			var err error
			if read {
				_, err = client.Sandbox.State(context.Background())
			} else {
				_, err = client.Sandbox.PlaceOrder(context.Background(), rig.Buy("0.01"))
			}
			where := fmt.Sprintf("%s (read: %t)", name, read)
			assertNoKey(t, where, outputs(err))
			for e := err; e != nil; e = errors.Unwrap(e) {
				assertNoKey(t, where+", unwrapped", outputs(e))
			}
			if refusal := (*trading.Error)(nil); errors.As(err, &refusal) {
				assertNoKey(t, where+", by value", outputs(*refusal))
				assertNoKey(t, where+", body", string(refusal.Meta.Body))
			}
			if edge := (*trading.GatewayError)(nil); errors.As(err, &edge) {
				assertNoKey(t, where+", body", string(edge.Meta.Body))
				assertNoKey(t, where+", header", fmt.Sprint(edge.Meta.Header))
			}
		}
	}
	assertNoKey(t, "the log", logged.String())
	assert.NotEmpty(t, logged.String())
}

func TestTrap_T88_NoKeyInAPanic(t *testing.T) {
	script := rig.NewScript(t, func(req *http.Request) (*http.Response, error) { panic("the transport is broken") })
	client := rig.ScriptedClient(t, script, trading.WithHealthGate(trading.HealthGate{Off: true}))
	defer func() {
		assertNoKey(t, "a panic", outputs(recover()))
	}()
	_, _ = client.Sandbox.State(context.Background())
	t.Error("the panic of a program's own transport is the program's to see")
}

func TestNothingIsLoggedWithoutALogger(t *testing.T) {
	var logged bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug})))
	defer slog.SetDefault(before)
	script := rig.NewScript(t, rig.Answered(200, rig.OrderBody), rig.Answered(500, "oops"))
	client := rig.ScriptedClient(t, script)
	_, _ = client.Sandbox.PlaceOrder(context.Background(), rig.Buy("0.01"))
	_, _ = client.Sandbox.PlaceOrder(context.Background(), rig.Buy("0.01"))
	script.Done()
	assert.Empty(t, logged.String())
}

func TestWhatIsLogged(t *testing.T) {
	var logged bytes.Buffer
	script := rig.NewScript(t, rig.Answered(200, rig.OrderBody), rig.Answered(403, rig.RefusalBody(trading.CodeAssetDisabled)), rig.CutAfterWrite())
	client := rig.ScriptedClient(t, script, trading.WithLogger(slog.New(slog.NewJSONHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))),
		trading.WithHealthGate(trading.HealthGate{Off: true}))
	for range 3 {
		_, _ = client.Sandbox.PlaceOrder(context.Background(), rig.Buy("0.01"), trading.WithTag("t1"))
	}
	lines := strings.Split(strings.TrimSpace(logged.String()), "\n")
	require.Len(t, lines, 3)
	for i, want := range []map[string]any{
		{"level": "DEBUG", "outcome": "applied", "status": 200.0},
		{"level": "INFO", "outcome": "not applied", "status": 403.0, "code": "asset_disabled"},
		{"level": "WARN", "outcome": "unknown"},
	} {
		var line map[string]any
		require.NoError(t, json.Unmarshal([]byte(lines[i]), &line))
		for name, value := range want {
			assert.Equal(t, value, line[name], "%s of line %d", name, i)
		}
		for name := range line {
			assert.Contains(t, []string{"time", "level", "msg", "operation", "attempts", "took", "account", "intent", "symbol", "tag", "status", "outcome", "err", "code"}, name)
		}
	}
}

// A client that is given a key in the wrong place says so without the key, and does
// not send it.
func TestAKeyInTheWrongPlaceIsNotPrinted(t *testing.T) {
	withKey := trading.WithLiveKey(rig.LiveKey)
	for name, row := range map[string]struct {
		url string
		opt trading.Option
	}{
		"a key for a base URL":          {rig.LiveKey, withKey},
		"a key as the host":             {"https://" + rig.LiveKey + "/v1", withKey},
		"a key as the path":             {"https://api.example.test/" + rig.LiveKey + "/v1", withKey},
		"a key, percent-encoded":        {"https://api.example.test/" + percentEncoded(rig.LiveKey) + "/v1", withKey},
		"a key without its prefix":      {"https://api.example.test/" + secretPart(rig.LiveKey) + "/v1", withKey},
		"a key of nobody's":             {"https://api.example.test/" + rig.LiveKey + "/v2", trading.WithTag("t")},
		"a password without a scheme":   {"user:" + rig.LiveKey + "@api.example.test/v1", trading.WithTag("t")},
		"an application's name":         {rig.BaseURL, trading.WithApplication(rig.LiveKey, "1")},
		"an application's version":      {rig.BaseURL, trading.WithApplication("bot", rig.LiveKey)},
		"an application's invalid name": {rig.BaseURL, trading.WithApplication("bot "+rig.LiveKey, "1")},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := trading.New(row.url, row.opt, trading.WithTransport(rig.NewScript(t)))
			require.Error(t, err)
			assertNoKey(t, "the error", outputs(err))
		})
	}
	_, err := trading.New("user:hunter2@api.example.test/v1")
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "hunter2")
}
