package odds

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go/backtest"
)

// world is a kind of days.
type world struct {
	name string
	days process
}

var worlds = []world{
	{"independent", independent(100, 1000)},
	{"memory of 0.3", remembering(100, 1000)},
	{"fat tails", fatTailed(100, 1000)},
}

// covered is how often an interval holds the truth, and how wide it is in the mean.
func covered(w world, days, histories int, truth float64, interval func(profits []float64, seed uint64) (low, high float64)) (share, width float64) {
	r := rand.New(rand.NewPCG(11, uint64(days)))
	for k := range histories {
		low, high := interval(w.days(r, days), uint64(k))
		if low <= truth && truth <= high {
			share++
		}
		width += high - low
	}
	return share / float64(histories), width / float64(histories)
}

// iterated is the interval of the package.
func iterated(outer, inner int) func([]float64, uint64) (float64, float64) {
	return func(profits []float64, seed uint64) (low, high float64) {
		e := engineOf(profits, outer, inner, seed)
		c := chance(e.run().of(0, passedShare), inner)
		return c.Low, c.High
	}
}

// plugIn is what simulators print: the history is taken for the truth, and the interval is of the
// paths alone.
func plugIn(paths int) func([]float64, uint64) (float64, float64) {
	return func(profits []float64, seed uint64) (low, high float64) {
		p := plugInOf(profits, paths, seed)
		half := 1.96 * math.Sqrt(p*(1-p)/float64(paths))
		return p - half, p + half
	}
}

func plugInOf(profits []float64, paths int, seed uint64) float64 {
	e := engineOf(profits, 1, paths, seed)
	return e.paths(e.tracks(e.series.whole(), 0))[0].passed
}

// jackknife leaves out each of twenty blocks once.
func jackknife(paths int) func([]float64, uint64) (float64, float64) {
	return func(profits []float64, seed uint64) (low, high float64) {
		const blocks = 20
		var list []float64
		for b := range blocks {
			from, to := b*len(profits)/blocks, (b+1)*len(profits)/blocks
			rest := append(append([]float64{}, profits[:from]...), profits[to:]...)
			list = append(list, plugInOf(rest, paths, seed))
		}
		m, sum := mean(list), 0.0
		for _, p := range list {
			sum += float64((p - m) * (p - m))
		}
		p, half := plugInOf(profits, paths, seed), 1.96*math.Sqrt(sum*(blocks-1)/blocks)
		return p - half, p + half
	}
}

// The intervals hold the truth as often as they say, and the two that everybody uses do not. In
// full it is the table of docs/odds.md:
//
//	go test ./backtest/odds -run Coverage -odds.full -v -timeout 60m
func TestCoverage(t *testing.T) {
	skipUnderRace(t)
	lengths, histories, inner := []int{60}, 60, 20
	low, high := 0.85, 1.0
	if *full {
		lengths, histories, inner = []int{60, 120, 250, 1000}, 1000, 50
		low, high = 0.92, 0.97
	}
	for _, w := range worlds {
		p := truth(w.days, histories*200)
		for _, days := range lengths {
			got, width := covered(w, days, histories, p, iterated(200, inner))
			t.Logf("%s, %d days: the truth is %.3f, covered %.1f %%, width %.2f", w.name, days, p, 100*got, width)
			assert.GreaterOrEqual(t, got, low, "%s, %d days", w.name, days)
			assert.LessOrEqual(t, got, high, "%s, %d days", w.name, days)
		}
		got, _ := covered(w, 60, histories, p, plugIn(2000))
		t.Logf("%s, 60 days: the plug-in covers %.1f %%", w.name, 100*got)
		assert.Less(t, got, low, "the plug-in")
		if *full {
			got, _ = covered(w, 60, histories/4, p, jackknife(2000))
			t.Logf("%s, 60 days: the jackknife covers %.1f %%", w.name, 100*got)
			assert.Less(t, got, low, "the jackknife")
		}
	}
}

