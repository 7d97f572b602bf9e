package postgres

import "time"

// moment is a point in time by two clocks: one that runs through a suspend and never jumps, and
// the wall.
type moment struct {
	boot time.Duration
	wall time.Time
}

// clock reads both. Tests have their own.
type clock func() moment

// now is this machine's clock.
func now() moment { return moment{sinceBoot(), time.Now().Round(0)} }

// since is how long ago a moment was, by the clock that says longer.
func (m moment) since(then moment) time.Duration {
	return max(m.boot-then.boot, m.wall.Sub(then.wall))
}
