package accounting

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/testing/depth"
)

var replayDeep = flag.Bool("replay.deep", false, "replay worlds of up to four writes")

// telling walks through every tale of so many writes and events, and judges each lost
// write by each view of it.
type telling struct {
	writes, events, lost int
	orders               []int  // of taleOrders; nil for all
	happens              []int  // the events
	overlap              bool   // two answered writes can be in flight at once
	lists                bool   // judged by lists alone, too
	cuts                 bool   // by lists that are cut, too
	resting              [2]int // own orders of the start
	limit                bool   // the one that buys is the lost write
	late                 bool   // what rests, or somebody else, trades shows in an answer
	starts               []int
	earlier              int // events at most, that the baseline lags behind

	report  func(*told) bool
	stopped bool
	worlds  int
	steps   []string
	first   tale
	shown   int // the rows that its list shows, but for those at the top that no write left
	views   []taleView
}

// told is one judgment.
type told struct {
	facts *Replay
	asked int
	ran   bool
	by    *telling
	view  *taleView
	tale  *tale
}

func (x *told) String() string {
	return fmt.Sprintf("from %d (full flip %t, round up %t): %s; seen %s; ran=%t\n%+v", x.by.first.pos, x.by.first.fullFlip, x.by.first.roundUp,
		strings.Join(x.by.steps, ", "), x.view.name, x.ran, *x.facts)
}

// taleView is what can be seen of a tale.
type taleView struct {
	name  string
	rows  int // shown, of the oldest
	by    int // the place in the order of answers, until which rows must show
	still bool
}

func (s *telling) run() {
	for _, pos := range s.starts {
		for _, full := range []bool{false, true} {
			for _, up := range []bool{false, true} {
				s.first = tale{pos: pos, fullFlip: full, roundUp: up, shownLate: up, late: s.late, resting: s.resting}
				s.views, s.shown = nil, 0
				if s.earlier > 0 {
					s.nearby(s.first, []tale{s.first})
				} else {
					s.walk(s.first)
				}
			}
		}
	}
}

// nearby begins with a baseline of one look, whose position and list lag by themselves
// behind what happened.
func (s *telling) nearby(w tale, was []tale) {
	for _, pos := range was {
		for _, list := range was {
			for s.shown = list.nRows; s.shown > 0 && Cause(list.rows[s.shown-1].cause) != Market; {
				s.shown--
			}
			now := w
			s.first.pos, now.triggers = pos.pos, 0
			s.walk(now)
		}
	}
	if len(was) > s.earlier {
		return
	}
	for _, what := range s.happens {
		if next := w; next.byItself(what) {
			s.steps = append(s.steps, fmt.Sprintf("before: event %d", what))
			s.nearby(next, append(was, next))
			s.steps = s.steps[:len(s.steps)-1]
		}
	}
}

// walk goes on from a state in every way.
func (s *telling) walk(w tale) {
	if s.stopped {
		return
	}
	flying, lost, open := 0, 0, false
	for i := range w.writes[:w.nWrites] {
		t := &w.writes[i]
		lost += b2i(t.lost)
		open = open || t.ended == 0
		if t.ended == 0 && !t.lost {
			flying++
		}
	}
	if w.nWrites > 0 && lost == s.lost && !open {
		s.judge(w)
	}
	views := len(s.views)
	if s.lists {
		s.views = append(s.views, taleView{rows: w.nRows, by: w.clock})
	}
	if w.nWrites < s.writes && (flying == 0 || s.overlap && flying < 2) {
		for of := range taleOrders {
			if s.orders != nil && !slices.Contains(s.orders, of) {
				continue
			}
			for _, isLost := range []bool{false, true} {
				if isLost && lost == s.lost {
					continue
				}
				next := w
				next.send(of, isLost)
				s.then(next, "%d: send %s, lost %t", w.nWrites, taleOrders[of].name, isLost)
			}
		}
	}
	for i := range w.writes[:w.nWrites] {
		t := &w.writes[i]
		next := w
		switch {
		case t.ended != 0:
			continue
		case !t.ran && !t.refused:
			if next.run(i); next.writes[i].ran || t.lost {
				s.then(next, "%d runs", i)
			}
			if t.lost {
				next = w
				next.end(i)
				s.then(next, "%d is held", i)
			}
		default:
			next.end(i)
			s.then(next, "%d ends", i)
		}
	}
	if w.triggers < s.events && w.nRows < len(w.rows)-2 {
		for _, what := range s.happens {
			if next := w; next.byItself(what) {
				s.then(next, "event %d", what)
			}
		}
	}
	s.views = s.views[:views]
}

