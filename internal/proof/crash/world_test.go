package crash

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
)

const account = "acc_1"

// world is everything of one schedule that is no program: the service, the network,
// the person, the disks, and what the oracle knows.
type world struct {
	schedule
	rig.Oracle
	t       testing.TB // until whose end its connections are served
	sim     *tradingsim.Sim
	url     string // of the service, where it is not the simulation's own
	dir     string
	started time.Time
	before  int // executions of the person's, on the paper account

	mu       sync.Mutex
	offset   time.Duration // of the service's clock against the machine's
	stopped  time.Time     // the service's clock stands still; zero: it runs
	planned  map[string]int
	met      map[string]bool // faults of the write that came about
	worked   bool            // one of them was a 5xx after the work
	hung     bool            // an exit has gone without a journal that took too long
	steps    []string
	writes   map[trading.IntentID]*written
	order    []*written
	told     []told
	problems []string
	settled  bool     // a write that ran has ended, and the file keeps nothing more of it
	reasons  []string // why a write stayed Unknown
	doubled  string   // the exception by which a write was executed twice

	firstDates map[string]string           // of the first answer under a key
	cache      rig.Cache                   // what something in front has of reads
	asked      int                         // questions to the guard
	sent       int                         // requests of the write
	pacing     bool                        // own orders go before the write
	probing    map[trading.Key]int         // probes under way
	failed     map[string]time.Time        // when a program has heard, under a key, a failure that may be of a write that ran
	sinceAt    time.Time                   // before which the id was not used
	given      map[trading.IntentID]string // what became of the orders that were given up, in the end
}

// written is a write as the journals have it.
type written struct {
	trading.Intent
	name   string
	keys   []trading.Key
	probes int
	end    *trading.Outcome
	ended  time.Time // by the service's clock
	why    trading.Evidence
}

// key is the one that it has now; empty where its beginning was lost.
func (in *written) key() trading.Key {
	if len(in.keys) == 0 {
		return ""
	}
	return in.keys[len(in.keys)-1]
}

// told is what a program was told.
type told struct {
	by                string
	op                trading.Operation
	id                trading.IntentID
	key               trading.Key
	outcome           trading.Outcome
	late, maybeLate   bool
	resolved, notSent bool      // by Resolve or Recover
	named             bool      // under the id
	at                time.Time // by the service's clock
	err               error
}

// newRecords is a world without a service.
func newRecords(s schedule, dir string) *world {
	w := &world{
		schedule: s, dir: dir, started: time.Now(), planned: map[string]int{}, met: map[string]bool{},
		writes:     map[trading.IntentID]*written{},
		firstDates: map[string]string{}, cache: rig.Cache{Lasts: s.cached, Serves: func(req *http.Request) bool { return !rig.NoCache(req) }}, probing: map[trading.Key]int{}, failed: map[string]time.Time{},
		offset: s.skew, given: map[trading.IntentID]string{},
	}
	w.Problem = w.problem
	return w
}

func newWorld(t testing.TB, s schedule, dir string) *world {
	w := newRecords(s, dir)
	w.t = t
	opts := []tradingsim.Option{tradingsim.WithMark("BTC", "64000"), tradingsim.WithMark("ETH", "3000"), tradingsim.WithClock(w.clock), tradingsim.WithRequestLog(1)}
	if s.rows > 0 {
		opts = append(opts, tradingsim.WithTradeRows(s.rows))
	}
	for _, n := range s.readings {
		opts = append(opts, tradingsim.WithInterpretation(n))
	}
	w.sim = tradingsim.New(opts...)
	w.furnish()
	s.lags.Set(w.sim)
	w.sim.FaultEach(w.nextFault)
	return w
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.clockLocked()
}

func (w *world) clockLocked() time.Time {
	if !w.stopped.IsZero() {
		return w.stopped
	}
	return w.byService(time.Now())
}

// byService is the service's time at a moment of the machine's.
func (w *world) byService(at time.Time) time.Time {
	return at.Add(w.offset + rig.Drift(w.started, at, w.drift))
}

