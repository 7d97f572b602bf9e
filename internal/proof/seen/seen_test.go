package seen

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/ledger/reliance"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/profile"
	"github.com/tradingapi/trading-go/tradingsim"
)

// was is what a service was seen to do.
func was(experiment string, v profile.Verdict, lag time.Duration) *profile.Profile {
	r := profile.Result{Experiment: experiment, Environment: profile.Live, Verdict: v, At: time.Now()}
	switch v {
	case profile.First:
		r.N, r.CountFirst = 8, 8
	case profile.Other:
		r.N, r.CountOther = 8, 8
	case profile.Mixed:
		r.N, r.CountFirst, r.CountOther = 8, 4, 4
	case profile.Neither:
		r.N, r.CountNeither, r.Why = 1, 1, "something else"
	}
	return &profile.Profile{
		Version: profile.Version, MeasuredAt: time.Now(), By: "test", Results: []profile.Result{r},
		Measured: profile.Measured{ReadLag: profile.Spread{N: 1, Median: profile.Duration(lag), P99: profile.Duration(lag), Most: profile.Duration(lag)}},
	}
}

// joiner makes another client of the service.
type joiner func(opts ...trading.Option) rig.Rig

// row is an assumption, a service that breaks it, and what comes of it.
type row struct {
	experiment string
	verdict    profile.Verdict
	lag        time.Duration
	sim        []tradingsim.Option
	service    func() service
	opts       []trading.Option
	// wrong says what is wrong in the end; "" for nothing. Without the profile it is without.
	wrong   func(r rig.Rig, join joiner) string
	without string
}

// run has a row's case happen.
func (c row) run(t *testing.T, p bool) (wrong string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		sim := rig.NewSim(c.sim...)
		front := sim.Transport()
		if c.service != nil {
			front = c.service()(front)
		}
		join := func(more ...trading.Option) rig.Rig {
			opts := slices.Concat([]trading.Option{trading.WithTransport(front)}, c.opts, more)
			if p {
				opts = append(opts, trading.WithRecovery(trading.Recovery{Profile: was(c.experiment, c.verdict, c.lag)}))
			}
			r := rig.Join(t, sim, opts...)
			r.Excepts(breaks)
			return r
		}
		wrong = c.wrong(join(), join)
	})
	return wrong
}

// breaks is what no client promises anything of.
const breaks = "a service that breaks an assumption"

// Where an assumption does not hold, the client is wrong without the profile that says so, or does
// what it must not, and with it it is not.
func TestWhatAProfileWithdraws(t *testing.T) {
	for _, c := range rows {
		t.Run(c.experiment+" "+string(c.verdict), func(t *testing.T) {
			assert.Equal(t, c.without, c.run(t, false), "without the profile")
			assert.Empty(t, c.run(t, true), "with it")
		})
	}
}

// Each assumption that withdraws anything has its case.
func TestEachAssumptionHasItsCase(t *testing.T) {
	has := map[string]bool{}
	for _, c := range rows {
		has[c.experiment] = true
	}
	for _, r := range reliance.Rows {
		assert.Equal(t, !strings.HasPrefix(r.Falls, "nothing"), has[r.Experiment], r.Experiment)
	}
}

var asOf = regexp.MustCompile(`"asOf":\d+`)

var closedAt = regexp.MustCompile(`"closedAt":"[^"]*"`)

// epoch is when the virtual time of a test begins.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// keysOfEach is a service that keeps the idempotency keys of each API key apart.
func keysOfEach() service {
	return keysOf(func(r *http.Request) string {
		return "-" + strings.TrimPrefix(r.Header.Get("X-Api-Key"), "pk_live_simulated")
	})
}

// rotated has the API key replaced after the first send of an order.
func rotated(f tradingsim.Fault, opts ...trading.CallOption) func(r rig.Rig, join joiner) string {
	return func(r rig.Rig, join joiner) string {
		key, next := r.Sim.LiveKey(), r.Sim.NewLiveKey()
		r = join(trading.WithKeyFunc(trading.EnvLive, func(context.Context) (string, error) {
			if r.Sent(trading.OpOrder) > 0 {
				return next, nil
			}
			return key, nil
		}))
		r.Sim.Fault("POST /orders", f)
		_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), append(opts, trading.WithResolveTimeout(0))...)
		return lied(r, err, 0)
	}
}

