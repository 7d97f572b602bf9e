package doubt

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

// A reply that is lost while the caller waits: the call returns the order's own fill
// and a nil error, marked as replayed and with its age. While the send TTL lasts one
// resend has it; after it the client asks.
func TestALostReplyReturnsTheFill(t *testing.T) {
	for name, row := range map[string]struct {
		opts   []trading.CallOption
		within time.Duration
	}{
		"while the send TTL lasts": {nil, time.Second},
		"after it":                 {[]trading.CallOption{rig.Once}, 8 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			rig.LiveTest(t, nil, nil, func(r rig.Rig) {
				r.Sim.Fault("POST /orders", tradingsim.DropResponse())
				began := time.Now()
				var meta trading.Meta
				result, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), append(row.opts, trading.ResponseInto(&meta))...)
				require.NoError(r.T, err)
				took := time.Since(began)
				assert.LessOrEqual(r.T, took, row.within)
				rig.EqualDec(r.T, "64000", result.Fill.Price)
				assert.True(r.T, result.Meta.Replayed)
				assert.True(r.T, meta.Replayed)
				assert.Equal(r.T, 1, r.Ran(trading.OpOrder))
				assert.Empty(r.T, r.PendingIDs())
				r.Open(rig.Buy("0.05")) // and the market is open
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
			rig.LiveTest(t, []tradingsim.Option{tradingsim.WithMark("ETH", "3200"), tradingsim.WithMark("BTC", "64000")}, nil, func(r rig.Rig) {
				resolved := make(chan trading.Resolution, 1)
				r = rig.Join(r.T, r.Sim, trading.WithHooks(trading.Hooks{Resolved: func(_ context.Context, r trading.Resolution) { resolved <- r }}))
				r.Sim.Trade("acc_1", "long", "0.2", "BTC")
				r.ReadAll()
				r.ReadAll() // a position, seen twice
				r.Sim.Fault("POST /orders", fault)
				ctx, cancel := context.WithTimeout(r.T.Context(), time.Second)
				defer cancel()
				began := time.Now()
				_, lost := r.Account().PlaceOrder(ctx, rig.Buy("0.05"), rig.Once, trading.WithAttemptTimeout(5*time.Second))
				if name == "executed" {
					assert.Equal(r.T, time.Second, time.Since(began))
					require.ErrorIs(r.T, lost, context.DeadlineExceeded)
				}
				require.Equal(r.T, trading.Unknown, trading.OutcomeOf(lost))
				id := rig.IntentOf(r.T, lost)
				assert.Equal(r.T, []trading.IntentID{id}, r.PendingIDs())

				_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"))
				require.ErrorIs(r.T, err, trading.ErrPendingWrite)
				pending := (*trading.PendingError)(nil)
				require.ErrorAs(r.T, err, &pending)
				assert.Equal(r.T, []trading.IntentID{id}, pending.IDs)
				assert.Equal(r.T, trading.NotApplied, trading.OutcomeOf(err))
				_, err = r.Account().PlaceOrder(r.T.Context(), rig.Buy("1", func(o *trading.Order) { o.Symbol = "ETH" }))
				require.NoError(r.T, err, "another market")
				_, err = r.Account().ClosePosition(r.T.Context(), "BTC", trading.Percent(rig.Dec("10")))
				require.NoError(r.T, err, "an exit")

				found := <-resolved
				assert.Equal(r.T, id, found.Intent.ID)
				assert.Equal(r.T, name == "executed", found.Outcome == trading.Applied, "%s", found.Outcome)
				assert.NotEqual(r.T, trading.Unknown, found.Outcome)
				assert.Empty(r.T, r.PendingIDs())
				result := trading.OrderResult{}
				if name == "executed" {
					assert.Equal(r.T, trading.EvidenceReplay, found.Evidence)
					require.NoError(r.T, found.Into(&result))
					rig.EqualDec(r.T, "64000", result.Fill.Price)
				}
				r.Open(rig.Buy("0.05"))
			})
		})
	}
}

// A resolve timeout of 0 does not wait.
func TestAResolveTimeoutOf0(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		r.Sim.Fault("POST /orders", tradingsim.DropResponse())
		began := time.Now()
		_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), rig.Once, trading.WithResolveTimeout(0))
		assert.Zero(r.T, time.Since(began))
		require.Equal(r.T, trading.Unknown, trading.OutcomeOf(err))
		resolution, err := r.Resolved(err)
		require.NoError(r.T, err)
		assert.Equal(r.T, trading.Applied, resolution.Outcome)
	})
}

