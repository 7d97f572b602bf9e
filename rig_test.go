package trading_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

// rig is a simulated service and a client of it, joined in process.
type rig struct {
	*trading.Client
	t   testing.TB
	sim *tradingsim.Sim
}

// newRig joins a client to a simulation, which by default has BTC at 64000 among
// others.
func newRig(t testing.TB, simOpts []tradingsim.Option, opts ...trading.Option) rig {
	t.Helper()
	return join(t, tradingsim.New(simOpts...), opts...)
}

// join makes another client of a simulation; options win over what it sets.
func join(t testing.TB, sim *tradingsim.Sim, opts ...trading.Option) rig {
	t.Helper()
	return rig{clientOf(t, sim, opts...), t, sim}
}

// clientOf is tradingtest.Client without a journal, whose reads many tests would count.
func clientOf(t testing.TB, sim *tradingsim.Sim, opts ...trading.Option) *trading.Client {
	t.Helper()
	client, err := trading.New(sim.URL(), append([]trading.Option{
		trading.WithSandboxKey(sim.SandboxKey()), trading.WithLiveKey(sim.LiveKey()), trading.WithTransport(sim.Transport()),
	}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(func() { closeClient(t, client) })
	return client
}

// closeClient closes a client that may leave writes in doubt.
func closeClient(t testing.TB, client *trading.Client) {
	t.Helper()
	if err, left := client.Close(), (*trading.PendingError)(nil); !errors.As(err, &left) {
		require.NoError(t, err)
	}
}

// buy is a market order that any rig fills.
func buy(size string, change ...func(*trading.Order)) trading.Order {
	o := trading.Order{Symbol: "BTC", Side: trading.Long, Size: dec(size), Leverage: dec("2")}
	for _, c := range change {
		c(&o)
	}
	return o
}

func sell(size string, change ...func(*trading.Order)) trading.Order {
	o := buy(size, change...)
	o.Side = trading.Short
	return o
}

// place places an order that must go well.
func (r rig) place(o trading.Order) *trading.OrderResult {
	r.t.Helper()
	result, err := r.Sandbox.PlaceOrder(r.t.Context(), o)
	require.NoError(r.t, err)
	return result
}

// refused places an order that must not.
func (r rig) refused(o trading.Order) error {
	r.t.Helper()
	result, err := r.Sandbox.PlaceOrder(r.t.Context(), o)
	require.Error(r.t, err)
	require.Nil(r.t, result)
	return err
}

func (r rig) state() *trading.AccountState {
	r.t.Helper()
	state, err := r.Sandbox.State(r.t.Context())
	require.NoError(r.t, err)
	return state
}

func (r rig) positions() trading.Positions {
	r.t.Helper()
	positions, err := r.Sandbox.Positions(r.t.Context())
	require.NoError(r.t, err)
	return positions
}

func (r rig) trades() []trading.Trade {
	r.t.Helper()
	trades, err := r.Sandbox.Trades(r.t.Context())
	require.NoError(r.t, err)
	return trades
}

// fills are the executions that traded.
func (r rig) fills() []tradingsim.Execution {
	var fills []tradingsim.Execution
	for _, e := range r.sim.Ledger() {
		if e.Filled {
			fills = append(fills, e)
		}
	}
	return fills
}

// sent counts the requests of an operation that reached the service.
func (r rig) sent(op trading.Operation) (n int) {
	for _, request := range r.sim.Requests() {
		if request.Operation == string(op) {
			n++
		}
	}
	return n
}

// rawAnswer is an answer to a request that no client stood behind.
type rawAnswer struct {
	Status  int
	Code    trading.Code // of a refusal
	Message string
	Body    map[string]json.RawMessage
}

// raw sends a request with the sandbox key as plain HTTP: what the service says
// to it without a client in between.
func (r rig) raw(op trading.Operation, body string) rawAnswer {
	r.t.Helper()
	return r.rawAs(r.sim.SandboxKey(), op, body)
}

func (r rig) rawAs(key string, op trading.Operation, body string) rawAnswer {
	r.t.Helper()
	method, path, _ := strings.Cut(string(op), " ")
	req, err := http.NewRequestWithContext(context.Background(), method, r.sim.URL()+path, strings.NewReader(body))
	require.NoError(r.t, err)
	if key != "" {
		req.Header.Set("X-API-Key", key)
	}
	resp, err := r.sim.Transport().RoundTrip(req)
	require.NoError(r.t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(r.t, err)
	a := rawAnswer{Status: resp.StatusCode}
	require.NoError(r.t, json.Unmarshal(text, &a.Body))
	if code, ok := a.Body["error"]; ok {
		require.NoError(r.t, json.Unmarshal(code, &a.Code))
		require.NoError(r.t, json.Unmarshal(a.Body["message"], &a.Message))
	}
	return a
}

// inFront changes requests on their way, as a broken proxy would. The question
// of the health gate passes unchanged.
type inFront struct {
	next   http.RoundTripper
	change func(*http.Request)
}

func (f inFront) RoundTrip(req *http.Request) (*http.Response, error) {
	if strings.HasSuffix(req.URL.Path, "/health") {
		return f.next.RoundTrip(req)
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	changed := req.Clone(req.Context())
	changed.Body = io.NopCloser(bytes.NewReader(body))
	f.change(changed)
	return f.next.RoundTrip(changed)
}

// withBody replaces the body of every write.
func withBody(sim *tradingsim.Sim, body string) trading.Option {
	return trading.WithTransport(inFront{sim.Transport(), func(req *http.Request) {
		req.Body, req.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	}})
}

func dec(text string) decimal.Decimal { return trading.Dec(text) }

func at(text string) trading.Level { return trading.At(dec(text)) }

// equalDec compares numbers and not their digits.
func equalDec(t testing.TB, want string, got decimal.Decimal, what ...any) {
	t.Helper()
	if !got.Equal(dec(want)) {
		t.Errorf("want %s, got %s %v", want, got, what)
	}
}

// equalOpt wants a value, or none where want is "none".
func equalOpt(t testing.TB, want string, got trading.Opt[decimal.Decimal], what ...any) {
	t.Helper()
	if got.String() != want {
		t.Errorf("want %s, got %s %v", want, got, what)
	}
}

// refusalOf returns the refusal inside an error.
func refusalOf(t testing.TB, err error) *trading.Error {
	t.Helper()
	var refusal *trading.Error
	require.True(t, errors.As(err, &refusal), "no refusal: %v", err)
	return refusal
}
