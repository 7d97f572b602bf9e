package transport

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/proof/faultproxy"
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
	checkNext(t, tr, proxy.URL())
}

func TestEdge12_AConnectionThatSwallowsHTTP2(t *testing.T) {
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
	tr := transport(t)
	tr.pool.TLSClientConfig = trust
	require.NoError(t, tr.Send(t.Context(), write(proxy.URL(), "{}")).Err)
	mu.Lock()
	swallow = true
	mu.Unlock()
	checkNext(t, tr, proxy.URL())
}

// checkNext has one attempt time out, and wants the next to be answered.
func checkNext(t *testing.T, tr *Transport, to string) {
	t.Helper()
	lost := write(to, "{}")
	lost.Timeout = swallowed
	a := tr.Send(t.Context(), lost)
	require.ErrorIs(t, a.Err, ErrTimeout)
	assert.True(t, a.Written)
	next := write(to, "{}")
	next.Timeout = 10 * time.Second
	began := time.Now()
	require.NoError(t, tr.Send(t.Context(), next).Err)
	assert.Less(t, time.Since(began), 5*time.Second)
	assert.NotNil(t, tr.pool.HTTP2, "its connections are pinged")
}
