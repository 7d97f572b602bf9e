package candle

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func BenchmarkPath(b *testing.B) {
	for _, length := range []int{60, 900, 3600, 86400} {
		b.Run(fmt.Sprint(length), func(b *testing.B) {
			tr := market{bps: 2}.make(1, max(20, 20000/length), length)
			into := make([]int64, length)
			ladder()
			b.ResetTimer()
			for i := range b.N {
				k := i % len(tr.bars)
				tr.bars[k].Path(into, tr.σ[k], NewDice(1, uint64(i)))
			}
		})
	}
}

// anyBar is the i-th of bars of each shape, and how many prices it has.
func anyBar(dice *rand.Rand, i int) (length int, b Bar) {
	length = []int{4, 5, 6, 15, 60, 61, 240, 300}[i%8]
	low := 1 + dice.Int64N(1_000_000)
	span := dice.Int64N(1 + low>>dice.IntN(20))
	b = Bar{High: low + span, Low: low, Open: low + dice.Int64N(span+1), Close: low + dice.Int64N(span+1)}
	switch i % 13 {
	case 1:
		b.Open = b.High
	case 2:
		b.Open, b.Close = b.Low, b.High
	case 3:
		b.Open, b.Close = b.High, b.High
	case 4:
		b.Close = b.Low
	case 5:
		b.High = b.Low
		b.Open, b.Close = b.Low, b.Low
	}
	return length, b
}

// TestPathsKeepTheirCandle: open, high, low and close are exactly those of the candle, whatever
// its shape and whatever the volatility says.
func TestPathsKeepTheirCandle(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 1))
	for i := range 20_000 {
		length, b := anyBar(dice, i)
		into := make([]int64, length)
		sigma := math.Exp(-20 + 22*dice.Float64())
		b.Path(into, sigma, NewDice(1, uint64(i)))
		require.Equal(t, b, Bar{into[0], slices.Max(into), slices.Min(into), into[length-1]}, "%v %d %g", b, length, sigma)
		again := make([]int64, length)
		b.Path(again, sigma, NewDice(1, uint64(i)))
		require.Equal(t, into, again)
	}
}

// TestRangeLaw holds the table against a simulation.
func TestRangeLaw(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 3))
	for _, n := range []int{3, 4, 11, 40, 59, 500} {
		const trials = 20_000
		sum, squares := 0.0, 0.0
		for range trials {
			x, high, low := 0.0, 0.0, 0.0
			for range n {
				x += dice.NormFloat64()
				high, low = max(high, x), min(low, x)
			}
			y := math.Log((high - low) / math.Sqrt(float64(n)))
			sum, squares = sum+y, squares+y*y
		}
		m := sum / trials
		mean, spread := rangeLaw(n)
		require.InDelta(t, m, mean, 0.015, n)
		require.InDelta(t, math.Sqrt(squares/trials-m*m), spread, 0.015, n)
	}
}

// TestTimesOfExtremes holds the law of the times of both extremes against those of walks with
// nearly the same open, high, low and close.
func TestTimesOfExtremes(t *testing.T) {
	if raceDetector {
		t.Skip("takes minutes under the race detector, on one goroutine")
	}
	for _, n := range []int{5, 20, 59, 300} {
		dice := rand.New(rand.NewPCG(uint64(n), 3))
		type sums struct{ high, first, last, highFirst float64 }
		var truth, drawn sums
		const trials = 20_000
		for i := range trials {
			x := make([]float64, n+1)
			hi, lo := 0, 0
			for k := 1; k <= n; k++ {
				if x[k] = x[k-1] + dice.NormFloat64(); x[k] > x[hi] {
					hi = k
				}
				if x[k] < x[lo] {
					lo = k
				}
			}
			add := func(s *sums, highFirst bool, first, last int) {
				high := last
				if highFirst {
					high, s.highFirst = first, s.highFirst+1
				}
				s.high += float64(high)
				s.first += float64(first)
				s.last += float64(last)
			}
			add(&truth, hi < lo, min(hi, lo), max(hi, lo))
			s := shape{open: -x[lo], close: x[n] - x[lo], width: x[hi] - x[lo], steps: n}
			highFirst, first, last := s.extremes(NewDice(9, uint64(i)))
			add(&drawn, highFirst, first, last)
		}
		t.Logf("%d steps: truth %.3f %.3f %.3f, drawn %.3f %.3f %.3f", n, truth.first/trials/float64(n), truth.last/trials/float64(n), truth.highFirst/trials, drawn.first/trials/float64(n), drawn.last/trials/float64(n), drawn.highFirst/trials)
		require.InDelta(t, truth.first/trials, drawn.first/trials, 0.01*float64(n)+0.05)
		require.InDelta(t, truth.last/trials, drawn.last/trials, 0.01*float64(n)+0.05)
		require.InDelta(t, truth.highFirst/trials, drawn.highFirst/trials, 0.015)
	}
}