// jumpClock sets the machine's clock forward, or back, against the service's.
func (w *world) jumpClock() {
	if w.jump < 0 {
		w.sim.Advance(-w.jump)
		return
	}
	now := w.clock()
	w.mu.Lock()
	w.stopped = now
	w.mu.Unlock()
	time.Sleep(w.jump)
	w.mu.Lock()
	w.stopped, w.offset = time.Time{}, w.offset-w.jump
	w.mu.Unlock()
}

// furnish puts on the account what is there before.
func (w *world) furnish() {
	side := "long"
	if w.held == opposite {
		side = "short"
	}
	switch {
	case w.held == none:
	case w.held == waiting && w.kind != paper:
		w.asPerson(trading.OpLimit, `{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.05,"leverage":2,"limitPrice":63000}`)
	case w.kind == paper:
		w.before = w.onPaper(fmt.Sprintf(`{"symbol":"BTC","side":%q,"size":0.2,"leverage":2}`, side))
	default:
		w.sim.Trade(account, side, "0.2", "BTC")
	}
	if w.held == withStop && w.kind != paper {
		w.asPerson(trading.OpTPSL, `{"accountId":"acc_1","symbol":"BTC","takeProfitPrice":66000,"stopLossPrice":63500}`)
	}
	time.Sleep(time.Minute) // longer than any lag
}

// onPaper places an order of the person's on the paper account, and returns how many
// executions that is.
func (w *world) onPaper(body string) int {
	req, err := http.NewRequest(http.MethodPost, w.sim.URL()+"/sandbox/orders", strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	req.Header.Set("X-API-Key", w.sim.NewSandboxKey())
	resp, err := w.sim.Transport().RoundTrip(req)
	if err != nil {
		panic(err)
	}
	_ = resp.Body.Close()
	return len(w.sim.Ledger())
}

func (w *world) asPerson(op trading.Operation, body string) string {
	answer, err := w.sim.Terminal(string(op), body)
	if err != nil {
		w.note("the person: %v", err)
	}
	return answer
}

// personActs lets the person at the terminal, or the market, do its one thing.
func (w *world) personActs() {
	side, back := "long", "short"
	size := "0.05"
	if w.op == closing {
		side, back, size = "short", "long", "0.1"
	}
	w.note("the person %s", w.person)
	switch w.person {
	case sameSize:
		w.sim.Trade(account, side, size, "BTC")
	case undoes:
		w.sim.Trade(account, back, size, "BTC")
	case cancels:
		for _, e := range w.sim.Ledger() {
			if e.Operation == string(trading.OpLimit) && !e.Filled {
				w.asPerson(trading.OpCancelOrder, `{"accountId":"acc_1","orderId":"lim_1"}`)
				w.asPerson(trading.OpCancelOrder, `{"accountId":"acc_1","orderId":"lim_2"}`)
				return
			}
		}
	case moves:
		for _, mark := range []string{"62900", "66100", "64000"} {
			w.sim.SetMark("BTC", mark)
			time.Sleep(time.Second)
			_ = w.sim.Ledger() // lets the service see it
		}
	}
}

// endpoint is where the schedule's write is sent.
func (s *schedule) endpoint() trading.Operation { return s.endpointOf(s.op) }

func (s *schedule) endpointOf(o operation) trading.Operation {
	switch {
	case s.kind == paper && o == closing:
		return trading.OpSandboxClose
	case s.kind == paper:
		return trading.OpSandboxOrder
	case o == resting:
		return trading.OpLimit
	case o == closing:
		return trading.OpClose
	case o == timed:
		return trading.OpTWAP
	case o == levels:
		return trading.OpTPSL
	default:
		return trading.OpOrder
	}
}

// nextFault is what happens to the next call of an operation.
func (w *world) nextFault(op string) tradingsim.Fault {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pacing {
		return w.givenUpFault(op)
	}
	plan, name := w.reads, "reads"
	switch {
	case op == string(w.endpoint()):
		plan, name = w.tries, "tries"
	case op == string(trading.OpCancelOrder):
		plan, name = w.fences, "fences"
	case strings.HasPrefix(op, "POST "):
		return nil
	}
	n := w.planned[name]
	if n >= len(plan) {
		return nil
	}
	w.planned[name]++
	f := plan[n]
	if name == "tries" {
		w.met[f.Name] = true
		w.worked = w.worked || f.Worked
	}
	if f.Fault != nil {
		w.noteLocked("    meets: %s", f.Name)
	}
	return f.Fault
}

func (w *world) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.noteLocked(format, args...)
}

