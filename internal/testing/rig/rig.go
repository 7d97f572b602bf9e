package rig

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

// Rig is a simulated service and a client of it, joined in process.
type Rig struct {
	*trading.Client
	*Witness
	T   testing.TB
	Sim *tradingsim.Sim
}

// New joins a client to a simulation, which by default has BTC at 64000 among
// others.
func New(t testing.TB, simOpts []tradingsim.Option, opts ...trading.Option) Rig {
	t.Helper()
	return Join(t, tradingsim.New(simOpts...), opts...)
}

// Join makes another client of a simulation; options win over what it sets.
func Join(t testing.TB, sim *tradingsim.Sim, opts ...trading.Option) Rig {
	t.Helper()
	w, heard := Hears(t, sim)
	return Rig{ClientOf(t, sim, append(opts, heard)...), w, t, sim}
}

// ClientOf is tradingtest.Client without a journal, whose reads many tests would count.
func ClientOf(t testing.TB, sim *tradingsim.Sim, opts ...trading.Option) *trading.Client {
	t.Helper()
	client, err := trading.New(sim.URL(), append([]trading.Option{
		trading.WithSandboxKey(sim.SandboxKey()), trading.WithLiveKey(sim.LiveKey()), trading.WithTransport(sim.Transport()),
	}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(func() { CloseClient(t, client) })
	return client
}

// CloseClient closes a client that may leave writes in doubt.
func CloseClient(t testing.TB, client *trading.Client) {
	t.Helper()
	if err, left := client.Close(), (*trading.PendingError)(nil); !errors.As(err, &left) {
		require.NoError(t, err)
	}
}

// Buy is a market order that any rig fills.
func Buy(size string, change ...func(*trading.Order)) trading.Order {
	o := trading.Order{Symbol: "BTC", Side: trading.Long, Size: Dec(size), Leverage: Dec("2")}
	for _, c := range change {
		c(&o)
	}
	return o
}

// Sell is Buy on the short side.
func Sell(size string, change ...func(*trading.Order)) trading.Order {
	o := Buy(size, change...)
	o.Side = trading.Short
	return o
}

// Place places an order that must go well.
func (r Rig) Place(o trading.Order) *trading.OrderResult {
	r.T.Helper()
	result, err := r.Sandbox.PlaceOrder(r.T.Context(), o)
	require.NoError(r.T, err)
	return result
}

// Refused places an order that must not.
func (r Rig) Refused(o trading.Order) error {
	r.T.Helper()
	result, err := r.Sandbox.PlaceOrder(r.T.Context(), o)
	require.Error(r.T, err)
	require.Nil(r.T, result)
	return err
}

// State reads the paper account.
func (r Rig) State() *trading.AccountState {
	r.T.Helper()
	state, err := r.Sandbox.State(r.T.Context())
	require.NoError(r.T, err)
	return state
}

// Positions reads those of the paper account.
func (r Rig) Positions() trading.Positions {
	r.T.Helper()
	positions, err := r.Sandbox.Positions(r.T.Context())
	require.NoError(r.T, err)
	return positions
}

// Trades reads those of the paper account.
func (r Rig) Trades() []trading.Trade {
	r.T.Helper()
	trades, err := r.Sandbox.Trades(r.T.Context())
	require.NoError(r.T, err)
	return trades
}

// ReadPaper reads what a baseline of the paper account consists of, behind the lag of whatever was
// written before.
func (r Rig) ReadPaper() {
	r.T.Helper()
	time.Sleep(10 * time.Second)
	r.State()
	r.Positions()
	r.Trades()
}

// Fills are the executions that traded.
func (r Rig) Fills() []tradingsim.Execution {
	var fills []tradingsim.Execution
	for _, e := range r.Sim.Ledger() {
		if e.Filled {
			fills = append(fills, e)
		}
	}
	return fills
}

// Sent counts the requests of an operation that reached the service.
func (r Rig) Sent(op trading.Operation) int { return r.Sim.Report().Requests[string(op)] }

// RawAnswer is an answer to a request that no client stood behind.
type RawAnswer struct {
	Status  int
	Code    trading.Code // of a refusal
	Message string
	Body    map[string]json.RawMessage
}

// Raw sends a request with the sandbox key as plain HTTP: what the service says
// to it without a client in between.
func (r Rig) Raw(op trading.Operation, body string) RawAnswer {
	r.T.Helper()
	return r.RawAs(r.Sim.SandboxKey(), op, body)
}

// RawAs sends a request with a key as plain HTTP; with none where the key is empty.
func (r Rig) RawAs(key string, op trading.Operation, body string) RawAnswer {
	r.T.Helper()
	method, path, _ := strings.Cut(string(op), " ")
	req, err := http.NewRequestWithContext(context.Background(), method, r.Sim.URL()+path, strings.NewReader(body))
	require.NoError(r.T, err)
	if key != "" {
		req.Header.Set("X-API-Key", key)
	}
	resp, err := r.Sim.Transport().RoundTrip(req)
	require.NoError(r.T, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(r.T, err)
	a := RawAnswer{Status: resp.StatusCode}
	require.NoError(r.T, json.Unmarshal(text, &a.Body))
	if code, ok := a.Body["error"]; ok {
		require.NoError(r.T, json.Unmarshal(code, &a.Code))
		require.NoError(r.T, json.Unmarshal(a.Body["message"], &a.Message))
	}
	return a
}

// InFront changes requests on their way, as a broken proxy would. The question
// of the health gate passes unchanged.
type InFront struct {
	Next   http.RoundTripper
	Change func(*http.Request)
}

// RoundTrip changes a request and passes it on.
func (f InFront) RoundTrip(req *http.Request) (*http.Response, error) {
	if strings.HasSuffix(req.URL.Path, "/health") {
		return f.Next.RoundTrip(req)
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	changed := req.Clone(req.Context())
	changed.Body = io.NopCloser(bytes.NewReader(body))
	f.Change(changed)
	return f.Next.RoundTrip(changed)
}

// WithBody replaces the body of every write.
func WithBody(sim *tradingsim.Sim, body string) trading.Option {
	return trading.WithTransport(InFront{sim.Transport(), func(req *http.Request) {
		req.Body, req.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	}})
}

// Dec is a number.
func Dec(text string) decimal.Decimal { return trading.Dec(text) }

// At is a level at a price.
func At(text string) trading.Level { return trading.At(Dec(text)) }

// EqualDec compares numbers and not their digits.
func EqualDec(t testing.TB, want string, got decimal.Decimal, what ...any) {
	t.Helper()
	if !got.Equal(Dec(want)) {
		t.Errorf("want %s, got %s %v", want, got, what)
	}
}

// EqualOpt wants a value, or none where want is "none".
func EqualOpt(t testing.TB, want string, got trading.Opt[decimal.Decimal], what ...any) {
	t.Helper()
	if got.String() != want {
		t.Errorf("want %s, got %s %v", want, got, what)
	}
}

// RefusalOf returns the refusal inside an error.
func RefusalOf(t testing.TB, err error) *trading.Error {
	t.Helper()
	var refusal *trading.Error
	require.True(t, errors.As(err, &refusal), "no refusal: %v", err)
	return refusal
}

// Only is the error of a call.
func Only[T any](_ T, err error) error { return err }

// Must is a value that has to be there.
func Must[T any](v T, ok bool) T {
	if !ok {
		panic("there is none")
	}
	return v
}

// Exits are so many closes that go out at once.
func (r Rig) Exits(n int) {
	r.T.Helper()
	began := time.Now()
	for range n {
		_, err := r.Account().ClosePosition(r.T.Context(), "BTC", trading.All, trading.FailFast())
		require.ErrorIs(r.T, err, trading.CodeNoPosition)
	}
	require.Zero(r.T, time.Since(began))
}
