package recovery

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
)

var (
	printMatrix = flag.Bool("matrix.print", false, "run every cell and print the table")
	fullMatrix  = flag.Bool("matrix.full", false, "run every cell")
)

var dec = trading.Dec

// state is what the account holds when the write is decided. The bot made it.
type state struct {
	name string
	make func(*trading.Account, context.Context) error
}

func held(side trading.Side, size string, stop trading.Level) func(*trading.Account, context.Context) error {
	return func(a *trading.Account, ctx context.Context) error {
		_, err := a.PlaceOrder(ctx, trading.Order{Symbol: "BTC", Side: side, Size: dec(size), Leverage: dec("2"), StopLoss: stop})
		return err
	}
}

var states = []state{
	{"flat", func(*trading.Account, context.Context) error { return nil }},
	{"position", held(trading.Long, "0.02", trading.Level{})},
	{"position with stop", held(trading.Long, "0.02", trading.At(dec("60000")))},
	{"opposite position", held(trading.Short, "0.02", trading.Level{})},
	{"resting limit", func(a *trading.Account, ctx context.Context) error {
		_, err := a.PlaceLimit(ctx, trading.Order{Symbol: "BTC", Side: trading.Long, Size: dec("0.005"), Leverage: dec("2"), LimitPrice: trading.At(dec("60000"))})
		return err
	}},
	{"running run", func(a *trading.Account, ctx context.Context) error {
		_, err := a.PlaceConditional(ctx, trading.Order{Symbol: "BTC", Side: trading.Long, Size: dec("0.005"), Leverage: dec("2")}, trading.Conditional{Trigger: dec("70000")})
		return err
	}},
}

// busyStates are states in which an own order may trade as much as the write.
var busyStates = []state{
	{"larger order rests", func(a *trading.Account, ctx context.Context) error {
		_, err := a.PlaceLimit(ctx, trading.Order{Symbol: "BTC", Side: trading.Long, Size: dec("0.02"), Leverage: dec("2"), LimitPrice: trading.At(dec("60000"))})
		return err
	}},
	{"run trades", func(a *trading.Account, ctx context.Context) error {
		_, err := a.PlaceTWAP(ctx, trading.Order{Symbol: "BTC", Side: trading.Short, Size: dec("0.06"), Leverage: dec("2")}, trading.TWAP{Duration: 2 * time.Hour})
		return err
	}},
}

// write is what is decided.
type write struct {
	name   string
	path   string
	states []string // of the account; all if empty
	place  func(*trading.Account, context.Context) error
	shown  bool // what reads show is what became of it
}

func size(symbol string) trading.Order {
	return trading.Order{Symbol: symbol, Side: trading.Long, Size: dec("0.01"), Leverage: dec("2")}
}

var writes = []write{
	{name: "market order", path: "/orders", place: func(a *trading.Account, ctx context.Context) error {
		_, err := a.PlaceOrder(ctx, size("BTC"))
		return err
	}},
	{name: "resting limit", path: "/orders/limit", place: func(a *trading.Account, ctx context.Context) error {
		o := size("BTC")
		o.LimitPrice = trading.At(dec("61000"))
		_, err := a.PlaceLimit(ctx, o)
		return err
	}},
	{name: "close", path: "/positions/close", states: []string{"position", "position with stop"}, place: func(a *trading.Account, ctx context.Context) error {
		_, err := a.ClosePosition(ctx, "BTC", trading.All)
		return err
	}},
	{name: "close of half", path: "/positions/close", states: []string{"position", "position with stop"}, place: func(a *trading.Account, ctx context.Context) error {
		_, err := a.ClosePosition(ctx, "BTC", trading.Percent(dec("50")))
		return err
	}},
	{name: "reduce-only order", path: "/orders", states: []string{"position", "position with stop"}, place: func(a *trading.Account, ctx context.Context) error {
		_, err := a.PlaceOrder(ctx, trading.Order{Symbol: "BTC", Side: trading.Short, Size: dec("0.01"), Leverage: dec("2"), ReduceOnly: true})
		return err
	}},
	{name: "Pro order", path: "/orders/conditional", place: func(a *trading.Account, ctx context.Context) error {
		_, err := a.PlaceConditional(ctx, size("BTC"), trading.Conditional{Trigger: dec("71000")})
		return err
	}},
	{name: "change of levels", path: "/positions/tpsl", states: []string{"position", "position with stop"}, shown: true, place: func(a *trading.Account, ctx context.Context) error {
		_, err := a.SetTPSL(ctx, "BTC", trading.TPSL{StopLoss: trading.At(dec("62000")), TakeProfit: trading.At(dec("70000"))})
		return err
	}},
}

