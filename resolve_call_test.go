package trading_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

// once sends a call once, whatever comes of it.
var once = trading.WithRetry(trading.Retry{Attempts: 1})

// pendingIDs are the writes that a client lists.
func (r rig) pendingIDs() (ids []trading.IntentID) {
	r.t.Helper()
	pending, err := r.Pending(r.t.Context())
	require.NoError(r.t, err)
	for _, w := range pending {
		ids = append(ids, w.ID)
	}
	return ids
}

// The example of Resolve reaches Unknown, and waits for the outcome.
func TestExampleAccountResolve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		ExampleAccount_Resolve()
		require.GreaterOrEqual(t, time.Since(began), 5*time.Second)
	})
}

// intentOf is the write that an error is of.
func intentOf(t testing.TB, err error) trading.IntentID {
	t.Helper()
	write := (*trading.WriteError)(nil)
	require.ErrorAs(t, err, &write)
	require.NotEmpty(t, write.Intent)
	return write.Intent
}

// A reply that is lost while the caller waits: the call returns the order's own fill
// and a nil error, marked as replayed and with its age. While the send TTL lasts one
// resend has it; after it the client asks.
func TestALostReplyReturnsTheFill(t *testing.T) {
	for name, row := range map[string]struct {
		opts   []trading.CallOption
		within time.Duration
	}{
		"while the send TTL lasts": {nil, time.Second},
		"after it":                 {[]trading.CallOption{once}, 8 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			liveTest(t, nil, nil, func(r rig) {
				r.sim.Fault("POST /orders", tradingsim.DropResponse())
				began := time.Now()
				var meta trading.Meta
				result, err := r.account().PlaceOrder(r.t.Context(), buy("0.05"), append(row.opts, trading.ResponseInto(&meta))...)
				require.NoError(r.t, err)
				took := time.Since(began)
				assert.LessOrEqual(r.t, took, row.within)
				equalDec(r.t, "64000", result.Fill.Price)
				assert.True(r.t, result.Meta.Replayed)
				assert.Equal(r.t, took, result.Meta.ResolvedAfter)
				assert.True(r.t, meta.Replayed)
				assert.Equal(r.t, 1, r.ran(trading.OpOrder))
				assert.Empty(r.t, r.pendingIDs())
				r.open(buy("0.05")) // and the market is open
			})
		})
	}
}

// A caller who leaves in mid-flight gets Unknown at once. The background finds out what
// became of the write; until then entries in its market are refused, with its id, and
// exits and other markets pass. T103: leaving is not cancelling.
func TestTrap_T103_ACallerWhoLeavesIsToldLater(t *testing.T) {
	for name, fault := range map[string]tradingsim.Fault{
		"executed":      tradingsim.DelayResponse(2 * time.Second),
		"never arrived": tradingsim.DropRequest(),
	} {
		t.Run(name, func(t *testing.T) {
			liveTest(t, []tradingsim.Option{tradingsim.WithMark("ETH", "3200"), tradingsim.WithMark("BTC", "64000")}, nil, func(r rig) {
				resolved := make(chan trading.Resolution, 1)
				r = join(r.t, r.sim, trading.WithHooks(trading.Hooks{Resolved: func(_ context.Context, r trading.Resolution) { resolved <- r }}))
				r.sim.Trade("acc_1", "long", "0.2", "BTC")
				r.readAll()
				r.readAll() // a position, seen twice
				r.sim.Fault("POST /orders", fault)
				ctx, cancel := context.WithTimeout(r.t.Context(), time.Second)
				defer cancel()
				began := time.Now()
				_, lost := r.account().PlaceOrder(ctx, buy("0.05"), once, trading.WithAttemptTimeout(5*time.Second))
				if name == "executed" {
					assert.Equal(r.t, time.Second, time.Since(began))
					require.ErrorIs(r.t, lost, context.DeadlineExceeded)
				}
				require.Equal(r.t, trading.Unknown, trading.OutcomeOf(lost))
				id := intentOf(r.t, lost)
				assert.Equal(r.t, []trading.IntentID{id}, r.pendingIDs())

				_, err := r.account().PlaceOrder(r.t.Context(), buy("0.05"))
				require.ErrorIs(r.t, err, trading.ErrPendingWrite)
				pending := (*trading.PendingError)(nil)
				require.ErrorAs(r.t, err, &pending)
				assert.Equal(r.t, []trading.IntentID{id}, pending.IDs)
				assert.Equal(r.t, trading.NotApplied, trading.OutcomeOf(err))
				_, err = r.account().PlaceOrder(r.t.Context(), buy("1", func(o *trading.Order) { o.Symbol = "ETH" }))
				require.NoError(r.t, err, "another market")
				_, err = r.account().ClosePosition(r.t.Context(), "BTC", trading.Percent(dec("10")))
				require.NoError(r.t, err, "an exit")

				found := <-resolved
				assert.Equal(r.t, id, found.Intent.ID)
				assert.Equal(r.t, name == "executed", found.Outcome == trading.Applied, "%s", found.Outcome)
				assert.NotEqual(r.t, trading.Unknown, found.Outcome)
				assert.Empty(r.t, r.pendingIDs())
				result := trading.OrderResult{}
				if name == "executed" {
					assert.Equal(r.t, trading.EvidenceReplay, found.Evidence)
					require.NoError(r.t, found.Into(&result))
					equalDec(r.t, "64000", result.Fill.Price)
				}
				r.open(buy("0.05"))
			})
		})
	}
}

