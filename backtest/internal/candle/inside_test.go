package candle

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Path are all prices of a candle, in order.
func (b Bar) Path(into []int64, sigma float64, d *Dice) {
	p := b.Inside(len(into)-1, sigma, d)
	p.fill(into)
}

// Path are the prices that a backtest draws.
func (v *Volatility) Path(i int, b Bar, into []int64, d *Dice) {
	p := v.Inside(i, b, len(into)-1, d)
	p.fill(into)
}

func (p *Inside) fill(into []int64) {
	for second := range into {
		into[second] = p.At(second)
	}
}

// someInside are candles of each shape and kind, each as often as it is asked for.
func someInside(dice *rand.Rand, i int) func() Inside {
	length, b := anyBar(dice, i)
	sigma := math.Log(float64(b.High)/float64(b.Low)) / math.Sqrt(float64(length)) / (0.3 + 4*dice.Float64())
	v := &Volatility{logs: []float64{math.Log(max(sigma, 1e-9))}, noise: 0.2}
	if i%3 == 0 {
		v.jumps = []jump{{chance: 0.7, log: v.logs[0] - 1, spread: 0.2}}
	}
	return func() Inside { return v.Inside(0, b, length-1, NewDice(2, uint64(i))) }
}

// TestAnyOrderOfLooks: the same seed gives the same price in each second, whatever was looked at
// before it, and whether it was looked for or looked at.
func TestAnyOrderOfLooks(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 7))
	for i := range 6_000 {
		of := someInside(dice, i)
		ordered, other := of(), of()
		path := make([]int64, ordered.steps+1)
		ordered.fill(path)
		for range 30 {
			from := dice.IntN(len(path))
			to := from + dice.IntN(len(path)-from)
			switch dice.IntN(4) {
			case 0:
				require.Equal(t, path[from], other.At(from))
			case 1:
				low, high := path[dice.IntN(len(path))]-dice.Int64N(2), path[dice.IntN(len(path))]+dice.Int64N(2)
				want := slices.IndexFunc(path[from:to+1], func(p int64) bool { return p <= low || p >= high })
				at, ok := other.Reach(from, to, low, high)
				require.Equal(t, want >= 0, ok)
				if ok {
					require.Equal(t, from+want, at)
				}
			case 2:
				at := other.Least(from, to)
				require.Equal(t, slices.Min(path[from:to+1]), path[at])
				require.True(t, from <= at && at <= to)
			case 3:
				at := other.Most(from, to)
				require.Equal(t, slices.Max(path[from:to+1]), path[at])
				require.True(t, from <= at && at <= to)
			}
		}
		low, high := other.Extremes()
		require.Equal(t, []int64{slices.Min(path), slices.Max(path)}, []int64{path[low], path[high]})
	}
}
