package odds

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go/backtest"
)

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

// Ten bots without an edge, sixty days, two barriers as far away as each other: the truth is a half.
func TestTheBestOfTenWithoutAnEdge(t *testing.T) {
	skipUnderRace(t)
	r := rand.New(rand.NewPCG(31, 1))
	plain, cut := 0.0, 0.0
	const families = 60
	for k := range families {
		list := make([][]float64, 10)
		best := 0
		for v := range list {
			list[v] = independent(0, 1000)(r, 60)
			if mean(list[v])/deviation(list[v]) > mean(list[best])/deviation(list[best]) {
				best = v
			}
		}
		list[0], list[best] = list[best], list[0]
		e := engineOf(list[0], 40, 40, uint64(k))
		e.phases[0][0].global, e.days = 90_000, 2000
		plain += mean(e.run().of(0, passedShare)) / families
		expected, _ := backtest.OverfitOf(list).ExpectedBest.Value()
		e.haircut = expected * deviation(list[0])
		cut += mean(e.run().of(0, passedShare)) / families
	}
	t.Logf("without the haircut %.2f, with it %.2f", plain, cut)
	assert.Greater(t, plain, 0.8)
	assert.InDelta(t, 0.5, cut, 0.1)
}
