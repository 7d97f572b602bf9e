package backtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
)

// programs are what the test binary can be.
var programs = map[string]func(*Runner) int{
	"run":      runProgram,
	"broken":   brokenProgram,
	"differs":  differsProgram,
	"no sweep": noSweepProgram,
	"repeat":   repeatProgram,
	"beside":   besideProgram,
	"attempts": attemptsProgram,
	"found":    foundProgram,
	"shard":    shardProgram,
}

// program runs one of them.
func program(t *testing.T, name string) (stdout, stderr string, status int) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), self, "an", "argument")
	cmd.Env = append(os.Environ(), asProgram+"="+name)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// works runs one that has to end with 0, and returns what it printed.
func works(t *testing.T, name string) string {
	t.Helper()
	out, errs, status := program(t, name)
	require.Equal(t, 0, status, errs)
	return out
}

func fatal(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 1
}

func walkOf(seed uint64) *Data {
	data, err := Walk(WalkOptions{Seed: seed, Length: time.Hour, StepBps: 5})
	if err != nil {
		panic(err)
	}
	return data
}

func runProgram(r *Runner) int {
	if len(os.Args) != 3 || os.Args[2] != "argument" {
		return fatal(errors.New("the arguments are the program's"))
	}
	result, err := r.Run(trader("", order(trading.Long, "1"), closing("100")), Config{Data: walkOf(1)})
	if err != nil {
		return fatal(err)
	}
	fmt.Print(result)
	return 3
}

func TestMainRuns(t *testing.T) {
	out, errs, status := program(t, "run")
	require.Equal(t, 3, status, errs)
	require.Contains(t, out, "round trips   1,")
	require.NotContains(t, out, "PASS")
}

// attemptsFile is where the program keeps its attempts.
const attemptsFile = "BACKTEST_ATTEMPTS"

func attemptsProgram(r *Runner) int {
	c := Config{Name: "bot", Data: walkOf(1), Attempts: os.Getenv(attemptsFile)}
	run := func() error {
		result, err := r.Run(sized(1).Bot, c)
		if err == nil {
			fmt.Println("attempts", result.Finding.Attempts)
		}
		return err
	}
	sweep := func() error {
		test := c
		test.Data = walkOf(3)
		_, err := r.Sweep(Sweep{Variants: []Variant{sized(1), sized(2), sized(3)}, Train: []Config{c}, Test: []Config{test}, Pool: Pool{Workers: 1, Timeout: time.Minute}})
		return err
	}
	for _, do := range []func() error{run, run, sweep, run} {
		if err := do(); err != nil {
			return fatal(err)
		}
	}
	return 0
}

// TestAttemptsOfAProgram: each run counts once, whatever its workers go over again, and each variant of
// a sweep is an attempt on what it was chosen on.
func TestAttemptsOfAProgram(t *testing.T) {
	file := filepath.Join(t.TempDir(), "attempts")
	t.Setenv(attemptsFile, file)
	out := works(t, "attempts")
	require.Equal(t, "attempts 1\nattempts 2\nattempts 6\n", out)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, 5, strings.Count(string(text), "\n"), string(text))
}

// sized holds a position of some size for the whole run.
func sized(size int) Variant {
	return Variant{strconv.Itoa(size), trader("", order(trading.Long, fmt.Sprintf("0.%03d", size)))}
}

// brokenBots break in each way that a bot can.
var brokenBots = map[string]Bot{
	"panics":        func(context.Context, *trading.Client) error { panic("a nil map") },
	"panics beside": func(ctx context.Context, _ *trading.Client) error { go panic("beside"); <-ctx.Done(); return nil },
	"exits": func(context.Context, *trading.Client) error {
		fmt.Fprintln(os.Stderr, "goodbye")
		os.Exit(0)
		return nil
	},
	"spins": func(context.Context, *trading.Client) error {
		for { //nolint:staticcheck // a bot that spins
		}
	},
	"never returns": func(context.Context, *trading.Client) error {
		for {
			time.Sleep(time.Second)
		}
	},
	"leaks a ticker": func(context.Context, *trading.Client) error {
		go func() {
			for range time.Tick(time.Hour) {
				continue
			}
		}()
		return nil
	},
	"never waits": func(ctx context.Context, _ *trading.Client) error {
		go func() {
			<-ctx.Done()
			for { //nolint:staticcheck // a goroutine that spins
			}
		}()
		<-ctx.Done()
		return nil
	},
	"leaks a goroutine":  func(context.Context, *trading.Client) error { go func() { <-make(chan int) }(); return nil },
	"resets the account": func(ctx context.Context, c *trading.Client) error { _, err := c.Sandbox.Reset(ctx); return err },
}

