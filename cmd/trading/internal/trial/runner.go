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

// Run plays all scenarios, and returns their outcomes in order. An error is of the harness.
func (r *Runner) Run(ctx context.Context) ([]judge.Outcome, error) {
	if r.Dir == "" {
		dir, err := os.MkdirTemp("", "trading-trial-")
		if err != nil {
			return nil, err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		r.Dir = dir
	} else if err := os.MkdirAll(r.Dir, 0o700); err != nil {
		return nil, err
	}
	if err := r.fast(); err != nil {
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
	play := func(from, to int) {
		var all sync.WaitGroup
		for i := from; i < to; i++ {
			all.Go(func() { plays[i], _, errs[i] = r.one(ctx, s) })
		}
		all.Wait()
	}
	play(0, atOnce)
	failed := func() int {
		return slices.IndexFunc(plays, func(o judge.Outcome) bool { return o.Worst() == judge.Fail })
	}
	if failed() >= 0 {
		play(atOnce, 3)
	}
	o, err := plays[max(0, failed())], errors.Join(errs...)
	if failed() >= 0 && err == nil {
		o = unanimous(o, plays)
	}
	if err != nil {
		o.Scenario, o.Seed, o.Harness = s.Scenario, s.Seed, err.Error()
	}
	o.Replay = r.Replay(o, *r.Quiet)
	if w := o.Worst(); w == judge.Fail || w == judge.Warn {
		r.Say("%s, seed %d: %s", o.Scenario, o.Seed, w)
	}
	return o
}

// unanimous makes fails that not all plays of a scene have into warnings.
func unanimous(o judge.Outcome, plays []judge.Outcome) judge.Outcome {
	n := 0
	for _, one := range plays {
		if one.Worst() == judge.Fail {
			n++
		}
	}
	if n == len(plays) {
		return o
	}
	o.Split = fmt.Sprintf("%d of %d", n, len(plays))
	for i := range o.Findings.Findings {
		if f := &o.Findings.Findings[i]; f.Verdict == judge.Fail {
			f.Verdict = judge.Warn
		}
	}
	return o
}

// one plays a scene once.
func (r *Runner) one(ctx context.Context, s judge.Scene) (o judge.Outcome, events []tradingsim.Event, err error) {
	s.Manifest, s.Speed = r.Manifest, r.Speed
	if r.Quiet != nil {
		s.Quiet = *r.Quiet
	}
	dir, err := os.MkdirTemp(r.Dir, strings.ReplaceAll(s.Scenario, " ", "-")+fmt.Sprintf("-%d-", s.Seed))
	if err != nil {
		return o, nil, err
	}
	files, err := r.files(dir)
	if err != nil {
		return o, nil, err
	}
	defer func() {
		for _, f := range files {
			err = errors.Join(err, f.Close())
		}
	}()
	var seen struct {
		sync.Mutex
		events []tradingsim.Event
	}
	sim := judge.NewSim(s, func(e tradingsim.Event) {
		seen.Lock()
		defer seen.Unlock()
		seen.events = append(seen.events, e)
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
		if program, err = r.behindSidecar(ctx, sim, bot, dir, s.Seed); err != nil {
			return o, nil, err
		}
	}
	counts, err := judge.Play(ctx, s, sim, program)
	if err != nil {
		return o, nil, err
	}
	seen.Lock() // exchanges that the kill has broken may end later
	events = slices.Clone(seen.events)
	seen.Unlock()
	findings, err := judge.Judge(s.Manifest, events)
	return judge.Outcome{Scenario: s.Scenario, Seed: s.Seed, Counts: counts, Findings: findings}, events, err
}

// files are the log of the simulation and the output of the bot, whose folder is beside them.
func (r *Runner) files(dir string) ([]*os.File, error) {
	if err := os.Mkdir(filepath.Join(dir, "bot"), 0o700); err != nil {
		return nil, err
	}
	log, err := create(dir, "sim.log")
	if err != nil {
		return nil, err
	}
	output, err := create(dir, "bot.out")
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return []*os.File{log, output}, nil
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
	r.Seeds = []uint64{1}
	if r.Dir, err = os.MkdirTemp("", "trading-trial-"); err != nil {
		return m, nil, err
	}
	defer func() { _ = os.RemoveAll(r.Dir) }()
	if err := r.fast(); err != nil {
		return m, nil, err
	}
	_, events, err := r.one(ctx, judge.Scene{Scenario: judge.Quiet, Seed: 1})
	if err != nil {
		return m, nil, err
	}
	return judge.Propose(r.Manifest, events)
}
