package backtest

import (
	"fmt"
	"os"
	"runtime/debug"
	"testing"
)

// Runner makes runs in a program; [Main] makes it.
type Runner struct {
	t      *testing.T
	worker *worker // in a process that a sweep has started
	// The sets of runs so far, and what came of them.
	sets    int
	earlier [][]outcome
}

// Main lets a program make runs: func main calls it with what to do, which returns the
// program's exit status. Main does not return.
//
// A bot sleeps, waits for tickers and asks for the time. Only a bubble of testing/synctest
// makes all of that virtual without a change to the bot, and a bubble belongs to a test. So
// the program runs a test of its own.
//
// [Runner.Sweep] starts the program again, with the same arguments, for its workers: what f
// does before it, each worker does too.
func Main(f func(r *Runner) int) {
	args, status := os.Args, 2
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400) // a month is some hundred gigabytes of short-lived answers
	}
	w := startWorker()
	test := func(t *testing.T) {
		os.Args = args
		status = f(&Runner{t: t, worker: w})
		if w != nil {
			fmt.Fprintln(os.Stderr, "backtest: the worker met no sweep: the program took another way than it did without workers")
			status = 2
		}
		os.Exit(status) // before package testing says PASS
	}
	all := func(string, string) (bool, error) { return true, nil }
	os.Args = args[:1] // the rest is the program's
	testing.Main(all, []testing.InternalTest{{Name: "backtest", F: test}}, nil, nil)
}

// Run makes a run, in this process. That the bot stopped before its time is in the result,
// and no error.
func (r *Runner) Run(bot Bot, c Config) (*Result, error) { return run(r.t, bot, c) }
