package exchange_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/proof/exchange"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

// world is the service that the calls of a case go to: a simulation, another
// service that is recorded, or the server of a recorded exchange.
type world struct {
	t       testing.TB
	sim     *tradingsim.Sim // nil for anything else
	baseURL string
	base    http.RoundTripper

	sandboxKey, liveKey string
	account             trading.AccountID
	order               trading.OrderID
	run                 trading.RunID
}

// simulated is the world in which a case comes about by itself.
func simulated(t testing.TB, c *testCase) *world {
	sim := tradingsim.New(append([]tradingsim.Option{
		tradingsim.WithMark("BTC", "64000"), tradingsim.WithMark("ETH", "3200"),
	}, c.options...)...)
	return &world{
		t: t, sim: sim, baseURL: sim.URL(), base: sim.Transport(),
		sandboxKey: sim.SandboxKey(), liveKey: sim.LiveKey(),
		account: "acc_1", order: "ord_1", run: "run_1",
	}
}

// replayed is the world in which nothing but a recorded exchange answers.
func replayed(t *testing.T, f *exchange.File) *world {
	server := exchange.Serve(t, f)
	pool := &http.Transport{}
	t.Cleanup(pool.CloseIdleConnections)
	w := replayedNames(t)
	w.baseURL, w.base = server.URL, pool
	return w
}

// replayedNames are the keys and ids of recorded exchanges.
func replayedNames(t testing.TB) *world {
	return &world{t: t, sandboxKey: exchange.SandboxKey, liveKey: exchange.LiveKey, account: "account_1", order: "order_1", run: "run_1"}
}

// trader is the account that an operation is on.
func (w *world) trader(o *operation, c *trading.Client) trading.Trader {
	if o.live() {
		return c.Live.Account(w.account)
	}
	return c.Sandbox
}

// executed counts what a simulation has carried out.
func (w *world) executed() int {
	if w.sim == nil {
		return 0
	}
	return len(w.sim.Ledger())
}

// client is a client of the world that asks nothing of its own accord and sends
// once, so that a call is one exchange.
func (w *world) client(rt http.RoundTripper, sandboxKey, liveKey string) *trading.Client {
	w.t.Helper()
	client, err := trading.New(w.baseURL,
		trading.WithSandboxKey(sandboxKey), trading.WithLiveKey(liveKey),
		trading.WithTransport(rt), trading.WithHealthGate(trading.HealthGate{Off: true}),
		trading.WithRetry(trading.Retry{Attempts: 1}), trading.WithResolveTimeout(0), trading.WithRecovery(trading.Recovery{WithoutBackground: true}), trading.WithAttemptTimeout(2*time.Minute), trading.FailFast())
	require.NoError(w.t, err)
	return client
}

// call makes the call of a case by a client of its own.
func (w *world) call(c *testCase, rt http.RoundTripper) (any, error) {
	w.t.Helper()
	sandboxKey, liveKey := w.sandboxKey, w.liveKey
	if c.mistyped {
		sandboxKey, liveKey = "pk_test_mistyped", "pk_live_mistyped"
	}
	if c.change != nil {
		rt = changed{rt, func(r *http.Request) { c.change(w, r) }}
	}
	client := w.client(rt, sandboxKey, liveKey)
	defer func() {
		if err := client.Close(); err != nil { // some cases end in doubt
			require.ErrorAs(w.t, err, new(*trading.PendingError))
		}
	}()
	var opts []trading.CallOption
	if c.key != "" {
		opts = append(opts, trading.WithIdempotencyKey(c.key))
	}
	return c.call(context.Background(), w, client, opts...)
}

// do makes a call that prepares a case. It must go well.
func (w *world) do(call func(context.Context, *trading.Client) error) {
	w.t.Helper()
	client := w.client(w.base, w.sandboxKey, w.liveKey)
	defer func() { require.NoError(w.t, client.Close()) }()
	require.NoError(w.t, call(context.Background(), client))
}

// send sends a request as plain HTTP, whatever becomes of it.
func (w *world) send(op *operation, body string, header ...string) {
	w.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), op.method, w.baseURL+op.path, bytes.NewReader([]byte(body)))
	require.NoError(w.t, err)
	key := w.liveKey
	if op.env == trading.EnvSandbox {
		key = w.sandboxKey
	}
	req.Header.Set("X-API-Key", key)
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := w.base.RoundTrip(req)
	require.NoError(w.t, err)
	require.NoError(w.t, resp.Body.Close())
}

