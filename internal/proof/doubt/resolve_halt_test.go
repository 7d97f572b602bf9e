package doubt

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

// A halted client places nothing, and the question for a stored answer can: it waits, and
// says why. What can place nothing goes on. After Resume the question goes.
func TestAHaltHoldsTheQuestionForTheStoredAnswerBack(t *testing.T) {
	rig.LiveTest(t, nil, []trading.Option{trading.WithExclusiveAccounts("acc_1")}, func(r rig.Rig) {
		left := r.LeaveBehind()
		began := time.Now()
		r.Halt("the desk is closed")
		ctx, cancel := context.WithTimeout(r.T.Context(), 5*time.Minute)
		defer cancel()
		_, err := r.Account().Resolve(ctx, left)
		require.ErrorIs(r.T, err, trading.ErrUndetermined)
		require.ErrorContains(r.T, err, "halted: the desk is closed")
		pending, err := r.Account().Pending(r.T.Context())
		require.NoError(r.T, err)
		require.Len(r.T, pending, 1)
		assert.Equal(r.T, "halted: the desk is closed", pending[0].Reason)
		assert.Equal(r.T, 1, r.Sent(trading.OpOrder), "no question")
		assert.Positive(r.T, r.Sent(trading.OpCancelOrder), "a fence places nothing")

		r.Resume()
		resumed := time.Now()
		resolution, err := r.Account().Resolve(r.T.Context(), left)
		require.NoError(r.T, err)
		assert.Equal(r.T, trading.Applied, resolution.Outcome)
		assert.Equal(r.T, trading.EvidenceReplay, resolution.Evidence)
		assert.Less(r.T, time.Since(resumed), 20*time.Second)
		assert.Less(r.T, time.Since(began), 10*time.Minute)
		text := fmt.Sprintf("%v", *resolution)
		assert.Contains(r.T, text, `"symbol":"BTC"`)
		assert.NotContains(r.T, text, "123 34", "a body is not printed as numbers")
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
	rig.LiveTest(t, nil, []trading.Option{guard}, func(r rig.Rig) {
		resolution, err := r.Account().Resolve(r.T.Context(), r.LeaveBehind())
		require.NoError(r.T, err)
		assert.Equal(r.T, trading.Applied, resolution.Outcome)
		assert.Equal(r.T, 1, asked)
	})
}

// What an account lists as pending is its own, and what its calls are sending.
func TestPendingOfAnAccount(t *testing.T) {
	options := []tradingsim.Option{
		tradingsim.WithAccount(tradingsim.Account{ID: "acc_1"}), tradingsim.WithAccount(tradingsim.Account{ID: "acc_2"}),
	}
	rig.LiveTest(t, options, nil, func(r rig.Rig) {
		other := r.Live.Account("acc_2")
		r.Sim.Fault("POST /orders", tradingsim.Delay(2*time.Second))
		done := make(chan error)
		go func() {
			_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"))
			done <- err
		}()
		time.Sleep(time.Second)
		for _, when := range []string{"while it is sent", "in doubt"} {
			pending, err := r.Account().Pending(r.T.Context())
			require.NoError(r.T, err)
			require.Len(r.T, pending, 1, when)
			assert.True(r.T, pending[0].Entry)
			assert.Equal(r.T, "BTC", pending[0].Symbol)
			assert.Contains(r.T, fmt.Sprintf("%v %+v", pending, pending[0].Intent), `"symbol":"BTC"`, "a body is printed as text")
			none, err := other.Pending(r.T.Context())
			require.NoError(r.T, err)
			assert.Empty(r.T, none)
			none, err = r.Sandbox.Pending(r.T.Context())
			require.NoError(r.T, err)
			assert.Empty(r.T, none)
			if when == "while it is sent" {
				require.NoError(r.T, <-done)
				none, err = r.Account().Pending(r.T.Context())
				require.NoError(r.T, err)
				assert.Empty(r.T, none)
				_ = r.LeaveBehind()
			}
		}
	})
}
