package quote

import (
	"slices"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

// Quote is a limit that should rest.
type Quote struct {
	Side  trading.Side    // trading.Long buys
	Price decimal.Decimal // where it rests
	Size  decimal.Decimal // in base units
}

// Resting is a limit that rests.
type Resting struct {
	ID trading.OrderID // names it
	Quote
}

// Change is how much has to differ before an order is replaced. An order serves a quote if
// price and size are equal, or differ by less than this; zero takes every difference.
type Change struct {
	Price decimal.Decimal // in dollars
	Size  decimal.Decimal // in base units
}

// Plan leads from what rests to what is desired.
type Plan struct {
	Cancel []Resting // in the order in which they were given
	Place  []Quote   // likewise
	Keep   []Resting // what serves a quote
}

// Diff returns the fewest cancels and placements that lead from what rests to what is
// desired. Of equal quotes each needs an order of its own. After they are carried out, the
// difference is nothing.
func Diff(desired []Quote, resting []Resting, least Change) Plan {
	m := matching{
		desired: desired, resting: resting, least: least,
		serves: make([]int, len(resting)), candidates: make([][]int, len(desired)),
	}
	for i := range m.serves {
		m.serves[i] = none
	}
	for i := range desired {
		m.candidates[i] = m.candidatesOf(i)
	}
	var p Plan
	served := make([]bool, len(desired))
	for i := range desired {
		m.find(i, make([]bool, len(resting)))
	}
	for r, d := range m.serves {
		if d == none {
			p.Cancel = append(p.Cancel, resting[r])
			continue
		}
		served[d] = true
		p.Keep = append(p.Keep, resting[r])
	}
	for i := range desired {
		if !served[i] {
			p.Place = append(p.Place, desired[i])
		}
	}
	return p
}

const none = -1

// matching is a maximum matching of quotes and orders: whatever is matched needs nothing, so
// the most of it is the fewest writes.
type matching struct {
	desired    []Quote
	resting    []Resting
	least      Change
	candidates [][]int // of each quote the orders that serve it, those that are equal to it first
	serves     []int   // of each order its quote
}

func (m *matching) candidatesOf(i int) (list []int) {
	d := m.desired[i]
	for r, o := range m.resting {
		if o.Side == d.Side && near(o.Price, d.Price, m.least.Price) && near(o.Size, d.Size, m.least.Size) {
			list = append(list, r)
		}
	}
	away := func(r int) (differ int) {
		if !m.resting[r].Price.Equal(d.Price) {
			differ++
		}
		if !m.resting[r].Size.Equal(d.Size) {
			differ++
		}
		return differ
	}
	slices.SortStableFunc(list, func(a, b int) int { return away(a) - away(b) })
	return list
}

func near(a, b, least decimal.Decimal) bool {
	away := a.Sub(b).Abs()
	return away.IsZero() || away.LessThan(least)
}

// find finds an order for a quote, and another one for the quote whose order that was.
func (m *matching) find(i int, tried []bool) bool {
	for _, r := range m.candidates[i] {
		if tried[r] {
			continue
		}
		tried[r] = true
		if m.serves[r] == none || m.find(m.serves[r], tried) {
			m.serves[r] = i
			return true
		}
	}
	return false
}
