package crash

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/journal"
)

// errKilled is what a killed program's transport and journal say. Nobody reads it.
var errKilled = errors.New("the process is dead")

// process is one run of a program. A kill cannot stop its goroutines, so it cuts them
// off: nothing that they do afterwards has an effect.
type process struct {
	world *world
	name  string
	ctx   context.Context
	kill  context.CancelFunc

	mu     sync.Mutex
	steps  int
	killAt int // 0: never
	dead   bool
	stopAt int // 0: never
	wakes  time.Time

	connected time.Time // when a connection was last used
}

func (w *world) process(name string, killAt int) *process {
	p := &process{world: w, name: name, killAt: killAt}
	p.ctx, p.kill = context.WithCancel(context.Background())
	return p
}

// step counts a step, at which the process may die, and reports whether it is dead.
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
	// What nobody waits for is written under locks, on which virtual time does not pass.
	stops := !strings.HasPrefix(what, "before the journal notes") && !strings.HasPrefix(what, "after the journal notes")
	if stops && p.stopAt > 0 && p.steps >= p.stopAt && !p.dead {
		p.stopAt = 0
		p.world.note("the machine stops for %s", p.world.stopFor)
		p.wakes = time.Now().Add(p.world.stopFor)
	}
	for stops && !p.dead && time.Now().Before(p.wakes) {
		wakes := p.wakes
		p.mu.Unlock()
		time.Sleep(time.Until(wakes))
		p.mu.Lock()
	}
	return p.dead
}

func (p *process) die() {
	p.dead = true
	p.world.note("%s is dead", p.name)
	p.kill()
}

func (p *process) isDead() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dead
}

// RoundTrip takes a request to the service. The process can die before it, and
// before it reads the answer.
func (p *process) RoundTrip(req *http.Request) (*http.Response, error) {
	what := req.Method + " " + strings.TrimPrefix(req.URL.Path, "/v1")
	sent, err := p.leaves(req, what)
	if err != nil {
		return nil, err
	}
	if resp := p.world.cache.Answer(req); resp != nil {
		return resp, nil
	}
	if p.world.swallows(req) {
		return nil, p.swallow(sent)
	}
	ctx, hangUp := context.WithCancel(req.Context())
	stop := context.AfterFunc(p.ctx, hangUp) // what is on its way arrives, and nobody waits for it
	resp, err := p.world.sim.Transport().RoundTrip(sent.WithContext(ctx))
	stop()
	if err == nil {
		p.marks(req, resp)
		p.mu.Lock()
		p.connected = time.Now()
		p.mu.Unlock()
		p.world.note("%s    %s: %d %s", p.name, what, resp.StatusCode, resp.Header.Get("Idempotent-Replayed"))
	} else {
		p.world.note("%s    %s: %v", p.name, what, err)
	}
	if p.step("after "+what) || !rig.Pause(req.Context(), p.world.latency) {
		if err == nil {
			_ = resp.Body.Close()
		}
		hangUp()
		return nil, errKilled
	}
	if err == nil {
		p.hears(req, resp)
	}
	return resp, err
}

// disk is a program's journal, as the process has it open: with the steps that it can
// die at, a failing disk, and what a power cut takes.
type disk struct {
	*journal.Log
	process *process
	failsAt int  // append from which on it fails; 0: never
	losesAt int  // append that is lost; 0: none
	slowAt  int  // append from which on a sync takes long; 0: never
	holds   bool // what nobody waits for is held back until the next sync

	mu      sync.Mutex
	appends int
	held    []journal.Record
}

// open opens the journal of a program.
func (p *process) open(path string) *disk {
	log, err := journal.Open(path)
	if err != nil {
		p.world.problem("%s: the journal: %v", p.name, err)
		return nil
	}
	return &disk{Log: log, process: p, holds: p.world.powerCut}
}

var errDisk = errors.New("the disk is full")