func (s *telling) then(next tale, step string, of ...any) {
	s.steps = append(s.steps, fmt.Sprintf(step, of...))
	s.walk(next)
	s.steps = s.steps[:len(s.steps)-1]
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// judge judges the lost writes of a tale that has ended.
func (s *telling) judge(w tale) {
	s.worlds++
	s.see(&w, &taleView{name: "two looks", rows: w.nRows, by: w.clock, still: true})
	for i := range s.views {
		v := &s.views[i]
		for rows := v.rows; rows <= w.nRows; rows++ {
			s.see(&w, &taleView{name: fmt.Sprintf("a list as of %d", v.by), rows: rows, by: v.by})
		}
	}
}

func (s *telling) see(w *tale, v *taleView) {
	r := &Replay{From: sized(s.first.pos), Halted: w.halted, Near: s.earlier > 0}
	if s.shown > v.rows {
		return
	}
	shown := w.rows[s.shown:v.rows]
	for _, row := range shown {
		r.Rows = append(r.Rows, Row{Side: Direction(row.side), Cause: Cause(row.cause), Size: decimal.NewNullDecimal(sized(row.size))})
	}
	if v.still {
		r.To = decimal.NewNullDecimal(sized(w.pos))
	}
	for side, size := range s.resting {
		if size > 0 {
			r.Waiting = append(r.Waiting, Waiting{Side: Direction(1 - 2*side), Size: decimal.NewNullDecimal(sized(size))})
		}
	}
	judged := true
	for i := range w.writes[:w.nWrites] {
		t := &w.writes[i]
		o := &taleOrders[t.of]
		a := Act{
			Kind: o.kind, Side: Direction(o.side), Size: sized(o.size), Percent: decimal.NewFromInt(int64(o.percent)),
			Sent: t.sent, Ended: t.ended, Ran: !t.lost, Late: !t.lost && t.ended > v.by,
		}
		if !t.lost && o.kind != Close {
			a.After = decimal.NewNullDecimal(sized(t.after))
		}
		judged = judged && (!t.lost || t.ended <= v.by)
		r.Acts = append(r.Acts, a)
	}
	if !judged {
		return
	}
	if s.limit {
		s.tell(w, r, -1, v) // of no act
		return
	}
	for i := range w.writes[:w.nWrites] {
		if t := &w.writes[i]; t.lost {
			s.tell(w, r, i, v)
			if s.cuts && len(r.Rows) > 0 {
				for _, hide := range []int{0, 1} {
					cut := *r
					cut.Rows, cut.Cut = r.Rows[hide:], true
					if len(cut.Rows) > 0 {
						s.tell(w, &cut, i, v)
					}
				}
			}
		}
	}
}

func (s *telling) tell(w *tale, r *Replay, asked int, v *taleView) {
	if !s.stopped && !s.report(&told{r, asked, asked < 0 && w.resting[0] == 0 || asked >= 0 && w.writes[asked].ran, s, v, w}) {
		s.stopped = true
	}
}

// mostTold is the largest size of a tale: that of every write, twice the unit, on one side.
const mostTold = 12 * taleUnit

var cachedUnits = func() (d [2*mostTold + 1]decimal.Decimal) {
	for i := range d {
		d[i] = decimal.NewFromInt(int64(i - mostTold))
	}
	return d
}()

func sized(n int) decimal.Decimal { return cachedUnits[n+mostTold] }

var (
	few     = []int{0, 3, 4, 5} // of the orders
	around  = []int{0, taleUnit, -taleUnit, 3}
	stops   = []int{stopFires, halfFires}
	tellers = []struct {
		name string
		deep bool
		telling
	}{
		{"one write", false, telling{writes: 1, events: 2, lost: 1, happens: stops, lists: true, cuts: true, starts: around}},
		{"one write and a pass", false, telling{writes: 1, events: 2, lost: 1, happens: []int{passes, stopFires}, starts: around}},
		{"one write beside orders that rest", false, telling{writes: 1, events: 2, lost: 1, happens: []int{restingBuys, restingSells, stopFires}, resting: [2]int{4, 2}, starts: around}},
		{"two writes of a few", false, telling{writes: 2, events: 1, lost: 1, orders: []int{0, 3, 5}, happens: stops, overlap: true, lists: true, cuts: true, starts: around}},
		{"two writes", true, telling{writes: 2, events: 1, lost: 1, happens: stops, overlap: true, lists: true, cuts: true, starts: around}},
		{"two lost writes of a few", false, telling{writes: 2, events: 1, lost: 2, orders: few, happens: stops, starts: around}},
		{"two lost writes", true, telling{writes: 2, events: 1, lost: 2, happens: stops, starts: around}},
		{"two writes and a pass", false, telling{writes: 2, events: 1, lost: 1, orders: few, happens: []int{passes}, starts: around}},
		{"two writes beside an order that rests", true, telling{writes: 2, events: 2, lost: 1, orders: few, happens: []int{restingBuys}, resting: [2]int{4, 0}, lists: true, starts: around}},
		{"two writes of a few beside an order that rests", false, telling{writes: 2, events: 1, lost: 1, orders: []int{0, 4}, happens: []int{restingBuys}, resting: [2]int{4, 0}, lists: true, starts: around}},
		{"one write soon after one look", false, telling{writes: 1, events: 1, lost: 1, earlier: 2, happens: []int{stopFires, halfFires, passes}, starts: []int{taleUnit, -2 * taleUnit}}},
		{"three writes of a few", false, telling{writes: 3, lost: 1, orders: []int{0, 5}, overlap: true, lists: true, starts: around}},
		{"four writes", true, telling{writes: 4, lost: 1, orders: few, starts: around}},
		{"three writes", true, telling{writes: 3, events: 0, lost: 1, orders: few, overlap: true, lists: true, starts: around}},
		{"three writes, two lost", true, telling{writes: 3, events: 0, lost: 2, orders: few, starts: around}},
	}
)

// wrong reports a false verdict.
func (x *told) wrong(o ledger.Outcome) bool {
	return o == ledger.Applied && !x.ran || o == ledger.NotApplied && x.ran
}

// TestReplaysHold judges the lost writes of every small world.
func TestReplaysHold(t *testing.T) {
	for _, b := range tellers {
		t.Run(b.name, func(t *testing.T) {
			if b.deep && !*replayDeep {
				t.Skip("-replay.deep")
			}
			if !depth.Full() && strings.HasSuffix(b.name, "writes of a few") {
				t.Skip("TESTS=full")
			}
			s := b.telling
			judged, decided := 0, 0
			s.report = func(x *told) bool {
				o, why := x.facts.Of(x.asked, -1).Verdict()
				judged++
				if o != ledger.Unknown {
					decided++
				}
				if why == NothingFits || x.wrong(o) {
					t.Errorf("%d, %s: %s", o, why, x)
					return false
				}
				return true
			}
			s.run()
			t.Logf("%d worlds, %d judgments, %.1f %% decided", s.worlds, judged, 100*float64(decided)/float64(judged))
		})
	}
}
