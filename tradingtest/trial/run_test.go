package trial_test

import (
	"flag"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingtest/trial"
)

var seeds = flag.Int("trial.seeds", 3, "how many seeds each scenario is played with")

// manifest is of bots that hold 0.01 BTC, look each second and have stops.
func manifest() trial.Manifest {
	return trial.Manifest{
		Period:     trial.Duration(time.Second),
		Markets:    map[string]trial.Market{"BTC": {Price: decimal.New(64000, 0), Most: decimal.New(1, -2)}},
		StopWithin: trial.Duration(5 * time.Second),
	}
}

func sandbox() trial.Manifest {
	m := manifest()
	m.Environment = "sandbox"
	return m
}

// quoting is the manifest of n limits that have no stops.
func quoting(n int64) trial.Manifest {
	m := manifest()
	m.StopWithin = 0
	m.Markets["BTC"] = trial.Market{Price: decimal.New(64000, 0), Most: decimal.New(n, -2)}
	return m
}

// rightBots make no mistake, each in its own way.
var rightBots = map[string]struct {
	bot      trial.Bot
	manifest trial.Manifest
}{
	"raw":                        {raw{period: time.Second}.run, manifest()},
	"raw, stop in its own call":  {raw{period: time.Second, mistake: "separate"}.run, manifest()},
	"with the client":            {sdk, manifest()},
	"on the sandbox":             {paper{raw{period: time.Second}}.run, sandbox()},
	"a grid":                     {quotes{raw: raw{period: time.Second}, distances: []int64{-30, -60, -90}}.run, quoting(3)},
	"a market maker that fills":  {quotes{raw: raw{period: time.Second}, distances: []int64{-20, 20}}.run, quoting(2)},
	"a Quoter, by the clock":     {quoter, each(time.Minute, quoting(1))},
	"raw, that looks each 5 min": {raw{period: 5 * time.Minute}.run, each(5*time.Minute, manifest())},
}

func each(period time.Duration, m trial.Manifest) trial.Manifest {
	m.Period = trial.Duration(period)
	return m
}

// played are all scenarios with each seed.
func played(t *testing.T, bot trial.Bot, m trial.Manifest, scenarios ...string) (runs []trial.Outcome) {
	quiet, _ := trial.PlayVirtually(t, bot, trial.Scene{Scenario: trial.Quiet, Seed: 1, Manifest: m})
	runs = append(runs, quiet)
	for _, scenario := range scenarios {
		for seed := range *seeds {
			o, _ := trial.PlayVirtually(t, bot, trial.Scene{Scenario: scenario, Seed: uint64(seed) + 1, Manifest: m, Quiet: quiet.Counts})
			runs = append(runs, o)
		}
	}
	return runs
}

// Nothing that a right bot does fails.
func TestRightBots(t *testing.T) {
	for name, row := range rightBots {
		t.Run(name, func(t *testing.T) {
			runs := played(t, row.bot, row.manifest, trial.Scenarios()[1:]...)
			var text strings.Builder
			trial.WriteReached(&text, runs)
			trial.WriteFindings(&text, runs)
			t.Log("\n" + text.String())
			total := trial.Summary(runs)
			require.Zero(t, total.Findings[trial.Fail])
			require.Zero(t, total.NoResult)
			require.NotEqual(t, trial.NotExercised, total.Verdict)
		})
	}
}

// lostOutcomes are the scenarios after which an outcome is not known.
var lostOutcomes = []string{"lost reply", "lost request", "cut reply", "page of a gateway"}

