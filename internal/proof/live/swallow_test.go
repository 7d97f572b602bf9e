package live

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/faultproxy"
	"github.com/tradingapi/trading-go/internal/testing/rig"
)

// A connection over HTTP/2 swallows what is sent, from an order on: the close behind it is sent again
// over another, whoever made the transport, and its outcome is known.
func TestFound09_ACloseOverAConnectionThatSwallows(t *testing.T) {
	for name, wrap := range map[string]func(*http.Transport) http.RoundTripper{
		"net/http's":    func(rt *http.Transport) http.RoundTripper { return rt },
		"one around it": func(rt *http.Transport) http.RoundTripper { return struct{ *http.Transport }{rt} },
		"one that bounds its connections": func(rt *http.Transport) http.RoundTripper {
			rt.MaxConnsPerHost = 4
			return rt
		},
	} {
		t.Run(name, func(t *testing.T) {
			sim := rig.NewSim()
			t.Cleanup(func() { assert.NoError(t, sim.Close()) })
			var mu sync.Mutex
			var first *faultproxy.Frames
			swallows := false
			proxy, trust := faultproxy.StartHTTP2(t, sim, func(c *faultproxy.Frames, _ bool, f faultproxy.Frame) []faultproxy.Frame {
				mu.Lock()
				defer mu.Unlock()
				if first == nil {
					first = c
				}
				if swallows && c == first {
					return nil
				}
				return []faultproxy.Frame{f}
			})
			of := &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: trust}
			t.Cleanup(of.CloseIdleConnections)
			client, err := trading.New(proxy.URL()+"/v1", trading.WithLiveKey(sim.LiveKey()), trading.WithTransport(wrap(of)), trading.WithAttemptTimeout(500*time.Millisecond))
			require.NoError(t, err)
			t.Cleanup(func() { assert.NoError(t, client.Close()) })
			account := client.Live.Account(rig.Acc)
			_, err = account.PlaceOrder(t.Context(), rig.Buy("0.05"))
			require.NoError(t, err)
			mu.Lock()
			swallows = true
			mu.Unlock()
			_, err = account.ClosePosition(t.Context(), "BTC", trading.All)
			require.NoError(t, err)
			assert.True(t, sim.Position(string(rig.Acc), "BTC").IsZero())
		})
	}
}
