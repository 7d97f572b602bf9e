// Package trial runs programs in the scenarios of package tradingtest/trial: each with a
// simulation, a port, keys and a folder of its own.
package trial

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"
	"github.com/spf13/cobra"

	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	judge "github.com/tradingapi/trading-go/tradingtest/trial"
)

// The exit codes of the command, which says so.
const (
	failed       = 1
	harness      = 2
	notExercised = 3
)

// runner is what the command line says, and what follows from it.
type runner struct {
	app      *cli.App
	argv     []string // the program with its arguments; "{dir}" is its folder
	self     string   // this command, whose main calls [Kept]
	file     string   // of the manifest
	manifest judge.Manifest
	seeds    []uint64
	only     []string // scenarios
	counts   string   // of an earlier quiet run; empty makes one
	quiet    judge.Counts
	parallel int
	speed    float64
	sidecar  bool
	kill     string // a command that kills what the program has started elsewhere
	dir      string // for folders, which stay; a temporary one unless set
	junit    string
	again    string // what a replay has behind the scenario and the seed
}

// New is the command "trading trial".
func New(app *cli.App) *cobra.Command {
	r := &runner{app: app}
	cmd := &cobra.Command{
		Use: "trial -- COMMAND…", Short: "Run a bot in any language against a simulation with faults, kill it, and judge it", Args: cli.AtLeast("COMMAND, after --"),
		Long: `Run a bot in any language against a simulation, in scenarios with faults, kill it and start it
again, and judge it by what the simulation saw: whether it orders twice, holds more than
declared, trades into an unhealthy service, or forgets its position.

The bot finds TRADING_BASE_URL, TRADING_LIVE_KEY, TRADING_SANDBOX_KEY, TRADING_ACCOUNT and
TRADING_TRIAL_DIR in its environment, and {dir} in its arguments is that folder, which
outlives a kill. Each run has a simulation, a port, keys and a folder of its own.

The manifest says what the bot may do; "trading trial init" proposes one.

Exit codes: 0 passed, 1 failed, 2 no result (the command line, or the harness), 3 nothing was
exercised.`,
		Example: "  trading trial init -- python3 loop.py {dir}/state > trial.json\n" +
			"  trading trial -- python3 loop.py {dir}/state\n" +
			"  trading trial --only \"lost reply\" --seed 7 -- ./bot",
	}
	r.program(cmd)
	f := cmd.Flags()
	many := f.Int("seeds", 3, "how many seeds each scenario is played with")
	seed := f.Uint64("seed", 0, "this seed alone")
	f.StringArrayVar(&r.only, "only", nil, "this scenario alone; may be repeated")
	f.StringVar(&r.counts, "counts", "", "entries and changes of levels of an earlier quiet run, such as 5,0, instead of another quiet run")
	f.IntVar(&r.parallel, "parallel", 16, "how many run at once")
	f.StringVar(&r.dir, "keep", "", "keep the folder of each run, with sim.log and what the bot printed, in this folder")
	f.StringVar(&r.junit, "junit", "", "write the result to this file, as CI systems read it")
	r.judges(cmd, func(argv []string) (outcomes []judge.Outcome, err error) {
		if *many < 1 || *many > 1000 || r.parallel < 1 || r.parallel > 256 {
			return nil, errors.New("--seeds must be from 1 to 1000, and --parallel from 1 to 256")
		}
		for i := range *many {
			r.seeds = append(r.seeds, uint64(i)+1)
		}
		if *seed > 0 {
			r.seeds = []uint64{*seed}
		}
		if err := r.complete(cmd, argv); err != nil {
			return nil, err
		}
		err = r.prepared(argv, func() error {
			outcomes, err = r.all(cmd.Context())
			return err
		})
		return outcomes, err
	})
	cmd.AddCommand(newInit(app), newJudge(app))
	return cmd
}

// program adds the flags that say how a bot is run.
func (r *runner) program(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Float64Var(&r.speed, "speed", 1, "run so many times faster than real time, by the program faketime: for bots that look seldom, and are not in Go")
	f.BoolVar(&r.sidecar, "sidecar", false, "put a sidecar between the bot and the service, and kill each in turn")
	f.StringVar(&r.kill, "kill-command", "", "a command of the shell that kills what the bot has started elsewhere, such as docker kill bot")
}

// complete judges the flags of "trading trial", and fills in what is not set.
func (r *runner) complete(cmd *cobra.Command, argv []string) error {
	for _, name := range r.only {
		if !slices.Contains(judge.Scenarios(), name) {
			return fmt.Errorf("--only is %q: it must be one of %s", name, strings.Join(judge.Scenarios(), ", "))
		}
	}
	if len(r.only) == 0 {
		r.only = judge.Scenarios()
	}
	if n, err := fmt.Sscanf(r.counts, "%d,%d", &r.quiet.Entries, &r.quiet.Levels); r.counts != "" && (err != nil || n != 2) {
		return fmt.Errorf("--counts is %q: it must be two numbers, such as 5,0", r.counts)
	}
	for _, name := range []string{"manifest", "speed", "sidecar", "kill-command"} {
		if flag := cmd.Flag(name); flag.Changed {
			r.again += fmt.Sprintf(" --%s=%s", name, cli.Word(flag.Value.String()))
		}
	}
	r.again += " --"
	for _, arg := range argv {
		r.again += " " + cli.Word(arg)
	}
	return nil
}

