package backtest

import (
	"fmt"
	"time"
)

// A broker's candles follow its clock: where that changes, a day has 23 or 25 hours, and of autumn's
// hours one comes twice. So gaps are measured by the clock where they do not fit by time that passes.

// clock is the zone that the times of a file follow.
func (r *reader) clock() *time.Location {
	if r.Zone != nil {
		return r.Zone
	}
	if r.layout.zone != nil {
		return r.layout.zone
	}
	return time.UTC
}

// wall is what the clock shows at a time, in nanoseconds as if it were UTC.
func wall(at int64, zone *time.Location) int64 {
	_, offset := time.Unix(0, at).In(zone).Zone()
	return at + int64(offset)*int64(time.Second)
}

// atWall is the time at which the clock shows something.
func atWall(shown int64, zone *time.Location) int64 {
	t := time.Unix(0, shown).UTC()
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), zone).UnixNano()
}

// shownTwice are the two times at which the clock shows what it shows at a time; ok is false where it
// shows that once.
func shownTwice(at int64, zone *time.Location) (first, second int64, ok bool) {
	const change = 3 * int64(time.Hour) // no clock changes by more
	shown := wall(at, zone)
	for _, near := range [...]int64{at - change, at + change} {
		other := at + (wall(at, zone) - at) - (wall(near, zone) - near)
		if other != at && wall(other, zone) == shown {
			return min(at, other), max(at, other), true
		}
	}
	return at, at, false
}

// again is the time of a line that follows one of the same series: of two that the clock shows alike
// the one that comes next in the file's order.
func (r *reader) again(at, before int64) int64 {
	if !r.local {
		return at
	}
	first, second, ok := shownTwice(at, r.clock())
	switch {
	case !ok:
		return at
	case r.NewestFirst && (before == 0 || second < before):
		return second
	case r.NewestFirst || before == 0 || first > before:
		return first
	}
	return second
}

// apart is how far two candles are apart, by time that passes or by the clock: the longer.
func (r *reader) apart(a, b int64) int64 {
	zone := r.clock()
	shown := wall(b, zone) - wall(a, zone)
	return max(b-a, a-b, shown, -shown)
}

// opened turns the times of candles that are their closes into their openings.
func (r *reader) opened(s *shape) {
	zone, length := r.clock(), int64(s.interval)
	late := int64(0)
	const minute = int64(time.Minute)
	if length%minute == 0 && s.rows[0].at%minute == minute-int64(time.Second) {
		late = int64(time.Second) // a close is written as the last second inside
	}
	closed := int64(0) // of the candle before
	for i := range s.rows {
		at := s.rows[i].at
		if part := at % int64(time.Second); part >= 999*int64(time.Millisecond) { // the last moment inside
			at += int64(time.Second) - part
		} else if late > 0 && at%minute == minute-late {
			at += late
		}
		switch {
		case closed > 0 && (at-closed == length || wall(at, zone)-wall(closed, zone) == length):
			s.rows[i].at = closed
		case length > int64(time.Hour):
			s.rows[i].at = atWall(wall(at, zone)-length, zone)
		default:
			s.rows[i].at = at - length
		}
		closed = at
	}
}

// gaps judges that candles are one interval apart, or several, and notes the lengths of those that a
// clock change makes longer or shorter.
func (r *reader) gaps(s *shape, bad func(i int, wrong, want string) error) error {
	zone, length := r.clock(), int64(s.interval)
	missing := int64(0)
	for i := range s.rows {
		at := s.rows[i].at
		if at%int64(time.Second) != 0 {
			return bad(i, "the candle opens at "+stamp(at), "want whole seconds")
		}
		ends := at + length
		if length > int64(time.Hour) {
			ends = atWall(wall(at, zone)+length, zone)
		}
		if i+1 < len(s.rows) {
			next := s.rows[i+1].at
			passed, shown := next-at, wall(next, zone)-wall(at, zone)
			switch {
			case passed%length == 0:
				ends, missing = at+length, missing+passed/length-1
			case shown > 0 && shown%length == 0:
				ends, missing = min(ends, next), missing+shown/length-1
			default:
				want := "want candles one interval apart, or a whole number of them where some are missing; " + r.setting("Interval") + " sets the length"
				if r.Zone == nil {
					want += ", and " + r.setting("Zone") + ", if the clock that they follow changes, the zone"
				}
				return bad(i+1, fmt.Sprintf("the candle is %s after the one before it of %s, and a candle is %s long", time.Duration(passed), s.symbol, s.interval), want)
			}
		}
		if ends-at != length && ends > at {
			if s.odd == nil {
				s.odd = map[int]int64{}
			}
			s.odd[i] = ends - at
		}
	}
	if missing > 0 {
		r.data.notes = append(r.data.notes, fmt.Sprintf("%s: %d candles of %s are missing: the price before holds one bar, then the market has none", r.Name, missing, s.symbol))
	}
	return nil
}
