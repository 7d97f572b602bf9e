package candle

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/testing/depth"
)

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
	if depth.Race {
		t.Skip("takes minutes under the race detector, on one goroutine")
	}
	for _, n := range depth.Of([]int{5, 59}, []int{5, 20, 59, 300}) {
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

var jumping = market{name: "jumps", bps: 2, jumps: 0.02, jumpSize: 25}

// withJumps is what a backtest does that looks for jumps.
func withJumps(tr truth, length int, seed uint64) []int64 {
	v := NewJumpVolatility(ranges(tr.bars), length-1)
	return tr.each(length, func(i int, b Bar, into []int64) { v.Path(i, b, into, NewDice(seed, uint64(i))) })
}

// TestJumpPathsKeepTheirCandle: open, high, low and close are exactly those of the candle, and
// seeds fix each price, whatever the candle's shape and the volatility.
func TestJumpPathsKeepTheirCandle(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 5))
	jumped := 0
	for i := range 8_000 {
		length, b := anyBar(dice, i)
		into, again := make([]int64, length), make([]int64, length)
		r := math.Log(float64(b.High) / float64(b.Low))
		sigma := r / math.Sqrt(float64(length)) / (1 + 20*dice.Float64())
		ok := b.JumpPath(into, sigma, NewDice(1, uint64(i)))
		require.Equal(t, ok, b.JumpPath(again, sigma, NewDice(1, uint64(i))))
		require.Equal(t, into, again)
		if !ok {
			require.Equal(t, make([]int64, length), into)
			continue
		}
		jumped++
		require.Equal(t, b, Bar{into[0], slices.Max(into), slices.Min(into), into[length-1]}, "%v %d %g", b, length, sigma)
	}
	require.Greater(t, jumped, 1_500)
}

// TestJumpsInTheTruth: of a market that jumps by 25 volatilities of a second, the candles that
// jump are found, and their paths have one step as large, in the seconds that the truth has it in.
func TestJumpsInTheTruth(t *testing.T) {
	const length = 60
	tr := jumping.make(3, 5_000, length)
	path, again := withJumps(tr, length, 1), withJumps(tr, length, 1)
	require.Equal(t, path, again)
	require.NotEqual(t, path, withJumps(tr, length, 2))
	var truth, drawn struct {
		bars      int
		size, mid float64
	}
	for i, b := range tr.bars {
		for _, one := range []struct {
			path []int64
			sums *struct {
				bars      int
				size, mid float64
			}
		}{{tr.path, &truth}, {path, &drawn}} {
			p := one.path[i*length : (i+1)*length]
			require.Equal(t, b, Bar{p[0], slices.Max(p), slices.Min(p), p[length-1]})
			size, at := 0.0, 0
			for k := 1; k < length; k++ {
				if step := math.Abs(math.Log(float64(p[k])/float64(p[k-1]))) / tr.σ[i]; step > size {
					size, at = step, k
				}
			}
			if size > 12 {
				one.sums.bars++
				one.sums.size += size
				one.sums.mid += math.Abs(float64(at)/length - 0.5)
			}
		}
	}
	n, m := float64(truth.bars), float64(drawn.bars)
	t.Logf("truth: %d jumps, mean size %.1f, from the middle %.3f; drawn: %d, %.1f, %.3f", truth.bars, truth.size/n, truth.mid/n, drawn.bars, drawn.size/m, drawn.mid/m)
	require.InDelta(t, n, m, 0.25*n)
	require.InDelta(t, truth.size/n, drawn.size/m, 4)
	require.InDelta(t, truth.mid/n, drawn.mid/m, 0.05)
}

// TestNoJumpsInAWalk: candles of a walk, and of one whose volatility wanders, have no jumps but
// by the way.
func TestNoJumpsInAWalk(t *testing.T) {
	for _, m := range []market{{bps: 2}, {bps: 2, wanders: 0.1}} {
		v := NewJumpVolatility(ranges(m.make(1, 5_000, 60).bars), 59)
		sum := 0.0
		for _, j := range v.jumps {
			sum += j.chance
		}
		require.Less(t, sum, 50.0)
	}
	for _, few := range [][]float64{nil, {0}, {0.01}, {0.01, 0, 0.5}, make([]float64, 40), slices.Repeat([]float64{0.01}, 40)} {
		require.Nil(t, NewJumpVolatility(few, 59).jumps)
	}
}

// TestNoEdgeBesideJumps prints what strategies find in candles with jumps. It is within 12 percent
// of the volatility of a candle where so few candles can show it.
func TestNoEdgeBesideJumps(t *testing.T) {
	if depth.Race {
		t.Skip("takes minutes under the race detector, on one goroutine")
	}
	found := make(map[string]worst)
	for _, c := range constructions {
		if c.good && c.name != "σ given" {
			found[c.name] = judge(jumping, c.make, 10_000, 2_500, 60, 2, 7)
			t.Logf("%-25s %s", c.name, found[c.name])
		}
	}
	w := found[lookingForJumps]
	require.Less(t, w.bound, 0.12)
	require.Less(t, math.Abs(w.t), 4.8)
	require.Less(t, w.rootBar, found["σ by shrinkage"].rootBar, "a jump that is taken for volatility shows")
}

// TestPathsWithoutJumps holds the prices of paths without the option against those on file, which
// no machine and no release draws otherwise.
func TestPathsWithoutJumps(t *testing.T) {
	h := fnv.New64a()
	for _, length := range []int{60, 900} {
		for _, p := range shrunken(market{bps: 2, wanders: 0.1}.make(5, 100, length), length, 3) {
			_, _ = fmt.Fprintln(h, p)
		}
	}
	require.Equal(t, "8188b7a9bd35b365", fmt.Sprintf("%x", h.Sum64()))
}
