package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tradingapi/trading-go/backtest"
	"github.com/tradingapi/trading-go/backtest/report"
	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
)

// sweeper are the flags of a sweep.
type sweeper struct {
	sweep             bool
	split, shard, out string
}

func (s *sweeper) flags(f *pflag.FlagSet, b *backtester) {
	f.BoolVar(&s.sweep, "sweep", false, "try the variants that func Variants() []backtest.Variant of PACKAGE returns, and judge the best on other prices")
	f.StringVar(&s.split, "split", "", "where the prices that variants of --sweep are tried on end, and those that the best is judged on begin, RFC 3339 (default after two thirds)")
	f.StringVar(&s.shard, "shard", "", "make one part of --sweep, such as 3/50; auto/50 takes the number of the task from a Kubernetes indexed Job or a Slurm array from 1")
	f.StringVar(&s.out, "out", "", "the file that the part of --shard is written to")
	f.DurationVar(&b.run.RunTimeout, "run-timeout", 5*time.Minute, "how long one run of --sweep may take, in real time, before it counts as hung")
}

// checkSweep takes the flags of a sweep over.
func (b *backtester) checkSweep(changed func(string) bool) (err error) {
	if !b.sweep {
		for _, name := range []string{"split", "shard", "out", "run-timeout"} {
			if changed(name) {
				return cli.Misuse("--%s is for --sweep", name)
			}
		}
		return nil
	}
	if !changed("func") {
		b.function = "Variants"
	}
	switch {
	case b.run.Trades != "":
		return cli.Misuse("--trades is for one run, not for --sweep: --result has the round trips of the best")
	case b.run.RunTimeout <= 0:
		return cli.Misuse("--run-timeout must be greater than 0, not %s", b.run.RunTimeout)
	case (b.shard == "") != (b.out == ""):
		return cli.Misuse("--shard and --out go together: which part, and its file")
	}
	b.run.Shard, b.run.Shards = 1, 1
	if b.shard == "" {
		return nil
	}
	for _, name := range []string{"report", "result", "attempts", "output"} {
		if changed(name) {
			return cli.Misuse("--%s is for the whole of a sweep: give it to trading backtest merge", name)
		}
	}
	b.run.Part = b.out
	b.run.Shard, b.run.Shards, err = shardOf(b.shard, b.app.Getenv)
	return err
}

// shardOf reads a shard, such as 3/50. The number of auto/50 is that of the task.
func shardOf(text string, getenv func(string) string) (shard, shards int, err error) {
	wrong := cli.Misuse("--shard %q: want one of 1/50 to 50/50, or auto/50", text)
	which, of, _ := strings.Cut(text, "/")
	if shards, err = strconv.Atoi(of); err != nil {
		return 0, 0, wrong
	}
	if which == "auto" {
		if which, err = taskOf(getenv); err != nil {
			return 0, 0, err
		}
	}
	if shard, err = strconv.Atoi(which); err != nil || shard < 1 || shard > shards {
		if strings.HasPrefix(text, "auto/") {
			return 0, 0, cli.Misuse("--shard %s: the number of this task is %s, and there are %d shards", text, which, shards)
		}
		return 0, 0, wrong
	}
	return shard, shards, nil
}

// taskOf is the number of the task that the engine has started, from 1.
func taskOf(getenv func(string) string) (string, error) {
	index, task := getenv("JOB_COMPLETION_INDEX"), getenv("SLURM_ARRAY_TASK_ID")
	switch {
	case index != "" && task != "":
		return "", cli.Misuse("--shard auto: both JOB_COMPLETION_INDEX and SLURM_ARRAY_TASK_ID are set")
	case task != "":
		return task, nil
	case index != "":
		n, err := strconv.Atoi(index)
		if err != nil {
			return "", cli.Misuse("--shard auto: JOB_COMPLETION_INDEX is %q: want a number", index)
		}
		return strconv.Itoa(n + 1), nil // Kubernetes counts from 0
	}
	return "", cli.Misuse("--shard auto: neither JOB_COMPLETION_INDEX nor SLURM_ARRAY_TASK_ID is set")
}

