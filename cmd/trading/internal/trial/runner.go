package trial

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tradingapi/trading-go/tradingsim"
	judge "github.com/tradingapi/trading-go/tradingtest/trial"
)

// maxSpeed is where programs no longer do what they do at their own pace, and shortest the
// time that a time-out must still take.
const (
	maxSpeed = 150
	shortest = 50 * time.Millisecond
)

// Runner plays scenarios with a program.
type Runner struct {
	Argv     []string // the program with its arguments; "{dir}" is its folder
	Environ  []string // of all its lives
	Command  []string // this command, whose main calls [Kept]
	Manifest judge.Manifest
	Seeds    []uint64
	Only     []string      // scenarios; all unless set
	Quiet    *judge.Counts // of an earlier quiet run; nil makes one
	Parallel int
	Speed    float64
	Sidecar  bool
	Kill     string // a command that kills what the program has started elsewhere
	Dir      string // for folders, which stay; a temporary one unless set
	Say      func(format string, args ...any)
	Replay   func(o judge.Outcome, quiet judge.Counts) string
}

// keep are the arguments with which this command is no command, but runs a bot for a trial.
var keep = []string{"trial", "keep", "--"}

// Kept calls [Keep] where a process was started to run a bot, and does not return then.
func Kept(args []string) {
	if len(args) > len(keep)+1 && slices.Equal(args[1:len(keep)+1], keep) {
		os.Exit(Keep(args[len(keep)+1:]))
	}
}

func (r *Runner) keeper() []string { return slices.Concat(r.Command, keep) }

// prepare makes the folder for the runs, and returns what removes a temporary one.
func (r *Runner) prepare() (remove func(), err error) {
	if r.Dir != "" {
		return func() {}, errors.Join(r.fast(), os.MkdirAll(r.Dir, 0o700))
	}
	r.Dir, err = os.MkdirTemp("", "trading-trial-")
	return func() { _ = os.RemoveAll(r.Dir) }, errors.Join(err, r.fast())
}

// Run plays all scenarios, and returns their outcomes in order. An error is of the harness.
func (r *Runner) Run(ctx context.Context) ([]judge.Outcome, error) {
	remove, err := r.prepare()
	defer remove()
	if err != nil {
		return nil, err
	}
	var outcomes []judge.Outcome
	if r.Quiet == nil {
		o, _, err := r.one(ctx, judge.Scene{Scenario: judge.Quiet, Seed: r.Seeds[0]})
		if err != nil {
			return nil, fmt.Errorf("the quiet run: %w", err)
		}
		r.Quiet = &o.Counts
		outcomes = append(outcomes, o)
		r.Say("quiet: %d requests, %d of them entries", o.Counts.Requests, o.Counts.Entries)
		if o.Counts.Entries == 0 {
			return outcomes, nil // there is nothing to judge
		}
	}
	var scenes []judge.Scene
	for _, seed := range r.Seeds {
		for _, scenario := range r.Only {
			if scenario != judge.Quiet {
				scenes = append(scenes, judge.Scene{Scenario: scenario, Seed: seed})
			}
		}
	}
	played := make([]judge.Outcome, len(scenes))
	slots, atOnce := make(chan struct{}, r.Parallel), 1
	if len(scenes) == 1 {
		atOnce = 3
	}
	var all sync.WaitGroup
	for i, s := range scenes {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			played[i] = r.thrice(ctx, s, atOnce)
		})
	}
	all.Wait()
	return append(outcomes, played...), ctx.Err()
}

// fast bounds the speed, and judges whether the program can be made fast.
func (r *Runner) fast() error {
	r.Speed = max(1, r.Speed)
	if r.Speed == 1 {
		return nil
	}
	if _, err := exec.LookPath("faketime"); err != nil {
		return fmt.Errorf("--speed needs the program faketime: %w", err)
	}
	if path, err := exec.LookPath(r.Argv[0]); err == nil {
		if _, err := buildinfo.ReadFile(path); err == nil {
			return fmt.Errorf("%s is a program in Go, whose clock nobody can make fast: leave --speed out, or test its bot by trial.Run", r.Argv[0])
		}
	}
	if most := min(maxSpeed, float64(r.Manifest.Timeout)/float64(shortest)); r.Speed > most {
		r.Say("--speed is %g for time-outs of %s", most, time.Duration(r.Manifest.Timeout))
		r.Speed = most
	}
	return nil
}

