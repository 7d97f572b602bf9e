package rig

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

// Reads counts the requests that read the account.
func (r Rig) Reads() (n int) {
	for _, request := range r.Sim.Requests() {
		if strings.HasPrefix(request.Operation, "GET ") && request.Operation != string(trading.OpHealth) {
			n++
		}
	}
	return n
}

// Lose has so many orders lose their answers at once.
func (r Rig) Lose(n int) {
	r.T.Helper()
	r.Sim.Fault("POST /orders", slices.Repeat([]tradingsim.Fault{tradingsim.DropResponse()}, n)...)
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			_, err := r.Account().PlaceOrder(r.T.Context(), Buy("0.01"), append(InDoubt, trading.AllowPending())...)
			assert.Equal(r.T, trading.Unknown, trading.OutcomeOf(err), "%v", err)
		})
	}
	all.Wait()
}

// AskedOf is how many requests of the API named each of the writes in doubt, by key.
func (r Rig) AskedOf() map[string]int {
	asked := map[string]int{}
	for _, request := range r.Sim.Requests() {
		if key := request.Header.Get("Idempotency-Key"); key != "" {
			asked[key]++
		}
	}
	return asked
}

// ExitsPass closes a part of the position every ten seconds until the test's body ends, and wants
// each to go at once.
func (r Rig) ExitsPass(during func()) {
	r.T.Helper()
	done := make(chan struct{})
	var closes sync.WaitGroup
	closes.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(10 * time.Second):
			}
			began := time.Now()
			_, err := r.Account().ClosePosition(r.T.Context(), "BTC", trading.Percent(Dec("1")))
			assert.NoError(r.T, err)
			assert.Zero(r.T, time.Since(began), "an exit waits for nothing")
		}
	})
	during()
	close(done)
	closes.Wait()
}

// CloseLost closes a position, which the service carries out and dies over, so that no
// answer of it is kept.
func (r Rig) CloseLost(opts ...trading.CallOption) error {
	r.T.Helper()
	r.Sim.Fault("POST /positions/close", tradingsim.CrashAfter())
	_, err := r.Account().ClosePosition(r.T.Context(), "BTC", trading.Percent(Dec("100")), append(opts, Once, trading.WithResolveTimeout(0))...)
	require.Equal(r.T, trading.Unknown, trading.OutcomeOf(err), "%v", err)
	return err
}

// Recovered is what becomes of the one write that an earlier run left.
func (r Rig) Recovered() trading.Outcome {
	r.T.Helper()
	found, _ := r.Recover(r.T.Context())
	require.Len(r.T, found, 1)
	return found[0].Outcome
}

// InDoubt sends a write once, and does not wait for what became of it.
var InDoubt = []trading.CallOption{Once, trading.WithResolveTimeout(0)}

// Levels sets the levels of the position.
func (r Rig) Levels(t trading.TPSL, opts ...trading.CallOption) error {
	return Only(r.Account().SetTPSL(r.T.Context(), "BTC", t, opts...))
}

// Both are levels on both sides.
func Both(tp, sl string) trading.TPSL { return trading.TPSL{TakeProfit: At(tp), StopLoss: At(sl)} }

// RequireLevels reads what the position has.
func (r Rig) RequireLevels(tp, sl string) {
	r.T.Helper()
	positions, err := r.Account().Positions(r.T.Context())
	require.NoError(r.T, err)
	p, _ := positions.In("BTC")
	assert.True(r.T, At(tp).Equal(p.TakeProfit), "take-profit %s", p.TakeProfit)
	assert.True(r.T, At(sl).Equal(p.StopLoss), "stop-loss %s", p.StopLoss)
}

// SendingOnly leaves in doubt what sending leaves in doubt.
var SendingOnly = []trading.Option{trading.WithResolveTimeout(0), trading.WithRecovery(trading.Recovery{WithoutBackground: true})}

// EntryCall places an order that opens.
func EntryCall(r Rig, opts ...trading.CallOption) error {
	return Only(r.Account().PlaceOrder(r.T.Context(), Buy("0.05"), opts...))
}

// ExitCall closes the position.
func ExitCall(r Rig, opts ...trading.CallOption) error {
	return Only(r.Account().ClosePosition(r.T.Context(), "BTC", trading.All, opts...))
}

// Breakout names an order in these tests.
var Breakout = trading.WithClientOrderID("breakout 2026-11-20T10:15")

// SharedBreakout is the same id, which another program may have used.
var SharedBreakout = trading.WithClientOrderID("breakout 2026-11-20T10:15", trading.Shared())

// Leave has an earlier run end with an order of acc_1 in doubt.
func (r Rig) Leave(d *Disk) trading.IntentID {
	r.T.Helper()
	r = r.Restart(d)
	r.Date()
	err := r.Lost(tradingsim.DropResponse(), Buy("0.05"))
	CloseClient(r.T, r.Client)
	return IntentOf(r.T, err)
}

// Within resolves an error, waiting for so long.
func (r Rig) Within(d time.Duration, err error) (*trading.Resolution, error) {
	r.T.Helper()
	ctx, cancel := context.WithTimeout(r.T.Context(), d)
	defer cancel()
	resolution, err := r.Resolve(ctx, err)
	require.NotNil(r.T, resolution)
	return resolution, err
}

// Once sends a call once, whatever comes of it.
var Once = trading.WithRetry(trading.Retry{Attempts: 1})

// PendingIDs are the writes that a client lists.
func (r Rig) PendingIDs() (ids []trading.IntentID) {
	r.T.Helper()
	pending, err := r.Pending(r.T.Context())
	require.NoError(r.T, err)
	for _, w := range pending {
		ids = append(ids, w.ID)
	}
	return ids
}

// IntentOf is the write that an error is of.
func IntentOf(t testing.TB, err error) trading.IntentID {
	t.Helper()
	write := (*trading.WriteError)(nil)
	require.ErrorAs(t, err, &write)
	require.NotEmpty(t, write.Intent)
	return write.Intent
}

// LeaveBehind places an order that is at the service for 20 seconds, and whose caller leaves
// after one.
func (r Rig) LeaveBehind(opts ...trading.CallOption) error {
	r.T.Helper()
	r.Sim.Fault("POST /orders", tradingsim.Delay(20*time.Second))
	ctx, cancel := context.WithTimeout(r.T.Context(), time.Second)
	defer cancel()
	_, err := r.Account().PlaceOrder(ctx, Buy("0.05"), opts...)
	require.Equal(r.T, trading.Unknown, trading.OutcomeOf(err), "%v", err)
	return err
}
