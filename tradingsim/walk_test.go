package tradingsim

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWalkInWholeNumbers holds the quick way to a price against the one by decimals.
func TestWalkInWholeNumbers(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 1))
	for _, price := range []string{"64000", "1.08", "0.000012345", "99999999999.5", "7", "12345678901234567890"} {
		quick := RandomWalk(1, price, 1).(walk)
		slow := quick
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
