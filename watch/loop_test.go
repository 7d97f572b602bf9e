package watch_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
	"github.com/tradingapi/trading-go/watch"
)

// A bubble fails when a goroutine is left in it, so each of these also shows that
// nothing runs on.
func TestNothingRunsOnAfterTheLoop(t *testing.T) {
	everything := func(r rig) []watch.Watch {
		return []watch.Watch{
			watch.Account(r.Sandbox).WithSnapshot(), watch.Account(r.account()).WithInterval(time.Hour), watch.Orders(r.account()),
			watch.Marks(r.Sandbox.MarketData).Shared(), watch.Health(r.Client), watch.Ticks(time.Hour),
		}
	}
	t.Run("a break, beside an hourly watch", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t)
			began := time.Now()
			for _, err := range watch.Events(t.Context(), everything(r)...) {
				require.NoError(t, err)
				break
			}
			assert.Less(t, time.Since(began), time.Second)
		})
	})
	t.Run("a break while a look hangs", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t)
			r.sim.Fault("GET /sandbox/account", tradingsim.Delay(time.Hour))
			began := time.Now()
			for _, err := range watch.Events(t.Context(), watch.Account(r.Sandbox), watch.Ticks(time.Second)) {
				require.NoError(t, err)
				break
			}
			assert.Equal(t, time.Second+time.Millisecond, time.Since(began))
		})
	})
	t.Run("a break while a limit is waited for", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t)
			r.sim.Fault("GET /sandbox/account", tradingsim.RateLimit(20*time.Second))
			for _, err := range watch.Events(t.Context(), watch.Account(r.Sandbox), watch.Ticks(time.Second)) {
				require.NoError(t, err)
				break
			}
		})
	})
	t.Run("the context ends", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			began := time.Now()
			for _, err := range watch.Events(ctx, everything(r)...) {
				require.NoError(t, err)
			}
			assert.Equal(t, 10*time.Second, time.Since(began))
		})
	})
	t.Run("the context has ended", func(t *testing.T) {
		r := newRig(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for ev, err := range watch.Events(ctx, everything(r)...) {
			t.Error("nothing is yielded", ev, err)
		}
		assert.Empty(t, r.sim.Requests())
	})
	t.Run("the body panics", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t)
			assert.Panics(t, func() {
				for _, err := range watch.Events(t.Context(), everything(r)...) {
					assert.NoError(t, err)
					panic("the program's own")
				}
			})
		})
	})
	t.Run("again", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t)
			events := watch.Events(t.Context(), watch.Marks(r.Sandbox.MarketData, "BTC").WithSnapshot().Shared())
			for range 3 {
				n := 0
				for _, err := range events {
					require.NoError(t, err)
					n++
					break
				}
				assert.Equal(t, 1, n, "each range begins anew")
			}
		})
	})
}

// stubborn takes its time to heed a context.
type stubborn struct {
	trading.Trader
	left bool
}

func (s *stubborn) State(ctx context.Context, _ ...trading.CallOption) (*trading.AccountState, error) {
	<-ctx.Done()
	time.Sleep(time.Second)
	s.left = true
	return nil, ctx.Err()
}

func TestALookUnderWayIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		trader := &stubborn{}
		for _, err := range watch.Events(t.Context(), watch.Account(trader), watch.Ticks(time.Second)) {
			require.NoError(t, err)
			break
		}
		assert.True(t, trader.left)
	})
}

// Looks begin the interval apart, or up to a tenth more: never sooner, whoever listens.
func TestLooksKeepToTheirInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		shared := watch.Account(r.Sandbox).WithInterval(3 * time.Second).Shared()
		var loops sync.WaitGroup
		for range 100 {
			loops.Go(func() {
				for _, err := range watch.Events(ctx, shared) {
					assert.NoError(t, err)
				}
			})
		}
		loops.Wait()
		var last time.Time
		spread := map[time.Duration]bool{}
		looks := 0
		for _, request := range r.sim.Requests() {
			if request.Operation != string(trading.OpSandboxState) {
				continue
			}
			looks++
			if !last.IsZero() {
				apart := request.At.Sub(last)
				spread[apart] = true
				assert.GreaterOrEqual(t, apart, 3*time.Second)
				assert.LessOrEqual(t, apart, 3300*time.Millisecond)
			}
			last = request.At
		}
		assert.LessOrEqual(t, looks, 1200+1)
		assert.GreaterOrEqual(t, looks, 1090)
		assert.Greater(t, len(spread), 100, "with jitter")
		assert.Equal(t, looks, r.sent(trading.OpSandboxPositions), "a hundred loops cost the requests of one")
		assert.LessOrEqual(t, r.sent(trading.OpSandboxTrades), looks/15+10, "and the list of trades is read seldom")
	})
}