func brokenProgram(r *Runner) int {
	s := Sweep{Train: []Config{{Data: walkOf(1)}}, Test: []Config{{Data: walkOf(3)}}, Pool: Pool{Workers: 2, Timeout: 6 * time.Second, Progress: io.Discard}}
	s.Variants = append(s.Variants, sized(1))
	for _, name := range []string{"panics", "panics beside", "exits", "spins", "never returns", "leaks a ticker", "leaks a goroutine", "never waits", "resets the account"} {
		s.Variants = append(s.Variants, Variant{name, brokenBots[name]})
	}
	s.Variants = append(s.Variants, sized(2))
	result, err := r.Sweep(s)
	if err != nil {
		return fatal(err)
	}
	for _, row := range result.Rows {
		fmt.Printf("%s: %s\n", row.Name, strings.ReplaceAll(row.Err, "\n", " | "))
	}
	fmt.Print(result)
	return 0
}

// TestASweepSurvives has one variant that breaks in each way, between two that do not.
func TestASweepSurvives(t *testing.T) {
	skipUnderRace(t)
	if testing.Short() {
		t.Skip("waits for its watchdog, in real time")
	}
	out := works(t, "broken")
	for name, want := range map[string]string{
		"panics":             "it panicked: a nil map | github.com/tradingapi/trading-go/backtest.init.func",
		"panics beside":      "it panicked: beside",
		"exits":              "its process ended: goodbye",
		"spins":              "it hung: the run was not over after 6s",
		"never returns":      "it hung: the run was not over after 6s",
		"leaks a ticker":     "it left goroutines behind: the run was over",
		"leaks a goroutine":  "it left goroutines behind: the run was over",
		"never waits":        "it left a goroutine behind that never waits: the run was over, and its bubble did not end within 6s",
		"resets the account": "backtest: the paper account began anew 1 times",
		"1":                  "",
		"2":                  "",
	} {
		require.Contains(t, "\n"+out, "\n"+name+": "+want)
	}
	require.Contains(t, out, "11 variants tried, 9 broken")
	require.NotContains(t, out, "no variant has a score")
}

// differsProgram makes other jobs in a worker than in the program.
func differsProgram(r *Runner) int {
	_, err := r.Repeat(trader(""), []Config{{Data: walkOf(uint64(os.Getpid()))}}, Pool{Timeout: time.Minute})
	return fatal(err)
}

func noSweepProgram(r *Runner) int {
	if r.worker != nil {
		return 0
	}
	_, err := r.Repeat(trader(""), []Config{{Data: walkOf(1)}}, Pool{Timeout: time.Minute})
	return fatal(err)
}

func TestAWorkerThatIsAnotherProgram(t *testing.T) {
	_, errs, status := program(t, "differs")
	require.Equal(t, 1, status)
	require.Contains(t, errs, "other variants or configs than the program")
	_, errs, status = program(t, "no sweep")
	require.Equal(t, 1, status)
	require.Contains(t, errs, "the worker met no sweep")
}

func repeatProgram(r *Runner) int {
	configs, err := Starts(Config{Data: walkOf(1)}, 20*time.Minute, 10*time.Minute)
	if err != nil {
		return fatal(err)
	}
	bot := trader("", order(trading.Long, "1"), closing("50"))
	results, err := r.Repeat(bot, configs, Pool{Progress: io.Discard})
	if err != nil {
		return fatal(err)
	}
	here, err := r.Run(bot, configs[1])
	if err != nil {
		return fatal(err)
	}
	if a, b := fmt.Sprintf("%+v", here), fmt.Sprintf("%+v", results[1]); here.String() != results[1].String() || len(a) != len(b) {
		return fatal(errors.New("a worker's result is another"))
	}
	if _, err := r.Repeat(brokenBots["panics"], configs[:1], Pool{Progress: io.Discard}); err == nil || !strings.Contains(err.Error(), "run 1 of 1: it panicked") {
		return fatal(fmt.Errorf("a broken run: %w", err))
	}
	fmt.Println(len(results), OddsOf(results))
	return 0
}

