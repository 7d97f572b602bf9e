package watch_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
	"github.com/tradingapi/trading-go/watch"
)

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
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
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
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
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
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
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
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		got := during(t, func() {
			r.sim.FaultEach(func(op string) tradingsim.Fault {
				if op == string(trading.OpSandboxTrades) {
					return tradingsim.Raw(200, nil, `{"ok":true,"trades":[{"symbol":7}]}`)
				}
				return nil
			})
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
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
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
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
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