// fault is what goes wrong with the write.
type fault struct {
	name  string
	fault tradingsim.Fault
	drop  bool          // it does not leave
	after time.Duration // when the process ends, or the caller leaves, after the request began; 0: after it ended
	ran   bool          // it was executed
	kill  bool          // the process ends in any case
}

var faults = []fault{
	{name: "request lost", fault: tradingsim.DropRequest()},
	{name: "reply lost", fault: tradingsim.DropResponse(), ran: true},
	{name: "refusal lost", fault: tradingsim.Together(tradingsim.Fail(422, "unprocessable"), tradingsim.DropResponse())},
	{name: "5xx before the work", fault: tradingsim.Fail(500, "internal_error")},
	{name: "5xx after the work", fault: tradingsim.FailAfter(500, "internal_error"), ran: true},
	{name: "part-way, before", fault: tradingsim.Crash()},
	{name: "part-way, after", fault: tradingsim.CrashAfter(), ran: true},
	{name: "killed before the send", drop: true, after: aLittle, kill: true},
	{name: "killed after the send", ran: true, kill: true},
	{name: "in flight", fault: tradingsim.Delay(4 * time.Second), after: time.Second, ran: true},
}

const inProcess = -1

var restarts = []time.Duration{inProcess, 0, time.Minute, time.Hour, 25 * time.Hour}

// cell is one of the matrix.
type cell struct {
	write
	state
	fault
	restart   time.Duration
	exclusive bool
	beside    bool // somebody else trades as much meanwhile
	bare      bool // closed trades show neither times nor sizes
	inherited bool // an earlier run made the state
	soon      bool // the write is decided a second after the start
	lags      lags // of the reads; 3 seconds each unless set
	accident  accident
}

// lags are how far behind positions, trades, resting orders and finished runs are.
type lags [4]time.Duration

const farBehind = 4900 * time.Millisecond

// lagsApart are two ways in which one read shows what another does not yet.
var lagsApart = []lags{
	{0, farBehind, time.Second, farBehind},
	{farBehind, 0, 2 * time.Second, time.Second},
}

func (l lags) set(sim *tradingsim.Sim) {
	if l == (lags{}) {
		return
	}
	for i, read := range [...]trading.Operation{trading.OpPositions, trading.OpTrades, trading.OpOpenOrders, trading.OpFinishedRuns} {
		sim.SetLag(string(read), l[i])
	}
}

func (c cell) String() string {
	return fmt.Sprint(c.write.name, ", ", c.state.name, ", ", c.fault.name, ", ", nameOf(c.restart))
}

func nameOf(restart time.Duration) string {
	switch restart {
	case inProcess:
		return "in process"
	case 0:
		return "at once"
	case time.Minute:
		return "1 min"
	default:
		return fmt.Sprintf("%.0f h", restart.Hours())
	}
}

// verdict is what a cell came to.
type verdict struct {
	trading.Resolution
	took  time.Duration
	ran   int
	wrong string
}

func (v verdict) decided() bool { return v.Outcome != trading.Unknown }

