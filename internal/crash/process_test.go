package crash

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/tradingapi/trading-go"
)

// errKilled is what a killed client's transport and journal say. Nobody is left
// to read it.
var errKilled = errors.New("the process is dead")

// process is one run of the bot in process. Killing it cannot stop its
// goroutines, so it cuts them off: nothing that they do afterwards has an effect.
type process struct {
	world *world
	name  string
	ctx   context.Context
	kill  context.CancelFunc

	mu     sync.Mutex
	steps  int
	killAt int // the step that it dies at; 0 for none
	dead   bool
}

func (w *world) newProcess(name string, killAt int) *process {
	p := &process{world: w, name: name, killAt: killAt}
	p.ctx, p.kill = context.WithCancel(context.Background())
	return p
}

// step counts a journal or network step, and reports whether the process is dead
// now.
func (p *process) step(what string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead {
		return true
	}
	p.steps++
	p.world.note("%s %d: %s", p.name, p.steps, what)
	if p.steps == p.killAt {
		p.die()
	}
	return p.dead
}

// die kills the process. The lock is held.
func (p *process) die() {
	p.dead = true
	p.world.note("%s is killed", p.name)
	p.kill()
}

// gone reports whether the process is dead.
func (p *process) gone() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dead
}

// end kills the process if it lives still, and waits for what it left running.
func (p *process) end(client *trading.Client) {
	p.mu.Lock()
	if !p.dead {
		p.die()
	}
	p.mu.Unlock()
	_ = client.Close()
}

// sent is a live write that was on its way.
type sent struct {
	path string
	key  string
	body []byte
	left bool // any of it was read off
	at   time.Time
}

// wire is a process's way to the service.
type wire struct{ p *process }

func (t wire) RoundTrip(req *http.Request) (*http.Response, error) {
	p, w := t.p, t.p.world
	what := req.Method + " " + strings.TrimPrefix(req.URL.Path, "/v1")
	if p.step("before "+what) || !pause(req.Context(), w.latency) {
		return nil, errKilled
	}
	out := &sent{path: req.URL.Path, at: time.Now()}
	for name, values := range req.Header {
		if strings.EqualFold(name, "Idempotency-Key") {
			out.key = values[0]
		}
	}
	copied := req.Clone(req.Context())
	if req.Body != nil {
		copied.Body = &overheard{ReadCloser: req.Body, sent: out}
	}
	if p.step("sending " + what) {
		// The program is gone, and its bytes are on their way.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(req.Context()), 1)
		defer cancel()
		if resp, err := w.sim.Transport().RoundTrip(copied.WithContext(ctx)); err == nil {
			_ = resp.Body.Close()
		}
		w.sentOut(out)
		return nil, errKilled
	}
	resp, err := w.sim.Transport().RoundTrip(copied)
	w.sentOut(out)
	if err != nil {
		w.note("%s    %s: %v", p.name, what, err)
	} else {
		w.note("%s    %s: %d %s", p.name, what, resp.StatusCode, resp.Header.Get("Idempotent-Replayed"))
	}
	if p.step("after "+what) || !pause(req.Context(), w.latency) {
		if err == nil {
			_ = resp.Body.Close()
		}
		return nil, errKilled
	}
	return resp, err
}

// overheard keeps what is read of a request on its way.
type overheard struct {
	io.ReadCloser
	sent *sent
}

func (o *overheard) Read(p []byte) (int, error) {
	n, err := o.ReadCloser.Read(p)
	o.sent.left = true
	o.sent.body = append(o.sent.body, p[:n]...)
	return n, err
}

// pause waits; false if the context ends first.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// client opens the client as the bot's program would after a start.
func (p *process) client(baseURL string, opts ...trading.Option) *trading.Client {
	client, err := trading.New(baseURL, append([]trading.Option{
		trading.WithLiveKey(p.world.sim.LiveKey()),
		trading.WithTransport(wire{p}),
		trading.WithJournal(journal{p.world.disk, p}),
		// Waits of chance would make a schedule differ from run to run.
		trading.WithRetry(trading.Retry{MinWait: 1, MaxWait: 1}),
	}, opts...)...)
	if err != nil {
		panic(fmt.Sprintf("the client cannot be made: %v", err))
	}
	return client
}
