package odds

import (
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go/backtest"
)

// forecastOf are the intervals of the package.
func forecastOf(profits []float64, outer, inner int, seed uint64) (pass, lose Chance) {
	e := engineOf(profits, outer, inner, seed)
	seen, worse := e.twice()
	return e.chances(seen, worse, 0, testHorizon)
}

// coverage is what a number of intervals have held.
type coverage struct {
	histories, pass, lose, above int // above: the upper end of lose is not below the truth
	width                        float64
}

// cover makes forecasts of so many histories, on all processors.
func cover(days process, length, histories int, passes, loses float64, interval func(profits []float64, seed uint64) (pass, lose Chance)) (c coverage) {
	type one struct{ pass, lose Chance }
	list, next := make([]one, histories), make(chan int)
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for i := range next {
				profits := days(rand.New(rand.NewPCG(11+uint64(i), uint64(length))), length)
				list[i].pass, list[i].lose = interval(profits, uint64(i))
			}
		})
	}
	for i := range list {
		next <- i
	}
	close(next)
	all.Wait()
	c.histories = histories
	for _, f := range list {
		f.pass, f.lose = asShown(f.pass), asShown(f.lose)
		if f.pass.Low <= passes && passes <= f.pass.High {
			c.pass++
		}
		if f.lose.Low <= loses && loses <= f.lose.High {
			c.lose++
		}
		if loses <= f.lose.High {
			c.above++
		}
		c.width += f.lose.Width() / float64(histories)
	}
	return c
}

// asShown is an interval as the headline has it: in accounts of a hundred, rounded outward.
func asShown(c Chance) Chance {
	low, high := c.ofHundred()
	c.Low, c.High = float64(low)/100, float64(high)/100
	return c
}

func (c coverage) share(n int) float64 { return float64(n) / float64(c.histories) }

// plugIn is what simulators print: the history is taken for the truth, and the interval is of the
// paths alone.
func plugIn(profits []float64, seed uint64) (pass, lose Chance) {
	const paths = 2000
	e := engineOf(profits, 1, paths, seed)
	one := e.paths(e.tracks(e.series.whole(), 0))[0]
	around := func(p float64) Chance {
		half := 1.96 * math.Sqrt(p*(1-p)/paths)
		return Chance{Low: p - half, High: p + half, Mean: p}
	}
	return around(one.passed), around(one.lost)
}

// markets are kinds of days of which the truth is known.
var markets = []struct {
	name   string
	shocks shocks
	limit  bool // no history of its length can know it: it is logged
}{
	{"normal", normal, false},
	{"t3", student(3), false},
	{"memory of 0.2", remembering(0.2, normal), false},
	{"memory of 0.4", remembering(0.4, normal), false},
	{"GARCH 0.95", garch(0.95), false},
	{"GARCH 0.98", garch(0.98), false},
	{"regimes of 50 days", regimes(50), false},
	{"one day in 100 of -8", rare(100, 8), false},
	{"regimes of 100 days", regimes(100), true},
	{"held out: t2.5", student(2.5), true},
	{"held out: memory of 0.3 in GARCH 0.98", remembering(0.3, garch(0.98)), true},
	{"held out: one day in 500 of -10", rare(500, 10), true},
}

// settings are what a day makes of an account that may lose 5000 before it wins 10000.
var settings = []struct{ mean, deviation float64 }{{0, 500}, {0, 1000}, {100, 1000}, {150, 700}, {250, 700}, {300, 500}}

// The intervals hold the truth, whatever kind of days there are, and the plug-in does not. The rows of
// docs/odds-reference.md are of
//
//	go test ./backtest/odds -run Coverage -odds.histories 1000 -v -timeout 48h
func TestCoverage(t *testing.T) {
	if *histories == 0 {
		t.Skip("it takes hours: -odds.histories 1000")
	}
	for _, m := range markets {
		for _, length := range []int{60, 120, 250, 1000} {
			least := coverage{histories: *histories, pass: *histories, lose: *histories}
			for _, s := range settings {
				days := m.shocks.of(s.mean, s.deviation)
				passes, loses := truth(days, 50_000)
				c := cover(days, length, *histories, passes, loses, func(profits []float64, seed uint64) (pass, lose Chance) {
					return forecastOf(profits, 200, *paths, seed)
				})
				t.Logf("%s, %d days, %.0f ± %.0f: lose %.3f held in %.1f %% (upper end %.1f %%), width %.2f; pass %.3f held in %.1f %%",
					m.name, length, s.mean, s.deviation, loses, 100*c.share(c.lose), 100*c.share(c.above), c.width, passes, 100*c.share(c.pass))
				least.pass, least.lose = min(least.pass, c.pass), min(least.lose, c.lose)
			}
			t.Logf("%s, %d days: the least is lose %.1f %%, pass %.1f %%", m.name, length, 100*least.share(least.lose), 100*least.share(least.pass))
			if !m.limit && *histories >= 500 {
				assert.GreaterOrEqual(t, least.share(least.lose), 0.92, "lose: %s, %d days", m.name, length)
				assert.GreaterOrEqual(t, least.share(least.pass), 0.92, "pass: %s, %d days", m.name, length)
			}
		}
	}
}