// buy opens a position on the paper account.
func (w *world) buy(size string) {
	w.t.Helper()
	w.do(func(ctx context.Context, c *trading.Client) error {
		return rig.Only(c.Sandbox.PlaceOrder(ctx, anOrder(func(o *trading.Order) { o.Size = dec(size) })))
	})
	w.move()
}

// move moves the market, so that mark and entry, balance and equity are not the
// same numbers and cannot be taken for each other unseen.
func (w *world) move() {
	if w.sim != nil {
		w.sim.SetMark("BTC", "64150")
	}
}

// protect sets both levels of the position that buy has opened, if the price is
// one that the levels are made for.
func (w *world) protect() {
	w.t.Helper()
	if w.sim == nil {
		return
	}
	w.do(func(ctx context.Context, c *trading.Client) error {
		return rig.Only(c.Sandbox.SetTPSL(ctx, "BTC", trading.TPSL{TakeProfit: at("70000"), StopLoss: at("60000")}))
	})
}

// closes closes the paper position.
func (w *world) closes() {
	w.t.Helper()
	w.do(func(ctx context.Context, c *trading.Client) error {
		return rig.Only(c.Sandbox.ClosePosition(ctx, "BTC", trading.All))
	})
}

// look reads the paper account, which fires triggers.
func (w *world) look() {
	w.t.Helper()
	w.do(func(ctx context.Context, c *trading.Client) error { return rig.Only(c.Sandbox.State(ctx)) })
}

// live prepares a case on the live account.
func (w *world) live(call func(context.Context, *trading.Account) error) {
	w.t.Helper()
	w.do(func(ctx context.Context, c *trading.Client) error { return call(ctx, c.Live.Account(w.account)) })
}

// hold opens a live position.
func (w *world) hold() {
	w.t.Helper()
	w.live(func(ctx context.Context, a *trading.Account) error { return rig.Only(a.PlaceOrder(ctx, anOrder())) })
	w.move()
}

// rest leaves a limit to rest.
func (w *world) rest() {
	w.t.Helper()
	w.live(func(ctx context.Context, a *trading.Account) error {
		result, err := a.PlaceLimit(ctx, anOrder(limited("60000")))
		if err == nil {
			w.order = result.Order.ID
		}
		return err
	})
}

// start starts a TWAP.
func (w *world) start() {
	w.t.Helper()
	w.live(func(ctx context.Context, a *trading.Account) error {
		result, err := a.PlacePro(ctx, anOrder(), trading.TWAP{Duration: time.Hour})
		if err == nil {
			w.run = result.ID
		}
		return err
	})
}

// anOrder is an order that a fresh account takes, at whatever price.
func anOrder(change ...func(*trading.Order)) trading.Order {
	o := trading.Order{Symbol: "BTC", Side: trading.Long, Size: dec("0.05"), Leverage: dec("2")}
	for _, c := range change {
		c(&o)
	}
	return o
}

func limited(price string) func(*trading.Order) {
	return func(o *trading.Order) { o.Type, o.LimitPrice = trading.LimitOrder, at(price) }
}

// changed changes requests on their way, so that the service sees what the
// client would not send.
type changed struct {
	next   http.RoundTripper
	change func(*http.Request)
}

func (c changed) RoundTrip(req *http.Request) (*http.Response, error) {
	other := req.Clone(req.Context())
	if req.Body != nil {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		other.Body = io.NopCloser(bytes.NewReader(body))
	}
	c.change(other)
	return c.next.RoundTrip(other)
}

// text replaces the body.
func text(body string) func(*world, *http.Request) {
	return func(_ *world, r *http.Request) { replaceBody(r, []byte(body)) }
}

// member sets a member of the body, or takes it out where value is "".
func member(name, value string) func(*world, *http.Request) {
	return func(w *world, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		require.NoError(w.t, err)
		members := map[string]json.RawMessage{}
		require.NoError(w.t, json.Unmarshal(body, &members))
		members[name] = json.RawMessage(value)
		if value == "" {
			delete(members, name)
		}
		body, err = json.Marshal(members)
		require.NoError(w.t, err)
		replaceBody(r, body)
	}
}

func replaceBody(r *http.Request, body []byte) {
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
}

// reset begins anew on the paper account.
func (w *world) reset() {
	w.t.Helper()
	w.do(func(ctx context.Context, c *trading.Client) error { return rig.Only(c.Sandbox.Reset(ctx)) })
}
