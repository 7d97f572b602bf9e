package candle

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/testing/depth"
)

// The whole test: go test ./backtest/internal/candle -run NoEdge -candle.full -v -timeout 60m
var full = flag.Bool("candle.full", false, "test the construction of paths on all markets and lengths of candles")

// tick is the unit of the prices of these tests: 64000 of them are one dollar of BTC.
const tick = 1e-2

// market makes martingale walks, a second apart, whose volatility may wander and which may jump.
type market struct {
	name     string
	bps      float64 // a root second
	wanders  float64 // of the logarithm of the volatility, a root bar
	jumps    float64 // per bar
	jumpSize float64 // in volatilities of a second
}

// truth is one market's path and its bars.
type truth struct {
	path []int64
	bars []Bar
	σ    []float64 // of a second, of each bar
}

func (m market) make(seed uint64, bars, length int) truth {
	dice := rand.New(rand.NewPCG(seed, 1))
	x, vol := 0.0, 0.0
	made := truth{path: make([]int64, 0, bars*length)}
	for range bars {
		vol += m.wanders*dice.NormFloat64() - 0.02*vol
		s := m.bps / 1e4 * math.Exp(vol)
		jump := -1
		if dice.Float64() < m.jumps {
			jump = dice.IntN(length)
		}
		var b Bar
		for i := range length {
			step := s*dice.NormFloat64() - s*s/2
			if i == jump {
				step += s * m.jumpSize * float64(2*dice.IntN(2)-1)
			}
			x += step
			p := int64(math.Round(64000 / tick * math.Exp(x)))
			if i == 0 {
				b = Bar{p, p, p, p}
			}
			b.High, b.Low, b.Close = max(b.High, p), min(b.Low, p), p
			made.path = append(made.path, p)
		}
		made.bars, made.σ = append(made.bars, b), append(made.σ, s)
		if x > 2 || x < -2 {
			x = 0
		}
	}
	return made
}

// construction makes a path of a truth's bars.
type construction func(tr truth, length int, seed uint64) []int64

func (tr truth) each(length int, of func(i int, b Bar, into []int64)) []int64 {
	path := make([]int64, len(tr.path))
	for i, b := range tr.bars {
		of(i, b, path[i*length:(i+1)*length])
	}
	return path
}

func theTruth(tr truth, _ int, _ uint64) []int64 { return tr.path }

func givenVolatility(tr truth, length int, seed uint64) []int64 {
	return tr.each(length, func(i int, b Bar, into []int64) { b.Path(into, tr.σ[i], NewDice(seed, uint64(i))) })
}

func ranges(bars []Bar) []float64 {
	list := make([]float64, len(bars))
	for i, b := range bars {
		list[i] = math.Log(float64(b.High) / float64(b.Low))
	}
	return list
}

// shrunken is what a backtest does.
func shrunken(tr truth, length int, seed uint64) []int64 {
	v := NewVolatility(ranges(tr.bars), length-1)
	return tr.each(length, func(i int, b Bar, into []int64) {
		d := NewDice(seed, uint64(i))
		b.Path(into, v.Of(i, d), d)
	})
}

func straightLines(tr truth, length int, _ uint64) []int64 {
	return tr.each(length, func(_ int, b Bar, into []int64) {
		last := length - 1
		line := func(from, to, i, j int, a, c int64) {
			for k := from; k <= to; k++ {
				into[k] = a + (c-a)*int64(k-i)/int64(max(1, j-i))
			}
		}
		line(0, last/3, 0, last/3, b.Open, b.High)
		line(last/3, 2*last/3, last/3, 2*last/3, b.High, b.Low)
		line(2*last/3, last, 2*last/3, last, b.Low, b.Close)
	})
}

// look is what a strategy sees: the prices at its looks in this bar, and the bars before.
type look struct {
	seen         []float64 // of this bar, the last is now
	all          []float64 // at all looks, the last is now
	high, low    float64   // of seen
	share        float64   // of the bar that has passed
	noise        float64   // the mean square of a step between looks in this bar
	steps        int
	last, before Bar
	lastRange    float64 // mean range of the bars before, in logs
	highAt       int     // which look
	lowAt        int
	fast, slow   float64
	looks        int // of a bar
}

