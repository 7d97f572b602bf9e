package protect

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

// TestNoFloor: an account whose floors are not shown is not started, unless that is
// allowed; its entries are refused all the same.
func TestNoFloor(t *testing.T) {
	bare := `{"account":{"id":"acc_1","status":"ACTIVE","phase":1,"balance":100000,"equity":100000,"profitTarget":110000}}`
	for _, s := range []struct {
		what  string
		o     Options
		run   error
		entry error
	}{
		{"refused", Options{}, ErrNoFloor, nil},
		{"allowed", Options{WithoutFloors: true}, nil, ErrHalted},
		{"its own", Options{Floors: map[trading.AccountID]decimal.Decimal{acc: dec("96000")}}, nil, nil},
	} {
		t.Run(s.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sim := tradingsim.New(tradingsim.WithFeed("BTC", breathing{dec("50000")}))
				defer sim.Close()
				sim.FaultEach(tradingsim.Always("GET /accounts/{accountId}", tradingsim.Raw(200, nil, bare)))
				o := s.o
				o.Client, o.Accounts, o.Dir = connect(t, sim), []trading.AccountID{acc}, t.TempDir()
				p, err := New(o)
				require.NoError(t, err)
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- p.Run(ctx) }()
				time.Sleep(time.Second)
				if s.run == nil {
					bot := connect(t, sim, trading.WithGuard(p.Guard()), trading.WithHooks(p.Hooks())).Live.Account(acc)
					_, err := bot.PlaceOrder(ctx, order(trading.Long, "0.1", "BTC"))
					require.ErrorIs(t, err, s.entry)
				}
				cancel()
				require.ErrorIs(t, <-ended, s.run)
				require.NoError(t, p.Close())
			})
		})
	}
}

// TestFloorThatVanishes stays as it was last known, and is told once.
func TestFloorThatVanishes(t *testing.T) {
	for left, alerts := range map[string]int{
		`,"dailyLossFloor":95000,"globalLossFloor":90000`: 0,
		`,"dailyLossFloor":95000`:                         1,
		`,"globalLossFloor":90000`:                        1,
		``:                                                1,
	} {
		bubble(t, nil, func(t *testing.T, r *rig) {
			bare := `{"account":{"id":"acc_1","status":"ACTIVE","phase":1,"balance":100000,"equity":100000,"profitTarget":110000` + left + `}}`
			r.sim.FaultEach(tradingsim.Always("GET /accounts/{accountId}", tradingsim.Raw(200, nil, bare)))
			r.wait(2 * time.Minute)
			floor, ok := r.state().Floor.Get()
			require.True(t, ok)
			require.Equal(t, "95000", floor.String())
			require.Len(t, r.kinds(Alert), alerts, left)
		})
	}
}

func TestOptions(t *testing.T) {
	_, err := New(Options{})
	for _, what := range []string{"Client", "Accounts", "Dir"} {
		require.ErrorContains(t, err, what)
	}
	for what, o := range map[string]Options{
		"Limits.Keep":  {Limits: Limits{Keep: dec("-1")}},
		"Limits.Shock": {Limits: Limits{Shock: dec("2.5")}},
		"Limits.Gap":   {Limits: Limits{Gap: dec("0.001")}},
		"Floors":       {Floors: map[trading.AccountID]decimal.Decimal{"other": dec("1")}},
		"BlindAfter":   {BlindAfter: -1},
		"exclude":      {CloseTooLate: true, WithoutFlatten: true},
		"Rollover":     {Rollover: Rollover{Hour: 24}},
		"Client is":    {},
		"named twice":  {Accounts: []trading.AccountID{"a", "a"}},
	} {
		err := o.check()
		require.ErrorContains(t, err, what)
	}
	late := Options{Rollover: Rollover{Hour: 23, Minute: 59}}
	require.NotContains(t, late.check().Error(), "Rollover")
}

// TestUnknownAccount: one that the key does not have ends Run, so that nobody believes it
// is protected.
func TestUnknownAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New()
		defer sim.Close()
		p, err := New(Options{Client: connect(t, sim), Accounts: []trading.AccountID{"acc_9"}, Dir: t.TempDir()})
		require.NoError(t, err)
		require.ErrorIs(t, p.Run(t.Context()), trading.CodeAccountNotFound)
		_, err = p.State("other")
		require.ErrorIs(t, err, ErrUnknownAccount)
		require.NoError(t, p.Close())
		require.NoError(t, p.Close(), "it is closed")
		require.ErrorContains(t, p.Run(t.Context()), "not after Close")
	})
}

