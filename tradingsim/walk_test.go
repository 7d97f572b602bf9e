package tradingsim

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

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
