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

// A guard that panics leaves nothing behind: not the place of the paper account's one writer,
// not an id, not a write that nobody finds out about.
func TestEdge19_AGuardThatPanics(t *testing.T) {
	panics := func(run func()) {
		defer func() { require.Equal(t, "the guard", recover()) }()
		run()
	}
	at := 0 // of the guard's calls
	guard := trading.WithGuard(func(context.Context, trading.Write) error {
		if at--; at == 0 {
			panic("the guard")
		}
		return nil
	})
	t.Run("the paper account", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil, guard)
			at = 1
			panics(func() { _, _ = r.Sandbox.PlaceOrder(t.Context(), buy("0.05")) })
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_, err := r.Sandbox.PlaceOrder(ctx, buy("0.05"))
			require.NoError(t, err)
		})
	})
	for name, sent := range map[string]bool{"before a byte": false, "behind a lost reply": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, nil, guard, trading.WithJournal(newDisk().open()))
				at = 1
				if sent {
					at = 2
					r.sim.Fault("POST /orders", tradingsim.DropResponse())
				}
				panics(func() { _, _ = r.account().PlaceOrder(t.Context(), buy("0.05"), breakout) })
				open, err := r.Pending(t.Context())
				require.NoError(t, err)
				assert.Len(t, open, map[bool]int{true: 1}[sent])
				result, err := r.account().PlaceOrder(t.Context(), buy("0.05"), breakout)
				require.NoError(t, err)
				assert.Equal(t, sent, result.Meta.Replayed)
				assert.Equal(t, 1, r.ran(trading.OpOrder))
				usage, err := r.RateLimitUsage(t.Context())
				require.NoError(t, err)
				assert.NotEmpty(t, usage)
			})
		})
	}
}