func (w *world) noteLocked(format string, args ...any) {
	if len(w.steps) > 20_000 {
		panic("something goes on for ever:\n" + w.String() + strings.Join(w.steps[:60], "\n") + "\n...\n" + strings.Join(w.steps[19_980:], "\n"))
	}
	w.steps = append(w.steps, fmt.Sprintf("%14s  ", time.Since(w.started).Round(time.Millisecond))+fmt.Sprintf(format, args...))
}

func (w *world) problem(format string, args ...any) {
	w.note("PROBLEM: "+format, args...)
	w.mu.Lock()
	defer w.mu.Unlock()
	if text := fmt.Sprintf(format, args...); !slices.Contains(w.problems, text) {
		w.problems = append(w.problems, text)
	}
}

// observe notes what a journal has taken.
func (w *world) observe(records []journal.Record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range records {
		w.observeOne(&records[i])
	}
}

func (w *world) observeOne(from *journal.Record) {
	var r record
	if err := json.Unmarshal(from.Data, &r); err != nil {
		w.problems = append(w.problems, fmt.Sprintf("a record cannot be read: %v", err))
		return
	}
	in := w.writes[trading.IntentID(from.Intent)]
	if in == nil {
		in = &written{name: from.Name}
		w.writes[trading.IntentID(from.Intent)] = in
		w.order = append(w.order, in)
	}
	switch {
	case r.Begin != nil:
		in.Intent = r.Begin.Intent
		in.keys = append(in.keys, r.Begin.Try.Key)
	case r.Key != nil:
		in.keys = append(in.keys, r.Key.Key)
	case r.Fact != nil && r.Fact.Kind == ledger.ProbeBegun:
		in.probes++
	case r.End != nil:
		if in.end != nil {
			w.problems = append(w.problems, fmt.Sprintf("%s has two ends", from.Intent))
		}
		in.end, in.why, in.ended = &r.End.Outcome, r.End.Evidence, w.clockLocked()
	}
}

func (w *world) tell(t told) {
	w.note("%s is told of %s: %s, late %t/%t: %v", t.by, t.id, t.outcome, t.late, t.maybeLate, t.err)
	t.at = w.clock()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = append(w.told, t)
}

func (w *world) file(name string) string { return filepath.Join(w.dir, name+".journal") }

// play is the whole life of a schedule.
func (w *world) play(killAt int) {
	w.first(killAt)
	w.check("after the first life")
	time.Sleep(w.away)
	if w.jump != 0 {
		w.jumpClock()
	}
	w.second()
	w.check("after the second life")
	time.Sleep(w.again)
	w.third()
	w.check("after the third life")
	time.Sleep(25 * time.Hour)
	w.check("a day later")
	time.Sleep(time.Hour) // what is left of the bubble ends
}

// hangs notes that an exit goes without the journal, which takes its record too late.
func (w *world) hangs() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hung = true
}

// idle holds a client that has closed to its word.
func (w *world) idle(when string) {
	synctest.Wait()
	buf := make([]byte, 1<<18)
	for stack := range strings.SplitSeq(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		if strings.Contains(stack, "trading-go.(*") && !strings.Contains(stack, "internal/proof/crash.(*world).idle") && !strings.Contains(stack, "internal/proof/crash.(*program)") {
			w.problem("%s something runs after Close:\n%s", when, stack)
		}
	}
}
