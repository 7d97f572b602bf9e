package trading_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

const acc = trading.AccountID("acc_1")

// sole declares that nobody else trades the account.
var sole = trading.WithExclusiveAccounts(acc)

// account is the rig's live account.
func (r rig) account(opts ...trading.CallOption) *trading.Account {
	return r.Live.Account(acc, opts...)
}

// rawLive sends a request with the live key as plain HTTP.
func (r rig) rawLive(op trading.Operation, body string) rawAnswer {
	r.t.Helper()
	return r.rawAs(r.sim.LiveKey(), op, body)
}

// open places a live order that must go well.
func (r rig) open(o trading.Order, opts ...trading.CallOption) *trading.OrderResult {
	r.t.Helper()
	result, err := r.account().PlaceOrder(r.t.Context(), o, opts...)
	require.NoError(r.t, err)
	return result
}

// date has the client know the service's time, by an answer to a request with its key.
func (r rig) date() {
	r.t.Helper()
	_, err := r.account().State(r.t.Context())
	require.NoError(r.t, err)
}

// readAll reads what a baseline consists of, a Pro order's included, behind the
// lag of whatever was written before.
func (r rig) readAll() {
	r.t.Helper()
	time.Sleep(6 * time.Second)
	ctx, account := r.t.Context(), r.account()
	_, err := account.State(ctx)
	require.NoError(r.t, err)
	_, err = account.Positions(ctx)
	require.NoError(r.t, err)
	_, err = account.Trades(ctx)
	require.NoError(r.t, err)
	_, err = account.OpenOrders(ctx)
	require.NoError(r.t, err)
	_, err = account.FinishedRuns(ctx)
	require.NoError(r.t, err)
}

// doubtful places an order whose outcome is Unknown, and sends it once.
func (r rig) doubtful(f tradingsim.Fault, o trading.Order, opts ...trading.CallOption) error {
	r.t.Helper()
	r.sim.Fault("POST /orders", f)
	result, err := r.account().PlaceOrder(r.t.Context(), o, append(opts, trading.WithSendTTL(0), trading.WithResolveTimeout(0))...)
	require.Nil(r.t, result)
	require.Equal(r.t, trading.Unknown, trading.OutcomeOf(err), "%v", err)
	return err
}

// ran counts how often the service has executed a write with the key of the API.
func (r rig) ran(op trading.Operation) (n int) {
	for _, e := range r.sim.Ledger() {
		if e.Actor == "api" && e.Operation == string(op) {
			n++
		}
	}
	return n
}

// keysOf are the idempotency keys that an operation was sent under, in order.
func (r rig) keysOf(op trading.Operation) (keys []string) {
	for _, request := range r.sim.Requests() {
		if request.Operation == string(op) {
			keys = append(keys, request.Header.Get("Idempotency-Key"))
		}
	}
	return keys
}

// bodiesOf are the bodies that an operation was sent with, in order.
func (r rig) bodiesOf(op trading.Operation) (bodies []string) {
	for _, request := range r.sim.Requests() {
		if request.Operation == string(op) {
			bodies = append(bodies, string(request.Body))
		}
	}
	return bodies
}

// resolve resolves an error, within an hour.
func (r rig) resolve(err error) (*trading.Resolution, error) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	resolution, resolveErr := r.account().Resolve(ctx, err)
	if resolution == nil {
		assert.Error(r.t, resolveErr)
		return resolution, resolveErr
	}
	assert.Equal(r.t, resolution.Outcome == trading.Unknown, resolveErr != nil, "the error is nil exactly if it is known")
	return resolution, resolveErr
}

// liveTest runs a test on virtual time with a simulation and a client of it.
func liveTest(t *testing.T, sim []tradingsim.Option, opts []trading.Option, test func(rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(newRig(t, sim, opts...)) })
}
