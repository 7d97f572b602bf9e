package crash

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing/synctest"
	"time"

	durable "github.com/tradingapi/trading-go/journal"
)

// parent is what a real bot lives in: its process, and the errands that it waits
// for. The world has a bubble of its own, whose time is moved to the child's
// whenever the child speaks, and stands still while it does not: whatever is to
// happen before happens then, in its order.
type parent struct {
	*process
	cmd     *exec.Cmd
	behind  time.Duration // the child's clock
	errands []*errand
	running sync.WaitGroup
}

// inChildren makes the bots of a world real processes, whose journal is a file in
// a directory.
func (w *world) inChildren(dir string) {
	file := filepath.Join(dir, "intents.db")
	behind := time.Duration(0)
	w.turnClock = func(by time.Duration) { behind += by }
	w.start = func(p *process) {
		c := &parent{process: p, behind: behind}
		if err := c.live(file); err != nil {
			w.problem("%s: %v", p.life, err)
		}
		c.exit()
		c.running.Wait()
		if err := w.readFile(file); err != nil {
			w.problem("the journal after %s: %v", p.life, err)
		}
	}
}

// forks keeps processes from being started while a file is open here: one that has
// not become another program yet would hold the file's lock after it was closed.
var forks sync.RWMutex

// readFile reads what a process has left.
func (w *world) readFile(file string) error {
	forks.RLock()
	defer forks.RUnlock()
	j, err := durable.Open(file, durable.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer j.Close()
	return w.disk.read(j.All(context.Background()))
}

// live runs the child until it is dead, and returns how else it ended.
func (c *parent) live(file string) error {
	address, stop, err := c.serve()
	if err != nil {
		return err
	}
	defer stop()
	text, err := json.Marshal(orders{
		Family: c.world.family, Seed: c.world.seed, Life: c.life,
		URL: c.world.sim.URL(), Key: c.world.sim.LiveKey(), Journal: file,
		Start: time.Now().Add(-c.behind).Round(0), Loopback: address,
	})
	if err != nil {
		return err
	}
	c.cmd = exec.Command(os.Args[0], "-test.run=^TestChild$")
	// The race detector is not to sleep for a second at the end of each child.
	c.cmd.Env = append(os.Environ(), childEnv+"="+string(text), "GORACE=atexit_sleep_ms=0")
	if c.world.family == single { // it goes alike each time
		c.cmd.Env = append(c.cmd.Env, "GOMAXPROCS=1")
	}
	c.cmd.Stderr = os.Stderr
	theirIn, in, err := os.Pipe()
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, theirOut, err := os.Pipe()
	if err != nil {
		return err
	}
	defer out.Close()
	c.cmd.Stdin, c.cmd.Stdout = theirIn, theirOut
	forks.Lock()
	err = c.cmd.Start()
	forks.Unlock()
	if err != nil {
		return err
	}
	_ = theirIn.Close()
	_ = theirOut.Close()
	cut := c.kill
	c.mu.Lock()
	c.kill = func() { // with c.mu held, by the step that it dies at
		_ = c.cmd.Process.Kill()
		cut()
	}
	c.mu.Unlock()
	exited := c.listen(bufio.NewReader(out), in)
	_ = in.Close() // whoever should be dead and is not hears that its parent is gone
	err = c.cmd.Wait()
	status, _ := c.cmd.ProcessState.Sys().(syscall.WaitStatus)
	switch {
	case exited && err == nil, c.killed != "" && status.Signaled() && status.Signal() == syscall.SIGKILL:
		return nil
	default:
		return fmt.Errorf("to be killed at %q: %s", c.killed, c.cmd.ProcessState)
	}
}

// listen answers a child until it is dead, and reports whether it ended itself.
func (c *parent) listen(from *bufio.Reader, to *os.File) (exited bool) {
	in, out := json.NewDecoder(from), json.NewEncoder(to)
	for {
		var m message
		if in.Decode(&m) != nil {
			return false
		}
		c.catchUp(m.At)
		if c.gone() {
			return false
		}
		a := c.hear(m)
		if c.gone() {
			return false
		}
		if out.Encode(a) != nil {
			return false
		}
		if m.Exit {
			return true
		}
	}
}

// hear takes in what a child says.
func (c *parent) hear(m message) (a answer) {
	switch {
	case m.Step != "":
		c.step(m.Step)
	case m.Begun != nil:
		c.begun(m.Begun.ID, m.Begun.Key)
	case m.Told != nil:
		c.tell(*m.Told)
	case m.Note != "":
		c.note(m.Note)
	case m.Unknown != "":
		c.unknown(m.Unknown)
	case m.Problem != "":
		c.problem(m.Problem)
	case m.Owner != "" && c.world.family == control: // its owner does nothing
		return answer{Done: true}
	case m.Owner != "":
		return c.send(func(*errand) { c.ownerActs(m.Owner) })
	case m.Request != nil:
		return c.send(func(e *errand) { e.result = newResponse(c.deliver(e, m.Request)) })
	case m.Errand > 0:
		e := c.errands[m.Errand-1]
		switch {
		case m.Body != nil:
			e.bodies <- *m.Body
		case m.Leave:
			e.leave()
		}
		synctest.Wait()
		return e.answer()
	}
	return answer{}
}

// errand is something that a child waits for.
type errand struct {
	id     int
	ctx    context.Context
	leave  context.CancelFunc
	bodies chan []byte // the request's body, once it is wanted
	body   *bytes.Reader

	mu       sync.Mutex
	wantBody bool
	done     bool
	result   *response
}

// send starts an errand.
func (c *parent) send(run func(*errand)) answer {
	e := &errand{id: len(c.errands) + 1, bodies: make(chan []byte, 1)}
	e.ctx, e.leave = context.WithCancel(c.ctx)
	c.errands = append(c.errands, e)
	c.running.Go(func() {
		defer e.leave()
		run(e)
		e.mu.Lock()
		defer e.mu.Unlock()
		e.done = true
	})
	synctest.Wait()
	return e.answer()
}

func (e *errand) answer() answer {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.done {
		return answer{Errand: e.id, Done: true, Response: e.result}
	}
	a := answer{Errand: e.id, WantBody: e.wantBody}
	e.wantBody = false
	return a
}

// deliver carries a child's request to the service.
func (c *parent) deliver(e *errand, r *request) (*http.Response, error) {
	req, err := http.NewRequestWithContext(e.ctx, r.Method, r.URL, http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header = r.Header
	if r.HasBody {
		req.Body = e
	}
	return c.carry(r.What, req)
}

// Read reads a request's body, which the child is asked for only now: to a client
// a request that nobody has read has not left.
func (e *errand) Read(p []byte) (int, error) {
	if e.body == nil {
		e.mu.Lock()
		e.wantBody = true
		e.mu.Unlock()
		select {
		case body := <-e.bodies:
			e.body = bytes.NewReader(body)
		case <-e.ctx.Done():
			return 0, e.ctx.Err()
		}
	}
	return e.body.Read(p)
}

// Close is part of [io.ReadCloser].
func (e *errand) Close() error { return nil }