func TestSeedRepeatsTheJitter(t *testing.T) {
	times := func(w func(watch.Watch) watch.Watch) (at []time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			began := time.Now()
			for ev, err := range watch.Events(ctx, w(watch.Marks(r.Sandbox.MarketData))) {
				t.Error("nothing changes", ev, err)
			}
			for _, request := range r.sim.Requests() {
				at = append(at, request.At.Sub(began))
			}
		})
		return at
	}
	seven := func(w watch.Watch) watch.Watch { return w.Seed(7) }
	assert.Equal(t, times(seven), times(seven))
	assert.NotEqual(t, times(seven), times(func(w watch.Watch) watch.Watch { return w.Seed(8) }))
	assert.NotEqual(t, times(seven), times(func(w watch.Watch) watch.Watch { return w }))
}

// A loop that hangs in its body holds up neither the looks, and with them the stops, nor
// the other loops; and it is told all that it has missed.
func TestASlowLoopHurtsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.buy("1")
		shared := watch.Account(r.Sandbox).WithInterval(time.Second).WithSnapshot().Shared()
		ctx, cancel := context.WithCancel(t.Context())
		var loops sync.WaitGroup
		var slow, quick watch.View
		slept, gap := false, false
		loops.Go(func() {
			for ev, err := range watch.Events(ctx, shared) {
				assert.NoError(t, err)
				slow.Apply(ev)
				if !slept && len(slow.Positions) == 1 {
					slept = true
					time.Sleep(10 * time.Minute)
				}
				if _, is := ev.(watch.Gap); is {
					gap = true
				}
			}
		})
		var late []time.Duration // from what happened to its being told
		loops.Go(func() {
			for ev, err := range watch.Events(ctx, shared) {
				assert.NoError(t, err)
				quick.Apply(ev)
				if ev, ok := ev.(watch.TradeClosed); ok {
					late = append(late, ev.At.Sub(ev.Trade.ClosedAt))
					assert.Equal(t, time.Now(), ev.At)
				}
			}
		})
		for range 50 {
			time.Sleep(10 * time.Second)
			r.close("10")
		}
		r.trigger(trading.TPSL{StopLoss: trading.At(dec("63000"))})
		r.sim.SetMark("BTC", "62000")
		time.Sleep(2 * time.Second)
		assert.True(t, r.sim.Position("", "BTC").IsZero(), "the stop fires meanwhile")
		synctest.Wait()
		require.Len(t, quick.Trades, 51)
		assert.Empty(t, slow.Trades)
		for _, d := range late {
			assert.Less(t, d, 1200*time.Millisecond)
		}

		time.Sleep(10 * time.Minute)
		synctest.Wait()
		assert.Len(t, slow.Trades, 51)
		assert.Empty(t, slow.Positions)
		assert.True(t, slow.State.Equal(quick.State))
		assert.False(t, gap, "nothing was lost")
		cancel()
		loops.Wait()
	})
}

// Looking begins with the first loop and ends with the last; who comes in between joins,
// and a hasty one makes all of them hastier.
func TestSharedWatchLivesWhileSomebodyListens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		shared := watch.Marks(r.Sandbox.MarketData, "BTC").WithInterval(time.Minute).Shared()
		listen := func(w watch.Watch) (leave func(), got *told) {
			ctx, cancel := context.WithCancel(t.Context())
			over := make(chan struct{})
			got = &told{}
			go func() {
				defer close(over)
				for ev, err := range watch.Events(ctx, w) {
					got.take(ev, err)
				}
			}()
			return func() { cancel(); <-over }, got
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		assert.Empty(t, r.sim.Requests())

		leaveFirst, first := listen(shared)
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Equal(t, 1, r.sent(trading.OpPrices))
		leaveSecond, second := listen(shared.WithSnapshot())
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Equal(t, 1, r.sent(trading.OpPrices), "it is given what the last look saw")
		assert.Len(t, second.events, 1)
		assert.Empty(t, first.events)

		r.sim.SetMark("BTC", "65000")
		leaveThird, _ := listen(shared.WithInterval(5 * time.Second))
		time.Sleep(6 * time.Second)
		synctest.Wait()
		assert.Equal(t, 2, r.sent(trading.OpPrices))
		assert.Len(t, first.events, 1)
		leaveThird()
		leaveFirst()
		time.Sleep(66 * time.Second)
		synctest.Wait()
		assert.LessOrEqual(t, r.sent(trading.OpPrices), 4)
		leaveSecond()
		before := len(r.sim.Requests())
		time.Sleep(time.Hour)
		synctest.Wait()
		assert.Len(t, r.sim.Requests(), before)

		leaveAgain, again := listen(shared.WithSnapshot())
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Len(t, r.sim.Requests(), before+1, "it looks anew")
		assert.Len(t, again.events, 1)
		leaveAgain()
	})
}

// Loops that come and go at once, under the race detector.
func TestManyLoopsComeAndGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		shared := watch.Account(r.Sandbox).WithInterval(100 * time.Millisecond).WithSnapshot().Shared()
		var loops sync.WaitGroup
		for i := range 50 {
			loops.Go(func() {
				for round := range 20 {
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+(i*7+round*13)%300)*time.Millisecond)
					for ev, err := range watch.Events(ctx, shared, watch.Ticks(50*time.Millisecond)) {
						assert.NoError(t, err)
						if _, tick := ev.(watch.Tick); tick && round%3 == 0 {
							break
						}
					}
					cancel()
				}
			})
		}
		loops.Wait()
	})
}
