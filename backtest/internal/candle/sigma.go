package candle

import (
	"math"
	"sort"
)

// Volatility is what is known of the volatility of the candles of a file: of each the mean and
// the spread of the logarithm of that of a second. It reads later candles for the size of moves
// and never for their direction.
type Volatility struct {
	steps int
	logs  []float64 // the mean of ln σ
	noise float64   // its spread
	jumps []jump    // nil unless candles may have one
}

// NewVolatility takes ln(high ÷ low) of each candle, of so many steps. A candle whose range is 0
// says nothing.
func NewVolatility(ranges []float64, steps int) *Volatility {
	v := &Volatility{steps: steps, logs: make([]float64, len(ranges))}
	y, at, _, s := logRanges(ranges, steps)
	if len(y) == 0 {
		return v
	}
	mu, miss := bestMean(y)
	v.shrink(y, mu, at, miss, float64(len(y)), s)
	return v
}

// logRanges are what each range that is not 0 says of the logarithm of the volatility of a second,
// and which candle's it is; m and s are the law of ranges.
func logRanges(ranges []float64, steps int) (y []float64, at []int, m, s float64) {
	m, s = rangeLaw(steps)
	root := math.Sqrt(float64(steps))
	for i, r := range ranges {
		if r > 0 {
			y, at = append(y, math.Log(r/root)-m), append(at, i)
		}
	}
	return y, at, m, s
}

// shrink takes the volatilities from the ranges and the mean around each, which they miss by so
// much. Their own spread is 0 where the ranges do not show one.
func (v *Volatility) shrink(y, mu []float64, at []int, miss, bars, s float64) (spread float64) {
	k, spread := gain(miss, bars, s)
	v.noise = 0
	if spread > 0 {
		v.noise = math.Sqrt(k) * s
	}
	next := 0
	for i := range v.logs {
		for next+1 < len(at) && at[next] < i {
			next++
		}
		v.logs[i] = mu[next] + float64(k*(y[next]-mu[next]))
	}
	return spread
}

// gain is how much of what a range is above the mean is its volatility, and the spread of the
// volatilities around the mean.
func gain(miss, bars, s float64) (k, spread float64) {
	tau2 := math.Max(0, miss-float64(s*s))
	if tau2 < float64(2*s*s)*math.Sqrt(2/bars) {
		return 1 / bars, 0
	}
	return tau2 / (tau2 + float64(s*s)), math.Sqrt(tau2)
}

// Of is the volatility of a second in a candle.
func (v *Volatility) Of(i int, d *Dice) float64 {
	log := v.logs[i]
	if v.noise > 0 {
		log += float64(v.noise * d.Normal())
	}
	return math.Exp(log)
}

// Typical is the median volatility of a second.
func (v *Volatility) Typical() float64 {
	if len(v.logs) == 0 {
		return 0
	}
	logs := append([]float64(nil), v.logs...)
	sort.Float64s(logs)
	return math.Exp(logs[len(logs)/2])
}

// bestMean is the mean of the others around each, weighted exponentially on both sides, with the
// memory of 1 to 64 or all that misses least, and the mean square that it misses by.
func bestMean(y []float64) (mu []float64, miss float64) {
	miss = math.Inf(1)
	for _, memory := range []float64{1, 2, 4, 8, 16, 32, 64, math.Inf(1)} {
		tried := othersMean(y, math.Exp(-1/memory))
		sum := 0.0
		for i := range y {
			d := y[i] - tried[i]
			sum += float64(d * d)
		}
		if sum /= float64(len(y)); sum < miss {
			mu, miss = tried, sum
		}
	}
	return mu, miss
}

func othersMean(y []float64, keep float64) []float64 {
	if len(y) == 1 {
		return []float64{y[0]}
	}
	sums, weights := make([]float64, len(y)), make([]float64, len(y))
	sum, weight := 0.0, 0.0
	for i := range y {
		sums[i], weights[i] = sum, weight
		sum, weight = float64(keep*(sum+y[i])), float64(keep*(weight+1))
	}
	sum, weight = 0, 0
	for i := len(y) - 1; i >= 0; i-- {
		sums[i] = (sums[i] + sum) / (weights[i] + weight)
		sum, weight = float64(keep*(sum+y[i])), float64(keep*(weight+1))
	}
	return sums
}

// rangeLaws are mean and spread of ln(range ÷ √steps) of discrete random walks, found by
// simulation: TestRangeLaw makes the table.
var rangeLaws = []struct {
	steps        int
	mean, spread float64
}{
	{3, -0.0809, 0.5431},
	{4, -0.0038, 0.4820},
	{5, 0.0446, 0.4481},
	{7, 0.1101, 0.4117},
	{9, 0.1483, 0.3906},
	{14, 0.2063, 0.3633},
	{19, 0.2382, 0.3497},
	{29, 0.2752, 0.3353},
	{59, 0.3211, 0.3196},
	{119, 0.3527, 0.3087},
	{299, 0.3802, 0.3000},
	{899, 0.3984, 0.2933},
	{3599, 0.4126, 0.2911},
	{14399, 0.4187, 0.2872},
}

// rangeLaw is in between by 1 ÷ √steps, in which both are nearly straight.
func rangeLaw(steps int) (mean, spread float64) {
	at := func(n int) float64 { return 1 / math.Sqrt(float64(n)) }
	last := len(rangeLaws) - 1
	i := sort.Search(len(rangeLaws), func(i int) bool { return rangeLaws[i].steps >= steps })
	if i > last {
		i = last
	}
	if i == 0 {
		return rangeLaws[0].mean, rangeLaws[0].spread
	}
	a, b := rangeLaws[i-1], rangeLaws[i]
	share := (at(steps) - at(a.steps)) / (at(b.steps) - at(a.steps))
	return a.mean + float64(share*(b.mean-a.mean)), a.spread + float64(share*(b.spread-a.spread))
}
