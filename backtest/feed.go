package backtest

import (
	"math/bits"
	"sort"
	"time"

	"github.com/shopspring/decimal"
)

// The order of the prices inside a candle.
const (
	highFirst = "O-H-L-C"
	lowFirst  = "O-L-H-C"
)

// feed is a series as the simulation reads it, on one path. It remembers where it was, so
// it serves one simulation.
type feed struct {
	*series
	lowFirst bool
	clock    func() time.Time // nil outside a run
	ahead    bool             // it was asked for a time past the clock

	row int
}

func (s *series) feed(order string, clock func() time.Time) *feed {
	return &feed{series: s, lowFirst: order == lowFirst, clock: clock}
}

// At is the mark at a time. Between two seconds the last holds, except that a mark of a
// recording holds from its own time on.
func (f *feed) At(t time.Time) (decimal.Decimal, bool) {
	if f.clock != nil && t.After(f.clock()) {
		f.ahead = true
		return decimal.Decimal{}, false
	}
	at := t.UnixNano()
	if f.interval > 0 || f.walk != nil {
		at -= at % int64(time.Second)
	}
	units, ok := f.units(at)
	return f.series.price(units), ok
}

// units is the mark at a time, in Unix nanoseconds, as a whole number of 10^-places.
func (f *feed) units(at int64) (int64, bool) {
	if f.walk != nil {
		since := at - f.from.UnixNano()
		if since < 0 {
			return 0, false
		}
		units, _, ok := f.walk.Units(walkOrigin.Add(time.Duration(since)))
		return units, ok
	}
	if !f.seek(at) {
		return 0, false
	}
	r := &f.rows[f.row]
	if r.close == 0 {
		return 0, false
	}
	if f.interval == 0 {
		return r.close, true
	}
	switch since := at - r.at; {
	case since < int64(f.interval):
		return f.inside(r, since/int64(time.Second)), true
	case since < 2*int64(f.interval): // a missing candle holds one bar
		return r.close, true
	}
	return 0, false
}

// seek finds the last row that is not after a time; false if there is none. Times mostly
// move on by little.
func (f *feed) seek(at int64) bool {
	here := func(i int) bool { return f.rows[i].at <= at && (i+1 == len(f.rows) || f.rows[i+1].at > at) }
	if len(f.rows) == 0 || f.rows[0].at > at {
		return false
	}
	if here(f.row) {
		return true
	}
	if f.row+1 < len(f.rows) && here(f.row+1) {
		f.row++
		return true
	}
	f.row = sort.Search(len(f.rows), func(i int) bool { return f.rows[i].at > at }) - 1
	return true
}

// inside is the price in the given second of a candle: a line from the open through both
// extremes, a third of the candle apart, to the close in its last second.
func (f *feed) inside(r *row, second int64) int64 {
	first, then := r.high, r.low
	if f.lowFirst {
		first, then = then, first
	}
	last := int64(f.interval/time.Second) - 1
	a, b := last/3, 2*last/3
	switch {
	case second <= a:
		return between(r.open, first, second, a)
	case second <= b:
		return between(first, then, second-a, b-a)
	}
	return between(then, r.close, second-b, last-b)
}

// between is from + (to-from) × step / steps, cut towards from, without overflow.
func between(from, to, step, steps int64) int64 {
	distance, sign := to-from, int64(1)
	if distance < 0 {
		distance, sign = -distance, -1
	}
	hi, lo := bits.Mul64(uint64(distance), uint64(step))
	quotient, _ := bits.Div64(hi, lo, uint64(steps)) // step <= steps: it fits
	return from + sign*int64(quotient)
}
