package client

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

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

// An answer can repeat the key of an attempt before a rotation.
func TestTheKeyBeforeARotationIsNotPrinted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var key atomic.Value
		key.Store(rig.SandboxKey)
		script := rig.NewScript(t,
			rig.Answered(200, `{"ok":true,"trades":[]}`),
			rig.Answered(502, "<html>"+rig.SandboxKey+" was seen before "+"</html>"))
		client := rig.ScriptedClient(t, script, trading.WithRetry(trading.Retry{Attempts: 1}), trading.WithKeyFunc(trading.EnvSandbox, func(context.Context) (string, error) {
			return key.Load().(string), nil
		}))
		_, err := client.Sandbox.Trades(context.Background())
		require.NoError(t, err)
		key.Store("pk_test_secondSecret")
		_, err = client.Sandbox.Trades(context.Background())
		require.ErrorContains(t, err, "[redacted] was seen before")
		assertNoKey(t, "the error", outputs(err))
		script.Done()
	})
}

// A simulator in another container is reached over plain http where that is asked for,
// with sandbox keys and the simulator's own. A live key never goes that way.
func TestPlaintextHTTP(t *testing.T) {
	const elsewhere = "http://simulator:8080/v1"
	sim := tradingsim.New()
	sandbox, simulated := trading.WithSandboxKey(sim.SandboxKey()), trading.WithLiveKey(sim.LiveKey())
	plain := trading.WithPlaintextHTTP()

	_, err := trading.New(elsewhere, sandbox)
	require.ErrorContains(t, err, "WithPlaintextHTTP", "the way out is named")

	sent := &headers{next: sim.Transport()}
	client, err := trading.New(elsewhere, plain, sandbox, simulated, trading.WithTransport(sent))
	require.NoError(t, err)
	defer client.Close()
	_, err = client.Sandbox.State(t.Context())
	require.NoError(t, err)
	_, err = client.Live.Account("acc_1").State(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{sim.SandboxKey(), sim.LiveKey()}, sent.keys)

	const real = "pk_live_aRealOneOfSomebody"
	for name, url := range map[string]string{"another host": elsewhere, "a name like this machine's": "http://localhost.example.test/v1"} {
		_, err = trading.New(url, plain, sandbox, trading.WithLiveKey(real), trading.WithTransport(sent))
		var bad *trading.OptionError
		require.ErrorAs(t, err, &bad, name)
		assert.Equal(t, "WithPlaintextHTTP", bad.Option)
		assert.NotContains(t, err.Error(), real)
	}
	for _, url := range []string{"https://api.example.test/v1", "http://127.0.0.1:1/v1"} {
		_, err = trading.New(url, plain, trading.WithLiveKey(real), trading.WithTransport(sent))
		require.NoError(t, err, "what is encrypted, or stays here, takes any key")
	}
}