// replay is the command that plays a run again.
func (r *runner) replay(o judge.Outcome) string {
	return fmt.Sprintf("trading trial --only %s --seed %d --counts %d,%d%s", cli.Word(o.Scenario), o.Seed, r.quiet.Entries, r.quiet.Levels, r.again)
}

// judges makes a command of what finds outcomes under a manifest.
func (r *runner) judges(cmd *cobra.Command, find func(args []string) ([]judge.Outcome, error)) {
	out := r.app.Output(cmd)
	cmd.Flags().StringVar(&r.file, "manifest", "trial.json", "the file that declares what the bot may do")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		file, err := os.Open(r.file)
		if err != nil {
			return cli.WithCode(harness, fmt.Errorf("--manifest: %w; trading trial init proposes one", err))
		}
		r.manifest, err = judge.ReadManifest(file)
		if err = errors.Join(err, file.Close()); err != nil {
			return cli.WithCode(harness, fmt.Errorf("--manifest %s: %w", r.file, err))
		}
		outcomes, err := find(args)
		if err == nil && r.junit != "" {
			err = WriteJUnit(r.junit, outcomes)
		}
		if err != nil {
			return cli.WithCode(harness, err)
		}
		return r.report(out, outcomes)
	}
}

func (r *runner) report(out *cli.Output, outcomes []judge.Outcome) error {
	total := judge.Summary(outcomes)
	v := struct {
		Verdict      judge.Verdict   `json:"verdict"`
		ManifestHash string          `json:"manifestHash"`
		Runs         []judge.Outcome `json:"runs"`
	}{total.Verdict, r.manifest.Hash(), outcomes}
	var text strings.Builder
	judge.WriteReached(&text, outcomes)
	judge.WriteFindings(&text, outcomes)
	fails := total.Findings[judge.Fail]
	fmt.Fprintf(&text, "\n%s: %d fails, %d warnings, %d passes, %d not exercised, %d runs without a result; manifest %s\n", total.Verdict,
		fails, total.Findings[judge.Warn], total.Findings[judge.Pass], total.Findings[judge.NotExercised], total.NoResult, v.ManifestHash)
	if err := out.Print(v, func(w io.Writer) { fmt.Fprint(w, cli.PrintableLines(text.String())) }); err != nil {
		return err
	}
	switch {
	case fails > 0:
		return cli.WithCode(failed, fmt.Errorf("the bot failed %d judgements", fails))
	case total.NoResult > 0:
		return cli.WithCode(harness, fmt.Errorf("%d runs have no result", total.NoResult))
	case total.Verdict == judge.NotExercised:
		return cli.WithCode(notExercised, errors.New("nothing was exercised: the bot sent no entry, or nothing came of it"))
	}
	return nil
}

func newInit(app *cli.App) *cobra.Command {
	r := &runner{app: app}
	cmd := &cobra.Command{
		Use: "init -- COMMAND…", Short: "Propose a manifest from a quiet run, with questions", Args: cli.AtLeast("COMMAND, after --"),
		Long: `Run the bot for a while without a fault, and write a manifest to standard output. What only
its owner knows stands as questions on standard error: what the bot held is not what it may
hold.`,
		Example: "  trading trial init -- python3 loop.py {dir}/state > trial.json",
	}
	r.program(cmd)
	period := cmd.Flags().Duration("period", time.Second, "how often the bot looks, about")
	cmd.RunE = func(cmd *cobra.Command, argv []string) error {
		r.manifest = judge.Manifest{Period: judge.Duration(*period), Timeout: judge.Duration(10 * time.Second), Markets: map[string]judge.Market{}}
		for symbol, price := range map[string]int64{"BTC": 64000, "ETH": 3200, "SOL": 150, "TSLA": 250, "GOLD": 2400} {
			r.manifest.Markets[symbol] = judge.Market{Price: decimal.New(price, 0)}
		}
		if err := r.prepared(argv, func() error { return r.propose(cmd.Context()) }); err != nil {
			return cli.WithCode(harness, err)
		}
		return nil
	}
	return cmd
}

// propose writes a manifest of what a program does in a quiet run, and asks.
func (r *runner) propose(ctx context.Context) error {
	_, events, err := r.one(ctx, judge.Scene{Scenario: judge.Quiet, Seed: 1})
	if err != nil {
		return err
	}
	m, questions, err := judge.Propose(r.manifest, events)
	if err != nil {
		return err
	}
	for _, q := range questions {
		r.app.Sayf("%s", cli.PrintableLines(q))
	}
	encoder := json.NewEncoder(r.app.Out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(m)
}

func newJudge(app *cli.App) *cobra.Command {
	r := &runner{app: app}
	cmd := &cobra.Command{
		Use: "judge LOG", Short: "Judge a run from elsewhere by the log of its simulation", Args: cli.Args("LOG"),
		Example: "  trading trial judge sim.log --manifest trial.json",
	}
	r.judges(cmd, func(args []string) ([]judge.Outcome, error) {
		file, err := os.Open(args[0])
		if err != nil {
			return nil, err
		}
		events, err := judge.ReadLog(file)
		if err := errors.Join(err, file.Close()); err != nil {
			return nil, err
		}
		o, err := judge.Judge(r.manifest, events)
		o.Scenario = "log"
		return []judge.Outcome{o}, err
	})
	return cmd
}
