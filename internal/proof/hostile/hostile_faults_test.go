package hostile

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/proof/faultproxy"
	"github.com/tradingapi/trading-go/internal/proof/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

// The writes and reads that faults are tried on, as the proxy and the ledger name
// them.
const (
	sandboxOrder = "POST /sandbox/orders"
	sandboxReset = "POST /sandbox/reset"
	sandboxState = "GET /sandbox/account"
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
		{name: "reset once it is carried out", runs: true, why: "transport", fault: func(x *faultproxy.Exchange) { x.CarryOut(); x.Reset() }},
		{name: "reset in the header", runs: true, why: "transport", fault: func(x *faultproxy.Exchange) { x.Say(cut(x.CarryOut(), 30)); x.Reset() }},
		{name: "reset in the body", runs: true, why: "transport", fault: func(x *faultproxy.Exchange) { x.Say(cut(x.CarryOut(), -5)); x.Reset() }},

		// Ends that come too soon.
		{name: "closed in front of the service", why: "transport", fault: func(x *faultproxy.Exchange) { _ = x.Close() }},
		{name: "closed once it is carried out", runs: true, why: "transport", fault: func(x *faultproxy.Exchange) { x.CarryOut(); _ = x.Close() }},
		{name: "closed in the status line", runs: true, why: "transport", fault: func(x *faultproxy.Exchange) { x.Say(cut(x.CarryOut(), 10)); _ = x.Close() }},
		{name: "closed behind the header", runs: true, why: "transport", fault: func(x *faultproxy.Exchange) { x.Say(headerOf(x.CarryOut())); _ = x.Close() }},
		{name: "closed before the last byte", runs: true, why: "transport", fault: func(x *faultproxy.Exchange) { x.Say(cut(x.CarryOut(), -1)); _ = x.Close() }},
		{name: "half closed in front of the service", why: "transport", fault: func(x *faultproxy.Exchange) { _ = x.CloseWrite(); x.Hold() }},
		{name: "half closed in the body", runs: true, why: "transport", fault: func(x *faultproxy.Exchange) { x.Say(cut(x.CarryOut(), -5)); _ = x.CloseWrite(); x.Hold() }},

		// Answers that never end.
		{name: "silence in front of the service", why: "transport", stall: true, fault: (*faultproxy.Exchange).Hold},
		{name: "silence once it is carried out", runs: true, why: "transport", stall: true, fault: func(x *faultproxy.Exchange) { x.CarryOut(); x.Hold() }},
		{name: "a header that stops", runs: true, why: "transport", stall: true, fault: func(x *faultproxy.Exchange) { x.Say(cut(x.CarryOut(), 30)); x.Hold() }},
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
		{name: "two lengths", runs: true, why: "transport", fault: func(x *faultproxy.Exchange) {
			x.Say(retold(x.CarryOut(), "Content-Length: ", "Content-Length: 7\r\nContent-Length: "))
		}},
		{name: "a length below zero", runs: true, why: "transport", fault: func(x *faultproxy.Exchange) {
			x.Say(retold(x.CarryOut(), "Content-Length: ", "Content-Length: -"))
		}},
		{name: "a length and chunks", runs: true, why: "transport", fault: func(x *faultproxy.Exchange) {
			x.Say(retold(x.CarryOut(), "Content-Length: ", "Transfer-Encoding: chunked\r\nContent-Length: "))
			_ = x.Close()
		}},
		{name: "a chunk longer than what comes", runs: true, why: "transport", fault: func(x *faultproxy.Exchange) {
			x.CarryOut()
			x.Say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFF\r\n{}")
			_ = x.Close()
		}},

		// Floods.
		{name: "headers without end", runs: true, why: "transport", fault: func(x *faultproxy.Exchange) {
			x.CarryOut()
			x.Say("HTTP/1.1 200 OK\r\n")
			pour(x, "X-Filler: "+strings.Repeat("f", 500)+"\r\n", &poured)
		}},
		{name: "a header without end", runs: true, why: "transport", fault: func(x *faultproxy.Exchange) {
			x.CarryOut()
			x.Say("HTTP/1.1 200 OK\r\nX-Filler: ")
			pour(x, strings.Repeat("f", 1<<10), &poured)
		}},
		{name: "103 Early Hints without end", runs: true, why: "transport", fault: func(x *faultproxy.Exchange) {
			x.CarryOut()
			pour(x, "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", &poured)
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
		{name: "an extension of a chunk without end", runs: true, why: "transport", fault: func(x *faultproxy.Exchange) {
			x.CarryOut()
			x.Say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;")
			pour(x, strings.Repeat("x", 1<<10), &poured)
		}},
		{name: "a trailer without end", runs: true, why: "transport", fault: func(x *faultproxy.Exchange) {
			x.CarryOut()
			x.Say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n")
			pour(x, "X-Filler: "+strings.Repeat("f", 500)+"\r\n", &poured)
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
		trading.WithoutBackground(),
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
func (w brokenWorld) ran(operation string) int { return executions(w.sim, operation) }

func executions(sim *tradingsim.Sim, operation string) (n int) {
	for _, e := range sim.Ledger() {
		if e.Actor == "api" && e.Operation == operation {
			n++
		}
	}
	return n
}
