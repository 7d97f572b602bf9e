package epoch

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTime(t *testing.T) {
	for _, want := range []time.Time{
		time.Date(1973, 4, 1, 0, 0, 0, 0, time.UTC), time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(2026, 11, 28, 12, 30, 5, 0, time.UTC), time.Date(2199, 12, 31, 23, 59, 59, 0, time.UTC),
	} {
		for unit, n := range map[time.Duration]int64{
			time.Second: want.Unix(), time.Millisecond: want.UnixMilli(), time.Microsecond: want.UnixMicro(), time.Nanosecond: want.UnixNano(),
		} {
			at, told, ok := Time(n)
			require.Equal(t, []any{want, unit, true}, []any{at, told, ok}, "%d", n)
		}
	}
	for _, small := range []int64{0, 1, -1, 99_999_999} {
		at, unit, ok := Time(small)
		require.Equal(t, []any{time.UnixMilli(small).UTC(), time.Millisecond, true}, []any{at, unit, ok})
	}
	for _, large := range []int64{math.MaxInt64, math.MinInt64, mostNanos} {
		_, _, ok := Time(large)
		require.False(t, ok)
	}
}
