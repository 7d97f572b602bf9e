package tradingsim

import (
	"math"
	"math/bits"
	"sort"
	"sync"
	"time"

	"github.com/shopspring/decimal"
)

// Feed is where the marks of a market come from. At gives the mark at t; ok is
// false while the market is unpriced. A feed is asked for present times and for
// past ones, by reads that lag and by the samples of an equity curve: it must
// answer the same each time. A feed that has a method Stale(t time.Time) bool decides by it
// whether its mark at t is too old to fill at: then a fill is refused with STALE_PRICE, and
// reads show the mark all the same.
type Feed interface {
	At(t time.Time) (price decimal.Decimal, ok bool)
}

// anchored is a feed that starts with the simulation.
type anchored interface {
	startAt(t time.Time) Feed
}

// aged is a feed that knows how old its mark is.
type aged interface {
	age(t time.Time) time.Duration
}

// stale is a feed whose marks can be too old to fill at.
type stale interface {
	Stale(t time.Time) bool
}

// setMarks are marks set by the test: each holds until the next.
type setMarks struct {
	changes []markChange
}

type markChange struct {
	at   time.Time
	mark opt
}

// keepMarks bounds how long replaced marks are remembered for lagging reads.
const keepMarks = time.Hour

func (m *setMarks) set(at time.Time, mark opt) {
	stale := 0
	for stale+1 < len(m.changes) && m.changes[stale+1].at.Before(at.Add(-keepMarks)) {
		stale++
	}
	m.changes = append(m.changes[stale:], markChange{at, mark})
}

// At finds the last change that is not after t.
func (m *setMarks) At(t time.Time) (decimal.Decimal, bool) {
	i := sort.Search(len(m.changes), func(i int) bool { return m.changes[i].at.After(t) })
	if i > 0 {
		i--
	}
	return m.changes[i].mark.value, m.changes[i].mark.set
}

// RandomWalk is a feed that starts at price with the simulation and moves once
// a second by about stepBps hundredths of a percent. It is a pure function of
// the seed and of the time since the start, and costs the same a second or a
// year later. Every 48 days it passes through price again, so a long
// simulation does not drift out of the world. Used outside a [Sim] it starts at
// 2000-01-01T00:00:00Z.
func RandomWalk(seed uint64, price string, stepBps int) Feed {
	start := must("RandomWalk price", price)
	if !start.IsPositive() {
		panic("tradingsim: RandomWalk price " + price + " is not positive")
	}
	if stepBps < 0 || stepBps > 1000 {
		panic("tradingsim: RandomWalk moves by 0 to 1000 basis points")
	}
	w := &walk{
		seed:   seed,
		start:  start,
		origin: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC),
		last:   newHalvings(),
		places: max(2, -start.Exponent(), 6-int32(start.NumDigits())-start.Exponent()),
	}
	if units := start.Shift(w.places).BigInt(); units.IsUint64() {
		w.units = units.Uint64()
	}
	// The spread of a Brownian bridge over 2^level steps, in the middle, is
	// step × sqrt(2^level) / 2.
	for level := range w.spread {
		w.spread[level] = int64(stepBps) * walkUnit / 10_000 * int64(isqrt(uint64(1)<<level<<20)) >> 11
	}
	return w
}

const (
	walkLevels = 22            // 2^22 seconds are 48 days
	walkUnit   = 1_000_000_000 // a displacement of 1 is the price itself
)

// walk is a Brownian bridge by midpoint displacement: the position at a time is
// found by halving the interval around it, with a hash for each midpoint.
type walk struct {
	seed   uint64
	start  decimal.Decimal
	origin time.Time
	places int32
	units  uint64 // start in units of 10^-places; 0 if it does not fit
	spread [walkLevels + 1]int64
	last   *halvings
}

// halvings are the intervals on the way to a second. Those on the way to the next second are
// nearly all the same.
type halvings struct {
	mu          sync.Mutex
	block, step int64
	// left and right are the displacements at the ends of an interval of 2^level seconds.
	left, right [walkLevels + 1]int64
}