// The width of an interval by the length of the history, for accounts of several chances. In full it
// is the table of docs/odds.md:
//
//	go test ./backtest/odds -run Widths -odds.full -v
func TestWidthsShrinkWithTheHistory(t *testing.T) {
	skipUnderRace(t)
	lengths, histories := []int{60, 250}, 10
	if *full {
		lengths, histories = []int{60, 120, 250, 500, 1000, 2000}, 100
	}
	for _, edge := range []struct{ mean, deviation float64 }{{100, 1000}, {150, 700}, {250, 700}, {300, 500}} {
		w := world{"independent", independent(edge.mean, edge.deviation)}
		p, before := truth(w.days, 20_000), 1.0
		for _, days := range lengths {
			narrow := 0
			_, width := covered(w, days, histories, p, func(profits []float64, seed uint64) (low, high float64) {
				if low, high = iterated(200, 50)(profits, seed); high-low <= WidestInterval {
					narrow++
				}
				return low, high
			})
			t.Logf("$%.0f a day, deviation $%.0f: the truth is %.2f; %d days: width %.2f, narrow enough %d of %d", edge.mean, edge.deviation, p, days, width, narrow, histories)
			assert.Less(t, width, before)
			before = width
		}
	}
}

// spiegelhalter is the statistic by which forecasts are judged by what came of them: normal with a
// deviation of 1 where every forecast is right.
func spiegelhalter(forecasts []float64, passed []bool) float64 {
	sum, variance := 0.0, 0.0
	for i, p := range forecasts {
		o := 0.0
		if passed[i] {
			o = 1
		}
		sum += float64((o - p) * (1 - 2*p))
		variance += float64((1 - 2*p) * (1 - 2*p) * p * (1 - p))
	}
	return sum / math.Sqrt(variance)
}

// accounts are forecast from a history each, the best of so many variants of a bot, and run on.
// What the bots earn a day is drawn anew for each account, evenly and wide: a forecast knows
// nothing of a bot but its days.
func accounts(n, variants, days int, haircut bool) (forecasts []float64, passed []bool) {
	r := rand.New(rand.NewPCG(21, uint64(variants)))
	for k := range n {
		p := independent(1000*(r.Float64()-0.5), 1000)
		list := make([][]float64, variants)
		best, sharpe := 0, math.Inf(-1)
		for v := range list {
			list[v] = p(r, days)
			if s := mean(list[v]) / deviation(list[v]); s > sharpe {
				best, sharpe = v, s
			}
		}
		list[0], list[best] = list[best], list[0]
		e := engineOf(list[0], 60, 40, uint64(k))
		if haircut {
			expected, _ := backtest.OverfitOf(list).ExpectedBest.Value()
			e.haircut = expected * deviation(list[0])
		}
		forecasts = append(forecasts, mean(e.run().of(0, passedShare)))
		passed = append(passed, lives(p(r, testHorizon)) == 1)
	}
	return forecasts, passed
}

// bound is how far the statistic may be from 0: in 1 of 100 such tests it is farther.
const bound = 2.58

// In full these are 3,000 accounts:
//
//	go test ./backtest/odds -run Calibration -odds.full -v -timeout 60m
func TestCalibration(t *testing.T) {
	skipUnderRace(t)
	n := 400
	if *full {
		n = 3000
	}
	forecasts, passed := accounts(n, 1, 250, false)
	z := spiegelhalter(forecasts, passed)
	t.Logf("%d accounts: z = %.2f", n, z)
	assert.Less(t, math.Abs(z), bound)
	if *full {
		assert.Greater(t, math.Abs(spiegelhalter(biased(forecasts), passed)), bound, "a forecast with a bias of 0.05 is found")
		t.Logf("with a bias of 0.05: z = %.2f", spiegelhalter(biased(forecasts), passed))
	}
}

func biased(forecasts []float64) []float64 {
	list := make([]float64, len(forecasts))
	for i, p := range forecasts {
		list[i] = min(p+0.05, 0.999)
	}
	return list
}

// The best of several variants looks better than it is. With the haircut its forecast is right.
func TestCalibrationOfWinners(t *testing.T) {
	skipUnderRace(t)
	sizes, n, days := []int{10}, 300, 60
	if *full {
		sizes, n, days = []int{10, 50}, 3000, 250
	}
	for _, variants := range sizes {
		forecasts, passed := accounts(n, variants, days, true)
		z := spiegelhalter(forecasts, passed)
		t.Logf("%d winners of %d: z = %.2f", n, variants, z)
		assert.Less(t, math.Abs(z), bound)
		forecasts, passed = accounts(n, variants, days, false)
		z = spiegelhalter(forecasts, passed)
		t.Logf("%d winners of %d without the haircut: z = %.2f", n, variants, z)
		assert.Greater(t, math.Abs(z), bound)
	}
}