// A resolve timeout of 0 does not wait.
func TestAResolveTimeoutOf0(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		r.sim.Fault("POST /orders", tradingsim.DropResponse())
		began := time.Now()
		_, err := r.account().PlaceOrder(r.t.Context(), buy("0.05"), once, trading.WithResolveTimeout(0))
		assert.Zero(r.t, time.Since(began))
		require.Equal(r.t, trading.Unknown, trading.OutcomeOf(err))
		resolution, err := r.resolve(err)
		require.NoError(r.t, err)
		assert.Equal(r.t, trading.Applied, resolution.Outcome)
	})
}

// A call waits for the outcome as long as it is told to, entries longer than exits.
func TestResolveTimeouts(t *testing.T) {
	for name, row := range map[string]struct {
		call func(rig, ...trading.CallOption) error
		opts []trading.CallOption
		want time.Duration
	}{
		"an entry": {entryCall, nil, 30 * time.Second},
		"an exit":  {exitCall, nil, 5 * time.Second},
		"its own":  {entryCall, []trading.CallOption{trading.WithResolveTimeout(time.Minute)}, time.Minute},
	} {
		liveTest(t, nil, nil, func(r rig) {
			r.open(buy("0.1"))
			r.sim.FaultEach(func(op string) tradingsim.Fault {
				if op == string(trading.OpHealth) {
					return nil
				}
				return tradingsim.GatewayError(502)
			})
			began := time.Now()
			err := row.call(r, append(row.opts, once)...)
			assert.Equal(r.t, trading.Unknown, trading.OutcomeOf(err), name)
			require.ErrorIs(r.t, err, trading.ErrUndetermined)
			edge := (*trading.GatewayError)(nil)
			require.ErrorAs(r.t, err, &edge, "why it is in doubt stays in the error")
			assert.Equal(r.t, row.want, time.Since(began), name)
		})
	}
}

// A send TTL of 0 sends once, and the bytes never go again: not to ask either.
func TestASendTTLOf0SendsOnce(t *testing.T) {
	for name, opts := range map[string][]trading.CallOption{
		"a send TTL of 0": {trading.WithSendTTL(0)},
	} {
		liveTest(t, nil, []trading.Option{sole}, func(r rig) {
			r.readAll()
			r.sim.Fault("POST /orders", tradingsim.DropResponse())
			_, err := r.account().PlaceOrder(r.t.Context(), buy("0.05"), opts...)
			require.Equal(r.t, trading.Unknown, trading.OutcomeOf(err), name)
			resolution, err := r.resolve(err)
			require.NoError(r.t, err)
			assert.Equal(r.t, trading.Applied, resolution.Outcome)
			assert.Equal(r.t, trading.EvidenceAccounting, resolution.Evidence)
			assert.Equal(r.t, 1, r.sent(trading.OpOrder))
		})
	}
}

