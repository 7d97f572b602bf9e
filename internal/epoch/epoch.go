// Package epoch reads whole numbers that are a time since 1970. Files and services write them in
// seconds, milliseconds, microseconds or nanoseconds, and do not say which.
package epoch

import "time"

// Each unit has times from 1973 on that are numbers of no other: a second of the year 5138 has fewer
// digits than a millisecond of 1973.
const (
	leastSeconds = 100_000_000
	leastMillis  = leastSeconds * 1000
	leastMicros  = leastMillis * 1000
	leastNanos   = leastMicros * 1000
	mostNanos    = 7_258_118_400 * 1_000_000_000 // 2200: beyond it are numbers that mean "never"
)

// Time returns the time of a number in UTC, and the unit that its size shows. A number that is too small
// to show one is of milliseconds; ok is false of one that is too large.
func Time(n int64) (at time.Time, unit time.Duration, ok bool) {
	size := n
	if n < 0 {
		size = -n
	}
	switch {
	case size < 0 || size >= mostNanos:
		return time.Time{}, 0, false
	case size >= leastNanos:
		return time.Unix(0, n).UTC(), time.Nanosecond, true
	case size >= leastMicros:
		return time.UnixMicro(n).UTC(), time.Microsecond, true
	case size >= leastSeconds && size < leastMillis:
		return time.Unix(n, 0).UTC(), time.Second, true
	}
	return time.UnixMilli(n).UTC(), time.Millisecond, true
}