func TestRepeat(t *testing.T) {
	out := works(t, "repeat")
	require.Equal(t, "5 passed 0 of 5 (0 % to 43 %), failed 0 of 5 (0 % to 43 %), open 5 of 5 (57 % to 100 %)\n", out)
}

// besideProgram has two runs that each wait until the other has begun as well.
func besideProgram(r *Runner) int {
	dir := os.Getenv(besideDir)
	meets := func(context.Context, *trading.Client) error {
		if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(os.Getpid())), nil, 0o600); err != nil {
			return err
		}
		for {
			if files, err := os.ReadDir(dir); err != nil || len(files) == 2 {
				return err
			}
		}
	}
	_, err := r.Repeat(meets, []Config{{Data: walkOf(1)}, {Data: walkOf(2)}}, Pool{Workers: 2, Timeout: time.Minute, Progress: io.Discard})
	if err != nil {
		return fatal(err)
	}
	return 0
}

const besideDir = "BACKTEST_BESIDE_DIR"

// TestWorkersRunBesideEachOther, each in a process of its own.
func TestWorkersRunBesideEachOther(t *testing.T) {
	t.Setenv(besideDir, t.TempDir())
	works(t, "beside")
}

func TestASweepDemandsASplit(t *testing.T) {
	config := Config{Data: walkOf(1)}
	middle := time.Date(2000, 1, 1, 0, 30, 0, 0, time.UTC)
	train, test := Split(config, middle)
	one := []Variant{sized(1)}
	for name, c := range map[string]struct {
		sweep Sweep
		want  string
	}{
		"no variants": {Sweep{Train: []Config{train}, Test: []Config{test}}, "Sweep.Variants is empty"},
		"no test":     {Sweep{Variants: one, Train: []Config{config}}, "Sweep.Train and Sweep.Test are both required"},
		"no train":    {Sweep{Variants: one, Test: []Config{config}}, "Sweep.Train and Sweep.Test are both required"},
		"the same":    {Sweep{Variants: one, Train: []Config{config}, Test: []Config{config}}, "the test prices begin at 2000-01-01T00:00:00Z, before the end of the train prices at 2000-01-01T01:00:00Z"},
		"backwards":   {Sweep{Variants: one, Train: []Config{test}, Test: []Config{train}}, "before the end of the train prices"},
		"no data":     {Sweep{Variants: one, Train: []Config{{}}, Test: []Config{test}}, "Config.Data is missing"},
		"two names":   {Sweep{Variants: append(one, one...), Train: []Config{train}, Test: []Config{test}}, `variant "1": each needs a name of its own, and a bot`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := (&Runner{}).Sweep(c.sweep)
			require.ErrorContains(t, err, c.want)
		})
	}
	require.NoError(t, Sweep{Variants: one, Train: []Config{train}, Test: []Config{test}}.judge())
	require.NoError(t, Sweep{Variants: one, Train: []Config{config}, Test: []Config{{Data: walkOf(2)}}}.judge())
}

func TestStarts(t *testing.T) {
	for _, c := range []struct{ length, apart time.Duration }{{0, time.Hour}, {time.Hour, 0}, {2 * time.Hour, time.Hour}} {
		_, err := Starts(Config{Data: walkOf(1)}, c.length, c.apart)
		require.Error(t, err)
	}
}

func TestALostAccountRanksAsLostWhole(t *testing.T) {
	lost := &Result{Paths: []Path{{Continuous: Failed, Return: figure(0.2)}}}
	won := &Result{Paths: []Path{{Continuous: Passed, Return: figure(0.2)}}}
	unknown := &Result{Paths: []Path{{Return: none("the equity is not known")}}}
	require.Equal(t, "-0.40", MeanReturn([]*Result{lost, won}).String())
	require.Equal(t, "the equity is not known", MeanReturn([]*Result{won, unknown}).None())
	require.Equal(t, "no runs", MeanReturn(nil).None())
}
