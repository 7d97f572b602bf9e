package client

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/proof/rig"
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

func TestAMissingKeyIsRefusedLocally(t *testing.T) {
	client, err := trading.New(rig.BaseURL, trading.WithTransport(rig.NewScript(t)), trading.WithHealthGate(trading.HealthGate{Off: true}))
	require.NoError(t, err)
	_, err = client.Sandbox.State(context.Background())
	require.ErrorIs(t, err, trading.CodeMissingAPIKey)
	_, err = client.Sandbox.PlaceOrder(context.Background(), rig.Buy("0.01"))
	require.ErrorIs(t, err, trading.CodeMissingAPIKey)
	assert.Equal(t, trading.NotApplied, trading.OutcomeOf(err))
	_, err = client.Me(context.Background(), trading.EnvLive)
	require.ErrorIs(t, err, trading.CodeMissingAPIKey)
	_, err = client.Me(context.Background(), "paper")
	require.ErrorIs(t, err, trading.CodeBadRequest)
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

func TestWithSharesTheClientAndKeepsItsOptions(t *testing.T) {
	var meta trading.Meta
	script := rig.NewScript(t, rig.Answered(200, `{"ok":true,"trades":[]}`))
	client := rig.ScriptedClient(t, script)
	tagged, err := client.With(trading.ResponseInto(&meta), trading.WithTag("x"))
	require.NoError(t, err)
	_, err = tagged.Sandbox.Trades(context.Background())
	require.NoError(t, err)
	assert.Equal(t, trading.OpSandboxTrades, meta.Operation)
	client.Halt("both")
	_, halted := tagged.Halted()
	assert.True(t, halted)
}
