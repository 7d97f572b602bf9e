package trial

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
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

// flags are those of the command.
type flags struct {
	app      *cli.App
	cmd      *cobra.Command
	out      *cli.Output
	manifest string
	seeds    int
	seed     uint64
	counts   string
	junit    string
	runner   Runner
}

// New is the command "trading trial".
func New(app *cli.App) *cobra.Command {
	f := &flags{app: app}
	cmd := &cobra.Command{
		Use: "trial -- COMMAND…", Short: "Run a bot in any language against a simulation with faults, kill it, and judge it", Args: cobra.ArbitraryArgs,
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
	f.judges(cmd, f.run)
	f.program(cmd)
	s := cmd.Flags()
	s.IntVar(&f.seeds, "seeds", 3, "how many seeds each scenario is played with")
	s.Uint64Var(&f.seed, "seed", 0, "this seed alone")
	s.StringArrayVar(&f.runner.Only, "only", nil, "this scenario alone; may be repeated")
	s.StringVar(&f.counts, "counts", "", "entries and changes of levels of an earlier quiet run, such as 5,0, instead of another quiet run")
	s.IntVar(&f.runner.Parallel, "parallel", 16, "how many run at once")
	s.StringVar(&f.runner.Dir, "keep", "", "keep the folder of each run, with sim.log and what the bot printed, in this folder")
	s.StringVar(&f.junit, "junit", "", "write the result to this file, as CI systems read it")
	cmd.AddCommand(newInit(app), newJudge(app))
	return cmd
}

// judges makes a command of what finds outcomes.
func (f *flags) judges(cmd *cobra.Command, find func(ctx context.Context, args []string) ([]judge.Outcome, error)) {
	f.cmd, f.out = cmd, f.app.Output(cmd)
	cmd.Flags().StringVar(&f.manifest, "manifest", "trial.json", "the file that declares what the bot may do")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		outcomes, err := find(cmd.Context(), args)
		if err != nil {
			return cli.WithCode(harness, err)
		}
		return f.report(outcomes)
	}
}

// program adds the flags that say how a bot is run.
func (f *flags) program(cmd *cobra.Command) {
	s := cmd.Flags()
	s.Float64Var(&f.runner.Speed, "speed", 1, "run so many times faster than real time, by the program faketime: for bots that look seldom, and are not in Go")
	s.BoolVar(&f.runner.Sidecar, "sidecar", false, "put a sidecar between the bot and the service, and kill each in turn")
	s.StringVar(&f.runner.Kill, "kill-command", "", "a command of the shell that kills what the bot has started elsewhere, such as docker kill bot")
}

// complete fills in the runner.
func (f *flags) complete(args []string) error {
	if len(args) == 0 {
		return errors.New("missing: COMMAND, after --")
	}
	if _, err := exec.LookPath(args[0]); err != nil {
		return err
	}
	self, err := os.Executable()
	r := &f.runner
	r.Argv, r.Environ, r.Command, r.Say = args, f.app.Environ, []string{self}, f.app.Sayf
	return err
}

func (f *flags) run(ctx context.Context, args []string) (outcomes []judge.Outcome, err error) {
	r := &f.runner
	if err := f.complete(args); err != nil {
		return nil, err
	}
	if r.Manifest, err = readManifest(f.manifest); err != nil {
		return nil, err
	}
	if f.seeds < 1 || f.seeds > 1000 || r.Parallel < 1 || r.Parallel > 256 {
		return nil, errors.New("--seeds must be from 1 to 1000, and --parallel from 1 to 256")
	}
	for seed := range f.seeds {
		r.Seeds = append(r.Seeds, uint64(seed)+1)
	}
	if f.seed > 0 {
		r.Seeds = []uint64{f.seed}
	}
	for _, name := range r.Only {
		if !slices.Contains(judge.Scenarios(), name) {
			return nil, fmt.Errorf("--only is %q: it must be one of %s", name, strings.Join(judge.Scenarios(), ", "))
		}
	}
	if len(r.Only) == 0 {
		r.Only = judge.Scenarios()
	}
	if f.counts != "" {
		r.Quiet = &judge.Counts{}
		if n, err := fmt.Sscanf(f.counts, "%d,%d", &r.Quiet.Entries, &r.Quiet.Levels); err != nil || n != 2 {
			return nil, fmt.Errorf("--counts is %q: it must be two numbers, such as 5,0", f.counts)
		}
	}
	r.Replay = f.replay(args)
	if outcomes, err = r.Run(ctx); err != nil || f.junit == "" {
		return outcomes, err
	}
	file, err := os.Create(f.junit)
	if err != nil {
		return nil, err
	}
	return outcomes, errors.Join(WriteJUnit(file, outcomes), file.Close())
}

// result is the report as JSON.
type result struct {
	Verdict      judge.Verdict   `json:"verdict"`
	ManifestHash string          `json:"manifestHash"`
	Runs         []judge.Outcome `json:"runs"`
}

