package backtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
)

// job is a run of a bot on all paths of a config.
type job struct {
	name   string
	bot    Bot
	config Config
	brief  bool // its curves are of no use
}

// task is a trial of a job: what a worker makes.
type task struct {
	job
	trial

	of int // which job
}

// outcome is what a worker made of it.
type outcome struct {
	Path *Path  `json:",omitempty"`
	Err  string `json:",omitempty"`
}

// workerVariable makes the program a worker.
const workerVariable = "TRADING_BACKTEST_WORKER"

// hello is the first line that a worker gets: which set of runs it is for, and what came of
// the sets before, whose runs it does not make again.
type hello struct {
	Set     int
	Jobs    uint64 // their fingerprint
	Earlier [][]outcome
}

// order to a worker, and its news. States are "ready", "running", "closing",
// "judging" and "done".
type (
	request struct{ Job int }
	news    struct {
		State   string
		Outcome outcome
	}
)

// worker is a process that makes runs for the program which started it.
type worker struct {
	hello hello
	in    *json.Decoder
	out   *json.Encoder
}

// startWorker reads what the worker is for. What the program prints is no news.
func startWorker() *worker {
	if os.Getenv(workerVariable) == "" {
		return nil
	}
	stdout := os.Stdout
	if stdout.Fd() != 1 { // the program has put something else there before
		stdout = os.NewFile(1, "stdout")
	}
	w := &worker{in: json.NewDecoder(os.Stdin), out: json.NewEncoder(stdout)}
	os.Stdout = os.Stderr
	if err := w.in.Decode(&w.hello); err != nil {
		fmt.Fprintln(os.Stderr, "backtest: the worker cannot read its task:", err)
		os.Exit(2)
	}
	return w
}

// serve makes the run that it is asked for, and ends the process: what a bot keeps in memory
// goes with it. It ends as well when the program that started it does.
func (w *worker) serve(r *Runner, tasks []task) {
	if got := fingerprint(tasks); got != w.hello.Jobs {
		fmt.Fprintln(os.Stderr, "backtest: the worker made other variants or configs than the program: they must follow from its arguments alone")
		os.Exit(2)
	}
	w.tell(news{State: "ready"})
	var asked request
	switch err := w.in.Decode(&asked); {
	case errors.Is(err, io.EOF):
		os.Exit(0)
	case err != nil || asked.Job < 0 || asked.Job >= len(tasks):
		fmt.Fprintln(os.Stderr, "backtest: the worker was asked for no job:", err)
		os.Exit(2)
	}
	go func() {
		_ = w.in.Decode(&request{}) // until the program is gone
		os.Exit(0)
	}()
	t := tasks[asked.Job]
	done := news{State: "done"}
	p, err := t.config.plan()
	if err == nil {
		p.tell = func(state string) { w.tell(news{State: state}) }
		var path Path
		if path, err = p.try(r.t, t.bot, t.trial, nil); err == nil {
			if t.brief {
				path.Curve, path.Markets = nil, nil
				for i := range path.Others {
					path.Others[i].Curve, path.Others[i].Markets = nil, nil
				}
			}
			done.Outcome.Path = &path
		}
	}
	if err != nil {
		done.Outcome.Err = err.Error()
	}
	w.tell(done)
	os.Exit(0)
}

// tell ends the process where nobody listens any more.
func (w *worker) tell(n news) {
	if err := w.out.Encode(n); err != nil {
		fmt.Fprintln(os.Stderr, "backtest: the worker cannot answer:", err)
		os.Exit(2)
	}
}

// fingerprint shows whether the worker has the same jobs.
func fingerprint(tasks []task) uint64 {
	h := fnv.New64a()
	for _, j := range tasks {
		p, err := j.config.plan()
		fmt.Fprintf(h, "%q %v %v\n", j.name, j.trial, err)
		p.describe(h)
		if p.Data != nil {
			fmt.Fprintln(h, p.Data.hash)
		}
	}
	return h.Sum64()
}

// describe writes what a run follows from, beside its bot and the prices. Of functions it writes how
// many there are.
func (p plan) describe(w io.Writer) {
	f := p.Frictions
	if f.Funding != nil {
		fmt.Fprintln(w, f.Funding.rates) // a map is printed in order
	}
	f.Funding = nil
	fmt.Fprintf(w, "%+v %+v %s %s %s %d %d %d %d\n", p.traded, f, p.begins(), p.From, p.To, p.CandlePaths, p.Seed, len(p.Simulation), len(p.Client))
	if p.Profile != nil {
		_ = json.NewEncoder(w).Encode(p.Profile) // it was validated, and w is a sum
	}
	if o := p.Protect; o != nil {
		fmt.Fprintf(w, "%+v %v %t %v %s %s %t %t %t\n", o.Limits, o.Floors, o.WithoutFloors, o.Rollover, o.BlindAfter, o.FlattenBlind, o.ResumeNextDay, o.WithoutFlatten, o.CloseTooLate)
	}
}
