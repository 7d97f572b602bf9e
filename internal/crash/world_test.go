package crash

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

const account = "acc_1"

// world is everything of one schedule that is not the bot: the service, the
// network, the owner, and the disk.
type world struct {
	schedule
	sim       *tradingsim.Sim
	disk      *disk
	start     func(*process)           // runs a bot until it is dead
	turnClock func(back time.Duration) // of the machine that the bots run on
	ownerKey  string
	started   time.Time

	mu       sync.Mutex
	steps    []string
	sends    []*sent        // live writes, in the order of their sending
	first    time.Time      // when the first of them went out
	planned  map[string]int // faults taken, by plan
	quiet    int            // calls of the harness's own, which meet no faults
	told     []told
	copied   map[trading.IntentID]bool
	faulted  map[string]bool // of writeFaults, those that came about
	worked   bool            // one of them was a 5xx after the work
	problems []string
	unknown  []string // why a verdict was not reached
	double   bool     // executed twice, by the fault that the contract leaves open
	// Executed twice by a 5xx after the work, and a copy of the request later.
	copyDouble bool
	ranAgain   map[string]int // by key
	// Executed after a refusal that the service does not store, by a copy of the request.
	copyUnstored bool
	open         int      // intents not settled in the end
	end          string   // all that it came to
	kills        []string // the kinds of steps that processes were killed at
	twice        bool     // executed twice, for whatever reason
	otherwise    bool     // it came to something else than in process
}

// told is what the bot was told about an intent.
type told struct {
	Intent  trading.IntentID
	Key     trading.Key
	Outcome trading.Outcome
	Basis   trading.Basis
	Verdict bool // of Recover or Resolve
	by      life
}

func newWorld(s schedule) *world {
	time.Sleep(48 * time.Hour) // a bubble's time cannot be set back to before its beginning
	opts := []tradingsim.Option{
		tradingsim.WithMark("BTC", "64000"), tradingsim.WithMark("ETH", "3200"),
		tradingsim.WithLag(s.lag),
	}
	for _, n := range s.readings {
		opts = append(opts, tradingsim.WithInterpretation(n))
	}
	w := &world{
		schedule: s, sim: tradingsim.New(opts...), disk: newDisk(), start: (*process).here, started: time.Now(),
		planned: map[string]int{}, copied: map[trading.IntentID]bool{}, faulted: map[string]bool{}, ranAgain: map[string]int{},
	}
	w.turnClock = w.disk.turnClock
	w.ownerKey = w.sim.NewLiveKey()
	w.furnish()
	w.sim.FaultEach(w.nextFault)
	return w
}

// furnish puts on the account what is there before the bot starts.
func (w *world) furnish() {
	switch w.held {
	case position, levels, running:
		w.sim.Trade(account, "long", "0.2", "BTC")
	}
	switch w.held {
	case levels:
		w.ask("/positions/tpsl", `{"accountId":"acc_1","symbol":"BTC","takeProfitPrice":66000,"stopLossPrice":50000}`)
	case waiting:
		w.ask("/orders/limit", `{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.05,"leverage":2,"limitPrice":63000}`)
	case running:
		w.ask("/orders/twap", `{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.5,"leverage":2,"durationMs":300000}`)
	}
	time.Sleep(time.Minute) // longer than any lag
}

// nextFault is what happens to the next call of an operation.
func (w *world) nextFault(op string) tradingsim.Fault {
	w.mu.Lock()
	defer w.mu.Unlock()
	plan, name := w.reads, "reads"
	switch {
	case w.quiet > 0:
		return nil
	case op == string(w.op.endpoint()):
		plan, name = w.tries, "tries"
	case op == "POST /orders/cancel":
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
		w.faulted[f.name] = true
		w.worked = w.worked || f.worked
	}
	if f.fault != nil {
		w.stepLocked("    meets: %s", f.name)
	}
	return f.fault
}

// note adds a line to the story of the schedule.
func (w *world) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stepLocked(format, args...)
}

func (w *world) stepLocked(format string, args ...any) {
	w.steps = append(w.steps, fmt.Sprintf("%14s  ", time.Since(w.started).Round(time.Millisecond))+fmt.Sprintf(format, args...))
}

// sentOut notes a live write that may have left.
func (w *world) sentOut(s *sent) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s.key == "" || !s.left {
		return
	}
	if w.first.IsZero() {
		w.first = time.Now()
	}
	w.sends = append(w.sends, s)
}

// tell notes what the bot was told.
func (w *world) tell(by life, t told) {
	t.by = by
	w.note("%s is told of %.8s: %s, by %s", by, t.Intent, t.Outcome, t.Basis)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = append(w.told, t)
}

// problem notes that something does not hold.
func (w *world) problem(format string, args ...any) {
	w.note("PROBLEM: "+format, args...)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.problems = append(w.problems, fmt.Sprintf(format, args...))
}

// ask sends a write of the owner's own program.
func (w *world) ask(path, body string) { w.raw(w.ownerKey, "/v1"+path, "", []byte(body)) }

// raw sends a request around the bot, and around the faults.
func (w *world) raw(apiKey, path, key string, body []byte) []byte {
	defer w.quietly()()
	req, err := http.NewRequest(http.MethodPost, "http://localhost"+path, strings.NewReader(string(body)))
	if err != nil {
		panic(err)
	}
	req.Header.Set("X-API-Key", apiKey)
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	resp, err := w.sim.Transport().RoundTrip(req)
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		panic(err)
	}
	return answer
}

// quietly keeps faults away until the function that it returns is called.
func (w *world) quietly() (done func()) {
	add := func(n int) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.quiet += n
	}
	add(1)
	return func() { add(-1) }
}

// ownerActs lets the owner do what the schedule says, if it is the moment.
func (w *world) ownerActs(at moment) {
	if w.owner == none || w.ownerAt != at {
		return
	}
	w.note("the owner %s", w.owner)
	switch w.owner {
	case sameSize:
		w.sim.Trade(account, w.op.side(), w.op.size(), "BTC")
	case undoes:
		w.sim.Trade(account, map[string]string{"long": "short", "short": "long"}[w.op.side()], w.op.size(), "BTC")
	case cancels:
		for _, id := range w.restingNow() {
			w.ask("/orders/cancel", fmt.Sprintf(`{"accountId":"acc_1","orderId":%q}`, id))
		}
	case moveMarks:
		w.sim.SetMark("BTC", "62900")
		time.Sleep(time.Second)
		_ = w.sim.Ledger() // lets the service see it
		w.sim.SetMark("BTC", "66100")
		time.Sleep(time.Second)
		_ = w.sim.Ledger()
		w.sim.SetMark("BTC", "64000")
	}
}

// restingNow are the ids of what rests on the account, by the owner's own read.
func (w *world) restingNow() []string {
	defer w.quietly()()
	time.Sleep(6 * time.Second) // what lags is not seen
	req, err := http.NewRequest(http.MethodGet, "http://localhost/v1/accounts/acc_1/orders", http.NoBody)
	if err != nil {
		panic(err)
	}
	req.Header.Set("X-API-Key", w.ownerKey)
	resp, err := w.sim.Transport().RoundTrip(req)
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	var open struct {
		Orders []struct {
			ID string `json:"id"`
		} `json:"orders"`
	}
	_ = json.NewDecoder(resp.Body).Decode(&open) // nothing rests where the holder has no access
	var ids []string
	for _, o := range open.Orders {
		ids = append(ids, o.ID)
	}
	return ids
}
