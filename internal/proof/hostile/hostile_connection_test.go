package hostile

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/proof/faultproxy"
	"github.com/tradingapi/trading-go/internal/proof/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

// A redirect is an error that names the versioned root, and is never followed:
// the key, and the order, must not arrive elsewhere.
func TestTrap_T87_RedirectsAreNotFollowed(t *testing.T) {
	elsewhere := newHostile(t, says(plainAnswer(200, `{"ok":true}`)))
	for _, status := range []int{301, 302, 303, 307, 308} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			server := newHostile(t, says(plainAnswer(status, "", "Location: "+elsewhere.url+"/sandbox/orders?token=x")))
			client := server.client(t)
			_, err := client.Sandbox.PlaceOrder(t.Context(), rig.Buy("1"), trading.WithResolveTimeout(0))
			var redirect *trading.RedirectError
			require.ErrorAs(t, err, &redirect)
			assert.Equal(t, trading.Unknown, trading.OutcomeOf(err))
			assert.Equal(t, elsewhere.url+"/sandbox/orders", redirect.Location)
			assert.ErrorContains(t, err, "versioned root")
			_, err = client.Sandbox.Trades(t.Context())
			require.ErrorAs(t, err, &redirect)
			assert.Equal(t, 1, server.seen("POST"))
			assert.Equal(t, 1, server.seen("GET"))
		})
	}
	assert.Zero(t, elsewhere.seen("GET")+elsewhere.seen("POST"), "something was followed")

	t.Run("the legacy path", func(t *testing.T) {
		sim := tradingsim.New()
		_, err := trading.New(strings.Replace(sim.URL(), "/v1", "/api/v1", 1), trading.WithSandboxKey(sim.SandboxKey()))
		require.ErrorContains(t, err, "use "+sim.URL())

		// Something in front that goes back to the legacy path.
		r := rig.Join(t, sim, trading.WithTransport(rig.InFront{Next: sim.Transport(), Change: func(req *http.Request) {
			req.URL.Path = "/api" + req.URL.Path
		}}), trading.WithResolveTimeout(0))
		var redirect *trading.RedirectError
		require.ErrorAs(t, r.Refused(rig.Buy("1")), &redirect)
		assert.Equal(t, "/v1/sandbox/orders", redirect.Location)
		assert.Empty(t, r.Fills())
	})
}

// net/http sends a request again by itself when a connection that was in use
// before dies under it; a write must not be among them.
func TestTrap_T2_ADyingConnectionRepeatsNoWrite(t *testing.T) {
	const given = "once"
	for name, row := range map[string]struct {
		send func(context.Context, *trading.Client) error
		key  string // on the wire, under the contract's name
	}{
		"a paper order": {func(ctx context.Context, c *trading.Client) error {
			_, err := c.Sandbox.PlaceOrder(ctx, rig.Buy("1"))
			return err
		}, ""},
		"a close": {func(ctx context.Context, c *trading.Client) error {
			_, err := c.Sandbox.ClosePosition(ctx, "BTC", trading.All)
			return err
		}, ""},
		"a reset, which has no body": {func(ctx context.Context, c *trading.Client) error {
			_, err := c.Sandbox.Reset(ctx)
			return err
		}, ""},
		"an order with a key": {func(ctx context.Context, c *trading.Client) error {
			_, err := c.Live.Account(rig.Acc).PlaceOrder(ctx, rig.Buy("1"), trading.WithSendTTL(0), trading.SkipHealthGate(), trading.WithIdempotencyKey(given))
			return err
		}, given},
	} {
		t.Run(name, func(t *testing.T) {
			var answered atomic.Bool
			server := newHostile(t, func(x *faultproxy.Exchange) {
				if !answered.Swap(true) {
					_, _ = io.WriteString(x, plainAnswer(200, `{"ok":true,"trades":[]}`))
					return
				}
				_ = x.Close()
			})
			client := server.client(t, trading.WithLiveKey("pk_live_x"))
			_, err := client.Sandbox.Trades(t.Context())
			require.NoError(t, err)
			err = row.send(t.Context(), client)
			require.Error(t, err)
			assert.Equal(t, trading.Unknown, trading.OutcomeOf(err))
			assert.Equal(t, 1, server.seen("POST"))
			requests := server.Requests()
			assert.Equal(t, row.key, requests[len(requests)-1].Header.Get("Idempotency-Key"))
		})
	}
}

