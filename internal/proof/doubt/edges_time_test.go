package doubt

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

// skews are how far the service's clock is from the bot's.
var skews = map[string]time.Duration{
	"an hour behind": -time.Hour, "10 s behind": -10 * time.Second, "3 s behind": -3 * time.Second, "50 ms behind": -50 * time.Millisecond,
	"50 ms ahead": 50 * time.Millisecond, "3 s ahead": 3 * time.Second, "10 s ahead": 10 * time.Second, "an hour ahead": time.Hour,
}

// skewed runs a test beside a service whose clock is off.
func skewed(t *testing.T, test func(t *testing.T, sim *tradingsim.Sim, d *rig.Disk)) {
	t.Helper()
	for name, skew := range skews {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, tradingsim.New(tradingsim.WithSkew(skew)), rig.NewDisk()) })
		})
	}
}

// D 2: the first request of a process is a close, which runs. What the bot's own clock says
// of it makes nothing of the trade that it left.
func TestEdge02_TheFirstRequestIsAClose(t *testing.T) {
	skewed(t, func(t *testing.T, sim *tradingsim.Sim, d *rig.Disk) {
		r := rig.Join(t, sim, trading.WithJournal(d.Open()))
		r.Open(rig.Buy("0.1"))
		time.Sleep(time.Hour)
		r = r.Restart(d, trading.WithRecovery(trading.Recovery{WithoutBackground: true}))
		_ = r.CloseLost()
		r = r.Restart(d)
		assert.NotEqual(t, trading.NotApplied, r.Recovered())
		assert.Equal(t, 1, r.Ran(trading.OpClose))
	})
}

// D 3: a time of the bot's is compared with the service's as what it was for that.
func TestEdge03_SinceByTheBotsClock(t *testing.T) {
	skewed(t, func(t *testing.T, sim *tradingsim.Sim, d *rig.Disk) {
		r := rig.Join(t, sim, trading.WithJournal(d.Open()), trading.WithRecovery(trading.Recovery{WithoutBackground: true}))
		r.Open(rig.Buy("0.1"))
		time.Sleep(time.Hour)
		_ = r.CloseLost(trading.WithClientOrderID("1", trading.Since(time.Now())))
		r = r.Restart(d)
		assert.NotEqual(t, trading.NotApplied, r.Recovered())
		assert.Equal(t, 1, r.Ran(trading.OpClose))
	})
}

// D 7: what one service says of the time is nothing to another.
func TestEdge07_AnotherBaseURLAnHourAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim, other, d := tradingsim.New(), tradingsim.New(tradingsim.WithSkew(time.Hour)), rig.NewDisk()
		j := d.Open()
		at := func(sim *tradingsim.Sim, base string) rig.Rig {
			client, err := trading.New(base, trading.WithJournal(j), trading.WithLiveKey(sim.LiveKey()), trading.WithTransport(sim.Transport()), trading.WithRecovery(trading.Recovery{WithoutBackground: true}))
			require.NoError(t, err)
			t.Cleanup(func() { rig.CloseClient(t, client) })
			return rig.Rig{Client: client, T: t, Sim: sim}
		}
		here, there := at(sim, "https://one.test/v1"), at(other, "https://two.test/v1")
		here.Open(rig.Buy("0.1"))
		time.Sleep(time.Hour)
		there.Date()
		resolution, _ := here.Resolved(here.CloseLost())
		assert.NotEqual(t, trading.NotApplied, resolution.Outcome)
		assert.Equal(t, 1, here.Ran(trading.OpClose))
	})
}

// D 8: a page that a cache has kept for an hour does not say what time it is: else an
// order that still runs were taken for one that never will, after a restart.
func TestEdge08_AnOldDateSaysNothing(t *testing.T) {
	for name, page := range map[string]struct {
		path, age string
		read      func(r rig.Rig) error
	}{
		"the contract":             {"/openapi.json", "", func(r rig.Rig) error { return rig.Only(r.OpenAPI(r.T.Context())) }},
		"the health":               {"/health", "", func(r rig.Rig) error { return rig.Only(r.Health(r.T.Context())) }},
		"a page of a gateway":      {"/accounts/acc_1", "", func(r rig.Rig) error { return rig.Only(r.Account().State(r.T.Context())) }},
		"a read that a cache kept": {"/accounts/acc_1", "3600", func(r rig.Rig) error { return rig.Only(r.Account().State(r.T.Context())) }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sim, d := tradingsim.New(), rig.NewDisk()
				old := rig.Changed(sim.Transport(), func(req *http.Request, h http.Header) {
					if strings.HasSuffix(req.URL.Path, page.path) {
						rig.ShiftDate(h, -time.Hour)
						if page.age != "" {
							h.Set("Age", page.age)
						}
					}
				})
				r := rig.Join(t, sim, trading.WithJournal(d.Open()), rig.Sole, trading.WithTransport(old), trading.WithRecovery(trading.Recovery{WithoutBackground: true}))
				if name == "a page of a gateway" {
					date := http.Header{"Date": {time.Now().UTC().Format(http.TimeFormat)}}
					sim.Fault("GET /accounts/{accountId}", tradingsim.Raw(404, date, "<html>"))
				}
				err := page.read(r)
				assert.Equal(t, name == "a page of a gateway", err != nil, "%v", err)
				_ = r.Lost(tradingsim.Hang(2*time.Minute), rig.Buy("0.05"))
				rig.CloseClient(t, r.Client)
				r = rig.Join(t, sim, trading.WithJournal(d.Open()), rig.Sole)
				r.Date()
				assert.NotEqual(t, trading.NotApplied, r.Recovered())
				time.Sleep(time.Hour)
				assert.Equal(t, 1, r.Ran(trading.OpOrder))
			})
		})
	}
}

