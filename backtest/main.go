package backtest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"testing"
	"time"
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

// Run makes a run, each path in a process of its own, so that no path knows what another has
// seen. Each process is this program once more, with the same arguments: up to this call it must
// do the same, and need not print. What the bot prints goes to standard error. That the bot
// stopped before its time is in the result, and no error.
func (r *Runner) Run(bot Bot, c Config) (*Result, error) {
	results, err := r.results("run", []job{{name: c.Name, bot: bot, config: c}}, Pool{Progress: io.Discard, Timeout: forever, echo: true})
	if err != nil {
		return nil, err
	}
	if results[0].Err != "" {
		return nil, errors.New(results[0].Err)
	}
	return results[0].Result, nil
}

// forever is longer than any run.
const forever = 1000 * time.Hour

// made is what came of a job.
type made struct {
	Result *Result
	Err    string // empty unless it broke
}

// results makes the trials of each job, and a result of them.
func (r *Runner) results(what string, jobs []job, how Pool) ([]made, error) {
	plans := make([]plan, len(jobs))
	list := make([]made, len(jobs))
	var tasks []task
	for i, j := range jobs {
		p, err := r.plan(j.config)
		if err != nil {
			return nil, err
		}
		p.brief = j.brief
		plans[i] = p
		for _, one := range p.paths(aPath) {
			tasks = append(tasks, task{job: j, trial: one, of: i})
		}
	}
	first, err := r.each(what, tasks, how)
	if err != nil {
		return nil, err
	}
	// What else a job needs follows from its paths.
	var more []task
	for i := range jobs {
		ask := func(trials []trial) ([]Path, error) {
			if trials[0].Kind == aPath {
				return pathsOf(tasks, first, i)
			}
			for _, one := range trials {
				more = append(more, task{job: jobs[i], trial: one, of: i})
			}
			return nil, errMore
		}
		list[i] = madeOf(plans[i].assemble(ask))
	}
	if len(more) == 0 {
		return list, nil
	}
	second, err := r.each(what+", beside", more, how)
	if err != nil {
		return nil, err
	}
	for i := range jobs {
		if list[i].Err != errMore.Error() {
			continue
		}
		list[i] = madeOf(plans[i].assemble(func(trials []trial) ([]Path, error) {
			if trials[0].Kind == aPath {
				return pathsOf(tasks, first, i)
			}
			return pathsOf(more, second, i)
		}))
	}
	return list, nil
}

// plan judges a config. A worker counts no attempts: it goes once more over what the program has
// counted.
func (r *Runner) plan(c Config) (plan, error) {
	if r.worker != nil {
		c.Attempts = ""
	}
	return c.plan()
}

// errMore is that other trials have to be made first.
var errMore = errors.New("backtest: more runs are needed")

func madeOf(r *Result, err error) made {
	if err != nil {
		return made{Err: err.Error()}
	}
	return made{Result: r}
}

// pathsOf are those of a job.
func pathsOf(tasks []task, outcomes []outcome, job int) (list []Path, err error) {
	for i, t := range tasks {
		if t.of != job {
			continue
		}
		if outcomes[i].Err != "" {
			return nil, errors.New(outcomes[i].Err)
		}
		list = append(list, *outcomes[i].Path)
	}
	return list, nil
}
