package protect

import "time"

// instant is a moment by both clocks of this machine. The wall clock may jump, and the
// monotonic one may stand while the machine sleeps.
type instant struct {
	wall time.Time
	mono time.Duration
}

// since is how long ago an earlier moment was, by the clock that says longer.
func (now instant) since(earlier instant) time.Duration {
	return max(now.wall.Sub(earlier.wall), now.mono-earlier.mono)
}

// unset reports whether it is no moment.
func (now instant) unset() bool { return now.wall.IsZero() }

// clockFrom reads both clocks, the monotonic one from a start.
func clockFrom(start time.Time) func() instant {
	return func() instant {
		t := time.Now()
		return instant{wall: t.Round(0), mono: t.Sub(start)}
	}
}
