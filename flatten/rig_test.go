package flatten_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/flatten"
	"github.com/tradingapi/trading-go/tradingsim"
)

// rig is a simulated service and a client of it, in a bubble of virtual time.
type rig struct {
	*trading.Client
	t       testing.TB
	sim     *tradingsim.Sim
	account *trading.Account
}

func newRig(t testing.TB, simOpts []tradingsim.Option, opts ...trading.Option) rig {
	t.Helper()
	return join(t, tradingsim.New(simOpts...), opts...)
}

// join makes a client of a simulation; options win over what it sets.
func join(t testing.TB, sim *tradingsim.Sim, opts ...trading.Option) rig {
	t.Helper()
	client, err := trading.New(sim.URL(), append([]trading.Option{
		trading.WithSandboxKey(sim.SandboxKey()),
		trading.WithLiveKey(sim.LiveKey()),
		trading.WithTransport(sim.Transport()),
	}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return rig{client, t, sim, client.Live.Account("acc_1")}
}

// inBubble runs a test on a service and a client without options, in a bubble of virtual time.
func inBubble(t *testing.T, test func(t *testing.T, r rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newRig(t, nil)) })
}

func order(side trading.Side, size, symbol string) trading.Order {
	return trading.Order{Symbol: symbol, Side: side, Size: trading.Dec(size), Leverage: trading.Dec("2")}
}

func limit(side trading.Side, size, symbol, price string) trading.Order {
	o := order(side, size, symbol)
	o.LimitPrice = trading.At(trading.Dec(price))
	return o
}

// open opens a live position.
func (r rig) open(side trading.Side, size, symbol string) {
	r.t.Helper()
	_, err := r.account.PlaceOrder(r.t.Context(), order(side, size, symbol))
	require.NoError(r.t, err)
}

// rest leaves a limit order.
func (r rig) rest(side trading.Side, size, symbol, price string) trading.OrderID {
	r.t.Helper()
	placed, err := r.account.PlaceLimit(r.t.Context(), limit(side, size, symbol, price))
	require.NoError(r.t, err)
	return placed.Order.ID
}

// slice begins a run that buys for an hour.
func (r rig) slice(size, symbol string) trading.RunID {
	r.t.Helper()
	run, err := r.account.PlacePro(r.t.Context(), order(trading.Long, size, symbol), trading.TWAP{Duration: time.Hour})
	require.NoError(r.t, err)
	return run.ID
}

// flatten flattens the account within a time.
func (r rig) flatten(within time.Duration, o flatten.Options) (*flatten.Report, error) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), within)
	defer cancel()
	report, err := flatten.Account(ctx, r.account, o)
	r.consistent(report, err, o)
	return report, err
}

// consistent is what holds of every report.
func (r rig) consistent(report *flatten.Report, err error, o flatten.Options) {
	r.t.Helper()
	require.NotNil(r.t, report)
	require.Equal(r.t, err == nil, report.Flat)
	require.NotEmpty(r.t, report.String())
	require.False(r.t, report.Ended.Before(report.Began))
	first, second, proven := report.Proof()
	require.Equal(r.t, report.Flat, proven)
	if !proven {
		require.ErrorIs(r.t, err, flatten.ErrNotFlat)
		return
	}
	interval := o.ProofInterval
	if interval == 0 {
		interval = flatten.DefaultProofInterval
	}
	require.True(r.t, first.Empty() && second.Empty())
	require.GreaterOrEqual(r.t, second.Began.Sub(first.Ended), interval)
	for _, s := range report.Steps { // no write between the two looks, nor after
		require.True(r.t, s.Do == flatten.Read || s.At.Before(first.Began) || s.At.Equal(first.Began), "%s", s)
	}
}

// holdsNothing asks the simulation itself.
func (r rig) holdsNothing(account string, symbols ...string) {
	r.t.Helper()
	for _, symbol := range symbols {
		require.Truef(r.t, r.sim.Position(account, symbol).IsZero(), "%s holds %s %s", account, r.sim.Position(account, symbol), symbol)
	}
}

// did lists what was executed, writes and fills, since the n-th execution.
func (r rig) did(since int) (operations []string) {
	for _, e := range r.sim.Ledger()[since:] {
		operations = append(operations, e.Operation+" "+e.Symbol)
	}
	return operations
}

// wrote counts the requests of an operation that arrived.
func (r rig) wrote(op trading.Operation) int { return r.sim.Report().Requests[string(op)] }

// reworded is a service whose reads of a path say something else.
type reworded struct {
	http.RoundTripper
	path   string // the end of it
	reword func(body []byte) []byte
}

func (s reworded) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := s.RoundTripper.RoundTrip(r)
	if err != nil || r.Method != http.MethodGet || !strings.HasSuffix(r.URL.Path, s.path) || response.StatusCode != http.StatusOK {
		return response, err
	}
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil {
		return nil, err
	}
	body = s.reword(body)
	response.Body = io.NopCloser(bytes.NewReader(body))
	response.ContentLength = int64(len(body))
	response.Header.Del("Content-Length")
	return response, nil
}

// idsAlone is a service whose records of limits and runs show their ids and no
// more, which is all that the contract shows.
func idsAlone(next http.RoundTripper) http.RoundTripper {
	return reworded{next, "/orders", func(body []byte) []byte {
		var lists map[string][]map[string]json.RawMessage
		if json.Unmarshal(body, &lists) != nil {
			return body
		}
		for _, list := range lists {
			for _, row := range list {
				maps.DeleteFunc(row, func(member string, _ json.RawMessage) bool { return member != "id" && member != "runId" })
			}
		}
		body, _ = json.Marshal(lists)
		return body
	}}
}
