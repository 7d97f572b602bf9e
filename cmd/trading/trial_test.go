package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
	"github.com/tradingapi/trading-go/tradingtest/trial"
)

var (
	trialSeeds = flag.Int("trial.seeds", 0, "seeds of each scenario for programs (default: few scenarios with one)")
	trialBots  = flag.String("trial.bots", "", "the programs to try, by a part of their names (default: all)")
)

// The manifests of the programs.
const (
	eachSecond   = `{"period":"1s","markets":{"BTC":{"price":"64000","most":"0.01"}},"stopWithin":"5s"}`
	withoutStops = `{"period":"1s","markets":{"BTC":{"price":"64000","most":"0.01"}}}`
	inACycle     = `{"period":"20s","markets":{"BTC":{"price":"64000","most":"0.01"}},"stopWithin":"5s","timeout":"5s"}`
)

// trialRun is what "trading trial -o json" prints.
type trialRun struct {
	Verdict      trial.Verdict
	ManifestHash string
	Runs         []trial.Outcome
	code         int
	errs         string
}

// tryProgram runs the command with a program. A test binary is the command for its children. Programs
// wait most of the time, so that all begin at once, and each result is waited for in its turn.
func tryProgram(t *testing.T, manifest string, flags []string, argv ...string) (result func(t *testing.T) trialRun) {
	t.Helper()
	if _, err := exec.LookPath(argv[0]); err != nil {
		return func(t *testing.T) trialRun {
			if os.Getenv("CI") != "" {
				t.Fatalf("%s is needed for this test", argv[0])
			}
			t.Skipf("NOT TESTED: there is no %s on this machine", argv[0])
			return trialRun{}
		}
	}
	r := newRig(t)
	r.env = append(os.Environ(), childCommand+"=1")
	file := filepath.Join(t.TempDir(), "trial.json")
	require.NoError(t, os.WriteFile(file, []byte(manifest), 0o600))
	args := slices.Concat([]string{"trial", "--manifest", file, "-o", "json"}, flags, []string{"--"}, argv)
	var got trialRun
	var out string
	done := make(chan struct{})
	go func() {
		defer close(done)
		got.code, out, got.errs = r.run(args...)
	}()
	return func(t *testing.T) trialRun {
		<-done
		require.NoError(t, json.Unmarshal([]byte(out), &got), "%s%s", out, got.errs)
		return got
	}
}

// few are the flags of a sample: seconds for each program, beside each other.
func few(scenarios ...string) []string {
	if *trialSeeds > 0 {
		return []string{"--seeds", fmt.Sprint(*trialSeeds)}
	}
	flags := []string{"--seeds", "1", "--counts", "3,0"}
	for _, s := range scenarios {
		flags = append(flags, "--only", s)
	}
	return flags
}

// ofOtherLanguages is a program of examples/other-languages.
func ofOtherLanguages(name string) string {
	return filepath.Join("..", "..", "examples", "other-languages", name)
}

// python is the interpreter itself: a wrapper of it may need seconds to find it.
func python() string {
	if _, err := os.Stat("/usr/bin/python3"); err == nil {
		return "/usr/bin/python3"
	}
	return "python3"
}

func testBot(name string, more ...string) []string {
	return append([]string{filepath.Join("internal", "trial", "testdata", name), "{dir}/state", "1"}, more...)
}