// strategies hold 1, -1 or 0 units.
var strategies = []struct {
	name string
	hold func(l *look) int
}{
	{"momentum of a look", func(l *look) int { return past(l, 1) }},
	{"momentum of three looks", func(l *look) int { return past(l, 3) }},
	{"fading three looks", func(l *look) int { return -past(l, 3) }},
	{"momentum of ten looks", func(l *look) int { return past(l, 10) }},
	{"above the open", func(l *look) int { return sign(now(l) - l.seen[0]) }},
	{"back to the open", func(l *look) int { return -sign(now(l) - l.seen[0]) }},
	{"new extremes", func(l *look) int {
		switch {
		case len(l.seen) < 3:
			return 0
		case now(l) >= l.high:
			return 1
		case now(l) <= l.low:
			return -1
		}
		return 0
	}},
	{"towards the middle", func(l *look) int { return sign((l.high+l.low)/2 - now(l)) }},
	{"the later extreme", func(l *look) int { return sign(float64(l.highAt - l.lowAt)) }},
	{"the second half goes on", func(l *look) int {
		if l.share < 0.5 {
			return 0
		}
		return sign(now(l) - l.seen[0])
	}},
	{"the last third turns", func(l *look) int {
		if l.share < 0.67 {
			return 0
		}
		return -sign(now(l) - l.seen[0])
	}},
	{"two means", func(l *look) int { return sign(l.fast - l.slow) }},
	{"against the bar before", func(l *look) int { return -sign(float64(l.last.Close - l.last.Open)) }},
	{"back into the bar before", func(l *look) int {
		return sign(float64(l.last.High+l.last.Low)/2 - now(l))
	}},
	{"noise promises more range", func(l *look) int {
		if l.steps < 5 {
			return 0
		}
		want := 1.6 * math.Sqrt(l.noise*float64(l.looks)) // of the whole bar
		if math.Log(l.high/l.low) < want {
			return sign(now(l) - (l.high+l.low)/2)
		}
		return -sign(now(l) - (l.high+l.low)/2)
	}},
	{"noise promises less range", func(l *look) int {
		if l.steps < 5 {
			return 0
		}
		want := 1.6 * math.Sqrt(l.noise*float64(l.steps)) // of what has passed
		if math.Log(l.high/l.low) > want {
			return -sign(now(l) - l.seen[0])
		}
		return sign(now(l) - l.seen[0])
	}},
	{"noise against the bars before", func(l *look) int {
		if l.steps < 5 {
			return 0
		}
		if 1.6*math.Sqrt(l.noise*float64(l.looks)) > l.lastRange {
			return sign(now(l) - (l.high+l.low)/2)
		}
		return -sign(now(l) - (l.high+l.low)/2)
	}},
	{"room to the range before", func(l *look) int {
		if math.Log(l.high/l.low) < 0.7*l.lastRange {
			return sign(now(l) - l.seen[0])
		}
		return sign((l.high+l.low)/2 - now(l))
	}},
}

func now(l *look) float64 { return l.seen[len(l.seen)-1] }

func sign(v float64) int {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return 0
}

func past(l *look, n int) int {
	if len(l.all) <= n {
		return 0
	}
	return sign(l.all[len(l.all)-1] - l.all[len(l.all)-1-n])
}

// earned is what a strategy made: by bar, in units of σ√T of a bar, and trips.
type earned struct {
	sum, squares float64
	bars, trips  int
}

func (e earned) t() float64 {
	n := float64(e.bars)
	m := e.sum / n
	return m / math.Sqrt((e.squares/n-m*m)/n)
}

// perTrip is the gross of a trip, and the bound of 99.9 percent.
func (e earned) perTrip() (mean, bound float64) {
	n := float64(max(1, e.trips))
	mean = e.sum / n
	return mean, math.Abs(mean) + 3.29*math.Sqrt(e.squares)/n
}

// trade lets every strategy trade a path, with looks each so many seconds.
func trade(tr truth, path []int64, length, each int, into []earned) {
	held := make([]int, len(strategies))
	l := look{looks: length / each}
	prev := 0.0
	made := make([]float64, len(strategies))
	for i := range tr.bars {
		if i < 2 {
			continue
		}
		l.last, l.before = tr.bars[i-1], tr.bars[i-2]
		r := math.Log(float64(l.last.High) / float64(l.last.Low))
		if l.lastRange == 0 {
			l.lastRange = r
		}
		l.lastRange += (r - l.lastRange) / 20
		l.seen, l.noise, l.steps = l.seen[:0], 0, 0
		unit := tr.σ[i] * math.Sqrt(float64(length))
		clear(made)
		// Bots look a moment after a bar has begun, too.
		for s := 0; s < length; s += each {
			p := float64(path[i*length+s])
			if prev > 0 {
				for k, h := range held {
					if h != 0 {
						made[k] += float64(h) * (p/prev - 1) / unit
					}
				}
			}
			prev = p
			if len(l.seen) > 0 {
				d := math.Log(p / now(&l))
				l.steps++
				l.noise += (d*d - l.noise) / float64(l.steps)
			}
			l.seen = append(l.seen, p)
			if l.all = append(l.all, p); len(l.all) > 64 {
				l.all = append(l.all[:0], l.all[40:]...)
			}
			if len(l.seen) == 1 || p > l.high {
				l.high, l.highAt = p, len(l.seen)
			}
			if len(l.seen) == 1 || p < l.low {
				l.low, l.lowAt = p, len(l.seen)
			}
			if l.fast == 0 {
				l.fast, l.slow = p, p
			}
			l.fast += (p - l.fast) / 5
			l.slow += (p - l.slow) / 20
			l.share = float64(s) / float64(length)
			for k := range strategies {
				if want := strategies[k].hold(&l); want != held[k] {
					held[k] = want
					into[k].trips++
				}
			}
		}
		for k, m := range made {
			into[k].sum += m
			into[k].squares += m * m
			into[k].bars++
		}
	}
}

