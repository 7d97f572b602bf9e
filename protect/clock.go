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

// ago is how long ago a moment was that another run may have noted; 0 for one that is not known, or of later.
func (now instant) ago(noted time.Time) time.Duration {
	if noted.IsZero() {
		return 0
	}
	return max(now.wall.Sub(noted.Round(0)), 0)
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
