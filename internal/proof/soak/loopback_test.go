package soak

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/proof/leak"
	"github.com/tradingapi/trading-go/tradingsim"
)

// TestSoakOverLoopback does the same with sockets: less of it, and nothing that has
// to be waited for.
func TestSoakOverLoopback(t *testing.T) {
	calls := 2_560
	if *full {
		calls = 40_000
	}
	before := leak.Snapshot()
	var (
		tally = newTally()
		d     = newDice(*seed, 0)
		m     = mix{share: 8, unit: 2 * time.Millisecond, failsAfterWork: true}
		s     = newService(0, m, d, tradingsim.WithKeyLimit(1_000_000), tradingsim.WithUserLimits(1_000_000, 1_000_000))
		conns = newConnections()
	)
	server := httptest.NewUnstartedServer(s.sim)
	server.Config.ConnState = conns.note
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Start()
	client, err := trading.New(server.URL+"/v1",
		trading.WithSandboxKey(s.sim.SandboxKey()), trading.WithLiveKey(s.sim.LiveKey()),
		trading.WithRateLimits(trading.RateLimits{Off: true}), trading.WithResolveTimeout(0), trading.WithHooks(attempts(tally)),
		trading.WithRetry(trading.Retry{MinWait: time.Millisecond, MaxWait: 4 * time.Millisecond}),
	)
	require.NoError(t, err)

	var group sync.WaitGroup
	var sizes sizes
	for i := range workers {
		w := &worker{
			client: client, service: s, sizes: &sizes, tally: tally, patience: 2 * time.Millisecond,
			dice: newDice(*seed, uint64(1+i)),
			// What is in doubt stays so until the end: to look for it takes seconds.
			opts: []trading.CallOption{trading.AllowPending()},
		}
		group.Go(func() {
			for range calls / workers {
				w.call(t.Context())
				w.disturb(i)
			}
		})
	}
	group.Wait()
	if err := client.Close(); err != nil {
		require.ErrorAs(t, err, new(*trading.PendingError))
	}

	most, open := conns.wait(t)
	assert.Zero(t, open, "connections that are open after Close")
	server.Close() // waits for what the service is still at
	tally.check(s.sim.Ledger(), s.copied)
	require.NoError(t, s.sim.Close())
	assert.Empty(t, before.Left(), "goroutines after Close")
	for _, p := range tally.problems {
		t.Error(p)
	}
	t.Logf("%d goroutines, %d faults of %d kinds, at most %d connections at once, %d in all\n%s",
		workers, sum(s.met), len(s.met), most, conns.made, tally)
}

// disturb changes the world now and then, and mends at once what it has broken:
// here nobody waits.
func (w *worker) disturb(i int) {
	if i == 0 && w.dice.intN(4) == 0 {
		w.service.disturb(w.dice, func(mend func()) { mend() })
	}
}

// connections counts those of a server.
type connections struct {
	mu               sync.Mutex
	open, most, made int
	changed          chan struct{} // closed at each change, and replaced
}

func newConnections() *connections { return &connections{changed: make(chan struct{})} }

func (c *connections) note(_ net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateNew:
		c.open++
		c.made++
		c.most = max(c.most, c.open)
	case http.StateClosed, http.StateHijacked:
		c.open--
	default:
		return
	}
	close(c.changed)
	c.changed = make(chan struct{})
}

// now returns how many were open at most, and how many are.
func (c *connections) now() (most, open int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.most, c.open
}

// wait returns how many are open once none is, or when it has lost its patience.
func (c *connections) wait(t *testing.T) (most, open int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for {
		c.mu.Lock()
		most, open, changed := c.most, c.open, c.changed
		c.mu.Unlock()
		if open == 0 {
			return most, open
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return most, open
		}
	}
}

// A connection that is kept open is seen.
func TestConnectionsAreCounted(t *testing.T) {
	conns := newConnections()
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ConnState = conns.note
	server.Start()
	defer server.Close()
	var dialer net.Dialer
	conn, err := dialer.DialContext(t.Context(), "tcp", strings.TrimPrefix(server.URL, "http://"))
	require.NoError(t, err)
	_, err = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
	require.NoError(t, err)
	_, err = conn.Read(make([]byte, 16))
	require.NoError(t, err)
	_, open := conns.now()
	assert.Equal(t, 1, open)
	require.NoError(t, conn.Close())
	most, open := conns.wait(t)
	assert.Equal(t, 1, most)
	assert.Zero(t, open)
}
