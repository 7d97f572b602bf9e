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

	"golang.org/x/sync/errgroup"

	"github.com/tradingapi/trading-go/tradingsim"
	judge "github.com/tradingapi/trading-go/tradingtest/trial"
)

// maxSpeed is where programs no longer do what they do at their own pace, and shortest the
// time that a time-out must still take.
const (
	maxSpeed = 150
	shortest = 50 * time.Millisecond
)

// prepared finds the program and this command, bounds the speed, and runs do with a folder for its runs.
func (r *runner) prepared(argv []string, do func() error) error {
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return err
	}
	if r.self, err = os.Executable(); err != nil {
		return err
	}
	if killsLess != "" {
		r.app.Sayf("%s", killsLess)
	}
	r.argv = argv
	if r.speed = max(1, r.speed); r.speed > 1 {
		if _, err := exec.LookPath("faketime"); err != nil {
			return fmt.Errorf("--speed needs the program faketime: %w", err)
		}
		if _, err := buildinfo.ReadFile(path); err == nil {
			return fmt.Errorf("%s is a program in Go, whose clock nobody can make fast: leave --speed out, or test its bot by trial.Run", argv[0])
		}
		if most := max(1, min(maxSpeed, float64(r.manifest.Timeout)/float64(shortest))); r.speed > most {
			r.app.Sayf("--speed is %g for time-outs of %s", most, time.Duration(r.manifest.Timeout))
			r.speed = most
		}
	}
	if r.dir != "" {
		err = os.MkdirAll(r.dir, 0o700)
	} else if r.dir, err = os.MkdirTemp("", "trading-trial-"); err == nil {
		defer func() { _ = os.RemoveAll(r.dir) }()
	}
	if err != nil {
		return err
	}
	return do()
}

// all plays all scenarios, and returns their outcomes in order. An error is of the harness.
func (r *runner) all(ctx context.Context) (outcomes []judge.Outcome, err error) {
	if r.counts == "" {
		o, _, err := r.one(ctx, judge.Scene{Scenario: judge.Quiet, Seed: r.seeds[0]})
		if err != nil {
			return nil, fmt.Errorf("the quiet run: %w", err)
		}
		r.quiet, outcomes = o.Counts, append(outcomes, o)
		r.app.Sayf("quiet: %d requests, %d of them entries", o.Counts.Requests, o.Counts.Entries)
		if o.Counts.Entries == 0 {
			return outcomes, nil // there is nothing to judge
		}
	}
	var scenes []judge.Scene
	for _, seed := range r.seeds {
		for _, scenario := range r.only {
			if scenario != judge.Quiet {
				scenes = append(scenes, judge.Scene{Scenario: scenario, Seed: seed})
			}
		}
	}
	played := make([]judge.Outcome, len(scenes))
	var all errgroup.Group
	all.SetLimit(r.parallel)
	for i, s := range scenes {
		all.Go(func() error {
			played[i] = r.thrice(ctx, s, len(scenes) == 1)
			return nil
		})
	}
	_ = all.Wait() // an error is in its outcome
	return append(outcomes, played...), ctx.Err()
}

// thrice plays a scene, and one that fails or shows nothing twice more; or three at once, which takes
// no longer for whoever waits.
func (r *runner) thrice(ctx context.Context, s judge.Scene, atOnce bool) judge.Outcome {
	var runs [3]judge.Outcome
	var all sync.WaitGroup
	for i := range runs {
		all.Go(func() {
			o, _, err := r.one(ctx, s)
			if err != nil {
				o = judge.Outcome{Scenario: s.Scenario, Seed: s.Seed, NoResult: err.Error()}
			}
			runs[i] = o
		})
		if i > 0 || atOnce {
			continue
		}
		if all.Wait(); runs[0].NoResult == "" && runs[0].Worst() != judge.Fail {
			return r.withReplay(runs[0])
		}
	}
	all.Wait()
	return r.withReplay(judge.Thrice(runs[:]))
}

// withReplay adds the command that plays it again, and says what came of it.
func (r *runner) withReplay(o judge.Outcome) judge.Outcome {
	o.Replay = r.replay(o)
	if w := o.Worst(); w == judge.Fail || w == judge.Warn {
		r.app.Sayf("%s, seed %d: %s", o.Scenario, o.Seed, w)
	}
	return o
}

// one plays a scene once, in a folder of its own: with the log of the simulation, what the programs
// print, and what is left to the bot's next life.
func (r *runner) one(ctx context.Context, s judge.Scene) (o judge.Outcome, events []tradingsim.Event, err error) {
	s.Manifest, s.Speed, s.Quiet = r.manifest, r.speed, r.quiet
	dir, err := os.MkdirTemp(r.dir, strings.ReplaceAll(s.Scenario, " ", "-")+fmt.Sprintf("-%d-", s.Seed))
	if err != nil {
		return o, nil, err
	}
	log, err := os.Create(filepath.Join(dir, "sim.log"))
	if err != nil {
		return o, nil, err
	}
	var programs []*process
	defer func() {
		for _, p := range programs { // of a pair the scenario's end may kill one
			err = errors.Join(err, p.end())
		}
		err = errors.Join(err, log.Close())
	}()
	return judge.Play(ctx, s, func(sim *tradingsim.Sim) (judge.Program, error) {
		home := filepath.Join(dir, "bot")
		if err := errors.Join(os.Mkdir(home, 0o700), sim.Listen("127.0.0.1:0")); err != nil {
			return nil, err
		}
		bot := &process{self: r.self, output: filepath.Join(dir, "bot.out"), kill: r.kill}
		bot.argv = func() []string {
			argv := slices.Clone(r.argv)
			for i, arg := range argv {
				argv[i] = strings.ReplaceAll(arg, "{dir}", home)
			}
			if r.speed == 1 {
				return argv
			} // its clock begins at the service's present
			return append([]string{"faketime", "-f", fmt.Sprintf("%+.3fs x%g", time.Until(sim.Now()).Seconds(), r.speed)}, argv...)
		}
		bot.env = slices.Concat(r.app.Environ, []string{
			"TRADING_BASE_URL=" + sim.URL(), "TRADING_LIVE_KEY=" + sim.LiveKey(), "TRADING_SANDBOX_KEY=" + sim.SandboxKey(),
			"TRADING_ACCOUNT=" + judge.Account, "TRADING_TRIAL_DIR=" + home, "no_proxy=*",
		})
		programs = append(programs, bot)
		if !r.sidecar {
			return bot, nil
		}
		both, err := behindSidecar(sim, bot, dir, s.Seed)
		if err == nil {
			programs = append(programs, both.sidecar)
		}
		return both, err
	}, tradingsim.WithLog(log))
}