// TestRolloverOfTheFloor: the daily floor moves with the balance. In the last ten
// minutes the loop knows of it, and the guard always.
func TestRolloverOfTheFloor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(20 * time.Hour) // the bubble begins at midnight UTC
		r := newRig(t, nil, tradingsim.WithInterpretation(20))
		require.NoError(t, r.buy("4"))
		r.wait(10 * time.Second)
		r.set("51500")
		r.wait(5 * time.Second)
		r.close() // $5,900 earned
		r.wait(time.Minute)
		floor, _ := r.state().Floor.Get()
		require.Equal(t, "95000", floor.String())
		require.ErrorIs(t, r.buy("4.5"), ErrRoom, "after midnight the floor is 95 percent of the balance")
		r.wait(3*time.Hour + 49*time.Minute - r.sinceStart())
		floor, _ = r.state().Floor.Get()
		require.Equal(t, "95000", floor.String())
		r.wait(2 * time.Minute)
		floor, _ = r.state().Floor.Get()
		require.True(t, floor.GreaterThan(dec("100000")), floor.String())
	})
}

// sinceStart is how long after 20:00 it is.
func (r *rig) sinceStart() time.Duration {
	return time.Since(time.Now().Truncate(24 * time.Hour).Add(20 * time.Hour))
}

// TestResumeNextDay: what the loop has flattened is taken up when the service begins
// another day, by the service's clock.
func TestResumeNextDay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(22 * time.Hour)
		r := newRig(t, func(o *Options) { o.ResumeNextDay = true })
		require.NoError(t, r.buy("4"))
		r.wait(10 * time.Second)
		r.fall(48000)
		r.wait(20 * time.Second)
		require.Equal(t, Held, r.state().State)
		r.wait(time.Hour)
		require.Equal(t, Held, r.state().State)
		r.wait(time.Hour)
		require.True(t, r.state().State.AllowsEntry() || r.state().State == SoftHalt, "%s", r.state().State)
	})
}

// TestAnAssessmentOfYesterday: one that a cache has kept over midnight, and a clock of the service's that is set
// back, begin no day: what was flattened today stays so.
func TestAnAssessmentOfYesterday(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(23*time.Hour + 58*time.Minute)
		r := newRig(t, func(o *Options) { o.ResumeNextDay = true })
		r.wait(4 * time.Minute)
		r.p.watchers[acc].become(Held, "a test")
		kept := fmt.Sprintf(`{"ok":true,"status":"healthy","feed":"live","service":"s","version":"v1","asOf":%d,"cacheSeconds":5}`, time.Now().Add(-3*time.Minute).UnixMilli())
		r.sim.Fault("GET /health", tradingsim.Raw(200, map[string][]string{"Content-Type": {"application/json"}}, kept))
		r.wait(time.Minute)
		require.Equal(t, Held, r.state().State, r.state().Reason)
	})
}

// TestAnAssessmentOfTheFuture: one of years ahead begins no day, and days begin as before it: what was flattened stays
// so until the next.
func TestAnAssessmentOfTheFuture(t *testing.T) {
	for name, says := range map[string]struct{ ahead, date time.Duration }{
		"an hour over midnight, by a Date of now": {3 * time.Hour, 0},
		"years, by a Date of now":                 {80 * 365 * 24 * time.Hour, 0},
		"years, with its Date":                    {80 * 365 * 24 * time.Hour, 80 * 365 * 24 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(22 * time.Hour)
				r := newRig(t, func(o *Options) { o.ResumeNextDay = true })
				r.wait(time.Minute)
				r.p.watchers[acc].become(Held, "a test")
				odd := fmt.Sprintf(`{"ok":true,"status":"healthy","feed":"live","service":"s","version":"v1","asOf":%d,"cacheSeconds":5}`, time.Now().Add(says.ahead).UnixMilli())
				r.sim.Fault("GET /health", tradingsim.Raw(200, map[string][]string{
					"Content-Type": {"application/json"}, "Date": {time.Now().Add(says.date).UTC().Format(http.TimeFormat)},
				}, odd))
				r.wait(time.Minute)
				require.Equal(t, Held, r.state().State, r.state().Reason)
				r.wait(2 * time.Hour)
				require.NotEqual(t, Held, r.state().State, "the next day has begun")
			})
		})
	}
}