// finish says what a shard came to, or makes the result of a whole sweep.
func (b *backtester) finish() error {
	part, err := backtest.ReadPartFile(b.run.Part)
	if err != nil {
		return err
	}
	if b.shard != "" {
		_, err := fmt.Fprintf(b.app.Out, "%s: shard %d of %d\n", cli.Printable(b.out), part.Shard, part.Shards)
		return err
	}
	return merger{app: b.app, output: b.output, report: b.run.Report, result: b.run.Result, attempts: b.run.Attempts}.merge([]*backtest.Part{part})
}

// merger makes the result of a sweep from its parts.
type merger struct {
	app                      *cli.App
	output                   *cli.Output
	report, result, attempts string
}

func newMerge(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "merge PART...", Short: "Make the result of a sweep from the parts that several machines made", Args: cli.AtLeast("PART"),
		Long: `Make the result of a sweep from the parts that trading backtest --sweep --shard wrote: the same,
byte for byte, as one machine gives. It needs no bot and no prices. Parts of another program, of
other data or of another config are refused, as two of one shard are and a shard that is missing;
each is named.`,
		Example: "  trading backtest merge part-*.json --report report.html",
	}
	m := &merger{app: app}
	f := cmd.Flags()
	f.StringVar(&m.report, "report", "", "write an HTML report of the best variant to this file")
	f.StringVar(&m.result, "result", "", "write the whole result of the best variant as JSON to this file, for trading odds")
	f.StringVar(&m.attempts, "attempts", "", "a file that counts the runs of each bot on the same prices (default beside --report)")
	m.output = app.Output(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if m.attempts == "" && m.report != "" {
			m.attempts = m.report + ".attempts"
		}
		var parts []*backtest.Part
		var errs []error
		for _, name := range args {
			part, err := backtest.ReadPartFile(name)
			parts, errs = append(parts, part), append(errs, err)
		}
		if err := errors.Join(errs...); err != nil {
			return err
		}
		return m.merge(parts)
	}
	return cmd
}

// merge prints the result, and writes what was asked for.
func (m merger) merge(parts []*backtest.Part) error {
	result, err := backtest.Merge(parts, m.attempts)
	if err != nil {
		return err
	}
	if len(result.Best) > 0 {
		best := result.Best[0]
		if m.report != "" {
			if err := report.WriteFile(m.report, best); err != nil {
				return err
			}
		}
		if m.result != "" {
			text, err := json.Marshal(best)
			if err != nil {
				return err
			}
			if err := os.WriteFile(m.result, text, 0o644); err != nil {
				return err
			}
		}
	}
	return m.output.Print(viewSweep(result), func(w io.Writer) { fmt.Fprint(w, result) })
}

// sweepView is what a sweep came to.
type sweepView struct {
	Tried    int           `json:"tried"`
	Broken   int           `json:"broken"`
	Finding  string        `json:"finding"`
	Variants []variantView `json:"variants"`
	// Best is the best variant on the prices that it was not chosen on; null if none has a score.
	Best *bestView `json:"best"`
}

type variantView struct {
	Name  string           `json:"name"`
	Score *backtest.Figure `json:"score"`
	None  string           `json:"none,omitempty"` // why it has none
}

type bestView struct {
	Name    string           `json:"name"`
	From    time.Time        `json:"from"`
	To      time.Time        `json:"to"`
	Verdict backtest.Verdict `json:"verdict"`
	Return  *backtest.Figure `json:"return"`
}

func viewSweep(r *backtest.SweepResult) sweepView {
	v := sweepView{Tried: r.Tried, Broken: r.Broken, Finding: r.Finding.String(), Variants: []variantView{}}
	for _, row := range r.Rows {
		v.Variants = append(v.Variants, variantView{row.Name, numberOf(row.Score), row.Score.None()})
	}
	if len(r.Best) > 0 {
		best := r.Best[0]
		v.Best = &bestView{r.Rows[0].Name, best.From, best.To, best.Verdict, numberOf(best.Worse().Return)}
	}
	return v
}

// numberOf is a figure with a number, or null.
func numberOf(f backtest.Figure) *backtest.Figure {
	if _, ok := f.Value(); !ok {
		return nil
	}
	return &f
}

// makePart has the bot's program make a part. What the bot prints goes to standard error.
func (b *backtester) makePart(ctx context.Context, built, scratch string) error {
	if b.run.Part == "" {
		b.run.Part = filepath.Join(scratch, "part.json")
	}
	if err := b.program(ctx, built); err != nil {
		return err
	}
	return b.finish()
}
