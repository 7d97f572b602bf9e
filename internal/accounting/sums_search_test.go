package accounting

import (
	"slices"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/ledger"
)

// summed is a tale as the sums see it: what each own write's answer shows of itself, and equal
// looks at the end. The lost write is one of the tale's, or the order that rests in it.
//
// The position of its baseline is that in the answer of the last of so many writes, and its list of
// closed trades is of before all of them.
func summed(x *told, declared bool, shown int) Facts {
	w, o := x.tale, &taleOrder{kind: Limit, side: 1, size: taleUnit}
	if x.asked >= 0 {
		o = &taleOrders[w.writes[x.asked].of]
	}
	f := Facts{
		Write: Write{Kind: o.kind, Symbol: "X", Side: Side(o.side), Size: sized(o.size), Percent: decimal.NewFromInt(int64(o.percent))},
		Held:  true, Exclusive: declared,
		Base: &Baseline{State: State{Status: "ACTIVE", Position: Position{Size: x.facts.From}}, BeforeFirstUse: true},
		Look: Look{State: State{Status: "ACTIVE", Position: Position{Size: x.facts.To.Decimal}}, At: at(lookTime), Equal: 3},
	}
	for _, r := range slices.Backward(x.facts.Rows) {
		r.Symbol, r.GrossPnL = "X", decimal.NewNullDecimal(decimal.Zero)
		r.Digest = uint64(r.Size.Decimal.IntPart())<<8 | uint64(r.Cause)<<1 | uint64(b2i(r.Side == Long))
		f.Look.Rows = append(f.Look.Rows, r)
	}
	for i := range w.writes[:w.nWrites] {
		if t := &w.writes[i]; i != x.asked && !t.refused {
			own := t.answer()
			own.InPosition = i < shown
			f.Own = append(f.Own, own)
		}
	}
	if shown > 0 {
		f.Base.Position.Size = sized(w.writes[shown-1].after)
	}
	return f
}

// shows reports whether the answer of a write can be a baseline for the lost one: it carried the
// position, all before it had ended when it was sent, and all after it were sent when it had ended.
func (x *told) shows(i int) bool {
	t := &x.tale.writes[i]
	for j := range x.tale.writes[:x.tale.nWrites] {
		o := &x.tale.writes[j]
		if j <= i && o.lost || j < i && o.ended > t.sent || j > i && o.sent < t.ended {
			return false
		}
	}
	return x.asked >= 0 && !t.refused && taleOrders[t.of].kind != Close
}

// answer is what an answer shows of a write.
func (t *taleWrite) answer() Own {
	o := &taleOrders[t.of]
	own := Own{Answered: true, Side: Side(o.side), Last: at(30)}
	if o.kind == Close {
		own.LeftRow, own.PnL, own.Percent = true, decimal.NewNullDecimal(decimal.Zero), decimal.NewFromInt(int64(o.percent))
		return own
	}
	own.Opened = decimal.Min(sized(t.filled), decimal.Max(sized(t.after*int(o.side)), decimal.Zero))
	if closed := sized(t.filled).Sub(own.Opened); closed.IsPositive() {
		own.LeftRow, own.Closed = true, decimal.NewNullDecimal(closed)
	}
	return own
}

// strange is what a stranger may do, and a stop.
var strange = []int{restingBuys, restingSells, stopFires}