// Right programs, each in its own way. What a test of the whole plays is -trial.seeds 100.
func TestTrialOfRightPrograms(t *testing.T) {
	text, err := os.ReadFile(ofOtherLanguages("trial.json"))
	require.NoError(t, err)
	eachMinute := string(text)
	results := map[string]func(*testing.T) trialRun{}
	for name, row := range map[string]struct {
		manifest string
		flags    []string
		argv     []string
	}{
		"Python":                         {eachSecond, few("lost reply", "killed while open"), append([]string{python()}, testBot("bot.py")...)},
		"cycle.py, which knows no judge": {inACycle, append(few("lost reply"), "--speed", "20"), append([]string{python()}, testBot("cycle.py")...)},
		"loop.mjs at its own minute":     {eachMinute, append(few("killed behind a failure"), "--speed", "60"), []string{"node", ofOtherLanguages("loop.mjs"), "{dir}/state"}},
		"bash":                           {withoutStops, few("lost request"), append([]string{"bash"}, testBot("bot.sh")...)},
		"loop.py at its own minute":      {eachMinute, append(few("locked", "killed on the way"), "--speed", "60"), []string{python(), ofOtherLanguages("loop.py"), "{dir}/state"}},
		"loop_sidecar.py, by sidecar":    {withoutStops, append(few("killed in a reply"), "--sidecar"), []string{python(), ofOtherLanguages("loop_sidecar.py"), "1"}},
		"left in another session":        {eachSecond, few("killed while open"), append([]string{python()}, testBot("bot.py", "leaves")...)},
	} {
		if !strings.Contains(name, *trialBots) {
			continue
		}
		result := tryProgram(t, row.manifest, row.flags, row.argv...)
		if *trialSeeds > 0 {
			result(t) // each has the machine for itself
		}
		results[name] = result
	}
	for name, result := range results {
		t.Run(name, func(t *testing.T) {
			got := result(t)
			var text strings.Builder
			trial.WriteReached(&text, got.Runs)
			trial.WriteFindings(&text, got.Runs)
			t.Log("\n" + text.String())
			require.NotEqual(t, 1, got.code, got.errs) // a busy machine has no result, and no fail
			require.Contains(t, []trial.Verdict{trial.Pass, trial.Warn}, got.Verdict)
			for _, o := range got.Runs {
				require.NotContains(t, o.NoResult, "arrived while the bot was dead")
			}
		})
	}
}

// mutantPrograms make one mistake each: where it shows, and whose it is.
var mutantPrograms = map[string]struct{ scenario, judgement string }{
	"blind":     {"lost reply", trial.BlindResend},
	"forgets":   {"killed while open", trial.Restart},
	"greedy":    {"lost request", trial.Exposure},
	"hasty":     {"killed on the way", trial.Exposure},
	"impatient": {"limit of orders", trial.RetryAfter},
	"naked":     {"killed while open", trial.NoStop},
	"reckless":  {"unhealthy", trial.UnhealthyEntry},
	"repeats":   {"killed behind a failure", trial.Exposure},
	"stubborn":  {"locked", trial.LockedEntry},
	"zero":      {"no price", trial.Zero},
}

// Each is caught by its own judgement, in three runs of three.
func TestTrialOfMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("processes")
	}
	results := map[string]func(*testing.T) trialRun{}
	for mistake, row := range mutantPrograms {
		if *trialSeeds == 0 && mistake != "blind" && mistake != "forgets" {
			continue
		}
		flags := []string{"--only", row.scenario, "--counts", "3,0", "--seeds", fmt.Sprint(max(1, *trialSeeds))}
		result := tryProgram(t, eachSecond, flags, append([]string{python()}, testBot("bot.py", mistake)...)...)
		if *trialSeeds > 0 {
			result(t)
		}
		results[mistake] = result
	}
	for mistake, result := range results {
		t.Run(mistake, func(t *testing.T) {
			got := result(t)
			judgement := mutantPrograms[mistake].judgement
			caught, exercised := 0, 0
			for _, o := range got.Runs {
				switch f := o.Of(judgement); f.Verdict {
				case trial.Fail:
					caught++
					exercised++
					assert.NotEmpty(t, f.Picture)
					assert.Contains(t, o.Replay, "--seed")
				case trial.Pass, trial.Warn:
					exercised++
				}
			}
			t.Logf("caught in %d of %d runs that exercised it, of %d", caught, exercised, len(got.Runs))
			require.NotZero(t, exercised)
			require.GreaterOrEqual(t, caught*100, exercised*95)
			require.Equal(t, 1, got.code)
		})
	}
}

