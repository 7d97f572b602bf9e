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
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/check"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

func TestTrap_T84_KeysAreCheckedBeforeAnyByte(t *testing.T) {
	for _, row := range []struct {
		name string
		opt  trading.Option
		code trading.Code
	}{
		{"empty", trading.WithSandboxKey(""), trading.CodeMissingAPIKey},
		{"a live key for the sandbox", trading.WithSandboxKey(rig.LiveKey), trading.CodeWrongEnvironment},
		{"a sandbox key for live", trading.WithLiveKey(rig.SandboxKey), trading.CodeWrongEnvironment},
		{"a typo in the prefix", trading.WithSandboxKey("pk_tset_abc"), trading.CodeInvalidAPIKey},
		{"the prefix alone", trading.WithLiveKey("pk_live_"), trading.CodeInvalidAPIKey},
		{"a line break", trading.WithSandboxKey("pk_test_abc\n"), trading.CodeInvalidAPIKey},
		{"not ASCII", trading.WithSandboxKey("pk_test_abč"), trading.CodeInvalidAPIKey},
	} {
		t.Run(row.name, func(t *testing.T) {
			client, err := trading.New(rig.BaseURL, row.opt)
			require.ErrorIs(t, err, row.code)
			assert.Nil(t, client)
			assert.NotContains(t, err.Error(), "s3cret")
		})
	}
}

func TestFromEnv(t *testing.T) {
	t.Setenv("TRADING_BASE_URL", "")
	t.Setenv("TRADING_SANDBOX_KEY", rig.SandboxKey)
	t.Setenv("TRADING_LIVE_KEY", "")
	_, err := trading.FromEnv()
	require.ErrorContains(t, err, "TRADING_BASE_URL")

	t.Setenv("TRADING_BASE_URL", rig.BaseURL)
	script := rig.NewScript(t, rig.Answered(200, `{"ok":true,"trades":[]}`))
	client, err := trading.FromEnv(trading.WithTransport(script), trading.WithApplication("bot", "1.2"))
	require.NoError(t, err)
	_, err = client.Sandbox.Trades(context.Background())
	require.NoError(t, err)
	got := script.Received()[0]
	assert.Equal(t, rig.SandboxKey, got.Header.Get("X-API-Key"))
	assert.Regexp(t, ` bot/1\.2$`, got.Header.Get("User-Agent"))

	t.Setenv("TRADING_LIVE_KEY", rig.SandboxKey)
	_, err = trading.FromEnv()
	require.ErrorIs(t, err, trading.CodeWrongEnvironment)
}

func TestRotatedKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const second = "pk_test_secondSecret"
		var key atomic.Value
		key.Store(rig.SandboxKey)
		asked := 0
		trades := rig.Answered(200, `{"ok":true,"trades":[]}`)
		script := rig.NewScript(t,
			rig.Answered(500, rig.RefusalBody(trading.CodeInternalError)), trades,
			rig.Answered(401, rig.RefusalBody(trading.CodeRevokedAPIKey)), trades)
		client := rig.ScriptedClient(t, script, trading.WithKeyFunc(trading.EnvSandbox, func(context.Context) (string, error) {
			asked++
			return key.Load().(string), nil
		}))
		ctx := context.Background()

		// Rotated between an attempt and the next.
		go func() {
			time.Sleep(time.Millisecond)
			key.Store(second)
		}()
		_, err := client.Sandbox.Trades(ctx)
		require.NoError(t, err)
		assert.Equal(t, 2, asked, "once an attempt")
		got := script.Received()
		assert.Equal(t, rig.SandboxKey, got[0].Header.Get("X-API-Key"))
		assert.Equal(t, second, got[1].Header.Get("X-API-Key"))

		// A refused key is held back, and a rotated one starts clean.
		_, err = client.Sandbox.Trades(ctx)
		require.ErrorIs(t, err, trading.CodeRevokedAPIKey)
		_, err = client.Sandbox.Trades(ctx)
		require.ErrorIs(t, err, trading.CodeRevokedAPIKey)
		key.Store(rig.SandboxKey)
		_, err = client.Sandbox.Trades(ctx)
		require.NoError(t, err)
		script.Done()
	})
}

func TestAKeyThatCannotBeHad(t *testing.T) {
	vault := errors.New("the vault is sealed")
	for name, row := range map[string]struct {
		key string
		err error
		is  error
	}{
		"no answer":   {"", vault, vault},
		"empty":       {"", nil, trading.CodeMissingAPIKey},
		"the other's": {rig.LiveKey, nil, trading.CodeWrongEnvironment},
	} {
		t.Run(name, func(t *testing.T) {
			client := rig.ScriptedClient(t, rig.NewScript(t), trading.WithHealthGate(trading.HealthGate{Off: true}),
				trading.WithKeyFunc(trading.EnvSandbox, func(context.Context) (string, error) { return row.key, row.err }))
			_, err := client.Sandbox.PlaceOrder(context.Background(), rig.Buy("0.01"))
			require.ErrorIs(t, err, row.is)
			assert.Equal(t, trading.NotApplied, trading.OutcomeOf(err))
			assertNoKey(t, "the error", outputs(err))
		})
	}
}

// A live key that is asked for at each attempt is judged at each attempt.
func TestPlaintextHTTPWithAKeyThatIsAskedFor(t *testing.T) {
	sim := tradingsim.New()
	sent := &headers{next: sim.Transport()}
	key := sim.LiveKey()
	client, err := trading.New("http://simulator:8080/v1", trading.WithPlaintextHTTP(), trading.WithTransport(sent),
		trading.WithKeyFunc(trading.EnvLive, func(context.Context) (string, error) { return key, nil }))
	require.NoError(t, err)
	defer client.Close()
	_, err = client.Live.Account("acc_1").State(t.Context())
	require.NoError(t, err)
	key = "pk_live_aRealOneOfSomebody"
	_, err = client.Live.Account("acc_1").State(t.Context())
	require.ErrorIs(t, err, trading.CodeInvalidAPIKey)
	require.ErrorContains(t, err, "not sent over plain http")
	assert.Equal(t, []string{sim.LiveKey()}, sent.keys)
}

// headers notes the keys that go out.
type headers struct {
	next http.RoundTripper
	keys []string
}

func (h *headers) RoundTrip(req *http.Request) (*http.Response, error) {
	h.keys = append(h.keys, req.Header.Get("X-Api-Key"))
	return h.next.RoundTrip(req)
}

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

// Without a logger nothing is logged, to the default one neither.
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
