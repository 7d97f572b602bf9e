package tradingsim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// mark is a price of a walk, so many seconds after its beginning.
func (w *walk) mark(second int) float64 {
	p, _ := w.At(w.origin.Add(time.Duration(second) * time.Second))
	return p.InexactFloat64()
}

// TestNobodyEarnsOnAWalk: fading, momentum and holding earn nothing in 30 and 97 days.
func TestNobodyEarnsOnAWalk(t *testing.T) {
	strategies := map[string]func(now, before, start float64) float64{
		"hold": func(float64, float64, float64) float64 { return 1 },
		"fade": func(now, _, start float64) float64 {
			if math.Abs(now/start-1) < 0.01 {
				return 0
			}
			return -math.Copysign(1, now-start)
		},
		"momentum": func(now, before, _ float64) float64 { return math.Copysign(1, now-before) },
	}
	for _, days := range []int{30, 97} {
		sums, squares := map[string]float64{}, map[string]float64{}
		const seeds, each = 400, 4 * 3600
		for seed := range uint64(seeds) {
			w := RandomWalk(seed, "64000", 1).(*walk)
			start := w.mark(0)
			made := map[string]float64{}
			now, before := start, start
			for second := 0; second < days*86400; second += each {
				next := w.mark(second + each)
				for name, hold := range strategies {
					made[name] += hold(now, before, start) * (next/now - 1)
				}
				before, now = now, next
			}
			for name, m := range made {
				sums[name] += m
				squares[name] += m * m
			}
		}
		for name := range strategies {
			mean := sums[name] / seeds
			spread := math.Sqrt(squares[name]/seeds - mean*mean)
			tt := mean / spread * math.Sqrt(seeds)
			t.Logf("%d days: %s earns %.2f %%, spread %.1f %%, t %.1f", days, name, 100*mean, 100*spread, tt)
			require.Less(t, math.Abs(tt), 4.0)
		}
	}
}

// TestWalkSpreadsLikeARandomWalk: its variance grows with the time, across powers of two as
// elsewhere, and a step says nothing of the next.
func TestWalkSpreadsLikeARandomWalk(t *testing.T) {
	const seeds = 100_000
	between := [][2]int64{{0, 1}, {100, 101}, {4095, 4097}, {3, 1000}, {0, 86400}, {1 << 20, 1<<20 + 3600}, {1<<22 - 30, 1<<22 + 30}, {1000, 1000 + 30*86400}, {-1000, -10}, {-500, 500}}
	sums, steps, after, product := make([]float64, len(between)), 0.0, 0.0, 0.0
	walk := RandomWalk(0, "1", 1).(*walk)
	for seed := range uint64(seeds) {
		walk.seed, walk.last = seed, &halvings{}
		for i, b := range between {
			d := walk.position(b[1]) - walk.position(b[0])
			sums[i] += d * d / float64(b[1]-b[0])
		}
		a, b, c := walk.position(1<<12-1), walk.position(1<<12), walk.position(1<<12+1)
		steps, after, product = steps+(b-a)*(b-a), after+(c-b)*(c-b), product+(b-a)*(c-b)
	}
	for i, sum := range sums {
		require.InDelta(t, 1, sum/seeds, 0.02, between[i])
	}
	require.InDelta(t, 0, product/math.Sqrt(steps*after), 0.015)
}

// TestWalkForgetsNothing asks one walk for times in any order, from two goroutines, and one for
// each time that was never asked before.
func TestWalkForgetsNothing(t *testing.T) {
	asked, origin := RandomWalk(1, "64000", 5).(*walk), time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	ask := func(dice *rand.Rand, done chan<- string) {
		defer close(done)
		at := origin
		for range 5_000 {
			at = at.Add(time.Duration(dice.Int64N(int64(100*24*time.Hour))-int64(50*24*time.Hour)) >> dice.IntN(50))
			fresh, _ := RandomWalk(1, "64000", 5).At(at)
			if price, _ := asked.At(at); !price.Equal(fresh) {
				done <- fmt.Sprintf("at %s it is %s, not %s", at, price, fresh)
				return
			}
		}
	}
	one, other := make(chan string, 1), make(chan string, 1)
	go ask(rand.New(rand.NewPCG(1, 2)), one)
	go ask(rand.New(rand.NewPCG(3, 4)), other)
	require.Empty(t, <-one)
	require.Empty(t, <-other)
}