// newHalvings are of no block that a time is in.
func newHalvings() *halvings { return &halvings{block: math.MinInt64} }

func (w *walk) startAt(t time.Time) Feed {
	moved := *w
	moved.origin, moved.last = t, newHalvings()
	return &moved
}

func (w *walk) age(t time.Time) time.Duration {
	age := t.Sub(w.origin) % time.Second
	if age < 0 {
		age += time.Second
	}
	return age
}

func (w *walk) At(t time.Time) (decimal.Decimal, bool) { return w.priceAt(w.displacementAt(t)), true }

// Units is the mark as a whole number of 10^-places. ok is false where it does not fit.
func (w *walk) Units(t time.Time) (units int64, places int32, ok bool) {
	units, ok = w.unitsAt(w.displacementAt(t))
	return units, w.places, ok
}

func (w *walk) displacementAt(t time.Time) int64 {
	second := int64(t.Sub(w.origin) / time.Second)
	return w.displacement(second>>walkLevels, second&(1<<walkLevels-1))
}

// displacement is that of a step of a block of 2^walkLevels seconds.
func (w *walk) displacement(block, step int64) int64 {
	l := w.last
	l.mu.Lock()
	defer l.mu.Unlock()
	level := walkLevels
	if block == l.block {
		level = bits.Len64(uint64(step ^ l.step))
	}
	for l.block, l.step = block, step; level > 0; level-- {
		half := int64(1) << (level - 1)
		left, right := l.left[level], l.right[level]
		h := mix(w.seed ^ mix(uint64(block)<<walkLevels|uint64(step&-half|half)))
		// Uniform within ±sqrt(3) spreads: the spread of one.
		offset, _ := bits.Mul64(h, uint64(w.spread[level])*3464/1000)
		middle := (left+right)/2 + int64(offset) - w.spread[level]*1732/1000
		if step&half == 0 {
			right = middle
		} else {
			left = middle
		}
		l.left[level-1], l.right[level-1] = left, right
	}
	return l.left[0]
}

// priceAt bends a displacement so that the price stays positive: up by the
// share, down by its reciprocal.
func (w *walk) priceAt(displacement int64) decimal.Decimal {
	if units, ok := w.unitsAt(displacement); ok {
		return decimal.New(units, -w.places)
	}
	if displacement >= 0 {
		return w.start.Mul(decimal.New(walkUnit+displacement, -9)).Round(w.places)
	}
	price := w.start.DivRound(decimal.New(walkUnit-displacement, -9), w.places)
	if !price.IsPositive() {
		return decimal.New(1, -w.places)
	}
	return price
}

// unitsAt does what priceAt does in whole numbers: of a long run it is most of what a
// walk costs. ok is false where they do not fit.
func (w *walk) unitsAt(displacement int64) (units int64, ok bool) {
	if w.units == 0 {
		return 0, false
	}
	by, over := uint64(walkUnit), uint64(walkUnit)
	if displacement >= 0 {
		by += uint64(displacement)
	} else {
		over += uint64(-displacement)
	}
	hi, lo := bits.Mul64(w.units, by)
	if hi >= over {
		return 0, false
	}
	quotient, rest := bits.Div64(hi, lo, over)
	if rest >= over-rest {
		quotient++ // half away from zero, as decimals round
	}
	if quotient > math.MaxInt64 {
		return 0, false
	}
	return max(1, int64(quotient)), true
}

// mix is the finalizer of SplitMix64: a cheap, well-spread hash.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// isqrt is the whole square root.
func isqrt(n uint64) uint64 {
	if n < 2 {
		return n
	}
	x := uint64(1) << ((bits.Len64(n) + 1) / 2)
	for {
		y := (x + n/x) / 2
		if y >= x {
			return x
		}
		x = y
	}
}
