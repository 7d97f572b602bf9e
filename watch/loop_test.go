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
		bubble(t, func(t *testing.T, r rig) {
			began := time.Now()
			for _, err := range watch.Events(t.Context(), everything(r)...) {
				require.NoError(t, err)
				break
			}
			assert.Less(t, time.Since(began), time.Second)
		})
	})
	for name, fault := range map[string]tradingsim.Fault{
		"a break while a look hangs":          tradingsim.Delay(time.Hour),
		"a break while a limit is waited for": tradingsim.RateLimit(20 * time.Second),
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, r rig) {
				r.sim.Fault("GET /sandbox/account", fault)
				began := time.Now()
				for _, err := range watch.Events(t.Context(), watch.Account(r.Sandbox), watch.Ticks(time.Second)) {
					require.NoError(t, err)
					break
				}
				assert.Equal(t, time.Second+time.Millisecond, time.Since(began))
			})
		})
	}
	t.Run("the context ends", func(t *testing.T) {
		bubble(t, func(t *testing.T, r rig) {
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
		bubble(t, func(t *testing.T, r rig) {
			assert.Panics(t, func() {
				for _, err := range watch.Events(t.Context(), everything(r)...) {
					assert.NoError(t, err)
					panic("the program's own")
				}
			})
		})
	})
	t.Run("again", func(t *testing.T) {
		bubble(t, func(t *testing.T, r rig) {
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
	bubble(t, func(t *testing.T, r rig) {
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
		bubble(t, func(t *testing.T, r rig) {
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

// Looking begins with the first loop and ends with the last; who comes in between joins,
// and a hasty one makes all of them hastier.
func TestSharedWatchLivesWhileSomebodyListens(t *testing.T) {
	bubble(t, func(t *testing.T, r rig) {
		shared := watch.Marks(r.Sandbox.MarketData, "BTC").WithInterval(time.Minute).Shared()
		time.Sleep(time.Hour)
		synctest.Wait()
		assert.Empty(t, r.sim.Requests())

		first, leaveFirst := listen(t, shared)
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Equal(t, 1, r.sent(trading.OpPrices))
		second, leaveSecond := listen(t, shared.WithSnapshot())
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Equal(t, 1, r.sent(trading.OpPrices), "it is given what the last look saw")
		assert.Len(t, second.events, 1)
		assert.Empty(t, first.events)

		r.sim.SetMark("BTC", "65000")
		_, leaveThird := listen(t, shared.WithInterval(5*time.Second))
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

		again, leaveAgain := listen(t, shared.WithSnapshot())
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Len(t, r.sim.Requests(), before+1, "it looks anew")
		assert.Len(t, again.events, 1)
		leaveAgain()
	})
}

// Loops that come and go at once, under the race detector.
func TestManyLoopsComeAndGo(t *testing.T) {
	bubble(t, func(t *testing.T, r rig) {
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

// The list of closed trades, which can be long, is read when something has changed, and
// seldom otherwise; and no closed trade is missed for that.
func TestTheListOfTradesIsReadWhenSomethingChanged(t *testing.T) {
	bubble(t, func(t *testing.T, r rig) {
		got, leave := listen(t, watch.Account(r.Sandbox).WithInterval(2*time.Second))
		reads := func(d time.Duration, act func()) (trades int, looks int) {
			trades, looks = r.sent(trading.OpSandboxTrades), r.sent(trading.OpSandboxState)
			if act != nil {
				act()
			}
			time.Sleep(d)
			synctest.Wait()
			return r.sent(trading.OpSandboxTrades) - trades, r.sent(trading.OpSandboxState) - looks
		}

		trades, _ := reads(time.Minute, nil)
		assert.Positive(t, trades, "at the first look")
		trades, looks := reads(10*time.Minute, nil)
		assert.LessOrEqual(t, trades, looks/15+1, "nothing happens")
		assert.GreaterOrEqual(t, trades, 10, "the safety net")
		trades, looks = reads(10*time.Minute, func() { r.sim.SetMark("BTC", "64100") })
		assert.LessOrEqual(t, trades, looks/15+1, "a price is no change")

		trades, _ = reads(12*time.Second, func() { r.buy("0.1") })
		assert.GreaterOrEqual(t, trades, 4, "a position was opened")
		trades, _ = reads(10*time.Minute, func() { r.sim.SetMark("BTC", "64200") })
		assert.LessOrEqual(t, trades, looks/15+1, "marks move the equity and not the balance")
		trades, _ = reads(12*time.Second, func() { r.close("100") })
		assert.GreaterOrEqual(t, trades, 4, "a position was closed")
		at := time.Now()
		reads(time.Second, func() { r.buy("0.1"); r.close("100") }) // between two looks
		reads(5*time.Second, nil)
		leave()
		require.Empty(t, got.errs)
		closed := of[watch.TradeClosed](got)
		require.Len(t, closed, 2)
		assert.Less(t, closed[1].At.Sub(at), 4*time.Second, "what is open and closed between two looks moves the balance")
	})
}

func TestErrorsAreYieldedAndOutlived(t *testing.T) {
	for _, test := range []struct {
		name   string
		fault  tradingsim.Fault
		is     error
		within time.Duration // until it is told again
		once   bool          // one is enough
	}{
		{"the service fails", tradingsim.Fail(500, "internal_error"), trading.CodeInternalError, 10 * time.Second, false},
		{"a page in front", tradingsim.GatewayError(503), nil, 10 * time.Second, false},
		{"a lost connection", tradingsim.DropResponse(), nil, 10 * time.Second, false},
		{"an answer that cannot be read", tradingsim.Raw(200, nil, `{"prices":{"BTC":true}}`), nil, 40 * time.Second, false},
		{"a limit of a minute", tradingsim.RateLimit(time.Minute), trading.CodeRateLimited, 70 * time.Second, true},
		{"it hangs", tradingsim.Delay(time.Hour), nil, 60 * time.Second, false},
		{"a key that is refused for a moment", tradingsim.Fail(401, "revoked_api_key"), trading.ErrKeyRefused, 40 * time.Second, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, r rig) {
				began := time.Now()
				var failedAt time.Time
				got := during(t, func() {
					failedAt = time.Now()
					n := 4
					if test.once {
						n = 1
					}
					for range n {
						r.sim.Fault("GET /sandbox/prices", test.fault)
					}
					r.sim.SetMark("BTC", "65000")
					time.Sleep(2 * time.Minute)
				}, watch.Marks(r.Sandbox.MarketData))
				require.NotEmpty(t, got.errs)
				var failed *watch.Error
				require.ErrorAs(t, got.errs[0], &failed)
				assert.Equal(t, "marks", failed.Watch)
				assert.Equal(t, 1, failed.Failures)
				assert.False(t, failed.Ends)
				assert.Positive(t, failed.Again)
				if test.is != nil {
					assert.ErrorIs(t, failed, test.is)
				}
				assert.Equal(t, []string{"Gap", "MarkChanged"}, got.names())
				gap, changed := of[watch.Gap](got)[0], of[watch.MarkChanged](got)[0]
				assert.Equal(t, began, gap.From, "the last look that went well")
				assert.Equal(t, changed.At, gap.To)
				assert.Equal(t, "marks", gap.Watch)
				assert.NotEmpty(t, gap.Reason)
				assert.LessOrEqual(t, changed.At.Sub(failedAt), test.within)
			})
		})
	}
}

// T85, T90: what the service asks to wait is waited, and no look is wasted on it.
func TestRetryAfterIsKept(t *testing.T) {
	bubble(t, func(t *testing.T, r rig) {
		var limited time.Time
		got := during(t, func() {
			r.sim.Fault("GET /sandbox/account", tradingsim.RateLimit(time.Minute))
			time.Sleep(1500 * time.Millisecond)
			limited = time.Now()
			before := len(r.sim.Requests())
			time.Sleep(58 * time.Second)
			assert.Len(t, r.sim.Requests(), before)
			time.Sleep(4 * time.Second)
			assert.Greater(t, len(r.sim.Requests()), before)
		}, watch.Account(r.Sandbox))
		assert.False(t, limited.IsZero())
		assert.Len(t, got.errs, 1, "said once, and not at every look that cannot be taken")
	})
}

func TestFailuresSlowTheLooksDown(t *testing.T) {
	bubble(t, func(t *testing.T, r rig) {
		r.sim.FaultEach(func(string) tradingsim.Fault { return tradingsim.RefuseConnection() })
		got := during(t, func() { time.Sleep(10 * time.Minute) }, watch.Marks(r.Sandbox.MarketData))
		assert.Less(t, len(got.errs), 25)
		assert.Greater(t, len(got.errs), 15)
		var last *watch.Error
		require.ErrorAs(t, got.errs[len(got.errs)-1], &last)
		assert.Equal(t, 30*time.Second, last.Again)
		assert.Equal(t, len(got.errs), last.Failures)
		assert.Empty(t, got.events)
	})
}

// One part that fails by itself does not blind the others, nor slow them down.
func TestAPartThatFails(t *testing.T) {
	bubble(t, func(t *testing.T, r rig) {
		got := during(t, func() {
			r.sim.FaultEach(tradingsim.Always(string(trading.OpSandboxTrades), tradingsim.Raw(200, nil, `{"ok":true,"trades":[{"symbol":7}]}`)))
			r.buy("1")
			time.Sleep(10 * time.Second)
			r.close("100")
			time.Sleep(10 * time.Second)
			r.sim.FaultEach(func(string) tradingsim.Fault { return nil })
			time.Sleep(5 * time.Second)
		}, watch.Account(r.Sandbox))
		assert.Greater(t, len(got.errs), 8)
		assert.Equal(t, []string{"PositionOpened", "PositionClosed", "Gap", "TradeClosed"}, got.names())
		assert.Equal(t, watch.CauseUnknown, of[watch.PositionClosed](got)[0].Cause)
		gap := of[watch.Gap](got)[0]
		assert.Greater(t, gap.To.Sub(gap.From), 20*time.Second)
	})
}

func TestErrorsThatCannotHealEndTheLoop(t *testing.T) {
	closed := func(r rig) watch.Watch {
		require.NoError(r.t, r.Close())
		return watch.Account(r.Sandbox)
	}
	for _, test := range []struct {
		name  string
		watch func(r rig) watch.Watch
		is    error
		after time.Duration
		n     int
	}{
		{"a client that is closed", closed, trading.ErrClosed, 0, 1},
		{"an account that does not exist", func(r rig) watch.Watch { return watch.Account(r.Live.Account("acc_9")) }, trading.CodeAccountNotFound, 0, 1},
		{"orders of none", func(r rig) watch.Watch { return watch.Orders(r.Live.Account("")) }, trading.CodeMissingFields, 0, 1},
		{"a run that does not exist", func(r rig) watch.Watch { return watch.Run(r.account(), "run_9") }, trading.CodeRunNotFound, 15 * time.Second, 1},
		{"a symbol that does not exist", func(r rig) watch.Watch { return watch.Marks(r.Sandbox.MarketData, "BTC", "BCT") }, trading.CodeBadSymbol, 0, 1},
		{"a key that is revoked", func(r rig) watch.Watch {
			r.sim.RevokeKey(r.sim.LiveKey())
			return watch.Account(r.account())
		}, trading.CodeRevokedAPIKey, 31 * time.Second, 2},
		{"no key", func(r rig) watch.Watch {
			client, err := trading.New(r.sim.URL(), trading.WithTransport(r.sim.Transport()))
			require.NoError(r.t, err)
			return watch.Account(client.Sandbox)
		}, trading.CodeMissingAPIKey, 0, 1},
		{"the zero Watch", func(rig) watch.Watch { return watch.Watch{}.Shared() }, nil, 0, 1},
		{"no account", func(rig) watch.Watch { return watch.Orders(nil) }, nil, 0, 1},
		{"no run", func(rig) watch.Watch { return watch.Run(nil, "run_1") }, nil, 0, 1},
		{"no trader", func(rig) watch.Watch { return watch.Account(nil) }, nil, 0, 1},
		{"no sandbox", func(rig) watch.Watch { return watch.Account((*trading.Sandbox)(nil)) }, nil, 0, 1},
		{"no handle", func(rig) watch.Watch { return watch.Account((*trading.Account)(nil)) }, nil, 0, 1},
		{"no client", func(rig) watch.Watch { return watch.Health(nil) }, nil, 0, 1},
		{"no market data", func(rig) watch.Watch { return watch.Marks(nil) }, nil, 0, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, r rig) {
				began := time.Now()
				var errs []error
				for ev, err := range watch.Events(t.Context(), test.watch(r), watch.Ticks(time.Hour), watch.Health(r.Client)) {
					assert.Nil(t, ev)
					errs = append(errs, err)
				}
				require.Len(t, errs, test.n)
				var last *watch.Error
				require.ErrorAs(t, errs[test.n-1], &last)
				assert.True(t, last.Ends)
				assert.Zero(t, last.Again)
				assert.Contains(t, last.Error(), "ends: ")
				if test.is != nil {
					assert.ErrorIs(t, last, test.is)
				}
				assert.Less(t, time.Since(began)-test.after, 3*time.Second)
				if test.n > 1 { // T85: the key is not tried on and on
					assert.Equal(t, test.n, r.sent(trading.OpState))
				}
			})
		})
	}
}

// A loop that joins a watch whose looks fail is told so at once.
func TestWhoComesLaterIsToldTheStandingError(t *testing.T) {
	bubble(t, func(t *testing.T, r rig) {
		r.sim.FaultEach(func(string) tradingsim.Fault { return tradingsim.RefuseConnection() })
		shared := watch.Marks(r.Sandbox.MarketData).Shared()
		during(t, func() {
			time.Sleep(5 * time.Minute)
			began := time.Now()
			for _, err := range watch.Events(t.Context(), shared) {
				require.Error(t, err)
				break
			}
			assert.Zero(t, time.Since(began))
		}, shared)
	})
}

// A loop without anything to watch says so, and does not end as if all were over.
func TestALoopOfNothingIsAnError(t *testing.T) {
	for name, row := range map[string]struct {
		ctx     context.Context
		watches []watch.Watch
		says    string
	}{
		"no watch":   {t.Context(), nil, "needs at least one watch"},
		"no context": {nil, []watch.Watch{watch.Ticks(time.Second)}, "the context is nil"},
	} {
		told := 0
		for ev, err := range watch.Events(row.ctx, row.watches...) {
			told++
			assert.Nil(t, ev, name)
			var ends *watch.Error
			require.ErrorAs(t, err, &ends, name)
			assert.True(t, ends.Ends, name)
			require.ErrorContains(t, err, row.says)
		}
		assert.Equal(t, 1, told, name)
	}
}