func (f *flags) report(outcomes []judge.Outcome) error {
	total := judge.Summary(outcomes)
	v := result{total.Verdict, f.runner.Manifest.Hash(), outcomes}
	var text strings.Builder
	judge.WriteReached(&text, outcomes)
	judge.WriteFindings(&text, outcomes)
	fmt.Fprintf(&text, "\n%s: %d fails, %d warnings, %d exercised, %d not, %d without a result; manifest %s\n",
		total.Verdict, total.Fails, total.Warnings, total.Exercised, total.NotReached, total.Harness, v.ManifestHash)
	if err := f.out.Print(v, func(w io.Writer) { fmt.Fprint(w, cli.PrintableLines(text.String())) }); err != nil {
		return err
	}
	switch {
	case total.Fails > 0:
		return cli.WithCode(failed, fmt.Errorf("the bot failed %d judgements", total.Fails))
	case total.Harness > 0:
		return cli.WithCode(harness, fmt.Errorf("%d runs have no result", total.Harness))
	case total.Exercised == 0:
		return cli.WithCode(notExercised, errors.New("nothing was exercised: the bot sent no entry, or nothing came of it"))
	}
	return nil
}

// replay is the command that plays a run again.
func (f *flags) replay(args []string) func(judge.Outcome, judge.Counts) string {
	quoted := make([]string, len(args))
	for i, arg := range args {
		quoted[i] = quote(arg)
	}
	more := ""
	for _, name := range []string{"manifest", "speed", "sidecar", "kill-command"} {
		if flag := f.cmd.Flag(name); flag.Changed {
			more += fmt.Sprintf(" --%s=%s", name, quote(flag.Value.String()))
		}
	}
	return func(o judge.Outcome, quiet judge.Counts) string {
		return fmt.Sprintf("trading trial --only %s --seed %d --counts %d,%d%s -- %s", quote(o.Scenario), o.Seed, quiet.Entries, quiet.Levels, more, strings.Join(quoted, " "))
	}
}

// quote is a word of the shell.
func quote(word string) string {
	if word != "" && !strings.ContainsAny(word, " \t\n'\"\\$`*?[]{}()<>|&;!#~") {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func readManifest(path string) (m judge.Manifest, err error) {
	file, err := os.Open(path)
	if err != nil {
		return m, fmt.Errorf("--manifest: %w; trading trial init proposes one", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	if m, err = judge.ReadManifest(file); err != nil {
		return m, fmt.Errorf("--manifest %s: %w", path, err)
	}
	return m, nil
}

func newInit(app *cli.App) *cobra.Command {
	f := &flags{app: app}
	cmd := &cobra.Command{
		Use: "init -- COMMAND…", Short: "Propose a manifest from a quiet run, with questions", Args: cobra.ArbitraryArgs,
		Long: `Run the bot for a while without a fault, and write a manifest to standard output. What only
its owner knows stands as questions on standard error: what the bot held is not what it may
hold.`,
		Example: "  trading trial init -- python3 loop.py {dir}/state > trial.json",
	}
	f.program(cmd)
	period := cmd.Flags().Duration("period", time.Second, "how often the bot looks, about")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := f.complete(args); err != nil {
			return cli.WithCode(harness, err)
		}
		f.runner.Manifest = judge.Manifest{Period: judge.Duration(*period), Timeout: judge.Duration(10 * time.Second), Markets: map[string]judge.Market{}}
		for symbol, price := range map[string]int64{"BTC": 64000, "ETH": 3200, "SOL": 150, "TSLA": 250, "GOLD": 2400} {
			f.runner.Manifest.Markets[symbol] = judge.Market{Price: decimal.New(price, 0)}
		}
		m, questions, err := f.runner.Propose(cmd.Context())
		if err != nil {
			return cli.WithCode(harness, err)
		}
		for _, q := range questions {
			app.Sayf("%s", cli.PrintableLines(q))
		}
		encoder := json.NewEncoder(app.Out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(m)
	}
	return cmd
}

func newJudge(app *cli.App) *cobra.Command {
	f := &flags{app: app}
	cmd := &cobra.Command{
		Use: "judge LOG", Short: "Judge a run from elsewhere by the log of its simulation", Args: cli.Args("LOG"),
		Example: "  trading trial judge sim.log --manifest trial.json",
	}
	f.judges(cmd, func(_ context.Context, args []string) (outcomes []judge.Outcome, err error) {
		if f.runner.Manifest, err = readManifest(f.manifest); err != nil {
			return nil, err
		}
		file, err := os.Open(args[0])
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }() // it was only read
		events, err := judge.ReadLog(file)
		if err != nil {
			return nil, err
		}
		findings, err := judge.Judge(f.runner.Manifest, events)
		return []judge.Outcome{{Scenario: "log", Findings: findings}}, err
	})
	return cmd
}