// run plays a cell in a bubble of its own.
func (c cell) run(t *testing.T) (v verdict) {
	opts := []tradingsim.Option{tradingsim.WithLag(3 * time.Second), tradingsim.WithSampling(24 * time.Hour), tradingsim.WithRequestLog(200)}
	if c.bare {
		opts = append(opts, tradingsim.WithoutTradeFields("size", "openedAt", "closedAt"))
	}
	if c.accident.drift != 0 {
		opts = append(opts, c.accident.clock())
	}
	if c.accident.skew != 0 {
		opts = append(opts, tradingsim.WithSkew(c.accident.skew))
	}
	sim := tradingsim.New(opts...)
	c.lags.set(sim)
	first := c.begin(t, sim)

	if c.fault.fault != nil {
		sim.Fault("POST "+c.path, c.fault.fault)
	}
	begun, ended := first.wire.watch(c.path, c.drop, c.kill)
	ctx, leave := context.WithCancel(t.Context())
	placed := make(chan error, 1)
	go func() { placed <- c.place(first.account(), ctx) }()
	<-begun
	if c.after == 0 {
		<-ended
	}
	time.Sleep(max(c.after, aLittle))
	last := first
	var err error
	if c.restart == inProcess {
		leave()
		err = <-placed
	} else {
		left := first.kill(t)
		leave()
		err = <-placed
		time.Sleep(c.restart / 2)
		c.tradeBeside(t, sim)
		time.Sleep(c.restart / 2)
		last = start(t, sim, c.accident.disk(left), c.exclusive)
	}
	began := time.Now()
	patience, cancel := context.WithTimeout(t.Context(), 2*time.Hour)
	defer cancel()
	if c.restart == inProcess {
		c.tradeBeside(t, sim)
		if r, _ := last.Resolve(patience, err); r != nil {
			v.Resolution = *r
		}
	} else if rs, _ := last.Recover(patience); len(rs) > 0 {
		v.Resolution = rs[len(rs)-1]
		require.Len(t, rs, 1)
	}
	v.took = time.Since(began)
	if testing.Verbose() && !*printMatrix {
		for _, q := range sim.Requests() {
			t.Log(q.At.Sub(began), q.Operation, q.Header.Get("Idempotency-Key"), q.Status)
		}
	}
	_ = last.Close()
	v.judge(c, sim)
	return v
}

// begin is a bot that has run until the write is decided.
func (c cell) begin(t *testing.T, sim *tradingsim.Sim) *process {
	p := start(t, sim, c.accident.disk(journal.NewMemory()), c.exclusive)
	if c.accident.pace == 0 {
		time.Sleep(10 * time.Second)
	}
	require.NoError(t, c.state.make(p.account(), t.Context()))
	if c.accident.pace == 0 {
		time.Sleep(time.Minute)
	}
	sim.SetMark("BTC", "64100")
	c.accident.trade(t, p)
	if !c.inherited {
		return p
	}
	p = start(t, sim, p.kill(t), c.exclusive)
	if c.soon {
		time.Sleep(time.Second)
	} else {
		time.Sleep(10 * time.Second)
	}
	return p
}

// tradeBeside is somebody else in the terminal.
func (c cell) tradeBeside(t *testing.T, sim *tradingsim.Sim) {
	if c.beside {
		sim.Trade(string(account), "long", "0.01", "BTC")
	}
}

// judge holds what the client says against the simulator's ledger.
func (v *verdict) judge(c cell, sim *tradingsim.Sim) {
	key := string(v.Intent.Key)
	if key == "" {
		v.wrong = "the write is not known"
		return
	}
	v.ran = len(sim.Executed(key))
	switch {
	case v.ran > 1:
		v.wrong = "executed twice"
	case v.Outcome == trading.Applied && v.ran == 0:
		v.wrong = "Applied, and was not executed"
	case v.Outcome == trading.NotApplied && v.ran > 0:
		v.wrong = "NotApplied, and was executed"
	case !v.Late && (v.ran > 0) != c.ran:
		v.wrong = fmt.Sprintf("executed %d times, against the fault", v.ran)
	}
}

