package trial_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
	"github.com/tradingapi/trading-go/tradingtest/trial"
)

// found is a run with one finding.
func found(scenario, judgement string, v trial.Verdict) trial.Outcome {
	return trial.Outcome{
		Scenario: scenario, Seed: 7, Replay: "trading trial --seed 7",
		Findings: []trial.Finding{{Judgement: judgement, Verdict: v, Reason: "reason", Text: "What it did.", Contract: "The contract.", Requests: []int64{3}, Picture: "1s #3\n"}},
	}
}

// Where not all of three runs fail, a fail is a warning; a run without a result is none.
func TestThrice(t *testing.T) {
	fail, pass := found("lost reply", trial.BlindResend, trial.Fail), found("lost reply", trial.BlindResend, trial.Pass)
	broken := trial.Outcome{Scenario: "lost reply", NoResult: "the port is taken"}
	for _, row := range []struct {
		runs    []trial.Outcome
		verdict trial.Verdict
		split   string
	}{
		{[]trial.Outcome{pass, pass, pass}, trial.Pass, ""},
		{[]trial.Outcome{found("lost reply", trial.BlindResend, trial.Fail), pass, pass}, trial.Warn, "1 of 3"},
		{[]trial.Outcome{pass, fail, found("lost reply", trial.BlindResend, trial.Fail)}, trial.Warn, "2 of 3"},
		{[]trial.Outcome{fail, fail, fail}, trial.Fail, ""},
	} {
		o := trial.Thrice(row.runs)
		assert.Equal(t, row.verdict, o.Worst())
		assert.Equal(t, row.split, o.Split)
	}
	assert.Equal(t, broken, trial.Thrice([]trial.Outcome{fail, broken, fail}), "nobody knows whether all three fail")
	assert.Equal(t, pass, trial.Thrice([]trial.Outcome{broken, pass, broken}), "what is without a result counts for nothing")
	assert.Equal(t, broken, trial.Thrice([]trial.Outcome{broken, broken, broken}))
}

// The report begins with what was reached and what was not, and why; then come fails, then warnings.
func TestTheReport(t *testing.T) {
	missed := found("locked", trial.LockedEntry, trial.NotExercised)
	missed.Findings[0].Text, missed.Findings[0].Change = "the bot was never flat", "let it be flat"
	split := found("unhealthy", trial.UnhealthyEntry, trial.Warn)
	split.Split = "1 of 3"
	ended := found("no price", trial.Zero, trial.Pass)
	ended.Counts.Ends = 2
	broken := trial.Outcome{Scenario: "quiet", NoResult: "the port is taken"}
	var text strings.Builder
	runs := []trial.Outcome{broken, split, found("lost reply", trial.BlindResend, trial.Fail), missed, ended}
	trial.WriteReached(&text, runs)
	trial.WriteFindings(&text, runs)
	at := -1
	for _, part := range []string{
		"exercised, of the runs", "\nlost reply               1/1 fail",
		"never exercised: locked entry, because the bot was never flat. To exercise it, let it be flat.",
		"quiet, seed 0: NO RESULT: the port is taken",
		"no price, seed 7: the bot ended by itself 2 times, and was started again.",
		"lost reply, seed 7\n  FAIL blind resend: What it did.\n    The contract.\n    1s #3\n    again: trading trial --seed 7\n",
		"unhealthy, seed 7 (it failed in 1 of 3 runs)\n  WARN unhealthy entry",
	} {
		next := strings.Index(text.String(), part)
		assert.Greater(t, next, at, "%q in\n%s", part, text.String())
		at = next
	}
}

// A bot that ends by itself is started again, as its supervisor would, and that is reported.
func TestABotThatEndsIsStartedAgain(t *testing.T) {
	lives := 0
	bot := func(ctx context.Context, at trial.Service) error {
		if lives++; lives < 3 {
			return errors.New("no more")
		}
		return raw{period: time.Second}.run(ctx, at)
	}
	o, events := trial.PlayVirtually(t, bot, trial.Scene{Scenario: trial.Quiet, Seed: 1, Manifest: manifest()})
	require.Equal(t, 2, o.Counts.Ends)
	require.NotZero(t, o.Counts.Entries)
	var notes []string
	for _, e := range events {
		if e.Kind == tradingsim.EventKill {
			notes = append(notes, e.Change.Value)
		}
	}
	require.Equal(t, []string{"it ended by itself: no more", "it ended by itself: no more"}, notes)
}

