package epoch

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The digits of a number show its unit: the first and the last number of so many, and one between.
func TestTime(t *testing.T) {
	check := func(n int64, want time.Time, unit time.Duration) {
		at, told, ok := Time(n)
		require.Equal(t, []any{want.UTC(), unit, true}, []any{at, told, ok}, "%d", n)
	}
	for digits, low := 1, int64(1); digits <= 18; digits, low = digits+1, low*10 {
		for _, n := range []int64{low, low*3 + low/7, low*10 - 1, -low, -low*3 - low/7, 1 - low*10} {
			switch {
			case digits == 18:
				check(n, time.Unix(0, n), time.Nanosecond)
			case digits >= 15:
				check(n, time.UnixMicro(n), time.Microsecond)
			case digits >= 9 && digits < 12:
				check(n, time.Unix(n, 0), time.Second)
			default:
				check(n, time.UnixMilli(n), time.Millisecond)
			}
		}
	}
	check(0, time.UnixMilli(0), time.Millisecond)
	check(mostNanos-1, time.Date(2199, 12, 31, 23, 59, 59, 999_999_999, time.UTC), time.Nanosecond)
	for _, large := range []int64{mostNanos, -mostNanos, math.MaxInt64, math.MinInt64} {
		_, _, ok := Time(large)
		require.False(t, ok)
	}
}
