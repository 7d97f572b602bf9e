package hostile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/faultproxy"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/internal/transport"
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
			return rig.Only(c.Sandbox.PlaceOrder(ctx, rig.Buy("1")))
		}, ""},
		"a close": {func(ctx context.Context, c *trading.Client) error {
			return rig.Only(c.Sandbox.ClosePosition(ctx, "BTC", trading.All))
		}, ""},
		"a reset, which has no body": {func(ctx context.Context, c *trading.Client) error { return rig.Only(c.Sandbox.Reset(ctx)) }, ""},
		"an order with a key": {func(ctx context.Context, c *trading.Client) error {
			return rig.Only(c.Live.Account(rig.Acc).PlaceOrder(ctx, rig.Buy("1"), trading.WithSendTTL(0), trading.SkipHealthGate(), trading.WithIdempotencyKey(given)))
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

// The writes and reads that faults are tried on, as the proxy and the ledger name
// them.
const (
	sandboxOrder = "POST /sandbox/orders"
	liveOrder    = "POST /orders"
)

// stallTimeout bounds the attempts that meet an answer that never ends. Each test
// comes out the same if a busy machine lets it pass in front of a good answer.
const stallTimeout = time.Second

// cut is the beginning of an answer, whose rest never comes.
func cut(answer string, at int) string {
	if at < 0 {
		return answer[:len(answer)+at]
	}
	return answer[:at]
}

// headerOf is an answer without its body.
func headerOf(answer string) string { return answer[:strings.Index(answer, "\r\n\r\n")+4] }

// retold is an answer with something of its header replaced.
func retold(answer, old, new string) string {
	if !strings.Contains(answer, old) {
		panic("no " + old + " in " + answer)
	}
	return strings.Replace(answer, old, new, 1)
}

// pour writes the same until the client hangs up, and adds up how much it took.
func pour(x *faultproxy.Exchange, text string, taken *atomic.Int64) {
	for x.Say(text) {
		taken.Add(int64(len(text)))
	}
	_ = x.Close()
}

// A broken connection between the client and the simulated service, for a read, a
// paper order and a real one, once and each time. Whatever the client says of an
// order is held against the ledger.
func TestBrokenConnections(t *testing.T) {
	var poured atomic.Int64 // by the fault of the row under test; rows come one by one
	for _, row := range []struct {
		name  string
		runs  bool // the service carries out what is broken
		fault faultproxy.Fault
		why   string // type of the error
		stall bool   // only the attempt's own time-out ends it
	}{
		// Resets.
		{name: "reset in front of the service", why: "transport", fault: (*faultproxy.Exchange).Reset},
		{name: "reset in the header", runs: true, why: "transport", fault: func(x *faultproxy.Exchange) { x.Say(cut(x.CarryOut(), 30)); x.Reset() }},

		// Ends that come too soon.
		{name: "closed in front of the service", why: "transport", fault: func(x *faultproxy.Exchange) { _ = x.Close() }},
		{name: "closed once it is carried out", runs: true, why: "transport", fault: func(x *faultproxy.Exchange) { x.CarryOut(); _ = x.Close() }},
		{name: "closed behind the header", runs: true, why: "transport", fault: func(x *faultproxy.Exchange) { x.Say(headerOf(x.CarryOut())); _ = x.Close() }},
		{name: "half closed in front of the service", why: "transport", fault: func(x *faultproxy.Exchange) { _ = x.CloseWrite(); x.Hold() }},

		// Answers that never end.
		{name: "silence in front of the service", why: "transport", stall: true, fault: (*faultproxy.Exchange).Hold},
		{name: "silence once it is carried out", runs: true, why: "transport", stall: true, fault: func(x *faultproxy.Exchange) { x.CarryOut(); x.Hold() }},
		{name: "a body that drips, and stops", runs: true, why: "transport", stall: true, fault: func(x *faultproxy.Exchange) {
			for _, b := range []byte(cut(x.CarryOut(), -1)) {
				x.Say(string(b))
			}
			x.Hold()
		}},
		{name: "100 Continue, and nothing", runs: true, why: "transport", stall: true, fault: func(x *faultproxy.Exchange) { x.CarryOut(); x.Say("HTTP/1.1 100 Continue\r\n\r\n"); x.Hold() }},

		// Lengths that are wrong.
		{name: "a Content-Length too long", runs: true, why: "transport", fault: func(x *faultproxy.Exchange) {
			x.Say(retold(x.CarryOut(), "Content-Length: ", "Content-Length: 1"))
			_ = x.Close()
		}},
		{name: "a Content-Length too short", runs: true, why: "edge", fault: func(x *faultproxy.Exchange) {
			answer := x.CarryOut()
			x.Say(retold(answer, fmt.Sprintf("Content-Length: %d", len(answer)-len(headerOf(answer))), "Content-Length: 9"))
		}},

		// Floods.
		{name: "headers without end", runs: true, why: "transport", fault: func(x *faultproxy.Exchange) {
			x.CarryOut()
			x.Say("HTTP/1.1 200 OK\r\n")
			pour(x, "X-Filler: "+strings.Repeat("f", 500)+"\r\n", &poured)
		}},
		{name: "a body without end", runs: true, why: "edge", fault: func(x *faultproxy.Exchange) {
			x.CarryOut()
			x.Say("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
			pour(x, strings.Repeat(" ", 4<<10), &poured)
		}},
		{name: "chunks without end", runs: true, why: "edge", fault: func(x *faultproxy.Exchange) {
			x.CarryOut()
			x.Say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
			pour(x, "1000\r\n"+strings.Repeat(" ", 4<<10)+"\r\n", &poured)
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			poured.Store(0)
			timeout := 10 * time.Second
			if row.stall {
				t.Parallel() // they wait, and pour nothing
				timeout = stallTimeout
			}
			fail := func(kind string, err error) {
				t.Helper()
				assert.Equal(t, row.why, kindOf(err), "%s: %v", kind, err)
				assert.Less(t, len(err.Error()), 2000, "an error is not a dump")
				if row.stall {
					assert.ErrorIs(t, err, context.DeadlineExceeded)
				}
				if transport := (*trading.TransportError)(nil); errors.As(err, &transport) {
					assert.True(t, transport.Written)
				}
			}
			ran := 0
			if row.runs {
				ran = 1
			}

			// Once: a read is asked again, a paper order is in doubt and not sent again,
			// a real one is sent again under its key and happens once.
			w := newBrokenWorld(t, timeout)
			again := row.why == "transport" // a page with 200 is no reason to ask again
			w.Next("GET /v1/sandbox/account", row.fault)
			_, err := w.client.Sandbox.State(t.Context())
			if again {
				assert.NoError(t, err)
			} else {
				fail("a read", err)
			}
			w.Next("POST /v1/sandbox/orders", row.fault)
			_, err = w.client.Sandbox.PlaceOrder(t.Context(), rig.Buy("0.01"))
			require.Equal(t, trading.Unknown, trading.OutcomeOf(err), "%v", err)
			fail("a paper order", err)
			w.Next("POST /v1/orders", row.fault)
			result, err := w.client.Live.Account(rig.Acc).PlaceOrder(t.Context(), rig.Buy("0.01"))
			require.NoError(t, err)
			assert.Equal(t, row.runs, result.Meta.Replayed)
			w.Close()
			assert.Equal(t, 1, w.sent("POST /v1/sandbox/orders"))
			assert.Equal(t, ran, w.ran(sandboxOrder))
			assert.Equal(t, 1, w.ran(liveOrder))

			// Each time: the last error is the caller's.
			w = newBrokenWorld(t, timeout)
			w.Rest(row.fault)
			_, err = w.client.Sandbox.State(t.Context(), trading.WithRetry(trading.Retry{Attempts: 1}))
			fail("a read", err)
			_, err = w.client.Live.Account(rig.Acc).PlaceOrder(t.Context(), rig.Buy("0.01"), trading.WithRetry(trading.Retry{Attempts: 2}))
			require.Equal(t, trading.Unknown, trading.OutcomeOf(err), "%v", err)
			fail("an order", err)
			w.Close()
			assert.Equal(t, 2, w.sent("POST /v1/orders"))
			assert.Len(t, w.keys("POST /v1/orders"), 1, "sent again under the same key")
			assert.Equal(t, ran, w.ran(liveOrder))

			// What the client takes of a flood is what it may read, and what fits in the
			// buffers of four connections.
			assert.Less(t, poured.Load(), int64(7*(1<<20)+6*(6<<20)), "the client reads on and on")
		})
	}
}

// brokenWorld is a client and the simulated service with a proxy in between.
type brokenWorld struct {
	*faultproxy.Proxy
	sim    *tradingsim.Sim
	client *trading.Client
}

func newBrokenWorld(t *testing.T, timeout time.Duration, opts ...trading.Option) brokenWorld {
	t.Helper()
	sim := tradingsim.New()
	proxy := faultproxy.Start(t, sim)
	client, err := trading.New(proxy.URL()+"/v1", worldOptions(sim, timeout, opts...)...)
	require.NoError(t, err)
	t.Cleanup(func() { rig.CloseClient(t, client) })
	return brokenWorld{proxy, sim, client}
}

// worldOptions are those of a client that waits little between attempts and has
// plenty of them, and that leaves in doubt what is in doubt.
func worldOptions(sim *tradingsim.Sim, timeout time.Duration, opts ...trading.Option) []trading.Option {
	return append([]trading.Option{
		trading.WithSandboxKey(sim.SandboxKey()),
		trading.WithLiveKey(sim.LiveKey()),
		trading.WithHealthGate(trading.HealthGate{Off: true}),
		trading.WithAttemptTimeout(timeout),
		trading.WithSendTTL(time.Minute),
		trading.WithResolveTimeout(0),
		trading.WithRecovery(trading.Recovery{WithoutBackground: true}),
		trading.WithRetry(trading.Retry{Attempts: 20, MinWait: time.Nanosecond, MaxWait: time.Nanosecond}),
	}, opts...)
}

// sent counts the requests of an operation that reached the proxy.
func (w brokenWorld) sent(operation string) (n int) {
	for _, request := range w.Requests() {
		if request.Operation == operation {
			n++
		}
	}
	return n
}

// keys are the different idempotency keys that an operation came under.
func (w brokenWorld) keys(operation string) map[string]bool {
	keys := make(map[string]bool)
	for _, request := range w.Requests() {
		if request.Operation == operation {
			keys[request.Header.Get("Idempotency-Key")] = true
		}
	}
	return keys
}

// ran counts how often the service has executed an operation.
func (w brokenWorld) ran(operation string) int { return rig.Ran(w.sim, operation) }

// Where no connection to the service comes about, nothing was sent, and the client
// knows: no key left, no order did, and none is in doubt.
func TestNothingIsSentWithoutAConnection(t *testing.T) {
	// via goes through a proxy that answers CONNECT by a text.
	via := func(t *testing.T, answer faultproxy.Fault) *http.Transport {
		proxy := faultproxy.Start(t, http.NotFoundHandler())
		proxy.Rest(answer)
		address, err := url.Parse(proxy.URL())
		require.NoError(t, err)
		pool := transport.NewPool()
		pool.Proxy = http.ProxyURL(address)
		t.Cleanup(func() {
			for _, request := range proxy.Requests() {
				assert.Equal(t, "CONNECT ", request.Operation[:8])
				assert.NotContains(t, request.Header, "X-Api-Key")
			}
		})
		return pool
	}
	const elsewhere = "https://service.test/v1"
	for _, row := range []struct {
		name  string
		stall bool
		says  string // is in the error
		start func(*testing.T, *tradingsim.Sim) (baseURL string, rt *http.Transport)
	}{
		{name: "an unknown authority", says: "unknown authority", start: func(t *testing.T, sim *tradingsim.Sim) (string, *http.Transport) {
			server := httptest.NewUnstartedServer(sim)
			server.Config.ErrorLog = log.New(io.Discard, "", 0)
			server.StartTLS()
			t.Cleanup(server.Close)
			return server.URL + "/v1", transport.NewPool()
		}},
		{name: "no TLS at all", says: "TLS handshake", start: func(t *testing.T, sim *tradingsim.Sim) (string, *http.Transport) {
			proxy := faultproxy.Start(t, sim)
			proxy.Accept(func(conn *net.TCPConn) {
				_, _ = conn.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
				_, _ = conn.Read(make([]byte, 1<<10))
			})
			return "https://" + proxy.Address() + "/v1", transport.NewPool()
		}},
		{name: "reset in the handshake", start: func(t *testing.T, sim *tradingsim.Sim) (string, *http.Transport) {
			proxy := faultproxy.Start(t, sim)
			proxy.Accept(faultproxy.Reset)
			return "https://" + proxy.Address() + "/v1", transport.NewPool()
		}},
		{name: "a handshake that stalls", stall: true, start: func(t *testing.T, sim *tradingsim.Sim) (string, *http.Transport) {
			proxy := faultproxy.Start(t, sim)
			proxy.Accept(faultproxy.Drain)
			return "https://" + proxy.Address() + "/v1", transport.NewPool()
		}},
		{name: "CONNECT refused", says: "Forbidden", start: func(t *testing.T, _ *tradingsim.Sim) (string, *http.Transport) {
			return elsewhere, via(t, says("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"))
		}},
		{name: "CONNECT granted, and no TLS behind it", start: func(t *testing.T, _ *tradingsim.Sim) (string, *http.Transport) {
			return elsewhere, via(t, says("HTTP/1.1 200 OK\r\n\r\n"+plainAnswer(200, `{"ok":true,"success":true}`)))
		}},
		{name: "CONNECT that stalls", stall: true, start: func(t *testing.T, _ *tradingsim.Sim) (string, *http.Transport) {
			return elsewhere, via(t, (*faultproxy.Exchange).Hold)
		}},
		{name: "connection refused", says: "refused", start: func(t *testing.T, sim *tradingsim.Sim) (string, *http.Transport) {
			proxy := faultproxy.Start(t, sim)
			proxy.Close()
			return proxy.URL() + "/v1", transport.NewPool()
		}},
		{name: "a name that does not exist", says: "no such host", start: func(*testing.T, *tradingsim.Sim) (string, *http.Transport) {
			pool := transport.NewPool()
			pool.DialContext = func(context.Context, string, string) (net.Conn, error) {
				return nil, &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "service.test", IsNotFound: true}}
			}
			return elsewhere, pool
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			timeout := 10 * time.Second
			if row.stall {
				t.Parallel()
				timeout = stallTimeout
			}
			sim := tradingsim.New()
			baseURL, rt := row.start(t, sim)
			client, err := trading.New(baseURL, worldOptions(sim, timeout, trading.WithTransport(rt),
				trading.WithRetry(trading.Retry{Attempts: 2, MinWait: time.Nanosecond, MaxWait: time.Nanosecond}))...)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, client.Close()) })
			var calls sync.WaitGroup
			for name, call := range map[string]func() error{
				"a read":        func() error { _, err := client.Sandbox.State(t.Context()); return err },
				"a paper order": func() error { _, err := client.Sandbox.PlaceOrder(t.Context(), rig.Buy("0.01")); return err },
				"a reset":       func() error { _, err := client.Sandbox.Reset(t.Context()); return err },
				"an order":      func() error { return rig.Only(client.Live.Account(rig.Acc).PlaceOrder(t.Context(), rig.Buy("0.01"))) },
			} {
				calls.Go(func() {
					err := call()
					var transport *trading.TransportError
					if !assert.ErrorAs(t, err, &transport, name) {
						return
					}
					assert.False(t, transport.Written, "%s: %v", name, err)
					assert.Equal(t, trading.NotApplied, trading.OutcomeOf(err), "%s: %v", name, err)
					assert.Equal(t, 2, transport.Meta.Attempts, "%s is tried again: %v", name, err)
					assert.ErrorContains(t, err, row.says, name)
				})
			}
			calls.Wait()
			assert.Empty(t, sim.Requests())
		})
	}
}
