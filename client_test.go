package trading

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTrap_T84_KeysAreCheckedBeforeAnyByte(t *testing.T) {
	for _, row := range []struct {
		name string
		opt  Option
		code Code
	}{
		{"empty", WithSandboxKey(""), CodeMissingAPIKey},
		{"a live key for the sandbox", WithSandboxKey(testLiveKey), CodeWrongEnvironment},
		{"a sandbox key for live", WithLiveKey(testSandboxKey), CodeWrongEnvironment},
		{"a typo in the prefix", WithSandboxKey("pk_tset_abc"), CodeInvalidAPIKey},
		{"the prefix alone", WithLiveKey("pk_live_"), CodeInvalidAPIKey},
		{"a line break", WithSandboxKey("pk_test_abc\n"), CodeInvalidAPIKey},
		{"not ASCII", WithSandboxKey("pk_test_abč"), CodeInvalidAPIKey},
	} {
		t.Run(row.name, func(t *testing.T) {
			client, err := New(testBaseURL, row.opt)
			require.ErrorIs(t, err, row.code)
			assert.Nil(t, client)
			assert.NotContains(t, err.Error(), "s3cret")
		})
	}
}

func TestAMissingKeyIsRefusedLocally(t *testing.T) {
	client, err := New(testBaseURL, WithTransport(newScript(t)), WithHealthGate(HealthGate{Off: true}))
	require.NoError(t, err)
	_, err = client.Sandbox.State(context.Background())
	require.ErrorIs(t, err, CodeMissingAPIKey)
	_, err = client.Sandbox.PlaceOrder(context.Background(), testOrder())
	require.ErrorIs(t, err, CodeMissingAPIKey)
	assert.Equal(t, NotApplied, OutcomeOf(err))
	_, err = client.Me(context.Background(), EnvLive)
	require.ErrorIs(t, err, CodeMissingAPIKey)
	_, err = client.Me(context.Background(), "paper")
	require.ErrorIs(t, err, CodeBadRequest)
}

func TestFromEnv(t *testing.T) {
	t.Setenv("TRADING_BASE_URL", "")
	t.Setenv("TRADING_SANDBOX_KEY", testSandboxKey)
	t.Setenv("TRADING_LIVE_KEY", "")
	_, err := FromEnv()
	require.ErrorContains(t, err, "TRADING_BASE_URL")

	t.Setenv("TRADING_BASE_URL", testBaseURL)
	script := newScript(t, answered(200, `{"ok":true,"trades":[]}`))
	client, err := FromEnv(WithTransport(script), WithApplication("bot", "1.2"))
	require.NoError(t, err)
	_, err = client.Sandbox.Trades(context.Background())
	require.NoError(t, err)
	got := script.received()[0]
	assert.Equal(t, testSandboxKey, got.header.Get("X-API-Key"))
	assert.Regexp(t, ` bot/1\.2$`, got.header.Get("User-Agent"))

	t.Setenv("TRADING_LIVE_KEY", testSandboxKey)
	_, err = FromEnv()
	require.ErrorIs(t, err, CodeWrongEnvironment)
}

func TestOptionsRefuseNonsense(t *testing.T) {
	for name, opt := range map[string]Option{
		"nil":                   nil,
		"nil transport":         WithTransport(nil),
		"nil guard":             WithGuard(nil),
		"negative attempts":     WithRetry(Retry{Attempts: -1}),
		"no attempt time":       WithAttemptTimeout(0),
		"a send TTL too long":   WithSendTTL(maxTTL + 1),
		"a negative send TTL":   WithSendTTL(-1),
		"a negative wait":       WithResolveTimeout(-1),
		"slippage of 31":        WithMaxSlippagePct(Dec("31")),
		"slippage of 0.25":      WithMaxSlippagePct(Dec("0.25")),
		"an application's name": WithApplication("my bot", "1"),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New(testBaseURL, opt)
			require.Error(t, err)
		})
	}
	client := newTestClient(t, newScript(t))
	_, err := client.Sandbox.Trades(context.Background(), nil)
	require.Error(t, err)
	_, err = client.Sandbox.Trades(context.Background(), ResponseInto(nil))
	require.Error(t, err)
	_, err = client.With(WithSendTTL(-1))
	require.Error(t, err)
}

func TestWithSharesTheClientAndKeepsItsOptions(t *testing.T) {
	var meta Meta
	script := newScript(t, answered(200, `{"ok":true,"trades":[]}`))
	client := newTestClient(t, script)
	tagged, err := client.With(ResponseInto(&meta), WithTag("x"))
	require.NoError(t, err)
	_, err = tagged.Sandbox.Trades(context.Background())
	require.NoError(t, err)
	assert.Equal(t, OpSandboxTrades, meta.Operation)
	client.Halt("both")
	_, halted := tagged.Halted()
	assert.True(t, halted)
}
