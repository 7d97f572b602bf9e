package rig

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

// Acc is the rig's live account.
const Acc = trading.AccountID("acc_1")

// Sole declares that nobody else trades the account.
var Sole = trading.WithExclusiveAccounts(Acc)

// Account is the rig's live account.
func (r Rig) Account(opts ...trading.CallOption) *trading.Account {
	return r.Live.Account(Acc, opts...)
}

// RawLive sends a request with the live key as plain HTTP.
func (r Rig) RawLive(op trading.Operation, body string) RawAnswer {
	r.T.Helper()
	return r.RawAs(r.Sim.LiveKey(), op, body)
}

// Open places a live order that must go well.
func (r Rig) Open(o trading.Order, opts ...trading.CallOption) *trading.OrderResult {
	r.T.Helper()
	result, err := r.Account().PlaceOrder(r.T.Context(), o, opts...)
	require.NoError(r.T, err)
	return result
}

// Date has the client know the service's time, by an answer to a request with its key.
func (r Rig) Date() {
	r.T.Helper()
	_, err := r.Account().State(r.T.Context())
	require.NoError(r.T, err)
}

// ReadAll reads what a baseline consists of, a Pro order's included, behind the
// lag of whatever was written before.
func (r Rig) ReadAll() {
	r.T.Helper()
	time.Sleep(6 * time.Second)
	ctx, account := r.T.Context(), r.Account()
	_, err := account.State(ctx)
	require.NoError(r.T, err)
	_, err = account.Positions(ctx)
	require.NoError(r.T, err)
	_, err = account.Trades(ctx)
	require.NoError(r.T, err)
	_, err = account.OpenOrders(ctx)
	require.NoError(r.T, err)
	_, err = account.FinishedRuns(ctx)
	require.NoError(r.T, err)
}

// Doubtful places an order whose outcome is Unknown, and whose bytes go once.
func (r Rig) Doubtful(f tradingsim.Fault, o trading.Order, opts ...trading.CallOption) error {
	r.T.Helper()
	return r.Lost(f, o, append(opts, trading.WithSendTTL(0))...)
}

// Lost is Doubtful for an order that the client may still ask the stored answer of, by its bytes.
func (r Rig) Lost(f tradingsim.Fault, o trading.Order, opts ...trading.CallOption) error {
	r.T.Helper()
	r.Sim.Fault("POST /orders", f)
	result, err := r.Account().PlaceOrder(r.T.Context(), o, append(opts, InDoubt...)...)
	require.Nil(r.T, result)
	require.Equal(r.T, trading.Unknown, trading.OutcomeOf(err), "%v", err)
	return err
}

// Ran counts how often the service has executed a write with the key of the API.
func (r Rig) Ran(op trading.Operation) int { return Ran(r.Sim, string(op)) }

// Ran is Rig.Ran of a simulation.
func Ran(sim *tradingsim.Sim, operation string) (n int) {
	for _, e := range sim.Ledger() {
		if e.Actor == "api" && e.Operation == operation {
			n++
		}
	}
	return n
}

// KeysOf are the idempotency keys that an operation was sent under, in order.
func (r Rig) KeysOf(op trading.Operation) (keys []string) {
	for _, request := range r.Sim.Requests() {
		if request.Operation == string(op) {
			keys = append(keys, request.Header.Get("Idempotency-Key"))
		}
	}
	return keys
}

// BodiesOf are the bodies that an operation was sent with, in order.
func (r Rig) BodiesOf(op trading.Operation) (bodies []string) {
	for _, request := range r.Sim.Requests() {
		if request.Operation == string(op) {
			bodies = append(bodies, string(request.Body))
		}
	}
	return bodies
}

// Resolved resolves an error, within an hour.
func (r Rig) Resolved(err error) (*trading.Resolution, error) {
	r.T.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	resolution, resolveErr := r.Account().Resolve(ctx, err)
	if resolution == nil {
		assert.Error(r.T, resolveErr)
		return resolution, resolveErr
	}
	assert.Equal(r.T, resolution.Outcome == trading.Unknown, resolveErr != nil, "the error is nil exactly if it is known")
	return resolution, resolveErr
}

// LiveTest runs a test on virtual time with a simulation and a client of it.
func LiveTest(t *testing.T, sim []tradingsim.Option, opts []trading.Option, test func(Rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(New(t, sim, opts...)) })
}

// DiskTest is LiveTest with a journal that outlives the client.
func DiskTest(t *testing.T, opts []trading.Option, test func(Rig, *Disk)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := NewDisk()
		test(New(t, nil, append(opts, trading.WithJournal(d.Open()))...), d)
	})
}

// NewSim is a simulation with BTC at 64000.
func NewSim(opts ...tradingsim.Option) *tradingsim.Sim {
	return tradingsim.New(append([]tradingsim.Option{tradingsim.WithMark("BTC", "64000")}, opts...)...)
}
