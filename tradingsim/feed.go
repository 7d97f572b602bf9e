package tradingsim

import (
	"fmt"
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

// RandomWalk is a feed that starts at price with the simulation and moves once a second, by
// normal steps of stepBps hundredths of a percent. It is a random walk without end: it does
// not come back, and nobody can earn on it, since its mean stays where it is. Most of its paths
// fall all the same, while few rise far: their median falls by half the square of a step each
// second, at 1 basis point by 0.04 % a day and at 10 by 4 %. It is a pure function of the seed
// and of the time since the start, and costs the same a second or a year later. Used outside a
// [Sim] it starts at 2000-01-01T00:00:00Z.
func RandomWalk(seed uint64, price string, stepBps int) Feed {
	start := must("RandomWalk price", price)
	if !start.IsPositive() {
		panic("tradingsim: RandomWalk price " + price + " is not positive")
	}
	if stepBps < 0 || stepBps > maxStepBps {
		panic(fmt.Sprintf("tradingsim: RandomWalk moves by 0 to %d basis points", maxStepBps))
	}
	places := max(2, -start.Exponent(), 6-int32(start.NumDigits())-start.Exponent())
	return &walk{
		seed: seed, start: start, units: start.Shift(places).InexactFloat64(), places: places,
		sigma: float64(stepBps) / 10_000, last: &halvings{},
		origin: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC),
	}
}

// maxStepBps bounds a step: the median of a walk of larger ones is next to nothing within days.
const maxStepBps = 100

// walk is a Brownian motion by halving: its position at a time is found by halving the interval
// between two powers of two that the time is in, with a normal number for each middle.
//
// Floats are for synthetic prices alone; the conversions keep products from being fused, so that
// machines agree.
type walk struct {
	seed   uint64
	start  decimal.Decimal
	units  float64 // start in units of 10^-places
	origin time.Time
	places int32
	sigma  float64 // of a second
	last   *halvings
}

// walkLevels bound the time: 2^62 seconds.
const walkLevels = 62

// halvings are the intervals on the way to a second. Those on the way to the next second are
// nearly all the same.
type halvings struct {
	mu      sync.Mutex
	made    bool
	past    bool // before the start
	second  uint64
	anchors [2][walkLevels + 1]float64 // at the powers of two, after the start and before it
	// left and right are the positions at the ends of an interval of 2^level seconds.
	left, right [walkLevels + 1]float64
}

func (w *walk) startAt(t time.Time) Feed {
	moved := *w
	moved.origin, moved.last = t, &halvings{}
	return &moved
}

func (w *walk) age(t time.Time) time.Duration {
	age := t.Sub(w.origin) % time.Second
	if age < 0 {
		age += time.Second
	}
	return age
}

func (w *walk) At(t time.Time) (decimal.Decimal, bool) {
	growth := w.growthAt(t)
	if units, ok := w.unitsOf(growth); ok {
		return decimal.New(units, -w.places), true
	}
	price := w.start.Mul(decimal.NewFromFloat(growth)).Round(w.places)
	if !price.IsPositive() {
		price = decimal.New(1, -w.places)
	}
	return price, true
}

// Units is the mark as a whole number of 10^-places. ok is false where it does not fit.
func (w *walk) Units(t time.Time) (units int64, places int32, ok bool) {
	units, ok = w.unitsOf(w.growthAt(t))
	return units, w.places, ok
}

func (w *walk) unitsOf(growth float64) (units int64, ok bool) {
	v := math.RoundToEven(float64(w.units * growth))
	if v > 1<<53 {
		return 0, false
	}
	return max(1, int64(v)), true
}

// growthAt is the price as a multiple of the first: a martingale.
func (w *walk) growthAt(t time.Time) float64 {
	d := t.Sub(w.origin)
	second := int64(d / time.Second)
	if d < 0 && d%time.Second != 0 {
		second--
	}
	return math.Exp(float64(w.sigma*w.position(second)) - float64(w.sigma*w.sigma*float64(second))/2)
}

// position is that of the motion, in steps.
func (w *walk) position(second int64) float64 {
	if second == 0 {
		return 0
	}
	l := w.last
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.made {
		w.anchor()
	}
	past, s, side := second < 0, uint64(second), 0
	if past {
		s, side = uint64(-second), 1
	}
	top := bits.Len64(s) - 1 // s is in [2^top, 2^(top+1))
	level := top
	if past == l.past && l.second>>top == 1 {
		level = min(top, bits.Len64(s^l.second))
	}
	if level == top {
		l.left[top], l.right[top] = l.anchors[side][top], l.anchors[side][top+1]
	}
	for l.past, l.second = past, s; level > 0; level-- {
		half := uint64(1) << (level - 1)
		left, right := l.left[level], l.right[level]
		middle := (left+right)/2 + float64(halfRoots[level]*w.normal(side, level, s&^(half-1)|half))
		if s&half == 0 {
			right = middle
		} else {
			left = middle
		}
		l.left[level-1], l.right[level-1] = left, right
	}
	return l.left[0]
}

// anchor makes the positions at the powers of two: each is as far from the one before as that is
// from the start.
func (w *walk) anchor() {
	l := w.last
	for side := range l.anchors {
		at := w.normal(side, walkLevels+1, 0)
		for k := range l.anchors[side] {
			l.anchors[side][k] = at
			at += float64(2 * halfRoots[k] * w.normal(side, walkLevels+1, uint64(k)+1))
		}
	}
	l.made = true
}

// halfRoots are √(2^level) ÷ 2: the spread of the middle of so many steps.
var halfRoots = func() (list [walkLevels + 1]float64) {
	for level := range list {
		list[level] = math.Sqrt(math.Ldexp(1, level)) / 2
	}
	return list
}()

// normal is a number of the standard normal distribution that follows from the seed and a place.
func (w *walk) normal(side, level int, index uint64) float64 {
	h := mix(w.seed ^ mix(index^mix(uint64(level)<<1|uint64(side))))
	u := (float64(h>>12) + 0.5) * 0x1p-52
	return float64(math.Sqrt2 * math.Erfinv(float64(2*u)-1))
}

// mix is the finalizer of SplitMix64: a cheap, well-spread hash.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