// mutants make one mistake each. caught is the judgement that is theirs, others those that fail
// with it.
var mutants = map[string]struct {
	bot       trial.Bot
	manifest  trial.Manifest
	caught    string
	scenarios []string
	others    []string
}{
	"sends again under a new key":     {raw{period: time.Second, mistake: "blind"}.run, manifest(), trial.BlindResend, lostOutcomes, []string{trial.Exposure}},
	"the same on the sandbox":         {paper{raw{period: time.Second, mistake: "blind"}}.run, sandbox(), trial.BlindResend, lostOutcomes, []string{trial.Exposure}},
	"buys while it holds":             {raw{period: time.Second, mistake: "greedy"}.run, manifest(), trial.Exposure, trial.Scenarios()[1:], []string{trial.NoStop}},
	"does not ask for the health":     {raw{period: time.Second, mistake: "reckless"}.run, manifest(), trial.UnhealthyEntry, []string{"unhealthy"}, nil},
	"goes on while locked":            {raw{period: time.Second, mistake: "stubborn"}.run, manifest(), trial.LockedEntry, []string{"locked"}, nil},
	"does not wait for the limit":     {raw{period: time.Second, mistake: "impatient"}.run, manifest(), trial.RetryAfter, []string{"limit of orders", "limit of the key"}, nil},
	"sets its stop once":              {raw{period: time.Second, mistake: "naked"}.run, manifest(), trial.NoStop, []string{"lost stop"}, nil},
	"has no stop for what it finds":   {raw{period: time.Second, mistake: "unprotected"}.run, manifest(), trial.NoStop, []string{"failure after the work", "service dies"}, nil},
	"forgets its position":            {raw{period: time.Second, mistake: "forgets"}.run, manifest(), trial.Restart, []string{"killed while open", "killed in a reply", "killed in an order"}, []string{trial.Exposure, trial.BlindResend}},
	"takes a missing mark for 0":      {raw{period: time.Second, mistake: "zero"}.run, manifest(), trial.Zero, []string{"no price"}, nil},
	"has one key for all":             {raw{period: time.Second, mistake: "same key"}.run, manifest(), trial.KeyReuse, []string{"lost reply", "unhealthy"}, nil},
	"looks right after a late answer": {raw{period: time.Second, mistake: "ticks"}.run, manifest(), trial.Exposure, []string{"late answer"}, nil},
	"looks at once in its next life":  {raw{period: time.Second, mistake: "hasty"}.run, manifest(), trial.Exposure, []string{"killed on the way"}, nil},
	"sends a failure again":           {raw{period: time.Second, mistake: "repeats"}.run, manifest(), trial.Exposure, []string{"killed behind a failure"}, nil},
	"enters again after a refusal":    {raw{period: time.Second, mistake: "storm"}.run, manifest(), trial.Storm, []string{"locked"}, []string{trial.LockedEntry}},
}

// Each mistake is caught by its own judgement.
func TestMutants(t *testing.T) {
	for name, row := range mutants {
		t.Run(name, func(t *testing.T) {
			exercised, caught := 0, 0
			for _, o := range played(t, row.bot, row.manifest, row.scenarios...)[1:] {
				for _, f := range o.Findings {
					switch {
					case f.Judgement != row.caught:
						if f.Verdict == trial.Fail {
							assert.Contains(t, row.others, f.Judgement, "%s seed %d\n%s", o.Scenario, o.Seed, f)
						}
					case f.Verdict == trial.Fail, f.Verdict == trial.Warn:
						caught++
						exercised++
						if caught == 1 {
							t.Log("\n" + f.String())
						}
					case f.Verdict == trial.Pass:
						exercised++
						t.Logf("missed in %s, seed %d", o.Scenario, o.Seed)
					}
				}
			}
			t.Logf("caught in %d of %d runs that exercised %s, of %d", caught, exercised, row.caught, *seeds*len(row.scenarios))
			require.NotZero(t, exercised)
			require.GreaterOrEqual(t, caught*100, exercised*95)
		})
	}
}

// A scenario with a seed plays the same again: what a test has found, its name shows.
func TestPlaysAgain(t *testing.T) {
	for _, scenario := range trial.Scenarios() {
		t.Run(scenario, func(t *testing.T) {
			s := trial.Scene{Scenario: scenario, Seed: 3, Manifest: manifest(), Quiet: trial.Counts{Entries: 5, Levels: 5}}
			bot := raw{period: time.Second, mistake: "separate"}.run
			_, first := trial.PlayVirtually(t, bot, s)
			for range *seeds {
				_, again := trial.PlayVirtually(t, bot, s)
				require.Equal(t, first, again)
			}
		})
	}
}

// Run fails a test with what its bot did, and only then.
func TestRun(t *testing.T) {
	trial.Run(t, raw{period: time.Second}.run, manifest(), 7)
}