// expected reports whether a cell is decided, by the rules of the protocol.
func (c cell) expected() bool {
	stored := slices.Contains([]string{"reply lost", "refusal lost", "killed after the send", "in flight"}, c.fault.name)
	lasts := c.write.name != "resting limit" && c.write.name != "Pro order"
	switch {
	case c.write.shown: // the levels show it
		return true
	case stored && c.restart < 10*time.Minute && !c.first(): // the service repeats its answer
		return true
	case c.withoutBaseline(): // then only a flat symbol proves absence
		return !c.ran && c.state.name == "flat"
	case c.ran && c.exclusive: // what shows is the write's
		return !c.hidden()
	case c.ran: // what shows may be somebody else's
		return false
	case c.beside && (c.path == "/orders" || c.path == "/orders/limit") && c.write.name != "reduce-only order":
		return false
	case !c.exclusive && !lasts && c.restart == time.Hour && (stored || c.fault.name == "part-way, before"):
		return false // the service has it still, and what it left may have been cancelled
	default:
		return true
	}
}

// withoutBaseline reports whether no reads make a baseline: of a position that an
// earlier run left, or that a run changes all the time, two that are equal are needed. On a
// declared account one look is enough, where nothing waits.
func (c cell) withoutBaseline() bool {
	opened := c.state.name != "flat" && c.state.name != "opposite position"
	if c.exclusive && strings.HasPrefix(c.state.name, "position") {
		opened = false
	}
	soon := c.soon && !(c.exclusive && c.write.name == "market order") // which waits for a look
	return c.inherited && (soon || opened) || c.state.name == "run trades" && !c.exclusive
}

// first reports whether the write was the first request of its process, which has ended:
// nothing tells its age by the service's clock. An entry reads the account before it.
func (c cell) first() bool { return c.soon && c.write.name == "close" && c.restart != inProcess }

// hidden reports whether a safeguard costs the cell, although the write was executed
// and nobody else trades.
func (c cell) hidden() bool {
	return c.write.name == "resting limit" && c.state.name == "running run" || // it can rest orders of its own
		c.write.name == "market order" && c.state.name == "larger order rests" // it can have traded as much
}

// original reports whether a cell is one of the 180 that the protocol was first counted by.
func (c cell) original() bool {
	return c.state.name != "running run" && c.fault.name != "part-way, before" && c.restart != inProcess
}

// table is one matrix: all cells of one write on one kind of account.
type table struct {
	title  string
	cells  []cell
	result []verdict
}

func cellsOf(w write, of []state, kind cell) (cells []cell) {
	for _, s := range of {
		if len(w.states) > 0 && !slices.Contains(w.states, s.name) {
			continue
		}
		for _, f := range faults {
			for _, r := range restarts {
				if f.kill && r == inProcess {
					continue
				}
				c := kind
				c.write, c.state, c.fault, c.restart = w, s, f, r
				cells = append(cells, c)
			}
		}
	}
	return cells
}

func tables() (all []*table) {
	add := func(w write, of []state, name string, kind cell) {
		all = append(all, &table{title: w.name + ", " + name, cells: cellsOf(w, of, kind)})
	}
	for _, w := range writes {
		add(w, states, "declared", cell{exclusive: true})
		add(w, states, "not declared", cell{})
		add(w, states, "not declared, somebody else trades as much", cell{beside: true})
		add(w, states, "declared, closed trades without sizes and times", cell{exclusive: true, bare: true})
		for _, l := range lagsApart {
			add(w, states, fmt.Sprintf("declared, positions %s behind and trades %s", l[0], l[1]), cell{exclusive: true, lags: l})
		}
	}
	add(writes[0], busyStates, "declared, beside own orders that trade", cell{exclusive: true})
	add(writes[0], states, "declared, state of an earlier run", cell{exclusive: true, inherited: true})
	add(writes[0], states, "declared, state of an earlier run, a second after the start", cell{exclusive: true, inherited: true, soon: true})
	return append(all, accidentTables()...)
}

// sampled reports whether a cell is played without a flag. They take turns, so that
// each fault, state and restart is among them.
func sampled(tab, i int) bool {
	switch {
	case *printMatrix || *fullMatrix:
		return true
	case raceDetector:
		return i%29 == tab%29
	case tab < 2:
		return true
	case tab >= plainTables:
		return i%53 == tab%53
	default:
		return i%11 == tab%11
	}
}

