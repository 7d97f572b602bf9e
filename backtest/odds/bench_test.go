package odds

import (
	"math/rand/v2"
	"testing"

	"github.com/tradingapi/trading-go/backtest"
)

// 200 histories of 500 paths each of 60 days, by both readings of the daily floor, and the two other
// lengths of blocks: at most 2 s on one core.
func BenchmarkForecast(b *testing.B) {
	h := historyOf(independent(20, 600)(rand.New(rand.NewPCG(1, 2)), 1000))
	rules := challenge()
	rules.Daily = backtest.BothFloors
	for b.Loop() {
		if _, err := Of(h, Options{Rules: rules, Horizon: 60}); err != nil {
			b.Fatal(err)
		}
	}
}