// A log of a run from elsewhere is judged: 1 for a fail with all that stands on it, 2 where it shows
// nothing, 3 where there was nothing to show.
func TestTrialJudgesALog(t *testing.T) {
	r := newRig(t)
	dir := t.TempDir()
	file, log := filepath.Join(dir, "trial.json"), filepath.Join(dir, "sim.log")
	require.NoError(t, os.WriteFile(file, []byte(eachSecond), 0o600))
	post := func(key string) string {
		r, err := http.NewRequestWithContext(t.Context(), "POST", "/orders", strings.NewReader(`{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.01,"leverage":2}`))
		require.NoError(t, err)
		r.Header.Set("Idempotency-Key", key)
		var lines bytes.Buffer
		sim := tradingsim.New(tradingsim.WithLog(&lines), tradingsim.WithMark("BTC", "64000"))
		defer sim.Close()
		r.Header.Set("X-API-Key", sim.LiveKey())
		r.URL, err = url.Parse(sim.URL() + "/orders")
		require.NoError(t, err)
		sim.Fault("POST /orders", tradingsim.DropResponse())
		_, err = sim.Transport().RoundTrip(r)
		require.Error(t, err)
		again := r.Clone(t.Context())
		again.Header.Set("Idempotency-Key", key+"2")
		again.Body, err = r.GetBody()
		require.NoError(t, err)
		if key == "dead" {
			sim.Note(tradingsim.EventKill, "")
		}
		a, err := sim.Transport().RoundTrip(again)
		require.NoError(t, err)
		require.NoError(t, a.Body.Close())
		return lines.String()
	}
	require.NoError(t, os.WriteFile(log, []byte(post("a")), 0o600))
	out := r.ends(1, "the bot failed 2 judgements", "trial", "judge", log, "--manifest", file, "-o", "json")
	var got trialRun
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	require.Equal(t, trial.Fail, got.Verdict)
	require.Len(t, got.ManifestHash, 12)
	double := got.Runs[0].Of(trial.BlindResend)
	require.Equal(t, "double", double.Reason)
	require.Equal(t, []int64{1, 2}, double.Requests)
	require.Contains(t, double.Contract, "Idempotency 3")
	require.NotEmpty(t, got.Runs[0].Of(trial.Restart).Change, "what to change to exercise it")
	require.NoError(t, os.WriteFile(log, []byte(post("dead")), 0o600))
	r.ends(2, "1 runs have no result", "trial", "judge", log, "--manifest", file)
	require.NoError(t, os.WriteFile(log, nil, 0o600))
	r.ends(3, "nothing was exercised", "trial", "judge", log, "--manifest", file)
}

// What the command writes, and how it ends, without waiting for a scenario to its end.
func TestTrialWithoutABot(t *testing.T) {
	r := newRig(t)
	r.env = append(os.Environ(), childCommand+"=1")
	dir := t.TempDir()
	file := filepath.Join(dir, "trial.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"period":"100ms","markets":{"BTC":{"price":"64000"}}}`), 0o600))
	junit := filepath.Join(dir, "junit.xml")
	out := r.ends(3, "nothing was exercised", "trial", "--manifest", file, "--junit", junit, "--", "sleep", "60")
	assert.Contains(t, out, "quiet")
	var suites struct {
		Suites []struct {
			Cases []struct {
				Skipped *struct{} `xml:"skipped"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	text, err := os.ReadFile(junit)
	require.NoError(t, err)
	require.NoError(t, xml.Unmarshal(text, &suites))
	require.Len(t, suites.Suites, 1)
	require.Len(t, suites.Suites[0].Cases, len(trial.Judgements()))
	for _, c := range suites.Suites[0].Cases {
		assert.NotNil(t, c.Skipped)
	}
}
