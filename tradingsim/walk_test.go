package tradingsim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestWalkInWholeNumbers holds the quick way to a price against the one by decimals.
func TestWalkInWholeNumbers(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 1))
	for _, price := range []string{"64000", "1.08", "0.000012345", "99999999999.5", "7", "12345678901234567890"} {
		quick := RandomWalk(1, price, 1).(*walk)
		slow := *quick
		slow.units = 0
		displacements := []int64{0, 1, -1, walkUnit, -walkUnit, math.MaxInt64 / 4, -math.MaxInt64 / 4, 5e8, -5e8}
		for range 2000 {
			displacements = append(displacements, dice.Int64N(4*walkUnit)-2*walkUnit)
		}
		for _, d := range displacements {
			require.Equal(t, slow.priceAt(d).String(), quick.priceAt(d).String(), "%s %d", price, d)
		}
	}
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