// The short form: where the volatility lasts, and where a loss was not seen yet.
func TestIntervalsHold(t *testing.T) {
	skipUnderRace(t)
	shown := func(profits []float64, seed uint64) (pass, lose Chance) { return forecastOf(profits, 200, 50, seed) }
	restless := garch(0.98).of(250, 700)
	passes, loses := truth(restless, 20_000)
	c := cover(restless, 120, 60, passes, loses, shown)
	t.Logf("GARCH 0.98, 120 days: lose %.3f, the upper end holds in %d of %d", loses, c.above, c.histories)
	assert.GreaterOrEqual(t, c.above, 54)
	c = cover(restless, 120, 60, passes, loses, plugIn)
	t.Logf("of the plug-in the upper end holds in %d", c.above)
	assert.Less(t, c.above, 54)

	// It wins daily, and loses 15 % on one day in a hundred.
	unseen := process(func(r *rand.Rand, n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			if x[i] = 100 + 20*r.NormFloat64(); r.IntN(100) == 0 {
				x[i] = -15_000
			}
		}
		return x
	})
	passes, loses = truth(unseen, 20_000)
	c = cover(unseen, 60, 60, passes, loses, shown)
	t.Logf("a loss of 15 %% in 100 days, 60 days: lose %.3f, held in %d of %d", loses, c.lose, c.histories)
	assert.GreaterOrEqual(t, c.lose, 57)
}

// No interval is a point, unless no two days differ.
func TestNoIntervalIsAPoint(t *testing.T) {
	for name, profits := range map[string][]float64{
		"lost for sure":   independent(-2000, 100)(rand.New(rand.NewPCG(1, 1)), 60),
		"passed for sure": independent(2000, 100)(rand.New(rand.NewPCG(1, 1)), 60),
		"nothing at all":  independent(0, 10)(rand.New(rand.NewPCG(1, 1)), 1000),
		"4 days":          independent(100, 1000)(rand.New(rand.NewPCG(1, 1)), 4),
	} {
		f := forecast(t, historyOf(profits), quick(challenge()))
		assert.Greater(t, chanceOf(t, f.Lose).Width(), 0.0, name)
	}
	// Where the paths add more than there is, the percentiles stand as they are.
	list := make([]float64, 200)
	for i := range list {
		list[i] = 0.5 + 0.001*float64(i%2)
	}
	assert.Greater(t, chance(list, 20).Width(), 0.0)
}

// The width of the interval of *lose* by the length of the history, for accounts of several chances. In
// full it is the table of docs/odds-reference.md:
//
//	go test ./backtest/odds -run Widths -odds.full -v
func TestWidthsShrinkWithTheHistory(t *testing.T) {
	skipUnderRace(t)
	lengths, histories := []int{60, 1000}, 10
	if *full {
		lengths, histories = []int{10, 60, 120, 250, 500, 1000, 2000}, 60
	}
	for _, s := range []struct{ mean, deviation float64 }{{100, 1000}, {250, 700}} {
		days, before := independent(s.mean, s.deviation), 1.0
		passes, loses := truth(days, 20_000)
		for _, length := range lengths {
			c := cover(days, length, histories, passes, loses, func(profits []float64, seed uint64) (pass, lose Chance) {
				return forecastOf(profits, 200, 50, seed)
			})
			t.Logf("$%.0f a day, deviation $%.0f: %.0f of 100 are lost; %d days: width %.2f", s.mean, s.deviation, 100*loses, length, c.width)
			assert.LessOrEqual(t, c.width, before)
			before = c.width
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
