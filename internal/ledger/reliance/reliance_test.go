package reliance

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/profile"
)

const here = "https://api.example.com/v1"

// was is what was seen of a service just now.
func was(experiment string, v profile.Verdict) *profile.Profile {
	return &profile.Profile{
		Version: profile.Version, BaseURL: here, Holder: profile.Token("holder", "user_1"), MeasuredAt: time.Now(),
		Results: []profile.Result{{Experiment: experiment, Environment: profile.Live, Verdict: v}},
	}
}

func withdrawn(experiment string, v profile.Verdict) ledger.Without {
	return For(was(experiment, v), here, 0, nil).Now()
}

// Each assumption that falls withdraws what its row says, and nothing else; one that holds, or that nobody
// has seen, withdraws nothing.
func TestRows(t *testing.T) {
	want := map[string]ledger.Without{
		"A1": {Fence: true, Probe: true}, "A1e": {Resend: true, Probe: true},
		"A2": {Fence: true}, "49": {Fence: true}, "A4": {Fence: true, Probe: true},
		"A5": {Dead: 48 * time.Hour}, "A6": {Resend: true, Probe: true}, "A6e": {Resend: true, Probe: true},
		"A8": {Fence: true}, "A9": {Lag: 10 * time.Second},
		"A10": {Dates: true, Probe: true}, "A11": {Answers: true},
		"A12": {Applied: true}, "53": {Applied: true}, "A13": {AgeUnknown: true},
		"A15": {Rotation: true}, "A16": {Accounting: true},
		"A17": {Times: true}, "A19": {Lag: 10 * time.Second},
	}
	for _, r := range Rows {
		for _, v := range []profile.Verdict{profile.Mixed, profile.Neither} {
			assert.Equal(t, want[r.Experiment], withdrawn(r.Experiment, v), r.Experiment)
		}
		for _, v := range []profile.Verdict{profile.First, profile.Unseen} {
			assert.Equal(t, ledger.Without{}, withdrawn(r.Experiment, v), r.Experiment)
		}
		delete(want, r.Experiment)
	}
	assert.Empty(t, want)
	assert.Equal(t, ledger.Without{}, withdrawn("49", profile.Other), "the client finds keys by route out itself")
}

// Where answers are kept for less than a day, what rests on a key ends at half of the time that was seen.
func TestAnswersAreKeptForLess(t *testing.T) {
	for kept, want := range map[time.Duration]ledger.Without{
		0: {Fence: true, Probe: true}, 20*time.Minute - 1: {Fence: true, Probe: true}, 20 * time.Minute: {Fence: true}, time.Hour - 1: {Fence: true}, time.Hour: {},
	} {
		p := was("A4", profile.Other)
		p.Measured.KeptFor = profile.Duration(kept)
		assert.Equal(t, want, For(p, here, 0, nil).Now(), "%s", kept)
		p.Results[0].Verdict = profile.Mixed
		assert.Equal(t, ledger.Without{Fence: true, Probe: true}, For(p, here, 0, nil).Now(), "who answers is not known")
	}
}

// A profile counts for its own service and holder, and for thirty days. That it does not is said once.
func TestCounts(t *testing.T) {
	for name, c := range map[string]struct {
		change func(p *profile.Profile)
		at     string
		then   func(*Reliance)
		said   int
	}{
		"it counts":       {at: here},
		"by another port": {at: "https://api.example.com:8443/v1", said: 1},
		"no address":      {change: func(p *profile.Profile) { p.BaseURL = "nowhere" }, at: here, said: 1},
		"any service":     {change: func(p *profile.Profile) { p.BaseURL = "" }, at: here},
		"another holder":  {at: here, then: func(c *Reliance) { c.HolderIs("user_2"); c.HolderIs("user_3") }, said: 1},
		"its holder":      {at: here, then: func(c *Reliance) { c.HolderIs("user_1") }},
		"in a month":      {at: here, then: func(*Reliance) { time.Sleep(31 * 24 * time.Hour) }, said: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := was("A2", profile.Other)
				if c.change != nil {
					c.change(p)
				}
				said := 0
				client := For(p, c.at, time.Minute, func(error) { said++ })
				if c.then != nil {
					c.then(client)
				}
				for range 2 {
					assert.Equal(t, c.said == 0, client.Of(true).Fence)
					assert.False(t, client.Of(false).Fence, "what was seen is of live accounts")
					assert.Equal(t, time.Minute, client.Now().Lag, "an option's own counts all the same")
				}
				assert.Equal(t, c.said, said)
			})
		})
	}
	none := For(nil, here, 0, nil)
	none.HolderIs("user_1")
	assert.Equal(t, ledger.Without{}, none.Now())
}
