package transport

import (
	"crypto/tls"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/testing/faultproxy"
)

// swallowed is how long an attempt waits for what never comes.
const swallowed = 300 * time.Millisecond

// D 12: a connection that swallows what is sent lets one attempt time out. The next goes over
// another, and not over a kept one beside it, which may be swallowed too.
func TestEdge12_AConnectionThatSwallowsHTTP1(t *testing.T) {
	proxy, tr := service(t), transport(t)
	var mu sync.Mutex
	dead, together := map[string]bool{}, make(chan struct{})
	arrived := 0
	proxy.Rest(func(x *faultproxy.Exchange) {
		remote := x.RemoteAddr().String()
		mu.Lock()
		swallows := dead[remote]
		dead[remote] = true
		arrived++
		if arrived == 3 {
			close(together)
		}
		mu.Unlock()
		if swallows {
			x.Hold()
			return
		}
		<-together
		faultproxy.Pass(x)
	})
	var all sync.WaitGroup
	for range 3 { // which are kept
		all.Go(func() { assert.NoError(t, tr.Send(t.Context(), write(proxy.URL(), "{}")).Err) })
	}
	all.Wait()
	checkNext(t, tr, proxy.URL(), 1)
}

func TestEdge12_AConnectionThatSwallowsHTTP2(t *testing.T) {
	swallowsHTTP2(t, func(trust *tls.Config) *Transport {
		tr := transport(t)
		assert.NotNil(t, tr.pool.HTTP2, "its connections are pinged")
		tr.pool.TLSClientConfig = trust
		return tr
	})
}

// The same over a transport that the program gave.
func TestFound09_AConnectionOfTheProgramsThatSwallows(t *testing.T) {
	for name, wrap := range map[string]func(*http.Transport) http.RoundTripper{
		"net/http's":    func(rt *http.Transport) http.RoundTripper { return rt },
		"one around it": func(rt *http.Transport) http.RoundTripper { return struct{ *http.Transport }{rt} },
		"one that bounds its connections": func(rt *http.Transport) http.RoundTripper {
			rt.MaxConnsPerHost = 4
			return rt
		},
	} {
		t.Run(name, func(t *testing.T) {
			swallowsHTTP2(t, func(trust *tls.Config) *Transport {
				of := &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: trust}
				t.Cleanup(of.CloseIdleConnections)
				tr := New(wrap(of))
				t.Cleanup(tr.Close)
				return tr
			})
		})
	}
}

// swallowsHTTP2 has the first connection of a transport swallow what is sent.
func swallowsHTTP2(t *testing.T, over func(trust *tls.Config) *Transport) {
	t.Helper()
	var mu sync.Mutex
	var first *faultproxy.Frames
	swallow := false
	proxy, trust := faultproxy.StartHTTP2(t, http.HandlerFunc(ok), func(c *faultproxy.Frames, _ bool, f faultproxy.Frame) []faultproxy.Frame {
		mu.Lock()
		defer mu.Unlock()
		if first == nil {
			first = c
		}
		if swallow && c == first {
			return nil
		}
		return []faultproxy.Frame{f}
	})
	tr := over(trust)
	require.NoError(t, tr.Send(t.Context(), write(proxy.URL(), "{}")).Err)
	mu.Lock()
	swallow = true
	mu.Unlock()
	mostAttempts := 1
	if tr.given != nil {
		mostAttempts = 3 // on a machine that is overloaded
	}
	checkNext(t, tr, proxy.URL(), mostAttempts)
}

// checkNext has one attempt time out, and wants one of the next to be answered.
func checkNext(t *testing.T, tr *Transport, to string, mostAttempts int) {
	t.Helper()
	lost := write(to, "{}")
	lost.Timeout = swallowed
	a := tr.Send(t.Context(), lost)
	require.ErrorIs(t, a.Err, ErrTimeout)
	assert.True(t, a.Written)
	next := write(to, "{}")
	next.Timeout = 2 * swallowed
	attempts := 1
	for tr.Send(t.Context(), next).Err != nil && attempts < 20 {
		attempts++
	}
	assert.LessOrEqual(t, attempts, mostAttempts)
}
