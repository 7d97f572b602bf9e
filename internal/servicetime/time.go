// Package servicetime keeps the service's clock apart from those of this machine, so that a
// time of the service is compared with another time of the service or not at all: what
// compares one with a [time.Time] does not compile.
//
// Of a moment of this machine only [Clock.At] says what time it was for the service, and
// only while answers of the service prove it. Where nothing does, the [Time] is not known:
// a rule that needs it takes its careful branch.
package servicetime

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// Time is a moment by the service's clock, to the millisecond. The zero Time is one that is
// not known. Its JSON is the milliseconds since 1970.
type Time struct {
	ms int64
}

// maxMilli is some 100,000 years, and leaves room to reckon with.
const maxMilli = 1 << 52

// Shown is the time that a record of the service shows; not known if it shows none. It is
// for such records alone: [Clock.At] is for moments of this machine.
func Shown(at time.Time) Time {
	if at.IsZero() {
		return Time{}
	}
	if seconds := at.Unix(); seconds <= -maxMilli/1000 || seconds >= maxMilli/1000 {
		return Time{} // whose milliseconds could not be reckoned with
	}
	return Time{at.UnixMilli()}
}

// IsZero reports whether the time is not known.
func (t Time) IsZero() bool { return t.ms == 0 }

// Before reports whether t is before o; false if either is not known.
func (t Time) Before(o Time) bool { return !t.IsZero() && !o.IsZero() && t.ms < o.ms }

// After reports whether t is after o; false if either is not known.
func (t Time) After(o Time) bool { return o.Before(t) }

// Add returns the time so much later. A time that is not known stays so.
func (t Time) Add(d time.Duration) Time {
	if t.IsZero() {
		return t
	}
	return Time{t.ms + d.Milliseconds()}
}

// Since returns how much later t is than o; known is false if either is not known.
func (t Time) Since(o Time) (d time.Duration, known bool) {
	if t.IsZero() || o.IsZero() {
		return 0, false
	}
	const most = math.MaxInt64 / int64(time.Millisecond) // some 292 years
	return time.Duration(min(max(t.ms-o.ms, -most), most)) * time.Millisecond, true
}

// UnixMilli is the time in milliseconds since 1970; 0 if it is not known.
func (t Time) UnixMilli() int64 { return t.ms }

// String returns the time in UTC.
func (t Time) String() string {
	if t.IsZero() {
		return "not known"
	}
	return time.UnixMilli(t.ms).UTC().Format("2006-01-02T15:04:05.000Z07:00")
}

// MarshalJSON implements [encoding/json.Marshaler].
func (t Time) MarshalJSON() ([]byte, error) { return strconv.AppendInt(nil, t.ms, 10), nil }

// UnmarshalJSON implements [encoding/json.Unmarshaler].
func (t *Time) UnmarshalJSON(text []byte) error {
	ms, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || ms < -maxMilli || ms > maxMilli {
		return fmt.Errorf("a time of the service must be milliseconds since 1970, not %.40q", text)
	}
	t.ms = ms
	return nil
}
