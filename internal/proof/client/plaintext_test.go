package client

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

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

// A live key that is asked for at each attempt is judged at each attempt.
func TestPlaintextHTTPWithAKeyThatIsAskedFor(t *testing.T) {
	sim := tradingsim.New()
	sent := &headers{next: sim.Transport()}
	key := sim.LiveKey()
	client, err := trading.New("http://simulator:8080/v1", trading.WithPlaintextHTTP(), trading.WithTransport(sent),
		trading.WithLiveKeyFunc(func(context.Context) (string, error) { return key, nil }))
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
