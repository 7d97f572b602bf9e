package seen

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/ledger/reliance"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/observe"
	"github.com/tradingapi/trading-go/profile"
	"github.com/tradingapi/trading-go/tradingsim"
)

// all is a profile in which every assumption has a verdict.
func all(v profile.Verdict) *profile.Profile {
	p := was("A1", v, 12*time.Second)
	for _, r := range reliance.Rows[1:] {
		p.Results = append(p.Results, was(r.Experiment, v, 0).Results...)
	}
	return p
}

// exits lists every request for an exit whose answers are lost, with its time, key and body.
func exits(t *testing.T, opts ...trading.Option) (sent []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := rig.New(t, nil, opts...)
		r.Date() // after which the age of a health is known
		r.Open(rig.Buy("0.1"))
		names := map[string]string{}
		for _, f := range []tradingsim.Fault{tradingsim.DropResponse(), tradingsim.DropRequest(), tradingsim.Fail(503, "idempotency_unavailable"), tradingsim.RateLimit(time.Second), tradingsim.GatewayError(502)} {
			r.Sim.Fault("POST /positions/close", f, f)
			_, err := r.Account().ClosePosition(r.T.Context(), "BTC", trading.Percent(rig.Dec("10")))
			sent = append(sent, trading.OutcomeOf(err).String())
		}
		for _, q := range r.Sim.Requests() {
			if q.Operation == string(trading.OpClose) {
				key := q.Header.Get("Idempotency-Key")
				if names[key] == "" {
					names[key] = fmt.Sprintf("key %d", len(names)+1)
				}
				sent = append(sent, fmt.Sprint(names[key], " ", string(q.Body)))
			}
		}
	})
	return sent
}

// Whatever is withdrawn, an exit is sent as often, under the same keys and with the same bytes.
func TestExitsAreAsWithout(t *testing.T) {
	plain := exits(t)
	assert.Greater(t, len(plain), 10)
	assert.Equal(t, plain, exits(t, trading.WithRecovery(trading.Recovery{Profile: all(profile.Mixed)})))
}

// What was seen as assumed, or not seen, withdraws nothing.
func TestFirstAndUnseenWithdrawNothing(t *testing.T) {
	unseen := all(profile.First)
	for i := range unseen.Results {
		unseen.Results[i] = profile.Result{Experiment: unseen.Results[i].Experiment, Environment: profile.Live, Verdict: profile.Unseen, Why: "nothing shows it"}
	}
	onPaper := all(profile.Other)
	for i := range onPaper.Results {
		onPaper.Results[i].Environment = profile.Paper
	}
	for _, p := range []*profile.Profile{all(profile.First), unseen, onPaper} {
		assert.Equal(t, ledger.Without{}, reliance.For(p, "", 0, nil).Now())
	}
	assert.NotEqual(t, ledger.Without{}, reliance.For(all(profile.Neither), "", 0, nil).Now())
}

// A lag that nobody can wait for is none: nothing is accounted for.
func TestALagThatNobodyWaitsFor(t *testing.T) {
	w := reliance.For(was("A9", profile.Other, 12*time.Second), "", 0, nil).Now()
	assert.Equal(t, 24*time.Second, w.Lag)
	assert.False(t, w.Accounting)
	w = reliance.For(was("A9", profile.Other, time.Duration(1<<62)), "", time.Minute, nil).Now()
	assert.Equal(t, 30*time.Minute, w.Lag)
	assert.True(t, w.Accounting)
	assert.Equal(t, time.Minute, reliance.For(was("A9", profile.First, 0), "", time.Minute, nil).Now().Lag, "the option's own")
}

