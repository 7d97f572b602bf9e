package crash

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/tradingapi/trading-go"
)

// life is what a process of the bot is there for.
type life string

const (
	decides  life = "first"  // takes the decision
	recovers life = "second" // settles what was left, with everything that goes on meanwhile
	settles  life = "third"  // settles what was left, and nothing else
)

// process is one run of the bot as its world sees it, and what a bot in process
// lives in. Killing that cannot stop its goroutines, so it cuts them off: nothing
// that they do afterwards has an effect.
type process struct {
	world *world
	life  life
	ctx   context.Context
	kill  context.CancelFunc // how it dies
	work  sync.WaitGroup     // requests on their way

	mu     sync.Mutex
	steps  int
	killAt int    // the step that it dies at; 0 for none
	killed string // that step
	dead   bool
}

var _ host = (*process)(nil)

// live runs a bot until it is dead.
func (w *world) live(l life, killAt int) *process {
	p := &process{world: w, life: l, killAt: killAt}
	p.ctx, p.kill = context.WithCancel(context.Background())
	defer p.kill()
	w.start(p)
	if p.killed != "" {
		w.kills = append(w.kills, kindOf(p.killed))
	}
	return p
}

// kindOf is what steps like one have in common.
func kindOf(step string) string {
	for _, kind := range []struct{ begins, name string }{
		{"before the journal", "before a commit"},
		{"after the journal", "after a commit"},
		{"before ", "before a request"},
		{"sending ", "with a request on its way"},
		{"after ", "before an answer is read"},
	} {
		if strings.HasPrefix(step, kind.begins) {
			return kind.name
		}
	}
	return step
}

// here runs the bot in this process.
func (p *process) here() {
	b := &bot{
		schedule: p.world.schedule, host: p, life: p.life, ctx: p.ctx,
		url: p.world.sim.URL(), key: p.world.sim.LiveKey(), disk: p.world.disk,
	}
	go b.run()
	<-p.ctx.Done()
	p.work.Wait()
}

// step counts a journal or network step, at which the process may die.
func (p *process) step(what string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead {
		return true
	}
	p.steps++
	p.world.note("%s %d: %s", p.life, p.steps, what)
	if p.steps == p.killAt {
		p.killed = what
		p.die()
	}
	return p.dead
}

// die kills the process. The lock is held.
func (p *process) die() {
	p.dead = true
	p.world.note("%s is dead", p.life)
	p.kill()
}

func (p *process) gone() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dead
}

func (p *process) exit() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.dead {
		p.die()
	}
}

// sent is a live write that was on its way.
type sent struct {
	path string
	key  string
	body []byte
	left bool // any of it was read off
	at   time.Time
}

// carry takes a request to the service. The bot can die while its bytes are on
// their way, and before it reads the answer.
func (p *process) carry(what string, req *http.Request) (*http.Response, error) {
	if !p.takesOff() {
		return nil, errKilled
	}
	defer p.work.Done()
	w := p.world
	ctx, hangUp := context.WithCancel(req.Context())
	defer hangUp()
	defer context.AfterFunc(p.ctx, hangUp)() // what is on its way arrives, and nobody waits for it
	out := &sent{path: req.URL.Path, at: time.Now()}
	for name, values := range req.Header {
		if strings.EqualFold(name, "Idempotency-Key") {
			out.key = values[0]
		}
	}
	copied := req.Clone(ctx)
	if copied.Body == nil {
		copied.Body = http.NoBody
	}
	copied.Body = &overheard{ReadCloser: copied.Body, sent: out, sending: func() { p.step("sending " + what) }}
	resp, err := w.sim.Transport().RoundTrip(copied)
	w.sentOut(out)
	if err != nil {
		w.note("%s    %s: %v", p.life, what, err)
	} else {
		w.note("%s    %s: %d %s", p.life, what, resp.StatusCode, resp.Header.Get("Idempotent-Replayed"))
	}
	if p.step("after " + what) {
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
	sent    *sent
	sending func()
}

func (o *overheard) Read(p []byte) (int, error) {
	n, err := o.ReadCloser.Read(p)
	o.sent.body = append(o.sent.body, p[:n]...)
	if !o.sent.left {
		o.sent.left = true
		o.sending()
	}
	return n, err
}

// takesOff notes a request on its way, and reports whether there is anybody left to
// send it.
func (p *process) takesOff() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.dead {
		p.work.Add(1)
	}
	return !p.dead
}

func (p *process) begun(id trading.IntentID, key trading.Key) { p.world.disk.begun(id, key) }

func (p *process) tell(t told) {
	if !p.gone() {
		p.world.tell(p.life, t)
	}
}

func (p *process) note(text string) {
	if !p.gone() {
		p.world.note("%s: %s", p.life, text)
	}
}

func (p *process) problem(text string) {
	if !p.gone() {
		p.world.problem("%s: %s", p.life, text)
	}
}

func (p *process) ownerActs(at moment) {
	if !p.gone() {
		p.world.ownerActs(at)
	}
}

func (p *process) unknown(reason string) {
	if !p.gone() {
		p.world.mu.Lock()
		defer p.world.mu.Unlock()
		p.world.unknown = append(p.world.unknown, reason)
	}
}