// TestAStartByAWrongClock: what was flattened today stays so where the health cannot be read and this machine's clock
// is a day ahead.
func TestAStartByAWrongClock(t *testing.T) {
	bubble(t, func(o *Options) { o.ResumeNextDay = true }, func(t *testing.T, r *rig) {
		w := r.p.watchers[acc]
		w.become(Held, "a test")
		now := r.p.now
		w.mu.Lock()
		w.serviceAt = instant{} // as after a start
		r.p.now = func() instant {
			i := now()
			i.wall = i.wall.Add(24 * time.Hour)
			return i
		}
		w.mu.Unlock()
		for range 30 {
			r.sim.Fault("GET /health", tradingsim.GatewayError(502))
		}
		r.wait(2 * time.Minute)
		require.Equal(t, Held, r.state().State, r.state().Reason)
	})
}

// TestClockJumps: a day forward or back moves no day, ends no state, and flattens nothing.
func TestClockJumps(t *testing.T) {
	for _, jump := range []time.Duration{24 * time.Hour, -24 * time.Hour} {
		bubble(t, func(o *Options) { o.ResumeNextDay = true }, func(t *testing.T, r *rig) {
			require.NoError(t, r.buy("2"))
			r.wait(20 * time.Second)
			now := r.p.now
			r.p.watchers[acc].mu.Lock()
			r.p.now = func() instant {
				i := now()
				i.wall = i.wall.Add(jump)
				return i
			}
			r.p.market.now = r.p.now
			r.p.watchers[acc].mu.Unlock()
			r.wait(20 * time.Second)
			require.Equal(t, OK, r.state().State)
			require.False(t, r.state().Blind)
			require.False(t, r.flat())
			require.NoError(t, r.buy("0.1"))
			r.close()
			r.wait(20 * time.Second)
			r.p.watchers[acc].become(Held, "a test") // as the loop does, and no person
			r.p.watchers[acc].mu.Lock()
			jump = -jump
			r.p.watchers[acc].mu.Unlock()
			r.wait(2 * time.Minute)
			require.Equal(t, Held, r.state().State)
		})
	}
}

// TestTwoAccounts: each has a state of its own.
func TestTwoAccounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(o *Options) { o.Accounts = append(o.Accounts, "acc_2") },
			tradingsim.WithAccount(tradingsim.Account{ID: "acc_1"}), tradingsim.WithAccount(tradingsim.Account{ID: "acc_2"}))
		require.NoError(t, r.p.Halt(acc, "a test"))
		require.ErrorIs(t, r.buy("0.1"), ErrHalted)
		_, err := r.bot.Live.Account("acc_2").PlaceOrder(t.Context(), order(trading.Long, "0.1", "BTC"))
		require.NoError(t, err)
		require.Equal(t, []trading.AccountID{"acc_1", "acc_2"}, r.p.Accounts())
	})
}

// TestWhatIsWrongHasAnOrder has several floors that cannot be.
func TestWhatIsWrongHasAnOrder(t *testing.T) {
	o := Options{Floors: map[trading.AccountID]decimal.Decimal{"d": {}, "b": {}, "a": {}, "c": {}}}
	for range 20 {
		require.Equal(t, o.check().Error(), o.check().Error())
	}
}

// TestAfterRun: nobody watches any more, and entries are refused.
func TestAfterRun(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		require.NoError(t, r.buy("0.1"))
		r.stop()
		require.False(t, r.state().Running)
		require.ErrorIs(t, r.buy("0.1"), ErrHalted)
		r.close()
	})
}

// TestAKeyThatIsRefused: what no look can come of is told at once, and not looked for again and again.
func TestAKeyThatIsRefused(t *testing.T) {
	for code, want := range map[string]error{"invalid_api_key": trading.ErrKeyRefused, "account_not_found": trading.CodeAccountNotFound} {
		synctest.Test(t, func(t *testing.T) {
			sim := tradingsim.New()
			defer sim.Close()
			status := map[string]int{"invalid_api_key": 401, "account_not_found": 404}[code]
			sim.FaultEach(tradingsim.Always("GET /accounts/{accountId}", tradingsim.Fail(status, code)))
			p, err := New(Options{Client: connect(t, sim), Accounts: []trading.AccountID{acc}, Dir: t.TempDir()})
			require.NoError(t, err)
			require.ErrorIs(t, p.Run(t.Context()), want)
			require.NoError(t, p.Close())
		})
	}
}