// Without the probe the bytes do not go again once the sending is over.
func TestWithoutProbe(t *testing.T) {
	liveTest(t, nil, []trading.Option{sole, trading.WithoutProbe()}, func(r rig) {
		r.readAll()
		r.sim.Fault("POST /orders", tradingsim.DropResponse())
		_, err := r.account().PlaceOrder(r.t.Context(), buy("0.05"), once)
		require.Equal(r.t, trading.Unknown, trading.OutcomeOf(err))
		resolution, err := r.resolve(err)
		require.NoError(r.t, err)
		assert.Equal(r.t, trading.Applied, resolution.Outcome)
		assert.Equal(r.t, 1, r.sent(trading.OpOrder))
	})
}

// Without a background nothing is found out unless somebody waits.
func TestWithoutBackground(t *testing.T) {
	liveTest(t, nil, []trading.Option{trading.WithoutBackground()}, func(r rig) {
		lost := r.doubtful(tradingsim.DropRequest(), buy("0.05"))
		before := len(r.sim.Requests())
		time.Sleep(time.Hour)
		assert.Len(r.t, r.sim.Requests(), before)
		assert.Len(r.t, r.pendingIDs(), 1)
		resolution, err := r.resolve(lost)
		require.NoError(r.t, err)
		assert.Equal(r.t, trading.NotApplied, resolution.Outcome)

		// The call itself is somebody who waits.
		r.sim.Fault("POST /orders", tradingsim.DropResponse())
		result, err := r.account().PlaceOrder(r.t.Context(), buy("0.05"), once)
		require.NoError(r.t, err)
		assert.True(r.t, result.Meta.Replayed)
	})
}

// A write is resolved by its error, and by its id; the answer is kept for who asks later.
func TestResolveByErrorAndByID(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		lost := r.doubtful(tradingsim.DropRequest(), buy("0.05"))
		byError, err := r.Resolve(r.t.Context(), lost)
		require.NoError(r.t, err)
		byID, err := r.ResolveID(r.t.Context(), intentOf(r.t, lost))
		require.NoError(r.t, err)
		assert.Equal(r.t, byError, byID)
		assert.Equal(r.t, trading.NotApplied, byID.Outcome)
		assert.Equal(r.t, trading.EvidenceAccounting, byID.Evidence)
		assert.NotEmpty(r.t, byID.Looks)
		assert.Equal(r.t, "BTC", byID.Intent.Symbol)

		_, err = r.ResolveID(r.t.Context(), "nobody's")
		require.ErrorIs(r.t, err, trading.ErrUndetermined)
		_, err = r.Resolve(r.t.Context(), errors.New("else"))
		require.ErrorContains(r.t, err, "not the error of a write")
	})
}

// A write that ran only when its stored answer was asked for is told with its result.
func TestALateExecutionIsTold(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		// The service says twice that it knows the key, and forgets it: the work never began.
		r.sim.Fault("POST /orders", tradingsim.DropRequest())
		r.sim.Fault("POST /orders/cancel", tradingsim.Fail(422, "idempotency_key_reused"), tradingsim.Fail(422, "idempotency_key_reused"), tradingsim.Fail(422, "idempotency_key_reused"))
		result, err := r.account().PlaceOrder(r.t.Context(), buy("0.05"), once)
		require.NoError(r.t, errWithout(err, trading.ErrLate))
		require.ErrorIs(r.t, err, trading.ErrLate)
		assert.Equal(r.t, trading.Applied, trading.OutcomeOf(err))
		assert.Equal(r.t, 1, r.ran(trading.OpOrder))
		require.NotNil(r.t, result, "the result comes beside the error")
		equalDec(r.t, "64000", result.Fill.Price)
	})
}

// errWithout is nil where an error is the expected one.
func errWithout(err, expected error) error {
	if errors.Is(err, expected) {
		return nil
	}
	return err
}