var sums = []struct {
	name string
	deep bool
	// strangers trade, and not an own order that rests.
	strangers bool
	telling
}{
	{"one write", false, false, telling{writes: 1, events: 2, lost: 1, happens: stops, starts: around}},
	{"two writes of a few", false, false, telling{writes: 2, events: 1, lost: 1, orders: []int{1, 4, 8}, happens: stops, overlap: true, starts: around}},
	{"two writes", true, false, telling{writes: 2, events: 1, lost: 1, happens: stops, overlap: true, starts: around}},
	{"three writes of a few", false, false, telling{writes: 3, lost: 1, orders: []int{0, 3, 5}, starts: around}},
	{"three writes", true, false, telling{writes: 3, lost: 1, overlap: true, starts: around}},
	{"four writes", true, false, telling{writes: 4, lost: 1, starts: around}},
	{"a limit beside one write", false, false, telling{writes: 1, events: 3, happens: []int{restingBuys, stopFires, halfFires}, resting: [2]int{taleUnit, 0}, limit: true, starts: around}},
	{"a limit beside two writes", false, false, telling{writes: 2, events: 1, happens: []int{stopFires}, orders: []int{3, 4}, overlap: true, resting: [2]int{taleUnit, 0}, limit: true, starts: around}},
	{"a limit beside two writes, that fills", true, false, telling{writes: 2, events: 3, happens: []int{restingBuys, stopFires}, orders: few, overlap: true, resting: [2]int{taleUnit, 0}, limit: true, starts: around}},
	{"two writes beside a stranger", false, true, telling{writes: 2, events: 2, lost: 1, orders: []int{0, 4, 5}, happens: strange, resting: [2]int{taleUnit, taleUnit}, starts: around}},
	{"two writes beside a stranger who sells", false, true, telling{writes: 2, events: 3, lost: 1, orders: []int{0, 4}, happens: []int{restingSells, stopFires}, resting: [2]int{0, taleUnit}, starts: around}},
	{"three writes beside a stranger", false, true, telling{writes: 3, events: 1, lost: 1, orders: []int{0, 4}, happens: strange, resting: [2]int{taleUnit, taleUnit}, starts: around}},
	{"three writes of more beside a stranger", true, true, telling{writes: 3, events: 2, lost: 1, orders: few, happens: strange, resting: [2]int{taleUnit, taleUnit}, starts: around}},
	{"four writes beside a stranger", true, true, telling{writes: 4, events: 1, lost: 1, orders: []int{0, 3, 4}, happens: strange, resting: [2]int{taleUnit, taleUnit}, starts: around}},
}

// TestSumsHold judges the lost writes of small worlds at a price that stands still by the sums,
// on accounts that others may trade and on declared ones. Without the courses they are wrong.
func TestSumsHold(t *testing.T) {
	if raceDetector {
		t.Skip("one goroutine, and a search")
	}
	needed := map[string]int{"courses without": 0, "courses with": 0}
	for _, b := range sums {
		if b.deep && !*replayDeep {
			continue
		}
		s, judged, decided := b.telling, 0, 0
		s.report = func(x *told) bool {
			if !x.view.still || s.limit && x.tale.resting[0]%taleUnit != 0 { // a part of it rests, which shows
				return true
			}
			for n := range 2 * (x.tale.nWrites + 1) {
				declared, shown := n%2 == 1, n/2
				if declared && b.strangers || shown > 0 && !x.shows(shown-1) {
					continue
				}
				f := summed(x, declared, shown)
				v := Decide(f)
				judged++
				decided += b2i(v.Outcome != ledger.Unknown)
				if x.wrong(v.Outcome) {
					t.Errorf("%s, declared %t, %d shown: %d, %s: from %d (full flip %t, round up %t): %s", b.name, declared, shown, v.Outcome, v.Reason,
						s.first.pos, s.first.fullFlip, s.first.roundUp, strings.Join(s.steps, ", "))
					return false
				}
				for rule := range needed {
					j := &judge{Facts: f, off: rule}
					needed[rule] += b2i(v.Outcome == ledger.Unknown && x.wrong(j.decide().Outcome))
				}
			}
			return true
		}
		s.run()
		t.Logf("%s: %d worlds, %d judgments, %.1f %% decided", b.name, s.worlds, judged, 100*float64(decided)/float64(judged))
	}
	for rule, wrong := range needed {
		if t.Logf("without %q %d judgments are wrong", rule, wrong); wrong == 0 {
			t.Errorf("nothing goes wrong without %q", rule)
		}
	}
}

// D 44: the sums gave a lost close's trade to an order that was answered beside it: a stop had closed
// what the order opened before the position in its answer was read.
func TestEdge44_ATradeOfAnotherWrite(t *testing.T) {
	flat := Own{Side: Short, LeftRow: true, Closed: opt("1")}
	for name, c := range map[string]struct {
		rows []Row
		want ledger.Outcome
		why  Reason
	}{
		"the close ran":      {[]Row{traded(Short, "1", StopLoss), traded(Long, "1", Market)}, ledger.Unknown, BothFit},
		"it found it closed": {[]Row{traded(Long, "1", Market)}, ledger.NotApplied, NoTrace},
	} {
		for _, declared := range []bool{false, true} {
			v := Decide(edge(Close, holding("1", "0"), closedRows(c.rows...), by(flat), func(f *Facts) { f.Write.Percent, f.Exclusive = num("100"), declared }))
			if v.Outcome != c.want || v.Reason != c.why {
				t.Errorf("%s, declared %t: %d, %s", name, declared, v.Outcome, v.Reason)
			}
		}
	}
}