// A profile of another service or holder, or an old one, counts for nothing, and that is said.
func TestAProfileThatDoesNotCount(t *testing.T) {
	fences := func(r rig.Rig) bool {
		_, _ = r.Resolved(r.Doubtful(tradingsim.ArriveLate(time.Minute), rig.Buy("0.05")))
		return r.Sent(trading.OpCancelOrder) > 0
	}
	for name, c := range map[string]struct {
		change func(p *profile.Profile, url string)
		then   func(r rig.Rig)
		why    string
	}{
		"it counts":             {func(p *profile.Profile, url string) { p.BaseURL = strings.ToUpper(url[:4]) + url[4:] + "/" }, nil, ""},
		"another service":       {func(p *profile.Profile, _ string) { p.BaseURL = "https://api.example.com/v1" }, nil, "of https://api.example.com/v1, and not of"},
		"no service":            {func(p *profile.Profile, _ string) { p.BaseURL = "ftp://x" }, nil, "of no service"},
		"old":                   {func(p *profile.Profile, _ string) { p.MeasuredAt = p.MeasuredAt.Add(-31 * 24 * time.Hour) }, nil, "31 days ago"},
		"old while it runs":     {nil, func(rig.Rig) { time.Sleep(31 * 24 * time.Hour) }, "31 days ago"},
		"of the future":         {func(p *profile.Profile, _ string) { p.MeasuredAt = p.MeasuredAt.Add(48 * time.Hour) }, nil, "in the future"},
		"another holder":        {func(p *profile.Profile, _ string) { p.Holder = profile.Token("holder", "user_2") }, me, "another holder's"},
		"the holder":            {func(p *profile.Profile, _ string) { p.Holder = profile.Token("holder", "user_1") }, me, ""},
		"a holder nobody names": {func(p *profile.Profile, _ string) { p.Holder = profile.Token("holder", "user_2") }, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sim := rig.NewSim()
				p := was("A2", profile.Other, 0)
				if c.change != nil {
					c.change(p, sim.URL())
				}
				var said []string
				r := rig.Join(t, sim, trading.WithRecovery(trading.Recovery{Profile: p}), trading.WithHooks(trading.Hooks{ProfileIgnored: func(why error) { said = append(said, why.Error()) }}))
				if c.then != nil {
					c.then(r)
				}
				assert.Equal(t, c.why != "", fences(r), "it does as without")
				if c.why == "" {
					assert.Empty(t, said)
					return
				}
				require.Len(t, said, 1)
				assert.Contains(t, said[0], c.why)
			})
		})
	}
}

func me(r rig.Rig) {
	id, err := r.Me(r.T.Context(), trading.EnvLive)
	require.NoError(r.T, err)
	require.Equal(r.T, "user_1", id.UserID)
}

// What a write began without, another run does not rely on either, and the other way round.
func TestARestartReliesOnNoMore(t *testing.T) {
	for _, first := range []bool{true, false} {
		rig.LiveTest(t, nil, nil, func(r rig.Rig) {
			seen := []trading.Option{trading.WithRecovery(trading.Recovery{Profile: was("A2", profile.Other, 0)})}
			d, before, after := rig.NewDisk(), seen, []trading.Option(nil)
			if !first {
				before, after = after, before
			}
			r = r.Restart(d, before...)
			r.Date()
			_ = r.Doubtful(tradingsim.DropRequest(), rig.Buy("0.05"))
			sent := r.Sent(trading.OpCancelOrder)
			r = r.Restart(d, after...)
			r.Date()
			assert.Equal(r.T, trading.NotApplied, r.Recovered())
			assert.Equal(r.T, sent, r.Sent(trading.OpCancelOrder), "no fence")
		})
	}
}

// A ReadLag alone has looks be as far apart.
func TestReadLag(t *testing.T) {
	for lag, want := range map[time.Duration]trading.Outcome{5 * time.Second: trading.NotApplied, 13 * time.Second: trading.Unknown} {
		rig.LiveTest(t, []tradingsim.Option{tradingsim.WithLag(12 * time.Second)}, []trading.Option{trading.WithRecovery(trading.Recovery{ReadLag: lag})}, func(r rig.Rig) {
			if want == trading.NotApplied {
				r.Excepts(breaks)
			}
			r.ReadAll()
			time.Sleep(time.Minute)
			found, _ := r.Resolved(r.Doubtful(tradingsim.FailAfter(500, "internal_error"), rig.Buy("0.05")))
			assert.Equal(r.T, want, found.Outcome, "it ran, and others may trade the account")
		})
	}
}

// What falls with an assumption, as package observe and docs/service-reference.md have it, is what the client does
// without it.
func TestWhatFallsIsWhatTheClientDoes(t *testing.T) {
	falls := map[string]string{}
	for _, r := range reliance.Rows {
		falls[r.Experiment] = r.Falls
	}
	for i := range observe.Experiments {
		x := &observe.Experiments[i]
		assert.Equal(t, falls[x.Number], x.Falls, x.Number)
		delete(falls, x.Number)
	}
	assert.Empty(t, falls, "rows of no experiment")
}