// Append implements [journal.Store].
func (d *disk) Append(ctx context.Context, durable bool, records ...journal.Record) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	what := "the journal notes"
	if durable {
		what = "the journal commits"
	}
	for i := range records {
		what += " " + kindOf(records[i].Data)
	}
	if d.process.step("before " + what) {
		return errKilled
	}
	if cause := context.Cause(ctx); durable && cause != nil && strings.HasPrefix(cause.Error(), "the journal has not taken it in time") {
		d.process.world.hangs()
	}
	d.process.world.probes(records)
	if err := d.write(ctx, durable, records); err != nil {
		return err
	}
	if durable && d.isSlow() && !rig.Pause(ctx, d.process.world.slow) {
		return ctx.Err()
	}
	if d.process.step("after " + what) {
		return errKilled
	}
	return nil
}

// killedLog is a journal of a program that kills itself.
type killedLog struct {
	*journal.Log
	killer *killer
}

// Append implements [journal.Store].
func (l *killedLog) Append(ctx context.Context, durable bool, records ...journal.Record) error {
	l.killer.step()
	err := l.Log.Append(ctx, durable, records...)
	l.killer.step()
	return err
}

func (d *disk) write(ctx context.Context, durable bool, records []journal.Record) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.appends++
	if d.failsAt > 0 && d.appends >= d.failsAt {
		if d.appends == d.failsAt && d.appends%2 == 0 { // it may be there all the same
			_ = d.commit(ctx, true, records)
		}
		return errDisk
	}
	if d.appends == d.losesAt {
		d.process.world.note("    which is lost")
		if durable {
			return errDisk
		}
		return nil
	}
	if d.holds && !durable {
		for _, r := range records {
			r.Data = append([]byte(nil), r.Data...)
			d.held = append(d.held, r)
		}
		return nil
	}
	return d.commit(ctx, durable, records)
}

// commit appends what was held back, and the records. The lock is held.
func (d *disk) commit(ctx context.Context, durable bool, records []journal.Record) error {
	for _, batch := range [][]journal.Record{d.held, records} {
		if len(batch) == 0 {
			continue
		}
		if err := d.Log.Append(ctx, durable, batch...); err != nil {
			return err
		}
		d.process.world.observe(batch)
	}
	d.held = nil
	return nil
}

func (d *disk) flush() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.process.isDead() {
		_ = d.commit(context.Background(), true, nil)
	}
}

// Pending implements [journal.Store].
func (d *disk) Pending(ctx context.Context) iter.Seq2[journal.History, error] {
	d.flush()
	return d.Log.Pending(ctx)
}

// Named implements [journal.Store].
func (d *disk) Named(ctx context.Context, name string) ([]journal.History, error) {
	d.flush()
	return d.Log.Named(ctx, name)
}

// record is what the oracle reads of the client's records.
type record struct {
	Begin *struct {
		Intent trading.Intent `json:"intent"`
		Try    struct {
			Key trading.Key `json:"key"`
		} `json:"first"`
	} `json:"begin"`
	Key *struct {
		Key trading.Key `json:"key"`
	} `json:"key"`
	Fact *ledger.Fact `json:"fact"`
	End  *struct {
		Outcome  trading.Outcome
		Evidence trading.Evidence
	} `json:"end"`
}

func kindOf(data []byte) string {
	var r record
	switch err := json.Unmarshal(data, &r); {
	case err != nil:
		return err.Error()
	case r.Begin != nil:
		return "a beginning"
	case r.Key != nil:
		return "a key"
	case r.Fact != nil:
		return [...]string{
			"nothing", "a send", "an answer", "another key", "the end of sending", "a fence", "a fence's answer",
			"a probe", "a probe's answer", "a look", "a restart", "a question", "what a person found", "a second question", "a late answer",
		}[r.Fact.Kind]
	case r.End != nil:
		return "the end: " + r.End.Outcome.String()
	default:
		return "another's write"
	}
}
