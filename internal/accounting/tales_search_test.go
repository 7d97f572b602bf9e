package accounting

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/testing/depth"
)

// factsOf is a tale as a verdict sees it: what each own write's answer shows of itself, and equal
// looks at the end. The lost write is one of the tale's, or the order that rests in it.
func factsOf(x *told, declared bool) seen {
	w, o := x.tale, &taleOrder{kind: Limit, side: 1, size: taleUnit}
	if x.asked >= 0 {
		o = &taleOrders[w.writes[x.asked].of]
	}
	f := seen{At: at(lookTime), Facts: Facts{
		Asked: Act{Kind: o.kind, Side: Direction(o.side), Size: sized(o.size), Percent: decimal.NewFromInt(int64(o.percent)), Sent: 1}, Symbol: "X",
		Held: true, Exclusive: declared,
		Look: State{Status: "ACTIVE", Position: Holding{Size: x.facts.To.Decimal}}, EqualLooks: 3,
	}, Base: &seenBase{Base: Base{Status: "ACTIVE", Position: x.facts.From}}}
	for _, r := range slices.Backward(x.facts.Rows) {
		r.Symbol, r.GrossPnL = "X", decimal.NewNullDecimal(decimal.Zero)
		r.Digest = uint64(r.Size.Decimal.IntPart())<<8 | uint64(r.Cause)<<1 | uint64(b2i(r.Side == Long))
		f.Look.Rows = append(f.Look.Rows, r)
	}
	for i := range w.writes[:w.nWrites] {
		if t := &w.writes[i]; i != x.asked && !t.refused {
			f.Own = append(f.Own, t.record())
		}
	}
	if x.asked >= 0 {
		f.Asked.Sent, f.Asked.Ended = w.writes[x.asked].sent, w.writes[x.asked].ended
	}
	return f
}

// record is what the program has of a write.
func (t *taleWrite) record() Own {
	o := &taleOrders[t.of]
	own := Own{Act: Act{Kind: o.kind, Side: Direction(o.side), Percent: decimal.NewFromInt(int64(o.percent)), Sent: t.sent, Ended: t.ended, Ran: true}, Heard: at(30)}
	if o.kind != Close {
		own.Size, own.After = sized(t.filled), decimal.NewNullDecimal(sized(t.after))
	}
	return own
}

// strange is what a stranger may do, and a stop.
var strange = []int{restingBuys, restingSells, stopFires}

var tellings = []struct {
	name string
	deep bool
	// decides is how many judgments decide something, at least.
	decides int
	// strangers trade, and not an own order that rests.
	strangers bool
	telling
}{
	{"one write", false, 6792, false, telling{writes: 1, events: 2, lost: 1, happens: stops, starts: around}},
	{"two writes of a few", false, 31072, false, telling{writes: 2, events: 1, lost: 1, orders: []int{1, 4, 8}, happens: stops, overlap: true, starts: around}},
	{"two writes", true, 0, false, telling{writes: 2, events: 1, lost: 1, happens: stops, overlap: true, starts: around}},
	{"three writes of a few", false, 25224, false, telling{writes: 3, lost: 1, orders: []int{0, 3, 5}, starts: around}},
	{"three writes", true, 0, false, telling{writes: 3, lost: 1, overlap: true, starts: around}},
	{"four writes", true, 0, false, telling{writes: 4, lost: 1, starts: around}},
	{"a limit beside one write", false, 17662, false, telling{writes: 1, events: 3, happens: []int{restingBuys, stopFires, halfFires}, resting: [2]int{taleUnit, 0}, limit: true, late: true, starts: around}},
	{"a limit beside two writes", false, 2252, false, telling{writes: 2, events: 1, happens: []int{stopFires}, orders: []int{3, 4}, overlap: true, resting: [2]int{taleUnit, 0}, limit: true, late: true, starts: around}},
	{"a limit beside two writes, that fills", true, 0, false, telling{writes: 2, events: 3, happens: []int{restingBuys, stopFires}, orders: few, overlap: true, resting: [2]int{taleUnit, 0}, limit: true, late: true, starts: around}},
	{"two writes beside a stranger", false, 105781, true, telling{writes: 2, events: 2, lost: 1, orders: []int{0, 4, 5}, happens: strange, resting: [2]int{taleUnit, taleUnit}, late: true, starts: around}},
	{"two writes beside a stranger who sells", false, 77426, true, telling{writes: 2, events: 3, lost: 1, orders: []int{0, 4}, happens: []int{restingSells, stopFires}, resting: [2]int{0, taleUnit}, late: true, starts: around}},
	{"three writes beside a stranger", false, 41779, true, telling{writes: 3, events: 1, lost: 1, orders: []int{0, 4}, happens: strange, resting: [2]int{taleUnit, taleUnit}, late: true, starts: around}},
	{"three writes of more beside a stranger", true, 0, true, telling{writes: 3, events: 2, lost: 1, orders: few, happens: strange, resting: [2]int{taleUnit, taleUnit}, late: true, starts: around}},
	{"four writes beside a stranger", true, 0, true, telling{writes: 4, events: 1, lost: 1, orders: []int{0, 3, 4}, happens: strange, resting: [2]int{taleUnit, taleUnit}, late: true, starts: around}},
}

// TestTalesHold judges the lost writes of small worlds at a price that stands still, on accounts that
// others may trade and on declared ones.
func TestTalesHold(t *testing.T) {
	if depth.Race {
		t.Skip("one goroutine, and a search")
	}
	for _, b := range tellings {
		if b.deep && !*replayDeep || b.decides > sampled && !depth.Full() {
			continue
		}
		var c counted
		s := b.telling
		s.report = func(x *told) bool {
			if !x.view.still || s.limit && x.tale.resting[0]%taleUnit != 0 { // a part of it rests, which shows
				return true
			}
			for _, declared := range [...]bool{false, true} {
				if declared && b.strangers {
					continue
				}
				c.take(t, factsOf(x, declared), x.wrong, func() string {
					return fmt.Sprintf("declared %t: from %d (full flip %t, round up %t): %s", declared, s.first.pos, s.first.fullFlip, s.first.roundUp, strings.Join(s.steps, ", "))
				})
			}
			return c.wrong < 5
		}
		s.run()
		c.report(t, b.name, b.decides)
	}
}
