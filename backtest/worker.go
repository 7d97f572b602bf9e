package backtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
)

// job is a run that a worker makes.
type job struct {
	name   string
	bot    Bot
	config Config
	brief  bool // its curves are of no use
}

// outcome is what a worker made of it.
type outcome struct {
	Result *Result `json:",omitempty"`
	Err    string  `json:",omitempty"`
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

// order to a worker, and its news. States are "ready", "running", "closing" and "done".
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
	w := &worker{in: json.NewDecoder(os.Stdin), out: json.NewEncoder(os.Stdout)}
	os.Stdout = os.Stderr
	if err := w.in.Decode(&w.hello); err != nil {
		fmt.Fprintln(os.Stderr, "backtest: the worker cannot read its task:", err)
		os.Exit(2)
	}
	return w
}

// serve makes the runs that it is asked for, and ends the process.
func (w *worker) serve(r *Runner, jobs []job) {
	if got := fingerprint(jobs); got != w.hello.Jobs {
		fmt.Fprintln(os.Stderr, "backtest: the worker made other variants or configs than the program: they must follow from its arguments alone")
		os.Exit(2)
	}
	w.tell(news{State: "ready"})
	for {
		var asked request
		switch err := w.in.Decode(&asked); {
		case errors.Is(err, io.EOF):
			os.Exit(0)
		case err != nil || asked.Job < 0 || asked.Job >= len(jobs):
			fmt.Fprintln(os.Stderr, "backtest: the worker was asked for no job:", err)
			os.Exit(2)
		}
		j := jobs[asked.Job]
		result, err := runFor(r.t, j.bot, j.config, func(state string) { w.tell(news{State: state}) })
		done := news{State: "done", Outcome: outcome{Result: result}}
		if err != nil {
			done.Outcome = outcome{Err: err.Error()}
		} else if j.brief {
			result.withoutCurves()
		}
		w.tell(done)
	}
}

func (r *Result) withoutCurves() {
	for i := range r.Paths {
		r.Paths[i].Curve, r.Paths[i].Markets = nil, nil
	}
}

// tell ends the process where nobody listens any more.
func (w *worker) tell(n news) {
	if err := w.out.Encode(n); err != nil {
		fmt.Fprintln(os.Stderr, "backtest: the worker cannot answer:", err)
		os.Exit(2)
	}
}

// fingerprint shows whether the worker has the same jobs.
func fingerprint(jobs []job) uint64 {
	h := fnv.New64a()
	for _, j := range jobs {
		p, err := j.config.plan()
		fmt.Fprintf(h, "%q %v %+v %s %s %v\n", j.name, err, p.terms, p.From, p.To, p.Data != nil)
		if p.Data != nil {
			fmt.Fprintln(h, p.Data.hash)
		}
	}
	return h.Sum64()
}