// An entry is not sent again with another API key. What gets out is: to be out twice is to be out.
func TestAnExitGoesOnWithAnotherAPIKey(t *testing.T) {
	for name, c := range map[string]struct {
		call func(rig.Rig, ...trading.CallOption) error
		op   trading.Operation
		sent int
	}{
		"an entry": {rig.EntryCall, trading.OpOrder, 1},
		"an exit":  {rig.ExitCall, trading.OpClose, 2},
	} {
		t.Run(name, func(t *testing.T) {
			rig.LiveTest(t, nil, nil, func(r rig.Rig) {
				r.Sim.Trade(string(rig.Acc), "long", "0.1", "BTC")
				key, next := r.Sim.LiveKey(), r.Sim.NewLiveKey()
				r = rig.Join(r.T, r.Sim, trading.WithRecovery(trading.Recovery{Profile: was("A15", profile.Other, 0)}),
					trading.WithKeyFunc(trading.EnvLive, func(context.Context) (string, error) {
						if r.Sent(c.op) > 0 {
							return next, nil
						}
						return key, nil
					}))
				r.Sim.Fault(string(c.op), tradingsim.DropRequest())
				err := c.call(r, trading.WithResolveTimeout(0))
				assert.Equal(r.T, c.sent, r.Sent(c.op), "%v", err)
				if c.sent == 1 {
					require.ErrorIs(r.T, err, trading.ErrExpired)
					assert.Equal(r.T, trading.Unknown, trading.OutcomeOf(err))
				} else {
					require.NoError(r.T, err)
				}
			})
		})
	}
}

// late has an order arrive after a minute, long after the client has lost patience, and says whether
// the verdict of it is wrong.
func late(r rig.Rig, _ joiner) string {
	err := r.Doubtful(tradingsim.ArriveLate(time.Minute), rig.Buy("0.05"))
	return lied(r, err, 0)
}

// lied resolves a write, waits for all that may still run, and says how the verdict is wrong.
// So many orders ran before it.
func lied(r rig.Rig, err error, before int) string {
	said := trading.OutcomeOf(err)
	if said == trading.Unknown {
		found, _ := r.Resolved(err)
		said = found.Outcome
	}
	time.Sleep(time.Hour)
	ran := r.Ran(trading.OpOrder) - before
	switch {
	case ran > 1:
		return "ran twice"
	case said == trading.NotApplied && ran > 0:
		return "NotApplied, and it ran"
	case said == trading.Applied && ran == 0:
		return "Applied, and it did not run"
	default:
		return ""
	}
}

