package flatten_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/flatten"
	"github.com/tradingapi/trading-go/tradingsim"
)

// TestHangingCancelDelaysNoClose: cancels of a run and of a limit hang, and the close
// executes at once. Without Urgent it waits for them.
func TestHangingCancelDelaysNoClose(t *testing.T) {
	for _, urgent := range []bool{true, false} {
		inBubble(t, func(t *testing.T, r rig) {
			r.open(trading.Long, "0.1", "BTC")
			r.rest(trading.Long, "1", "ETH", "2000")
			r.slice("100", "SOL")
			r.sim.Fault("POST /orders/cancel", tradingsim.Delay(6*time.Second))
			r.sim.Fault("POST /runs/cancel", tradingsim.Delay(6*time.Second))
			began := time.Now()
			_, err := r.flatten(time.Minute, flatten.Options{Urgent: urgent})
			require.NoError(t, err)
			var closed time.Duration
			for _, e := range r.sim.Ledger() {
				if e.Operation == "POST /positions/close" && e.Symbol == "BTC" {
					closed = e.At.Sub(began)
				}
			}
			if urgent {
				require.Less(t, closed, 100*time.Millisecond)
			} else {
				require.Greater(t, closed, 5*time.Second)
			}
			require.True(t, r.sim.Position("acc_1", "BTC").IsZero())
			require.True(t, r.sim.Position("acc_1", "SOL").IsZero())
		})
	}
}

// TestUrgentClosesWhatFillsMeanwhile: a limit fills while its cancel hangs, after the
// position was closed. It is closed by a later round, and the account ends flat.
func TestUrgentClosesWhatFillsMeanwhile(t *testing.T) {
	inBubble(t, func(t *testing.T, r rig) {
		r.open(trading.Long, "0.1", "BTC")
		r.rest(trading.Long, "0.2", "BTC", "63000")
		r.sim.Fault("POST /orders/cancel", tradingsim.Delay(20*time.Second))
		go func() {
			time.Sleep(500 * time.Millisecond)
			r.sim.SetMark("BTC", "62990")
		}()
		began := time.Now()
		report, err := r.flatten(2*time.Minute, flatten.Options{Urgent: true})
		require.NoError(t, err)
		require.True(t, report.Flat)
		closes := 0
		for _, e := range r.sim.Ledger() {
			if e.Operation == "POST /positions/close" {
				closes++
				require.Less(t, e.At.Sub(began), 6*time.Second)
			}
		}
		require.Equal(t, 2, closes)
		require.True(t, r.sim.Position("acc_1", "BTC").IsZero())
	})
}

// TestUrgentClosesWithoutTheOrders: what waits cannot be read, and the position is closed
// all the same. Nothing is proven until it can be read.
func TestUrgentClosesWithoutTheOrders(t *testing.T) {
	inBubble(t, func(t *testing.T, r rig) {
		r.open(trading.Long, "0.1", "BTC")
		for range 10 {
			r.sim.Fault("GET /accounts/{accountId}/orders", tradingsim.Fail(500, "internal_error"))
		}
		_, err := r.flatten(10*time.Second, flatten.Options{Urgent: true})
		require.ErrorIs(t, err, flatten.ErrNotFlat)
		require.True(t, r.sim.Position("acc_1", "BTC").IsZero())
	})
}
