package candle

import (
	"fmt"
	"math"
	"testing"
)

// BenchmarkInside is what a candle costs of which nothing inside is asked for, one of which a second
// is, and each of its seconds: go test -run '^$' -bench Inside ./backtest/internal/candle
func BenchmarkInside(b *testing.B) {
	for _, steps := range []int{59, 3599, 86_399} {
		bar := Bar{Open: 6_400_000, High: 6_500_000, Low: 6_300_000, Close: 6_450_000}
		sigma := 0.02 / math.Sqrt(float64(steps))
		b.Run(fmt.Sprintf("extremes of %d", steps), func(b *testing.B) {
			for i := range b.N {
				bar.Inside(steps, sigma, NewDice(uint64(i)))
			}
		})
		p := bar.Inside(steps, sigma, NewDice(1))
		b.Run(fmt.Sprintf("a second of %d", steps), func(b *testing.B) {
			for i := range b.N {
				p.At(i * 7919 % steps)
			}
		})
		b.Run(fmt.Sprintf("the next second of %d", steps), func(b *testing.B) {
			for i := range b.N {
				p.At(i % steps)
			}
		})
		b.Run(fmt.Sprintf("a price in %d", steps), func(b *testing.B) {
			for i := range b.N {
				p := bar.Inside(steps, sigma, NewDice(uint64(i)))
				p.Reach(0, steps, 6_330_000, 6_480_000)
			}
		})
	}
}
