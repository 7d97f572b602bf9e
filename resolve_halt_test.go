package trading_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

// leaveBehind places an order that is at the service for 20 seconds, and whose caller leaves
// after one.
func (r rig) leaveBehind(opts ...trading.CallOption) error {
	r.t.Helper()
	r.sim.Fault("POST /orders", tradingsim.Delay(20*time.Second))
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Second)
	defer cancel()
	_, err := r.account().PlaceOrder(ctx, buy("0.05"), opts...)
	require.Equal(r.t, trading.Unknown, trading.OutcomeOf(err), "%v", err)
	return err
}

// A halted client places nothing, and the question for a stored answer can: it waits, and
// says why. What can place nothing goes on. After Resume the question goes.
func TestAHaltHoldsTheQuestionForTheStoredAnswerBack(t *testing.T) {
	liveTest(t, nil, []trading.Option{trading.WithExclusiveAccounts("acc_1")}, func(r rig) {
		left := r.leaveBehind()
		began := time.Now()
		r.Halt("the desk is closed")
		ctx, cancel := context.WithTimeout(r.t.Context(), 5*time.Minute)
		defer cancel()
		_, err := r.account().Resolve(ctx, left)
		require.ErrorIs(r.t, err, trading.ErrUndetermined)
		require.ErrorContains(r.t, err, "halted: the desk is closed")
		pending, err := r.account().Pending(r.t.Context())
		require.NoError(r.t, err)
		require.Len(r.t, pending, 1)
		assert.Equal(r.t, "halted: the desk is closed", pending[0].Reason)
		assert.Equal(r.t, 1, r.sent(trading.OpOrder), "no question")
		assert.Positive(r.t, r.sent(trading.OpCancelOrder), "a fence places nothing")

		r.Resume()
		resumed := time.Now()
		resolution, err := r.account().Resolve(r.t.Context(), left)
		require.NoError(r.t, err)
		assert.Equal(r.t, trading.Applied, resolution.Outcome)
		assert.Equal(r.t, trading.EvidenceReplay, resolution.Evidence)
		assert.Less(r.t, time.Since(resumed), 20*time.Second)
		assert.Less(r.t, time.Since(began), 10*time.Minute)
		text := fmt.Sprintf("%v", *resolution)
		assert.Contains(r.t, text, `"symbol":"BTC"`)
		assert.NotContains(r.t, text, "123 34", "a body is not printed as numbers")
	})
}

// The program's own guard has let the order pass, and is not asked when it is resolved.
func TestAGuardIsNotAskedWhenAWriteIsResolved(t *testing.T) {
	asked := 0
	guard := trading.WithGuard(func(context.Context, trading.Write) error {
		if asked++; asked > 1 {
			return errors.New("no more")
		}
		return nil
	})
	liveTest(t, nil, []trading.Option{guard}, func(r rig) {
		resolution, err := r.account().Resolve(r.t.Context(), r.leaveBehind())
		require.NoError(r.t, err)
		assert.Equal(r.t, trading.Applied, resolution.Outcome)
		assert.Equal(r.t, 1, asked)
	})
}

// What an account lists as pending is its own, and what its calls are sending.
func TestPendingOfAnAccount(t *testing.T) {
	options := []tradingsim.Option{
		tradingsim.WithAccount(tradingsim.Account{ID: "acc_1"}), tradingsim.WithAccount(tradingsim.Account{ID: "acc_2"}),
	}
	liveTest(t, options, nil, func(r rig) {
		other := r.Live.Account("acc_2")
		r.sim.Fault("POST /orders", tradingsim.Delay(2*time.Second))
		done := make(chan error)
		go func() {
			_, err := r.account().PlaceOrder(r.t.Context(), buy("0.05"))
			done <- err
		}()
		time.Sleep(time.Second)
		for _, when := range []string{"while it is sent", "in doubt"} {
			pending, err := r.account().Pending(r.t.Context())
			require.NoError(r.t, err)
			require.Len(r.t, pending, 1, when)
			assert.True(r.t, pending[0].Entry)
			assert.Equal(r.t, "BTC", pending[0].Symbol)
			assert.Contains(r.t, fmt.Sprintf("%v %+v", pending, pending[0].Intent), `"symbol":"BTC"`, "a body is printed as text")
			none, err := other.Pending(r.t.Context())
			require.NoError(r.t, err)
			assert.Empty(r.t, none)
			none, err = r.Sandbox.Pending(r.t.Context())
			require.NoError(r.t, err)
			assert.Empty(r.t, none)
			if when == "while it is sent" {
				require.NoError(r.t, <-done)
				none, err = r.account().Pending(r.t.Context())
				require.NoError(r.t, err)
				assert.Empty(r.t, none)
				_ = r.leaveBehind()
			}
		}
	})
}