// worst is the strategy with the largest figure.
type worst struct {
	t, rootBar, bound, perTrip float64
	name                       string
	boundName                  string
}

func judge(m market, how construction, bars, chunk, length, each int, seed uint64) (w worst) {
	all := make([]earned, len(strategies))
	var mu sync.Mutex
	var wait sync.WaitGroup
	slots := make(chan struct{}, 2)
	for done, n := 0, uint64(0); done < bars; done, n = done+chunk, n+1 {
		wait.Add(1)
		slots <- struct{}{}
		go func() {
			defer func() { <-slots; wait.Done() }()
			tr := m.make(seed+1000*n, chunk, length)
			mine := make([]earned, len(strategies))
			trade(tr, how(tr, length, seed+1000*n), length, each, mine)
			mu.Lock()
			defer mu.Unlock()
			for k, e := range mine {
				all[k].sum += e.sum
				all[k].squares += e.squares
				all[k].bars += e.bars
				all[k].trips += e.trips
			}
		}()
	}
	wait.Wait()
	for k, e := range all {
		if t := e.t(); math.Abs(t) > math.Abs(w.t) {
			w.t, w.name = t, strategies[k].name
		}
		if mean, bound := e.perTrip(); bound > w.bound {
			w.bound, w.perTrip, w.boundName = bound, mean, strategies[k].name
		}
	}
	w.rootBar = math.Abs(w.t) / math.Sqrt(float64(all[0].bars))
	return w
}

func (w worst) String() string {
	return fmt.Sprintf("|t| %.1f (%s), t/√bars %.3f, bound of a trip %.1f %% of σ√T (mean %.2f %%, %s)", math.Abs(w.t), w.name, w.rootBar, 100*w.bound, 100*w.perTrip, w.boundName)
}

const lookingForJumps = "σ by shrinkage, jumps"

var constructions = []struct {
	name string
	make construction
	good bool
}{
	{"the truth", theTruth, true},
	{"σ given", givenVolatility, true},
	{"σ by shrinkage", shrunken, true},
	{lookingForJumps, withJumps, true},
	{"straight lines", straightLines, false},
}

// TestNoEdgeInsideACandle: no strategy earns anything inside candles of a market without an
// edge. Straight lines fail it.
func TestNoEdgeInsideACandle(t *testing.T) {
	if depth.Race {
		t.Skip("takes minutes under the race detector, on one goroutine")
	}
	type size struct{ length, bars, chunk, each int }
	sizes := []size{{60, 10_000, 2_500, 2}, {900, 600, 300, 30}, {3600, 240, 60, 120}, {86400, 60, 30, 2880}}
	markets := []market{{name: "constant", bps: 2}}
	if *full {
		sizes = []size{
			{60, 40_000, 10_000, 1}, {60, 40_000, 10_000, 10}, {900, 40_000, 1_000, 5}, {900, 40_000, 1_000, 60},
			{3600, 40_000, 500, 30}, {3600, 40_000, 500, 600}, {86400, 2_000, 100, 600},
		}
		markets = []market{
			{name: "1 bp", bps: 1}, {name: "2 bp", bps: 2}, {name: "3 bp", bps: 3},
			{name: "stochastic", bps: 2, wanders: 0.1}, {name: "jumps", bps: 2, jumps: 0.02, jumpSize: 25},
		}
	}
	for _, m := range markets {
		for _, s := range sizes {
			t.Run(fmt.Sprintf("%s/%d s/looks %d s", m.name, s.length, s.each), func(t *testing.T) {
				var truth worst
				for _, c := range constructions {
					if *full && !c.good && m.name != "2 bp" || !*full && c.name == lookingForJumps {
						continue // TestNoEdgeBesideJumps has the few candles
					}
					w := judge(m, c.make, s.bars, s.chunk, s.length, s.each, 7)
					t.Logf("%-25s %s", c.name, w)
					if c.name == "the truth" {
						truth = w
					}
					switch {
					case m.jumps > 0 && c.name != lookingForJumps && c.name != "the truth":
						// These do not know of jumps: their figures are printed.
					case m.jumps > 0 && c.name == lookingForJumps:
						require.Less(t, w.rootBar, 0.08, c.name)
						if truth.bound < 0.06 { // so many candles can show it
							require.Less(t, w.bound, 0.12, c.name)
						}
					case !c.good:
						require.Greater(t, math.Abs(w.t), 8.0, c.name)
					case strings.HasPrefix(c.name, "σ by shrinkage") && *full:
						require.Less(t, w.rootBar, 0.08, c.name)
					default:
						require.Less(t, math.Abs(w.t), 4.8, c.name)
					}
				}
			})
		}
	}
}
