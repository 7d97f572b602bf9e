package backtest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// jumpyCandles are those of a walk in which every 40th candle jumps.
func jumpyCandles(t *testing.T, bars int) *Data {
	dice := rand.New(rand.NewPCG(1, 1))
	var text strings.Builder
	price := 64_000.0
	for i := range bars {
		open, high, low := price, price, price
		for k := 1; k < 60; k++ {
			step := 2e-4 * dice.NormFloat64()
			if i%40 == 20 && k == 30 {
				step += 50e-4
			}
			price *= math.Exp(step)
			high, low = max(high, price), min(low, price)
		}
		fmt.Fprintf(&text, "%d,%.2f,%.2f,%.2f,%.2f\n", 1767225600+60*i, open, high, low, price)
	}
	return minuteCandles(t, text.String())
}

// TestJumpPaths: candles that jump have one step in one second, on their prices and in a placebo,
// and only where the config asks for it.
func TestJumpPaths(t *testing.T) {
	data := jumpyCandles(t, 1200)
	jumps := func(d *Data, in inside) (count int) {
		f := d.series[0].feed(in, nil)
		for i, r := range f.rows {
			high, low := int64(0), int64(math.MaxInt64)
			before, largest := int64(0), 0.0
			for second := range int64(60) {
				price, ok := f.units(r.at + second*int64(time.Second))
				require.True(t, ok)
				if second > 0 {
					largest = max(largest, math.Abs(math.Log(float64(price)/float64(before))))
				}
				before, high, low = price, max(high, price), min(low, price)
				if second == 0 {
					require.Equal(t, r.open, price)
				}
			}
			require.Equal(t, []int64{r.high, r.low, r.close}, []int64{high, low, before}, i)
			if largest > 25e-4 {
				count++
			}
		}
		return count
	}
	for _, in := range (Config{Data: data, CandlePaths: JumpPaths}).insides() {
		require.InDelta(t, 30, jumps(data, in), 6, in.order)
		require.InDelta(t, 30, jumps(data.placebo(true), in), 12, in.order)
	}
	for _, in := range (Config{Data: data}).insides() {
		require.Zero(t, jumps(data, in), in.order)
		require.Zero(t, jumps(data.placebo(false), in), in.order)
	}
}

func TestJumpPathsAreAssumed(t *testing.T) {
	for paths, want := range map[CandlePaths]bool{JumpPaths: true, RandomPaths: false, FixedPaths: false} {
		data := jumpyCandles(t, 60)
		r := &Result{Paths: []Path{{Order: Config{Data: data, CandlePaths: paths}.insides()[0].order}}}
		list := r.Assumptions()
		inside := list[len(list)-1]
		require.Equal(t, "Inside candles", inside.Name)
		require.Equal(t, want, strings.Contains(inside.Text, "one jump in one second"), inside.Text)
		require.Equal(t, want, strings.HasPrefix(inside.Text, "random with jumps, seed 0; "), inside.Text)
	}
}
