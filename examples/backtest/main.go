// Backtest drives a bot through a month in seconds and reports what it came to: equity
// curve, drawdown, trades, fees, requests and refusals.
//
//	go run . -days 30 -seed 1
//	go run . -days 7 -marks marks.csv
//
// The bot in package reversion knows nothing of it: the simulated service, the client
// and the bot run together on virtual time. The same seed gives the same result, to
// the last digit.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"testing"
	"time"
)

// arguments are what the program was asked for.
type arguments struct {
	settings
	out    string
	plot   string
	record string
	every  time.Duration
}

func main() {
	args, err := parse(os.Args[1:], os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		os.Exit(2)
	case args.record != "":
		os.Exit(status(record(args)))
	}
	// A month is some hundred gigabytes of short-lived answers.
	debug.SetGCPercent(400)
	began := time.Now()
	r, err := result{}, errNoBubble
	onVirtualTime(func(t *testing.T) { r, err = backtest(t, args.settings) }, func() int {
		if err != nil {
			return status(err)
		}
		fmt.Fprintf(os.Stderr, "%d days in %s\n", args.days, time.Since(began).Round(time.Millisecond))
		return status(report(os.Stdout, args, r))
	})
}

// status is the exit status for an error.
func status(err error) int {
	if err != nil {
		fmt.Fprintln(os.Stderr, "backtest:", err)
		return 1
	}
	return 0
}

func parse(command []string, errors io.Writer) (args arguments, err error) {
	flags := flag.NewFlagSet("backtest", flag.ContinueOnError)
	flags.SetOutput(errors)
	flags.IntVar(&args.days, "days", 30, "how `many` days to trade")
	flags.Uint64Var(&args.seed, "seed", 1, "the `number` that the walk of the marks follows from")
	flags.IntVar(&args.step, "step", 1, "how far the walk moves a second, in `hundredths` of a percent")
	flags.StringVar(&args.marks, "marks", "", "a `file` of marks instead of a walk: lines \"time,price\"")
	flags.BoolVar(&args.live, "live", false, "trade a simulated live account instead of the paper account")
	flags.StringVar(&args.out, "out", "out", "the `folder` for equity.csv, trades.csv and counts.csv")
	flags.StringVar(&args.plot, "plot", "equity.png", "the `name` of the plot in that folder, a .png or an .svg; none if empty")
	flags.StringVar(&args.record, "record", "", "write the marks of the walk to a `file`, and trade nothing")
	flags.DurationVar(&args.every, "every", 5*time.Minute, "how far apart the recorded marks are")
	verbose := flags.Bool("v", false, "log what the bot does")
	if err := flags.Parse(command); err != nil {
		return args, err
	}
	if flags.NArg() > 0 {
		err := fmt.Errorf("unexpected argument %q", flags.Arg(0))
		fmt.Fprintln(errors, "backtest:", err)
		return args, err
	}
	if *verbose {
		args.log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	return args, nil
}
