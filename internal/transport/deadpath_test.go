package transport

import (
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/testing/faultproxy"
)

// A ping is written when nothing has come for deadAfter, and is missed when nothing comes for as
// long again.
func TestAMissedPing(t *testing.T) {
	var u unanswered
	const s = time.Second
	assert.False(t, u.missedPing(time.Hour), "nothing was written")
	u.wrote(10 * s)
	u.read(11 * s)
	assert.False(t, u.missedPing(time.Hour), "it was answered")
	u.wrote(11*s + deadAfter) // the ping
	assert.False(t, u.missedPing(11*s+2*deadAfter-1))
	assert.True(t, u.missedPing(11*s+2*deadAfter))
	u.wrote(20 * s)
	assert.True(t, u.missedPing(20*s), "what is written later does not begin it anew")
	u.read(21 * s)
	assert.False(t, u.missedPing(21*s))
	u.wrote(30 * s) // a request behind a long silence, which nobody has answered yet
	assert.False(t, u.missedPing(30*s+deadAfter-1))
}

// A connection that has missed a ping takes no other request, and what is under way over it has its
// answer all the same: it is closed later than that.
func TestAStalledConnectionIsLeft(t *testing.T) {
	tr := transport(t)
	config := tr.pool.HTTP2
	assert.Equal(t, deadAfter, config.SendPingTimeout)
	assert.Equal(t, closedAfter, config.SendPingTimeout+config.PingTimeout)
	first := tr.current()
	assert.Same(t, first, tr.current())
	var mu sync.Mutex
	var swallows *faultproxy.Frames
	var last *faultproxy.Frames
	proxy, trust := faultproxy.StartHTTP2(t, http.HandlerFunc(ok), func(c *faultproxy.Frames, _ bool, f faultproxy.Frame) []faultproxy.Frame {
		mu.Lock()
		defer mu.Unlock()
		if last = c; c == swallows {
			return nil
		}
		return []faultproxy.Frame{f}
	})
	tr.pool.TLSClientConfig = trust
	require.NoError(t, tr.Send(t.Context(), write(proxy.URL(), "{}")).Err)
	mu.Lock()
	swallows = last
	mu.Unlock()
	stalled := tr.shared
	require.Len(t, stalled.conns, 1)
	for c := range stalled.conns { // as if the ping had gone out a minute ago
		c.unanswered.mu.Lock()
		assert.Positive(t, c.unanswered.heard, "an answer came over it")
		c.unanswered.asks, c.unanswered.asked, c.unanswered.heard = true, -time.Minute, -time.Minute
		c.unanswered.mu.Unlock()
	}
	assert.NotSame(t, first, tr.current())
	assert.NotSame(t, stalled, tr.shared)
	require.NoError(t, tr.Send(t.Context(), write(proxy.URL(), "{}")).Err)
	assert.Len(t, tr.shared.conns, 1)
	tr.Close()
}

// What is closed is forgotten, and connections of HTTP/1.1 are not kept here.
func TestClosedConnectionsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var of multiplexed
		here, there := net.Pipe()
		defer there.Close()
		c := &pooledConn{Conn: here, of: &of, began: time.Now()}
		c.changed.L = &c.mu
		of.add(c)
		c.unanswered.wrote(time.Since(c.began))
		time.Sleep(2 * deadAfter)
		assert.True(t, of.dead())
		require.NoError(t, c.Close())
		assert.False(t, of.dead())
		assert.Empty(t, of.conns)
	})
}