var rows = []row{
	{experiment: "A1", verdict: profile.Mixed, wrong: late, without: "NotApplied, and it ran", service: func() service {
		n := 0
		return keysOf(func(r *http.Request) string { // the fence comes to an instance that stores no refusals
			if is(r, "/orders/cancel") {
				if n++; n == 1 {
					return "-b"
				}
			}
			return ""
		})
	}},
	{experiment: "A2", verdict: profile.Other, wrong: late, without: "NotApplied, and it ran", service: ordersApart},
	{experiment: "49", verdict: profile.Mixed, wrong: late, without: "NotApplied, and it ran", service: ordersApart},
	{experiment: "A8", verdict: profile.Other, without: "it sent fences", service: func() service {
		return changed(func(r *http.Request, status int, body string) (int, string) {
			if is(r, "/orders/cancel") {
				return 200, `{"success":true}`
			}
			return status, body
		})
	}, wrong: func(r rig.Rig, join joiner) string {
		if wrong := late(r, join); wrong != "" {
			return wrong
		}
		if r.Sent(trading.OpCancelOrder) > 0 {
			return "it sent fences"
		}
		return ""
	}},
	{experiment: "A1e", verdict: profile.Other, without: "ran twice", service: eachApart, wrong: func(r rig.Rig, _ joiner) string {
		r.Sim.Fault("POST /orders", tradingsim.DropResponse())
		_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"))
		return lied(r, err, 0)
	}},
	{experiment: "A6", verdict: profile.Neither, without: "ran twice", service: eachApart, wrong: slow},
	{experiment: "A6e", verdict: profile.Other, without: "ran twice", service: eachApart, wrong: slow},
	{experiment: "A4", verdict: profile.Other, without: "ran twice", service: func() service {
		n := 0
		return keysOf(func(r *http.Request) string { // by the second request it has forgotten the first
			if isOrder(r) {
				if n++; n > 1 {
					return "-again"
				}
			}
			return ""
		})
	}, wrong: func(r rig.Rig, _ joiner) string {
		r.Sim.Fault("POST /orders", tradingsim.DropResponse())
		_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), rig.Once)
		return lied(r, err, 0)
	}},
	// When the order comes, the service has forgotten the fence that took its key.
	{experiment: "A4", verdict: profile.Other, wrong: late, without: "NotApplied, and it ran", service: ordersApart},
	{experiment: "A5", verdict: profile.Other, without: "the dead key was used again", wrong: func(r rig.Rig, _ joiner) string {
		r.Sim.Fault("POST /orders", tradingsim.DropRequest())
		_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), rig.Once, rig.Breakout)
		require.Equal(r.T, trading.NotApplied, trading.OutcomeOf(err), "%v", err)
		time.Sleep(25 * time.Hour)
		_, err = r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), rig.Breakout)
		require.NoError(r.T, err)
		if keys := r.KeysOf(trading.OpOrder); keys[0] == keys[len(keys)-1] {
			return "the dead key was used again"
		}
		return ""
	}},
	{experiment: "A9", verdict: profile.Other, lag: 12 * time.Second, sim: []tradingsim.Option{tradingsim.WithLag(12 * time.Second)}, wrong: partWay, without: "NotApplied, and it ran"},
	{experiment: "A19", verdict: profile.Other, lag: 12 * time.Second, sim: []tradingsim.Option{tradingsim.WithLag(12 * time.Second)}, wrong: partWay, without: "NotApplied, and it ran"},
	{experiment: "A12", verdict: profile.Other, opts: []trading.Option{rig.Sole}, wrong: concluded(trading.Applied), without: "applied by accounting"},
	{experiment: "A10", verdict: profile.Other, sim: []tradingsim.Option{tradingsim.WithInterpretation(50)}, service: func() service {
		return func(sim http.RoundTripper) http.RoundTripper {
			return rig.Way(func(r *http.Request) (*http.Response, error) {
				resp, err := sim.RoundTrip(r)
				if err == nil && time.Since(epoch) > 10*time.Minute { // then another machine answers
					resp.Header.Set("Date", time.Now().Add(-20*time.Minute).UTC().Format(http.TimeFormat))
				}
				return resp, err
			})
		}
	}, without: "it asked with the order's own bytes after 20 minutes", wrong: func(r rig.Rig, join joiner) string {
		d := rig.NewDisk()
		rig.CloseClient(r.T, r.Client)
		r = join(trading.WithJournal(d.Open()))
		r.Date()
		r.Sim.Fault("POST /orders", tradingsim.Crash()) // its claim stands, and nothing ran
		_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), rig.Once, trading.WithResolveTimeout(0))
		require.Equal(r.T, trading.Unknown, trading.OutcomeOf(err), "%v", err)
		rig.CloseClient(r.T, r.Client)
		time.Sleep(20 * time.Minute)
		r = join(trading.WithJournal(d.Open()))
		r.Date()
		_, _ = r.Recover(r.T.Context())
		if r.Sent(trading.OpOrder) > 1 {
			return "it asked with the order's own bytes after 20 minutes"
		}
		return ""
	}},
	{experiment: "A11", verdict: profile.Neither, without: "NotApplied, and it ran", service: func() service {
		n := 0
		return changed(func(r *http.Request, status int, body string) (int, string) { // what is not the position after the order
			if isOrder(r) {
				if n++; n == 2 {
					body = strings.Replace(body, `"size":0.15`, `"size":0.2`, 1)
				}
			}
			return status, body
		})
	}, wrong: func(r rig.Rig, _ joiner) string {
		r.ReadAll()
		r.Open(rig.Buy("0.1"))
		r.ReadAll()
		r.Open(rig.Buy("0.05"))
		return lied(r, r.Doubtful(tradingsim.FailAfter(500, "internal_error"), rig.Buy("0.05")), 2)
	}},
	{experiment: "A13", verdict: profile.Other, without: "it passed on an old health", service: func() service {
		return changed(func(r *http.Request, status int, body string) (int, string) {
			if is(r, "/health") {
				body = asOf.ReplaceAllString(body, fmt.Sprintf(`"asOf":%d`, time.Now().Add(-8*time.Second).UnixMilli()))
			}
			return status, body
		})
	}, wrong: func(r rig.Rig, _ joiner) string {
		if _, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05")); err == nil {
			return "it passed on an old health"
		}
		_, err := r.Account().ClosePosition(r.T.Context(), "BTC", trading.All)
		assert.ErrorIs(r.T, err, trading.CodeNoPosition, "an exit passes")
		return ""
	}},
	{experiment: "A16", verdict: profile.Other, without: "NotApplied, and it ran", service: func() service {
		var shown string
		return changed(func(r *http.Request, status int, body string) (int, string) { // a list that is not added to
			if is(r, "/trades") {
				if shown == "" {
					shown = body
				}
				body = shown
			}
			return status, body
		})
	}, wrong: func(r rig.Rig, _ joiner) string {
		r.ReadAll()
		time.Sleep(time.Minute)
		err := r.Doubtful(tradingsim.FailAfter(500, "internal_error"), rig.Buy("0.05", func(o *trading.Order) { o.StopLoss = trading.At(rig.Dec("60000")) }))
		r.Sim.SetMark("BTC", "59000")
		return lied(r, err, 0)
	}},
	{experiment: "A15", verdict: profile.Other, wrong: rotated(tradingsim.ArriveLate(time.Minute), rig.Once), without: "NotApplied, and it ran", service: keysOfEach},
	{experiment: "A15", verdict: profile.Mixed, wrong: rotated(tradingsim.DropResponse()), without: "ran twice", service: keysOfEach},
	// A time decides only of a write without a baseline, once a trade of the program's own has shown the
	// clock: no schedule of a whole client is wrong without the profile. This one was, while times bounded
	// what is judged against a baseline.
	{experiment: "A17", verdict: profile.Other, without: "", service: func() service {
		return changed(func(r *http.Request, status int, body string) (int, string) { // the clock of the trades is set back
			if is(r, "/trades") && time.Since(epoch) > time.Hour {
				body = closedAt.ReplaceAllStringFunc(body, func(m string) string {
					at, err := time.Parse(time.RFC3339Nano, m[len(`"closedAt":"`):len(m)-1])
					if err != nil || time.Since(at) > 20*time.Minute {
						return m
					}
					return `"closedAt":"` + at.Add(-30*time.Minute).Format(time.RFC3339Nano) + `"`
				})
			}
			return status, body
		})
	}, wrong: func(r rig.Rig, _ joiner) string {
		r.ReadAll()
		for range 2 {
			r.Open(rig.Buy("0.02"))
			r.ReadAll()
			_, err := r.Account().ClosePosition(r.T.Context(), "BTC", trading.All)
			require.NoError(r.T, err)
			r.ReadAll()
		}
		r.Open(rig.Sell("0.05"))
		time.Sleep(2 * time.Hour)
		r.ReadAll()
		time.Sleep(time.Minute)
		return lied(r, r.Doubtful(tradingsim.FailAfter(500, "internal_error"), rig.Buy("0.05")), 3)
	}},
	{experiment: "53", verdict: profile.Other, opts: []trading.Option{rig.Sole}, wrong: concluded(trading.Applied), without: "applied by accounting"},
}

// slow has an order take longer than the client waits for one answer.
func slow(r rig.Rig, _ joiner) string {
	r.Sim.Fault("POST /orders", tradingsim.Delay(7*time.Second))
	_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"))
	return lied(r, err, 0)
}

// partWay has an order executed that the service fails behind, so that no answer of it is stored.
func partWay(r rig.Rig, _ joiner) string {
	r.ReadAll()
	time.Sleep(time.Minute)
	return lied(r, r.Doubtful(tradingsim.FailAfter(500, "internal_error"), rig.Buy("0.05")), 0)
}

// concluded says whether accounting has concluded something.
func concluded(what trading.Outcome) func(r rig.Rig, join joiner) string {
	return func(r rig.Rig, _ joiner) string {
		r.ReadAll()
		time.Sleep(time.Minute)
		r.ReadAll()
		found, _ := r.Resolved(r.Doubtful(tradingsim.CrashAfter(), rig.Buy("0.05")))
		if found.Outcome == what && found.Evidence == trading.EvidenceAccounting {
			return what.String() + " by accounting"
		}
		return ""
	}
}
