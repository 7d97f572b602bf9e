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

func TestAPositionFromItsOpeningToItsClose(t *testing.T) {
	bubble(t, func(t *testing.T, r rig) {
		got := during(t, func() {
			r.buy("1")
			time.Sleep(4 * time.Second)
			r.sim.SetMark("BTC", "65000")
			time.Sleep(4 * time.Second)
			r.buy("0.5")
			time.Sleep(4 * time.Second)
			r.close("50")
			time.Sleep(4 * time.Second)
			_, err := r.Sandbox.SetTPSL(t.Context(), "BTC", trading.TPSL{StopLoss: trading.At(dec("60000"))})
			require.NoError(t, err)
			time.Sleep(4 * time.Second)
			r.close("100")
		}, watch.Account(r.Sandbox))
		require.Empty(t, got.errs)
		assert.Equal(t, []string{
			"PositionOpened",
			"PositionChanged", // added
			"TradeClosed", "PositionChanged",
			"PositionChanged", // the stop
			"TradeClosed", "PositionClosed",
		}, got.names())

		opened := of[watch.PositionOpened](got)[0]
		assert.True(t, opened.Position.Size.Equal(dec("1")))
		assert.NotEmpty(t, opened.Account)
		marked := of[watch.PositionMarked](got)
		require.Len(t, marked, 1)
		assert.Equal(t, "64000", marked[0].Old.Mark.String())
		assert.Equal(t, "65000", marked[0].New.Mark.String())
		changed := of[watch.PositionChanged](got)
		assert.True(t, changed[0].New.Size.Equal(dec("1.5")))
		assert.True(t, changed[1].New.Size.Equal(dec("0.75")))
		assert.Equal(t, "60000", changed[2].New.StopLoss.String())
		trades, closed := of[watch.TradeClosed](got), of[watch.PositionClosed](got)[0]
		require.Len(t, closed.Trades, 1, "the half that was closed before belongs to the change")
		assert.True(t, closed.Trades[0].Equal(trades[1].Trade))
		assert.Equal(t, watch.CauseMarket, closed.Cause)
		assert.True(t, closed.Old.Size.Equal(dec("0.75")))
	})
}

func TestInitialTellsWhatIsThere(t *testing.T) {
	bubble(t, func(t *testing.T, r rig) {
		r.buy("1")
		r.close("50")
		r.close("50")
		without := during(t, func() {}, watch.Account(r.Sandbox))
		assert.Empty(t, without.events)

		with := during(t, func() {}, watch.Account(r.Sandbox).WithSnapshot())
		assert.Equal(t, []string{"StatusChanged", "TradeClosed", "TradeClosed", "PositionOpened"}, with.names())
		trades := of[watch.TradeClosed](with)
		assert.True(t, trades[0].Trade.Size.Equal(trading.Some(dec("0.5"))), "the oldest first")
		status := of[watch.StatusChanged](with)[0]
		assert.Equal(t, trading.AccountStatus(""), status.Old)
		assert.Equal(t, trading.StatusSandboxActive, status.New)
	})
}

// A trade says "market" of a close by hand, a flip, a liquidation and a pass alike.
func TestTrap_T76_WhatMarketMeans(t *testing.T) {
	for _, test := range []struct {
		name   string
		act    func(r rig)
		cause  watch.Cause
		status trading.AccountStatus
	}{
		{"by hand", func(r rig) { r.close("100") }, watch.CauseMarket, ""},
		{"a stop", func(r rig) {
			r.trigger(trading.TPSL{StopLoss: trading.At(dec("63000"))})
			r.sim.SetMark("BTC", "62990")
		}, watch.CauseStopLoss, ""},
		{"a target", func(r rig) {
			r.trigger(trading.TPSL{TakeProfit: trading.At(dec("65000"))})
			r.sim.SetMark("BTC", "65010")
		}, watch.CauseTakeProfit, ""},
		{"a flip", func(r rig) { r.sell("3") }, watch.CauseFlip, ""},
		{"a breach", func(r rig) { r.sim.SetMark("BTC", "61000") }, watch.CauseLiquidation, trading.StatusSandboxLocked},
		{"T79: a pass", func(r rig) { r.sim.SetMark("BTC", "69500") }, watch.CausePass, trading.StatusSandboxPassed},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, r rig) {
				r.buy("2")
				r.buyETH("1")
				got := during(t, func() { test.act(r) }, watch.Account(r.Sandbox))
				require.Empty(t, got.errs)
				var closed watch.PositionClosed
				for _, ev := range of[watch.PositionClosed](got) {
					if ev.Old.Symbol == "BTC" {
						closed = ev
					}
				}
				assert.Equal(t, test.cause, closed.Cause)
				require.Len(t, closed.Trades, 1)
				assert.Equal(t, "BTC", closed.Trades[0].Symbol)
				if test.cause == watch.CauseFlip {
					require.Len(t, of[watch.PositionOpened](got), 1)
					assert.Equal(t, trading.Short, of[watch.PositionOpened](got)[0].Position.Side)
				}
				statuses := of[watch.StatusChanged](got)
				if test.status == "" {
					assert.Empty(t, statuses)
					return
				}
				require.Len(t, statuses, 1)
				assert.Equal(t, trading.StatusSandboxActive, statuses[0].Old)
				assert.Equal(t, test.status, statuses[0].New)
				assert.False(t, statuses[0].New.AllowsEntry())
				assert.Equal(t, test.status == trading.StatusSandboxLocked, statuses[0].Locked)
				assert.Len(t, of[watch.PositionClosed](got), 2, "the whole book")
			}, tradingsim.WithCaps(tradingsim.Caps{PerPosition: "10", TotalMargin: "10"}))
		})
	}
}