// D 31: the Dates are of another clock than the closed trades. An order that ran closed the
// opposite position, and the trade that it left is not taken for one of before it.
func TestEdge31_DatesApartFromTrades(t *testing.T) {
	for name, by := range map[string]time.Duration{"behind": -4 * time.Second, "ahead": 4 * time.Second} {
		for _, restarts := range []bool{false, true} {
			for _, learnt := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, restarted %t, learnt %t", name, restarts, learnt), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						sim, d := tradingsim.New(), rig.NewDisk()
						apart := trading.WithTransport(rig.Changed(sim.Transport(), func(_ *http.Request, h http.Header) { rig.ShiftDate(h, by) }))
						r := rig.Join(t, sim, trading.WithJournal(d.Open()), rig.Sole, apart, trading.WithRecovery(trading.Recovery{WithoutBackground: true}))
						r.ReadAll()
						if learnt {
							r.Open(rig.Buy("0.05"))
							_, err := r.Account().ClosePosition(t.Context(), "BTC", trading.Percent(rig.Dec("100")))
							require.NoError(t, err)
							r.ReadAll()
						}
						r.Open(rig.Sell("0.05"))
						r.ReadAll()
						r.ReadAll()
						err := r.Lost(tradingsim.CrashAfter(), rig.Buy("0.05"))
						if restarts {
							r = r.Restart(d, rig.Sole, apart)
							assert.NotEqual(t, trading.NotApplied, r.Recovered())
							return
						}
						resolution, _ := r.Resolved(err)
						assert.NotEqual(t, trading.NotApplied, resolution.Outcome)
					})
				})
			}
		}
	}
}

// D 36: what a cache has kept shows neither the account before a write nor after it.
func TestEdge36_ACacheThatKeepsReads(t *testing.T) {
	for _, honors := range []bool{true, false} {
		t.Run(fmt.Sprintf("it honors no-cache: %t", honors), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sim := tradingsim.New()
				kept := rig.Cache{Lasts: 30 * time.Second, Serves: func(req *http.Request) bool {
					return !strings.HasSuffix(req.URL.Path, "/health") && !(honors && rig.NoCache(req))
				}}
				r := rig.Join(t, sim, rig.Sole, trading.WithTransport(kept.Before(sim.Transport())))
				r.ReadAll()
				r.ReadAll()
				r.ReadAll()
				err := r.Lost(tradingsim.CrashAfter(), rig.Buy("0.05"))
				resolution, _ := r.Resolved(err)
				assert.NotEqual(t, trading.NotApplied, resolution.Outcome)
				if honors {
					assert.Equal(t, trading.Applied, resolution.Outcome)
				}
				assert.Equal(t, 1, r.Ran(trading.OpOrder))
			})
		})
	}
}

// D 37: that nobody else trades the account was not said when the order was placed. Somebody
// did then, of its size, and it never ran.
func TestEdge37_AnAccountThatIsDeclaredLater(t *testing.T) {
	for name, declared := range map[string][2][]trading.Option{
		"later":  {nil, {rig.Sole}},
		"before": {{rig.Sole}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			rig.DiskTest(t, append(declared[0], trading.WithRecovery(trading.Recovery{WithoutBackground: true})), func(r rig.Rig, d *rig.Disk) {
				r.ReadAll()
				r.ReadAll()
				_ = r.Lost(tradingsim.Crash(), rig.Buy("0.05"))
				rig.CloseClient(r.T, r.Client)
				rig.Join(r.T, r.Sim).Open(rig.Buy("0.05")) // by a person
				r = r.Restart(d, declared[1]...)
				assert.NotEqual(r.T, trading.Applied, r.Recovered())
				assert.Equal(r.T, 1, r.Ran(trading.OpOrder))
			})
		})
	}
}