// What is proposed are questions, not limits: a mutant's double size is not blessed.
func TestPropose(t *testing.T) {
	_, events := trial.PlayVirtually(t, raw{period: time.Second, mistake: "greedy"}.run, trial.Scene{Scenario: trial.Quiet, Seed: 1, Manifest: manifest()})
	m, questions, err := trial.Propose(manifest(), events)
	require.NoError(t, err)
	require.Equal(t, map[string]trial.Market{"BTC": {Price: decimal.New(64000, 0)}}, m.Markets)
	require.Equal(t, "live", m.Environment)
	require.Equal(t, trial.Duration(time.Second), m.Period)
	require.Equal(t, trial.Duration(10*time.Second), m.StopWithin)
	asked := strings.Join(questions, "\n")
	for _, q := range []string{"period: ", "markets.BTC.most: it held 0.0", "healthAge: it entered", "stopWithin: it sets stops", "flatWithin: ", "timeout: "} {
		require.Contains(t, asked, q)
	}
	_, _, err = trial.Propose(manifest(), nil)
	require.ErrorContains(t, err, "nothing to propose from")
}

// A period that was measured is rounded to one that somebody would write.
func TestProposeTidyDurations(t *testing.T) {
	for looks, want := range map[string]string{"1.04s": "1s", "3.27s": "3.3s", "20.3s": "20s", "1m0.7s": "1m0s", "5m3s": "5m0s", "50ms": "100ms"} {
		period, err := time.ParseDuration(looks)
		require.NoError(t, err)
		under := manifest()
		under.Period = trial.Duration(period)
		_, events := trial.PlayVirtually(t, raw{period: period}.run, trial.Scene{Scenario: trial.Quiet, Seed: 1, Manifest: under})
		m, _, err := trial.Propose(under, events)
		require.NoError(t, err)
		require.Equal(t, want, time.Duration(m.Period).String(), looks)
		require.Equal(t, max(2*m.Period, trial.Duration(10*time.Second)), m.StopWithin)
	}
}

// A bot that goes by an old health is not allowed one that old, or twice as old, because it was seen to:
// the service looks anew each five seconds.
func TestProposeBlessesNoOldHealth(t *testing.T) {
	bot := raw{period: time.Second, mistake: "remembers"}.run
	quiet, events := trial.PlayVirtually(t, bot, trial.Scene{Scenario: trial.Quiet, Seed: 1, Manifest: manifest()})
	m, questions, err := trial.Propose(manifest(), events)
	require.NoError(t, err)
	_, declared := m.HealthAge.Get()
	require.False(t, declared, "%v", questions)
	require.Contains(t, strings.Join(questions, "\n"), "healthAge: it entered 10s after it had read the health. Unless set, that may be 1s old.")
	m.Markets, m.Dollars = manifest().Markets, decimal.Decimal{}
	caught := false
	for seed := range *seeds {
		o, _ := trial.PlayVirtually(t, bot, trial.Scene{Scenario: "unhealthy", Seed: uint64(seed) + 1, Manifest: m, Quiet: quiet.Counts})
		for _, f := range o.Findings {
			caught = caught || f.Judgement == trial.UnhealthyEntry && f.Verdict == trial.Fail
		}
	}
	require.True(t, caught, "the manifest that was proposed passes it")
}

// The harness makes room: it closes what is open, moves the price through what rests, and the bot
// enters again and again.
func TestTheHarnessMakesRoom(t *testing.T) {
	for _, name := range []string{"raw", "a grid", "a market maker that fills", "on the sandbox"} {
		row := rightBots[name]
		o, events := trial.PlayVirtually(t, row.bot, trial.Scene{Scenario: trial.Quiet, Seed: 1, Manifest: row.manifest})
		closed, filled := 0, 0
		for _, e := range events {
			switch {
			case e.Execution == nil || !e.Execution.Filled:
			case e.Execution.Actor == "terminal":
				closed++
			default:
				filled++
			}
		}
		assert.Greater(t, closed, 1, name)
		assert.Greater(t, filled, 1, name)
		assert.Greater(t, o.Counts.Entries, 3, name)
	}
}

// A lost outcome hits one to four entries in a row, from one of the first three on.
func TestALostOutcomeHitsOneToFour(t *testing.T) {
	began, hit := map[int]bool{}, map[int]bool{}
	for seed := range uint64(40) {
		_, events := trial.PlayVirtually(t, raw{period: time.Second}.run, trial.Scene{
			Scenario: "lost reply", Seed: seed, Manifest: manifest(), Quiet: trial.Counts{Entries: 5},
		})
		entries, first, hits := 0, 0, 0
		for _, e := range events {
			if e.Kind != tradingsim.EventRequest || e.Request.Operation != "POST /orders" {
				continue
			}
			if entries++; e.Request.Fault != "" {
				hits++
				if first == 0 {
					first = entries
				}
			}
		}
		began[first], hit[hits] = true, true
	}
	assert.Equal(t, map[int]bool{1: true, 2: true, 3: true}, began)
	assert.Equal(t, map[int]bool{1: true, 2: true, 3: true, 4: true}, hit)
}