// thrice plays a scene, and one that fails twice more: where not all three fail, it is a warning.
// Three at once take no longer than one, for whoever waits.
func (r *Runner) thrice(ctx context.Context, s judge.Scene, atOnce int) judge.Outcome {
	plays, errs := make([]judge.Outcome, 3), make([]error, 3)
	shown, fails := 0, 0
	for from, to := 0, atOnce; from < to && (from == 0 || fails > 0); from, to = to, len(plays) {
		var all sync.WaitGroup
		for i := from; i < to; i++ {
			all.Go(func() { plays[i], _, errs[i] = r.one(ctx, s) })
		}
		all.Wait()
		fails = 0
		for i, o := range plays {
			if o.Worst() == judge.Fail {
				shown, fails = i, fails+1
			}
		}
	}
	o := plays[shown]
	if err := errors.Join(errs...); err != nil {
		o.Scenario, o.Seed, o.Harness = s.Scenario, s.Seed, err.Error()
	} else if fails > 0 && fails < len(plays) {
		o.Split = fmt.Sprintf("%d of %d", fails, len(plays))
		for i := range o.Findings.Findings {
			if f := &o.Findings.Findings[i]; f.Verdict == judge.Fail {
				f.Verdict = judge.Warn
			}
		}
	}
	o.Replay = r.Replay(o, *r.Quiet)
	if w := o.Worst(); w == judge.Fail || w == judge.Warn {
		r.Say("%s, seed %d: %s", o.Scenario, o.Seed, w)
	}
	return o
}

// one plays a scene once, in a folder of its own: with the log of the simulation, what the programs
// print, and what is left to the bot's next life.
func (r *Runner) one(ctx context.Context, s judge.Scene) (o judge.Outcome, events []tradingsim.Event, err error) {
	s.Manifest, s.Speed = r.Manifest, r.Speed
	if r.Quiet != nil {
		s.Quiet = *r.Quiet
	}
	dir, err := os.MkdirTemp(r.Dir, strings.ReplaceAll(s.Scenario, " ", "-")+fmt.Sprintf("-%d-", s.Seed))
	if err != nil {
		return o, nil, err
	}
	var files [3]*os.File
	err = os.Mkdir(filepath.Join(dir, "bot"), 0o700)
	for i, name := range []string{"sim.log", "bot.out", "sidecar.out"} {
		file, failed := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		files[i], err = file, errors.Join(err, failed)
	}
	defer func() {
		for _, file := range files {
			err = errors.Join(err, file.Close())
		}
	}()
	if err != nil {
		return o, nil, err
	}
	var mu sync.Mutex // exchanges that the kill has broken may end later
	var seen []tradingsim.Event
	sim := judge.NewSim(s, func(e tradingsim.Event) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, e)
	}, tradingsim.WithLog(files[0]))
	defer func() { err = errors.Join(err, sim.Close()) }()
	if err := sim.Listen("127.0.0.1:0"); err != nil {
		return o, nil, err
	}
	bot := &process{keeper: r.keeper(), output: files[1], kill: r.Kill, argv: func() []string { return r.argv(sim, dir) }}
	bot.env = slices.Concat(r.Environ, []string{
		"TRADING_BASE_URL=" + sim.URL(), "TRADING_LIVE_KEY=" + sim.LiveKey(), "TRADING_SANDBOX_KEY=" + sim.SandboxKey(),
		"TRADING_ACCOUNT=" + judge.Account, "TRADING_TRIAL_DIR=" + filepath.Join(dir, "bot"), "no_proxy=*",
	})
	var program judge.Program = bot
	if r.Sidecar {
		both, failed := r.behindSidecar(ctx, sim, bot, dir, files[2], s.Seed)
		if failed != nil {
			return o, nil, failed
		}
		defer func() { err = errors.Join(err, both.process.Kill(), both.sidecar.Kill()) }() // its end may kill one alone
		program = both
	}
	counts, err := judge.Play(ctx, s, sim, program)
	if err != nil {
		return o, nil, err
	}
	mu.Lock()
	events = slices.Clone(seen)
	mu.Unlock()
	findings, err := judge.Judge(s.Manifest, events)
	return judge.Outcome{Scenario: s.Scenario, Seed: s.Seed, Counts: counts, Findings: findings}, events, err
}

// argv is the command of the next life. Under faketime its clock begins at the service's present.
func (r *Runner) argv(sim *tradingsim.Sim, dir string) []string {
	argv := make([]string, len(r.Argv))
	for i, arg := range r.Argv {
		argv[i] = strings.ReplaceAll(arg, "{dir}", filepath.Join(dir, "bot"))
	}
	if r.Speed == 1 {
		return argv
	}
	return append([]string{"faketime", "-f", fmt.Sprintf("%+.3fs x%g", time.Until(sim.Now()).Seconds(), r.Speed)}, argv...)
}

// Propose makes a manifest of what a program does in a quiet run, and asks what only its owner
// knows.
func (r *Runner) Propose(ctx context.Context) (m judge.Manifest, questions []string, err error) {
	remove, err := r.prepare()
	defer remove()
	if err != nil {
		return m, nil, err
	}
	_, events, err := r.one(ctx, judge.Scene{Scenario: judge.Quiet, Seed: 1})
	if err != nil {
		return m, nil, err
	}
	return judge.Propose(r.Manifest, events)
}
