package backtest

import (
	"fmt"
	"hash/fnv"
	"math/bits"
	"sort"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/backtest/internal/candle"
)

// CandlePaths is how prices move inside candles, of which a recording says nothing.
type CandlePaths uint8

const (
	// RandomPaths are drawn from the law of a random walk that has the candle's open, high, low
	// and close: nothing inside a candle can be known before it happens. A run is made on two
	// of them.
	RandomPaths CandlePaths = iota
	// FixedPaths are straight lines from the open through both extremes to the close, once with
	// the high first and once with the low first. They suit a bot that decides at openings and
	// rests on levels alone: to a bot that looks inside a candle a straight line shows its end.
	FixedPaths
	// JumpPaths are random paths in candles that may have a jump: where a candle's range stands out
	// from those around it, as a mixture of two normals says, one step in one second carries what
	// the volatility of the others does not explain.
	JumpPaths
)

// The orders of [FixedPaths].
const (
	highFirst = "O-H-L-C"
	lowFirst  = "O-L-H-C"
)

// withJumps begins the order of [JumpPaths].
const withJumps = "random with jumps"

// inside is one way through the candles.
type inside struct {
	order string // as a result names it; empty where the prices are marks
	drawn bool
	jumps bool
	seed  uint64
}

// insides are the paths that a run is made on.
func (c Config) insides() []inside {
	switch {
	case !c.Data.hasCandles():
		return []inside{{}}
	case c.CandlePaths == FixedPaths:
		return []inside{{order: highFirst}, {order: lowFirst}}
	}
	list, kind := make([]inside, 2), "random"
	if c.CandlePaths == JumpPaths {
		kind = withJumps
	}
	for i := range list {
		seed := c.Seed + uint64(i)
		list[i] = inside{order: fmt.Sprintf("%s, seed %d", kind, seed), drawn: true, jumps: c.CandlePaths == JumpPaths, seed: seed}
	}
	return list
}

// feed is a series as the simulation reads it, on one path. It remembers where it was, so
// it serves one simulation.
type feed struct {
	*series
	in    inside
	clock func() time.Time // nil outside a run
	ahead bool             // it was asked for a time past the clock

	oldest time.Duration // a mark of this age is too old to fill at

	page   *walkPage // the last, of a walk
	pageAt int64

	row     int
	drawn   int           // the row that was drawn last, and 1
	prices  candle.Inside // those inside it
	extreme turns
	looked  drawnRows // what the run of this clock drew; a judge has that of the run
}

func (s *series) feed(in inside, clock func() time.Time) *feed {
	return &feed{series: s, in: in, clock: clock}
}

// At is the mark at a time. Between two seconds the last holds, except that a mark of a
// recording holds from its own time on.
func (f *feed) At(t time.Time) (decimal.Decimal, bool) {
	if f.clock != nil && t.After(f.clock()) {
		f.ahead = true
		return decimal.Decimal{}, false
	}
	at := t.UnixNano()
	units, ok := f.units(at - at%f.grain())
	return f.series.price(units), ok
}

// grain is how long a mark holds: that of a recording as long as it says.
func (f *feed) grain() int64 {
	if f.interval > 0 || f.walk != nil {
		return int64(time.Second)
	}
	return 1
}

// units is the mark at a time, in Unix nanoseconds, as a whole number of 10^-places.
func (f *feed) units(at int64) (int64, bool) {
	if f.walk != nil {
		return f.walked(at - f.from.UnixNano())
	}
	if !f.seek(at) {
		return 0, false
	}
	r := &f.rows[f.row]
	if r.close == 0 {
		return 0, false
	}
	if f.interval == 0 {
		return r.close, f.row+1 < len(f.rows) || at <= f.ends()
	}
	switch since, length := at-r.at, f.length(f.row); {
	case since < length:
		return f.inside(r, since/int64(time.Second)), true
	case since < length+int64(f.interval): // a missing candle holds one bar
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

// inside is the price in the given second of a candle.
func (f *feed) inside(r *row, second int64) int64 {
	last := f.length(f.row)/int64(time.Second) - 1
	switch {
	case second == 0:
		return r.open
	case second == last:
		return r.close
	case !f.in.drawn:
		return straight(r, second, last, f.in.order == lowFirst)
	case r.high == r.low:
		return r.low
	}
	return f.present().At(int(second))
}

// present are the prices inside the present candle. They follow from seed, symbol and time alone.
func (f *feed) present() *candle.Inside {
	if f.clock != nil {
		f.looked.add(f.row, len(f.rows))
	}
	if f.drawn != f.row+1 {
		r := &f.rows[f.row]
		dice := candle.NewDice(f.in.seed, nameKey(f.symbol), uint64(r.at))
		bar := candle.Bar{Open: r.open, High: r.high, Low: r.low, Close: r.close}
		f.prices = f.volatility(f.in.jumps).Inside(f.row, bar, int(f.length(f.row)/int64(time.Second))-1, dice)
		f.drawn = f.row + 1
	}
	return &f.prices
}

func nameKey(symbol string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(symbol)) // it cannot fail
	return h.Sum64()
}

// straight is a line from the open through both extremes, a third of the candle apart, to the
// close in its last second.
func straight(r *row, second, last int64, lowFirst bool) int64 {
	first, then := r.high, r.low
	if lowFirst {
		first, then = then, first
	}
	a, b := last/3, 2*last/3
	switch {
	case second <= a:
		return between(r.open, first, second, a)
	case second <= b:
		return between(first, then, second-a, b-a)
	}
	return between(then, r.close, second-b, last-b)
}

// bounds are between what the mark stays from a time on, and until when that is known without a
// look at each second.
func (f *feed) bounds(at int64) (low, high, until int64, ok bool) {
	if f.walk != nil || !f.seek(at) {
		return 0, 0, 0, false
	}
	r := &f.rows[f.row]
	if r.close == 0 {
		return 0, 0, 0, false
	}
	if f.interval == 0 {
		if until = f.ends(); f.row+1 < len(f.rows) {
			until = f.rows[f.row+1].at - 1
		}
		return r.close, r.close, until, at <= until
	}
	end := r.at + f.length(f.row)
	return r.low, r.high, end - 1, at < end
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