func (r rig) trigger(levels trading.TPSL) {
	r.t.Helper()
	_, err := r.Sandbox.SetTPSL(r.t.Context(), "BTC", levels)
	require.NoError(r.t, err)
}

func (r rig) buyETH(size string) {
	r.t.Helper()
	_, err := r.Sandbox.PlaceOrder(r.t.Context(), trading.Order{Symbol: "ETH", Side: trading.Long, Size: dec(size), Leverage: dec("2")})
	require.NoError(r.t, err)
}

// A close can pass or fail a live account; a bot that watches it is told.
func TestTrap_T80_ALiveCloseThatPassesIsTold(t *testing.T) {
	bubble(t, func(t *testing.T, r rig) {
		got := during(t, func() {
			_, err := r.account().PlaceOrder(t.Context(), order(trading.Long, "1"))
			require.NoError(t, err)
			time.Sleep(3 * time.Second)
			r.sim.SetMark("BTC", "64500")
			_, err = r.account().ClosePosition(t.Context(), "BTC", trading.All)
			require.NoError(t, err)
		}, watch.Account(r.account()))
		require.Empty(t, got.errs)
		assert.Equal(t, []string{"PositionOpened", "StatusChanged", "TradeClosed", "PositionClosed"}, got.names())
		assert.Equal(t, trading.StatusPassed, of[watch.StatusChanged](got)[0].New)
		assert.Equal(t, watch.CausePass, of[watch.PositionClosed](got)[0].Cause)
		assert.Equal(t, trading.AccountID("acc_1"), of[watch.PositionClosed](got)[0].Account)
	}, tradingsim.WithAccount(tradingsim.Account{ID: "acc_1", ProfitTarget: "100100"}))
}

// A paper account that is replaced is not one whose positions were closed.
func TestTrap_T102_AReplacedAccountIsTold(t *testing.T) {
	for _, test := range []struct {
		name   string
		before func(r rig)
		act    func(r rig)
		trades int // told afterwards
		every  time.Duration
	}{
		{"a reset with a position and trades", func(r rig) { r.buy("1"); r.close("50") }, rig.reset, 0, 0},
		{"a reset that is traded on at once", func(r rig) { r.buy("1"); r.close("50"); r.close("50") },
			func(r rig) { r.reset(); r.buy("1"); r.close("50") }, 1, 0},
		{"a reset of a locked account", func(r rig) {
			r.buy("1")
			r.sim.SetMark("BTC", "50000")
			_, err := r.Sandbox.State(r.t.Context())
			require.NoError(r.t, err)
		}, rig.reset, 0, 0},
		{"a reset of a locked account that is traded on at once", func(r rig) {
			r.buy("1")
			r.sim.SetMark("BTC", "50000")
			_, err := r.Sandbox.State(r.t.Context())
			require.NoError(r.t, err)
		}, func(r rig) { r.reset(); r.buy("1"); r.close("100") }, 1, 0},
		{"a reset with a position and no trade", nil, func(r rig) { r.buy("1"); time.Sleep(3 * time.Second); r.reset() }, 0, 0},
		{"thirty days without a write", func(r rig) { r.buy("1") }, func(rig) { time.Sleep(30*24*time.Hour + time.Second) }, 0, time.Hour},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, r rig) {
				if test.before != nil {
					test.before(r)
				}
				got := during(t, func() {
					test.act(r)
					time.Sleep(2*test.every + time.Minute)
				}, watch.Account(r.Sandbox).WithInterval(test.every).WithSnapshot())
				require.Empty(t, got.errs)
				replaced := of[watch.AccountReplaced](got)
				require.Len(t, replaced, 1)
				assert.True(t, replaced[0].New.Status.AllowsEntry())
				assert.Empty(t, of[watch.PositionClosed](got), "nothing was closed by it")
				assert.Empty(t, of[watch.Gap](got))

				var view watch.View
				for _, ev := range got.events {
					view.Apply(ev)
				}
				positions, err := r.Sandbox.Positions(t.Context())
				require.NoError(t, err)
				assert.True(t, samePositions(positions, view.Positions))
				assert.Len(t, view.Trades, test.trades)
			})
		})
	}
}

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
			run, err := account.PlacePro(ctx, order(trading.Long, "1"), trading.TWAP{Duration: 2 * time.Minute})
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
				_, _ = account.PlacePro(ctx, order(trading.Long, "0.4"), trading.TWAP{Duration: time.Minute})
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
		placed, err := account.PlacePro(t.Context(), order(trading.Long, "1"), trading.TWAP{Duration: 2 * time.Minute})
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
