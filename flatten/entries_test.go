package flatten_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/flatten"
	"github.com/tradingapi/trading-go/tradingsim"
)

// late places an entry that is at the service for 20 seconds, and whose caller leaves after one.
func (r rig) late(o trading.Order, opts ...trading.CallOption) error {
	r.t.Helper()
	r.sim.Fault(string(trading.OpOrder), tradingsim.Delay(20*time.Second))
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Second)
	defer cancel()
	_, err := r.account.PlaceOrder(ctx, o, opts...)
	require.Equal(r.t, trading.Unknown, trading.OutcomeOf(err), "%v", err)
	return err
}

// An entry whose outcome is not known may still be executed: nothing is proven before it
// is resolved, and what it was executed to is closed.
func TestAPendingEntryIsWaitedFor(t *testing.T) {
	for name, row := range map[string]struct {
		opts []trading.Option
		o    func(r rig) flatten.Options
	}{
		"halted": {nil, func(r rig) flatten.Options { return flatten.Options{Halt: r.Client} }},
		"halted before": {nil, func(r rig) flatten.Options {
			r.Halt("the desk is closed")
			return flatten.Options{}
		}},
		"not halted":         {nil, func(rig) flatten.Options { return flatten.Options{} }},
		"urgent":             {nil, func(r rig) flatten.Options { return flatten.Options{Halt: r.Client, Urgent: true} }},
		"its market":         {nil, func(r rig) flatten.Options { return flatten.Options{Symbols: []string{"BTC"}} }},
		"without background": {[]trading.Option{trading.WithRecovery(trading.Recovery{WithoutBackground: true})}, func(r rig) flatten.Options { return flatten.Options{Halt: r.Client} }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, nil, append(row.opts, trading.WithExclusiveAccounts("acc_1"))...)
				r.rest(trading.Long, "0.1", "BTC", "60000")
				_ = r.late(order(trading.Long, "0.05", "BTC"))
				began := time.Now()
				report, err := r.flatten(time.Minute, row.o(r))
				require.NoError(t, err)
				assert.Less(t, time.Since(began), 45*time.Second)
				assert.Empty(t, report.Pending)
				r.holdsNothing("acc_1", "BTC")
				time.Sleep(time.Hour)
				r.holdsNothing("acc_1", "BTC")
				assert.Less(t, report.Steps[0].At.Sub(began), time.Second, "what rests is cancelled meanwhile")
				assert.Equal(t, flatten.CancelLimit, report.Steps[0].Do)
			})
		})
	}
}

// What stays pending is named, and nothing is proven.
func TestAnEntryThatStaysPendingIsNamed(t *testing.T) {
	for name, row := range map[string]struct {
		within time.Duration
		is     error
	}{
		"its context ends":          {20 * time.Second, context.DeadlineExceeded},
		"nothing more is found out": {2 * time.Hour, flatten.ErrStuck},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, nil, trading.WithRecovery(trading.Recovery{WithoutProbe: true}))
				unknown := r.late(order(trading.Long, "0.05", "BTC"), trading.WithResolveTimeout(0))
				report, err := r.flatten(row.within, flatten.Options{Halt: r.Client})
				require.ErrorIs(t, err, flatten.ErrNotFlat)
				require.ErrorIs(t, err, row.is)
				left, write := (*trading.PendingError)(nil), (*trading.WriteError)(nil)
				require.ErrorAs(t, unknown, &write)
				require.ErrorAs(t, err, &left)
				assert.Equal(t, []trading.IntentID{write.Intent}, left.IDs)
				require.Len(t, report.Pending, 1)
				assert.Contains(t, report.String(), string(write.Intent))
				r.holdsNothing("acc_1", "BTC")
			})
		})
	}
}

// An entry in another market, on another account, or an exit keeps nothing open.
func TestWhatIsPendingElsewhereIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, accounts())
		_ = r.late(order(trading.Long, "0.05", "BTC"))
		began := time.Now()
		_, err := r.flatten(time.Minute, flatten.Options{Symbols: []string{"ETH"}})
		require.NoError(t, err)
		assert.Less(t, time.Since(began), 10*time.Second)
		_, err = flatten.Account(t.Context(), r.Live.Account("acc_2"), flatten.Options{})
		require.NoError(t, err)
		_, err = flatten.Sandbox(t.Context(), r.Sandbox, flatten.Options{})
		require.NoError(t, err)
		assert.Less(t, time.Since(began), 20*time.Second)
	})
}

// The paper account has no idempotency: an order in doubt there is read, half a minute later.
func TestAPendingPaperOrderIsWaitedFor(t *testing.T) {
	inBubble(t, func(t *testing.T, r rig) {
		r.sim.Fault(string(trading.OpSandboxOrder), tradingsim.Delay(10*time.Second))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := r.Sandbox.PlaceOrder(ctx, order(trading.Long, "0.05", "BTC"))
		require.Equal(t, trading.Unknown, trading.OutcomeOf(err))
		within, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		report, err := flatten.Sandbox(within, r.Sandbox, flatten.Options{Halt: r.Client})
		r.holdsNothing("", "BTC")
		require.ErrorIs(t, err, flatten.ErrStuck, "without a baseline nothing shows whether that was all of it")
		require.ErrorAs(t, err, new(*trading.PendingError))
		assert.False(t, report.Flat)
	})
}
