package backtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"
)

// each makes the runs of a set in workers, and returns what came of each, in order.
func (r *Runner) each(what string, jobs []task, how Pool) ([]outcome, error) {
	set := r.sets
	r.sets++
	if w := r.worker; w != nil {
		if set < w.hello.Set {
			return w.hello.Earlier[set], nil
		}
		w.serve(r, jobs)
	}
	p := &pool{Pool: how, what: what, jobs: jobs, outcomes: make([]outcome, len(jobs)), began: time.Now()}
	p.hello = hello{Set: set, Jobs: fingerprint(jobs), Earlier: r.earlier}
	if err := p.run(); err != nil {
		return nil, err
	}
	r.earlier = append(r.earlier, p.outcomes)
	return p.outcomes, nil
}

// grace is how long a bubble may take to end after its run.
const grace = 10 * time.Second

// pool hands runs to workers.
type pool struct {
	Pool
	what     string
	jobs     []task
	hello    hello
	outcomes []outcome
	began    time.Time

	mu     sync.Mutex
	next   int
	done   int
	broken int
	shown  time.Time
	err    error // ends the pool
}

func (p *pool) run() error {
	if p.Workers <= 0 {
		p.Workers = runtime.GOMAXPROCS(0) // which a container's share bounds
	}
	if p.Timeout <= 0 {
		p.Timeout = 5 * time.Minute
	}
	if p.Progress == nil {
		p.Progress = os.Stderr
	}
	var all sync.WaitGroup
	for range min(p.Workers, len(p.jobs)) {
		all.Go(p.work)
	}
	all.Wait()
	return p.err
}

// work makes runs, each in a process of its own.
func (p *pool) work() {
	for i, ok := p.take(); ok; i, ok = p.take() {
		c, err := p.start()
		if err != nil {
			p.fail(err)
			return
		}
		o := c.do(i, p.Timeout)
		c.end()
		p.put(i, o)
	}
}

func (p *pool) take() (i int, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil || p.next == len(p.jobs) {
		return 0, false
	}
	p.next++
	return p.next - 1, true
}

func (p *pool) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.err = errors.Join(p.err, err)
}

func (p *pool) put(i int, o outcome) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.outcomes[i] = o
	p.done++
	if o.Err != "" {
		p.broken++
	}
	if now := time.Now(); p.done == len(p.jobs) || now.Sub(p.shown) >= time.Second {
		p.shown = now
		took := now.Sub(p.began)
		left := took / time.Duration(p.done) * time.Duration(len(p.jobs)-p.done)
		fmt.Fprintf(p.Progress, "backtest: %s: %d of %d runs, %d broken, %s, about %s left\n", p.what, p.done, len(p.jobs), p.broken, took.Round(time.Second), left.Round(time.Second))
	}
}

// child is a worker as its parent sees it.
type child struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *json.Encoder
	news   chan news // closed when the worker is gone
	stderr head
}

// start starts the program once more. It is an error of the pool if the worker does not
// come as far as the runs.
func (p *pool) start() (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("backtest: starting a worker: %w", err)
	}
	c := &child{cmd: exec.Command(self, os.Args[1:]...), news: make(chan news)} //nolint:noctx // it is ended by its own time
	c.cmd.Env = append(os.Environ(), workerVariable+"=1", "GOMAXPROCS=1")
	c.cmd.Stderr = &c.stderr
	if p.echo {
		c.cmd.Stderr = io.MultiWriter(&c.stderr, os.Stderr)
	}
	in, err := c.cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("backtest: starting a worker: %w", err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("backtest: starting a worker: %w", err)
	}
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("backtest: starting a worker: %w", err)
	}
	c.in, c.out = in, json.NewEncoder(in)
	go c.listen(out)
	_ = c.out.Encode(p.hello) // what goes wrong shows as no answer
	within := min(p.Timeout, 5*time.Minute)
	wait := time.NewTimer(within)
	defer wait.Stop()
	select {
	case n, ok := <-c.news:
		if ok && n.State == "ready" {
			return c, nil
		}
		_ = c.cmd.Wait()
		return nil, fmt.Errorf("backtest: a worker ended before its first run: %s", c.stderr.String())
	case <-wait.C:
		c.end()
		return nil, fmt.Errorf("backtest: a worker did not begin within %s", within)
	}
}

func (c *child) listen(out io.Reader) {
	defer close(c.news)
	for d := json.NewDecoder(out); ; {
		var n news
		if err := d.Decode(&n); err != nil {
			return
		}
		c.news <- n
	}
}

// do has a run made.
func (c *child) do(i int, timeout time.Duration) outcome {
	c.stderr.reset()
	_ = c.out.Encode(request{i})
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	state := ""
	for {
		select {
		case n, ok := <-c.news:
			if !ok {
				_ = c.cmd.Wait()
				return outcome{Err: crashOf(c.stderr.String())}
			}
			switch state = n.State; state {
			case "done":
				return n.Outcome
			case "closing":
				timer.Reset(min(grace, timeout))
			case "running", "judging":
				timer.Reset(timeout)
			}
		case <-timer.C:
			if state == "closing" {
				return outcome{Err: fmt.Sprintf("it left a goroutine behind that never waits: the run was over, and its bubble did not end within %s", min(grace, timeout))}
			}
			return outcome{Err: fmt.Sprintf("it hung: the run was not over after %s; a goroutine that never waits, or a bot that does not heed its context", timeout)}
		}
	}
}

// end kills the worker, if it is still there, and waits for it.
func (c *child) end() {
	if c == nil {
		return
	}
	_ = c.in.Close()
	_ = c.cmd.Process.Kill()
	for range c.news { // until it is closed
		continue
	}
	_ = c.cmd.Wait()
}

// crashOf is the panic in what a process has left, and where it was.
func crashOf(stderr string) string {
	for _, mark := range []string{"panic: ", "fatal error: "} {
		_, after, ok := strings.Cut(stderr, mark)
		if !ok {
			continue
		}
		what := strings.TrimSuffix(firstLine(after), " [recovered, repanicked]")
		if strings.Contains(what, "blocked goroutines remain") {
			return "it left goroutines behind: the run was over, and they wait for ever"
		}
		// Where it was comes after what the panic itself has called.
		if _, frames, ok := strings.Cut(after, "\npanic("); ok {
			_, frames, _ = strings.Cut(frames, "\n") // its own line
			_, after, _ = strings.Cut(frames, "\n")  // and the place of that
		} else {
			_, after, _ = strings.Cut(after, "\n")
		}
		return "it panicked: " + what + "\n" + lines10(after)
	}
	if strings.TrimSpace(stderr) == "" {
		return "its process ended"
	}
	return "its process ended: " + lines10(stderr)
}

// lines10 are the first ten lines.
func lines10(text string) string {
	list := strings.SplitN(text, "\n", 11)
	return strings.TrimSpace(strings.Join(list[:min(10, len(list))], "\n"))
}

// head keeps the beginning of what is written.
type head struct {
	mu   sync.Mutex
	kept bytes.Buffer
}

const maxHead = 64 << 10

func (h *head) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.kept.Write(p[:min(len(p), maxHead-h.kept.Len())])
	return len(p), nil
}

func (h *head) reset() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.kept.Reset()
}

func (h *head) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.kept.String()
}
