package watch_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
	"github.com/tradingapi/trading-go/watch"
)

func limitAt(price string) trading.Order {
	o := order(trading.Long, "0.1")
	o.Type, o.LimitPrice = trading.LimitOrder, trading.At(dec(price))
	return o
}

func TestOrders(t *testing.T) {
	bubble(t, func(t *testing.T, r rig) {
		ctx, account := t.Context(), r.account()
		before, err := account.PlaceLimit(ctx, limitAt("60000"))
		require.NoError(t, err)
		got := during(t, func() {
			placed, err := account.PlaceLimit(ctx, limitAt("63000"))
			require.NoError(t, err)
			run, err := account.PlaceTWAP(ctx, order(trading.Long, "1"), trading.TWAP{Duration: 2 * time.Minute})
			require.NoError(t, err)
			time.Sleep(40 * time.Second)
			_, err = account.CancelOrder(ctx, before.Order.ID)
			require.NoError(t, err)
			r.sim.SetMark("BTC", "62900") // fills the other
			time.Sleep(5 * time.Second)
			_, err = account.CancelRun(ctx, run.ID)
			require.NoError(t, err)
			time.Sleep(5 * time.Second)
			_ = placed
		}, watch.Orders(account))
		require.Empty(t, got.errs)
		assert.Len(t, of[watch.LimitPlaced](got), 1)
		assert.Len(t, of[watch.LimitClosed](got), 2)
		assert.Len(t, of[watch.RunStarted](got), 1)
		assert.NotEmpty(t, of[watch.RunChanged](got), "its clips show")
		finished := of[watch.RunFinished](got)
		require.Len(t, finished, 1)
		status, _ := finished[0].Run.Extra.Text("status")
		assert.NotEqual(t, "running", status, "the record of the finished run")
		assert.Equal(t, 1, r.sent(trading.OpFinishedRuns), "asked for when a run has ended, and not before")
	})
}

// The events of orders and account together, folded, are what the service has in the
// end, whatever a live account goes through.
func TestFoldOfALiveAccount(t *testing.T) {
	bubble(t, func(t *testing.T, r rig) {
		ctx, account := t.Context(), r.account()
		got, leave := listen(t, watch.Account(account).WithSnapshot(), watch.Orders(account).WithSnapshot(),
			watch.Account(r.Sandbox).WithSnapshot()) // whose events are not the view's
		for i := range 40 {
			r.sim.SetMark("BTC", []string{"64000", "64100", "63900", "63500"}[i%4])
			_, _ = account.PlaceOrder(ctx, order([]trading.Side{trading.Long, trading.Short}[i%2], []string{"0.3", "0.1", "0.5"}[i%3]))
			limit, err := account.PlaceLimit(ctx, limitAt([]string{"63800", "60000"}[i%2]))
			if err == nil && i%4 == 1 {
				_, _ = account.CancelOrder(ctx, limit.Order.ID)
			}
			if i%9 == 0 {
				_, _ = account.PlaceTWAP(ctx, order(trading.Long, "0.4"), trading.TWAP{Duration: time.Minute})
			}
			if i%7 == 6 {
				_, _ = account.ClosePosition(ctx, "BTC", trading.All)
			}
			r.buy("0.001")
			time.Sleep(5 * time.Second)
		}
		time.Sleep(time.Minute)
		leave()
		require.Empty(t, got.errs)
		view := watch.View{Account: account.ID()}
		for _, ev := range got.events {
			view.Apply(ev)
		}
		state, err := account.State(ctx)
		require.NoError(t, err)
		positions, err := account.Positions(ctx)
		require.NoError(t, err)
		trades, err := account.Trades(ctx)
		require.NoError(t, err)
		open, err := account.OpenOrders(ctx)
		require.NoError(t, err)
		assert.True(t, view.State.Equal(*state))
		assert.True(t, samePositions(view.Positions, positions))
		assert.Len(t, view.Trades, len(trades))
		assert.NotEmpty(t, trades)
		assert.Len(t, view.Limits, len(open.Limits))
		assert.NotEmpty(t, open.Limits)
		for _, o := range open.Limits {
			assert.Contains(t, view.Limits, o.ID)
		}
		assert.Len(t, view.Runs, len(open.Runs))
	}, tradingsim.WithLag(3*time.Second))
}

func TestRunEndsWithTheRun(t *testing.T) {
	bubble(t, func(t *testing.T, r rig) {
		account := r.account()
		placed, err := account.PlaceTWAP(t.Context(), order(trading.Long, "1"), trading.TWAP{Duration: 2 * time.Minute})
		require.NoError(t, err)
		began := time.Now()
		var got told
		for ev, err := range watch.Events(t.Context(), watch.Run(account, placed.ID)) {
			require.NoError(t, err)
			got.take(ev, err)
		}
		assert.Greater(t, time.Since(began), 119*time.Second)
		assert.Less(t, time.Since(began), 130*time.Second)
		assert.NotEmpty(t, of[watch.RunChanged](&got))
		finished, last := got.events[len(got.events)-1].(watch.RunFinished)
		require.True(t, last)
		assert.Equal(t, placed.ID, finished.Run.ID)

		// One that has ended before is told all the same, and ends at once.
		began = time.Now()
		n := 0
		for ev, err := range watch.Events(t.Context(), watch.Run(account, placed.ID)) {
			require.NoError(t, err)
			assert.IsType(t, watch.RunFinished{}, ev)
			n++
		}
		assert.Equal(t, 1, n)
		assert.Less(t, time.Since(began), time.Second)
	}, tradingsim.WithLag(4*time.Second))
}