// A connection that the server closes while nobody uses it can die before, while
// or after an order is written to it. Whichever it was, the order goes out once
// at the most, and is not said to have failed if it arrived.
func TestAClosedIdleConnectionRepeatsNothing(t *testing.T) {
	for range 20 {
		server := newHostile(t, func(x *faultproxy.Exchange) {
			_, _ = io.WriteString(x, plainAnswer(200, `{"ok":true,"trades":[]}`)) // keep-alive, it says
			_ = x.Close()
		})
		client := server.client(t, trading.WithHealthGate(trading.HealthGate{Off: true}))
		_, err := client.Sandbox.Trades(t.Context())
		require.NoError(t, err)
		_, err = client.Sandbox.PlaceOrder(t.Context(), rig.Buy("1"))
		arrived := server.seen("POST")
		assert.LessOrEqual(t, arrived, 1)
		switch trading.OutcomeOf(err) {
		case trading.Applied:
			assert.Equal(t, 1, arrived, "%v", err)
		case trading.NotApplied:
			assert.Zero(t, arrived, "%v", err)
		}
	}
}

// Over TLS a transport of the program's own speaks HTTP/2. (Certificates that are not trusted are in
// TestNothingIsSentWithoutAConnection.)
func TestOverHTTP2(t *testing.T) {
	sim := tradingsim.New()
	var protocols []string
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		protocols = append(protocols, r.Proto)
		sim.ServeHTTP(w, r)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	client, err := trading.New(server.URL+"/v1", worldOptions(sim, 10*time.Second, trading.WithTransport(server.Client().Transport))...)
	require.NoError(t, err)
	defer client.Close()
	_, err = client.Sandbox.PlaceOrder(t.Context(), rig.Buy("1"))
	require.NoError(t, err)
	_, err = client.Sandbox.Reset(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{"HTTP/2.0", "HTTP/2.0"}, protocols)
}

// piped is a client whose connections are pipes in memory, so that time is
// virtual: serve gets each connection's far end.
func piped(t *testing.T, serve func(net.Conn), opts ...trading.Option) *trading.Client {
	t.Helper()
	transport := &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			near, far := net.Pipe()
			go func() {
				defer far.Close()
				req, err := http.ReadRequest(bufio.NewReader(far))
				if err == nil {
					_, _ = io.Copy(io.Discard, req.Body)
					serve(far)
				}
			}()
			return near, nil
		},
	}
	client, err := trading.New("http://127.0.0.1/v1", append([]trading.Option{
		trading.WithSandboxKey("pk_test_x"),
		trading.WithTransport(transport),
		trading.WithHealthGate(trading.HealthGate{Off: true}),
		trading.WithRetry(trading.Retry{Attempts: 1}),
		trading.WithResolveTimeout(0),
		trading.WithoutBackground(),
	}, opts...)...)
	require.NoError(t, err)
	return client
}

// An attempt ends with its time-out, however the answer is held back, and what
// was sent may have been executed.
func TestAttemptsEndInTime(t *testing.T) {
	for name, serve := range map[string]func(net.Conn){
		"no answer": func(conn net.Conn) { time.Sleep(time.Hour) },
		"a header that drips": func(conn net.Conn) {
			for _, c := range []byte(plainAnswer(200, `{"ok":true}`)) {
				if _, err := conn.Write([]byte{c}); err != nil {
					return
				}
				time.Sleep(time.Second)
			}
		},
		"a body that drips": func(conn net.Conn) {
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
			for range 1000 {
				if _, err := io.WriteString(conn, " "); err != nil {
					return
				}
				time.Sleep(time.Second)
			}
		},
		"a body that stops": func(conn net.Conn) {
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
			time.Sleep(time.Hour)
		},
		"a switch to another protocol": func(conn net.Conn) {
			_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
			time.Sleep(time.Hour)
		},
		"early hints without end": func(conn net.Conn) {
			for range 1000 {
				if _, err := io.WriteString(conn, "HTTP/1.1 103 Early Hints\r\n\r\n"); err != nil {
					return
				}
				time.Sleep(time.Second)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := piped(t, serve)
				began := time.Now()
				_, err := client.Sandbox.PlaceOrder(context.Background(), rig.Buy("1"))
				require.Error(t, err)
				assert.Equal(t, trading.Unknown, trading.OutcomeOf(err))
				assert.LessOrEqual(t, time.Since(began), 5*time.Second)
				_, err = client.Sandbox.State(context.Background(), trading.WithAttemptTimeout(time.Second))
				require.Error(t, err)
				assert.LessOrEqual(t, time.Since(began), 6*time.Second)
				rig.CloseClient(t, client)
				time.Sleep(2 * time.Hour) // until the server has given up
			})
		})
	}
}