func TestMatrix(t *testing.T) {
	for n, tab := range tables() {
		t.Run(tab.title, func(t *testing.T) {
			tab.result = make([]verdict, len(tab.cells))
			for i, c := range tab.cells {
				if !sampled(n, i) {
					continue
				}
				play := func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { tab.result[i] = c.run(t) })
					v := &tab.result[i]
					assert.Empty(t, v.wrong, c)
					assert.Equal(t, c.expected(), v.decided(), "%s: decided, by %s: %v", c, v.Evidence, v.Err)
					if v.decided() {
						assert.LessOrEqual(t, v.took, c.patience(v.Evidence), "%s: by %s", c, v.Evidence)
					}
				}
				if *printMatrix { // no line for each cell
					play(t)
				} else {
					t.Run(c.String(), play)
				}
			}
			if *printMatrix {
				fmt.Println(tab)
			}
		})
	}
}

// patience is how long a decision may take.
func (c cell) patience(by trading.Evidence) time.Duration {
	switch {
	case by == trading.EvidenceReplay:
		return 6*time.Second + c.accident.slower()
	case c.first(): // it is never asked about, and is gone after half an hour
		return 31 * time.Minute
	case c.path == "/orders/limit": // that it is absent takes three looks
		return 21*time.Second + c.accident.slower()
	default: // 10 seconds by looks, 5 more where the probe comes first
		return 16*time.Second + c.accident.slower()
	}
}

// String prints a table: a line for each fault, a group for each restart, and in it a
// sign for each state.
func (tab *table) String() string {
	var b strings.Builder
	var names []string
	for _, c := range tab.cells {
		if !slices.Contains(names, c.state.name) {
			names = append(names, c.state.name)
		}
	}
	decided, wrong, original, ofOriginal := 0, 0, 0, 0
	reasons := map[string][]string{}
	at := map[string]verdict{}
	for i, c := range tab.cells {
		v := tab.result[i]
		at[c.String()] = v
		if c.original() {
			original++
		}
		if c.original() && v.decided() {
			ofOriginal++
		}
		switch {
		case v.wrong != "":
			wrong++
		case v.decided():
			decided++
		default:
			why := fmt.Sprint(v.Err)
			reasons[why] = append(reasons[why], strings.TrimPrefix(c.String(), c.write.name+", "))
		}
	}
	fmt.Fprintf(&b, "\n%s: %d of %d decided, %d wrong; %d of %d after a restart, part-way counted once, without runs\n",
		tab.title, decided, len(tab.cells), wrong, ofOriginal, original)
	fmt.Fprintf(&b, "%-24s", "")
	for _, r := range restarts {
		fmt.Fprintf(&b, "%-*s", 6*len(names)+1, nameOf(r))
	}
	fmt.Fprintln(&b)
	for _, f := range faults {
		fmt.Fprintf(&b, "%-24s", f.name)
		for _, r := range restarts {
			for _, n := range names {
				c := cell{write: tab.cells[0].write, state: state{name: n}, fault: f, restart: r}
				fmt.Fprintf(&b, "%-6s", sign(at, c))
			}
			fmt.Fprint(&b, " ")
		}
		fmt.Fprintln(&b)
	}
	for _, why := range slices.SortedFunc(keys(reasons), cmp.Compare[string]) {
		fmt.Fprintf(&b, "  %d not decided: %s\n", len(reasons[why]), why)
		if *fullMatrix {
			fmt.Fprintf(&b, "      %s\n", strings.Join(reasons[why], "; "))
		}
	}
	return b.String()
}

func sign(at map[string]verdict, c cell) string {
	v, ok := at[c.String()]
	switch {
	case !ok:
		return "."
	case v.wrong != "":
		return "WRONG"
	case !v.decided():
		return "?"
	}
	if v.took < time.Minute {
		return fmt.Sprintf("%.0fs", v.took.Seconds())
	}
	return fmt.Sprintf("%.0fm", v.took.Minutes())
}

func keys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}