// A call waits for the outcome as long as it is told to, entries longer than exits.
func TestResolveTimeouts(t *testing.T) {
	for name, row := range map[string]struct {
		call func(rig.Rig, ...trading.CallOption) error
		opts []trading.CallOption
		want time.Duration
	}{
		"an entry": {rig.EntryCall, nil, 30 * time.Second},
		"an exit":  {rig.ExitCall, nil, 5 * time.Second},
		"its own":  {rig.EntryCall, []trading.CallOption{trading.WithResolveTimeout(time.Minute)}, time.Minute},
	} {
		rig.LiveTest(t, nil, nil, func(r rig.Rig) {
			r.Open(rig.Buy("0.1"))
			r.Sim.FaultEach(func(op string) tradingsim.Fault {
				if op == string(trading.OpHealth) {
					return nil
				}
				return tradingsim.GatewayError(502)
			})
			began := time.Now()
			err := row.call(r, append(row.opts, rig.Once)...)
			assert.Equal(r.T, trading.Unknown, trading.OutcomeOf(err), name)
			require.ErrorIs(r.T, err, trading.ErrUndetermined)
			edge := (*trading.GatewayError)(nil)
			require.ErrorAs(r.T, err, &edge, "why it is in doubt stays in the error")
			assert.Equal(r.T, row.want, time.Since(began), name)
		})
	}
}

// A send TTL of 0 sends once, and the bytes never go again: not to ask either. So do they not
// without the probe, once the sending is over.
func TestTheBytesGoOnce(t *testing.T) {
	for name, row := range map[string]struct {
		of   trading.Option
		call trading.CallOption
	}{
		"a send TTL of 0":   {rig.Sole, trading.WithSendTTL(0)},
		"without the probe": {trading.WithRecovery(trading.Recovery{WithoutProbe: true}), rig.Once},
	} {
		rig.LiveTest(t, nil, []trading.Option{rig.Sole, row.of}, func(r rig.Rig) {
			r.ReadAll()
			r.ReadAll() // what rested was read a while before
			r.Sim.Fault("POST /orders", tradingsim.DropResponse())
			_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), row.call)
			require.Equal(r.T, trading.Unknown, trading.OutcomeOf(err), name)
			resolution, err := r.Resolved(err)
			require.NoError(r.T, err)
			assert.Equal(r.T, trading.Applied, resolution.Outcome)
			assert.Equal(r.T, trading.EvidenceAccounting, resolution.Evidence)
			assert.Equal(r.T, 1, r.Sent(trading.OpOrder))
		})
	}
}

// Without a background nothing is found out unless somebody waits.
func TestWithoutBackground(t *testing.T) {
	rig.LiveTest(t, nil, []trading.Option{trading.WithRecovery(trading.Recovery{WithoutBackground: true})}, func(r rig.Rig) {
		lost := r.Doubtful(tradingsim.DropRequest(), rig.Buy("0.05"))
		before := len(r.Sim.Requests())
		time.Sleep(time.Hour)
		assert.Len(r.T, r.Sim.Requests(), before)
		assert.Len(r.T, r.PendingIDs(), 1)
		resolution, err := r.Resolved(lost)
		require.NoError(r.T, err)
		assert.Equal(r.T, trading.NotApplied, resolution.Outcome)

		// The call itself is somebody who waits.
		r.Sim.Fault("POST /orders", tradingsim.DropResponse())
		result, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), rig.Once)
		require.NoError(r.T, err)
		assert.True(r.T, result.Meta.Replayed)
	})
}

// A write is resolved by its error, and by its id; the answer is kept for who asks later.
func TestResolveByErrorAndByID(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		lost := r.Doubtful(tradingsim.DropRequest(), rig.Buy("0.05"))
		byError, err := r.Resolve(r.T.Context(), lost)
		require.NoError(r.T, err)
		byID, err := r.ResolveID(r.T.Context(), rig.IntentOf(r.T, lost))
		require.NoError(r.T, err)
		assert.Equal(r.T, byError, byID)
		assert.Equal(r.T, trading.NotApplied, byID.Outcome)
		assert.Equal(r.T, trading.EvidenceAccounting, byID.Evidence)
		assert.NotEmpty(r.T, byID.Looks)
		assert.Equal(r.T, "BTC", byID.Intent.Symbol)

		_, err = r.ResolveID(r.T.Context(), "nobody's")
		require.ErrorIs(r.T, err, trading.ErrUndetermined)
		_, err = r.Resolve(r.T.Context(), errors.New("else"))
		require.ErrorContains(r.T, err, "not the error of a write")
	})
}

// A write that ran only when its stored answer was asked for is told with its result.
func TestALateExecutionIsTold(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		// The service says twice that it knows the key, and forgets it: the work never began.
		r.Sim.Fault("POST /orders", tradingsim.DropRequest())
		r.Sim.Fault("POST /orders/cancel", tradingsim.Fail(422, "idempotency_key_reused"), tradingsim.Fail(422, "idempotency_key_reused"), tradingsim.Fail(422, "idempotency_key_reused"))
		result, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), rig.Once)
		require.NoError(r.T, errWithout(err, trading.ErrLate))
		require.ErrorIs(r.T, err, trading.ErrLate)
		assert.Equal(r.T, trading.Applied, trading.OutcomeOf(err))
		assert.Equal(r.T, 1, r.Ran(trading.OpOrder))
		require.NotNil(r.T, result, "the result comes beside the error")
		rig.EqualDec(r.T, "64000", result.Fill.Price)
	})
}

// errWithout is nil where an error is the expected one.
func errWithout(err, expected error) error {
	if errors.Is(err, expected) {
		return nil
	}
	return err
}
