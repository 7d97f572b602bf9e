package wire

import "time"

// Time is a point in time in whatever notation the service chose. One that
// cannot be read is kept as it came: a record is not lost over its time stamp.
type Time struct {
	at  time.Time
	raw string
}

// TimeAt returns the time stamp of t.
func TimeAt(t time.Time) Time { return Time{at: t.UTC()} }

// Get returns the time in UTC; ok is false if it could not be read.
func (t Time) Get() (at time.Time, ok bool) { return t.at, !t.at.IsZero() }

// Raw returns the text that could not be read, empty if it could.
func (t Time) Raw() string { return t.raw }

// Time reads milliseconds since the epoch, or a text in one of the forms of
// ISO 8601; one without a zone is in UTC.
func (d *Decoder) Time() Time {
	quoted := d.peek() == '"'
	text := d.number()
	if d.err != nil {
		return Time{}
	}
	at, ok := time.Time{}, false
	if !quoted || len(text) >= minMillisLen {
		at, ok = parseMillis(text)
	}
	if !ok && quoted {
		at, ok = parseTime(text)
	}
	// The zero time means "could not be read", and years of more than four
	// digits cannot be written again.
	if !ok || at.IsZero() || at.Year() < 0 || at.Year() > 9999 {
		return Time{raw: string(text)}
	}
	return Time{at: at}
}

// minMillisLen is the length from which a text of digits is milliseconds:
// shorter ones are dates such as 20261102, or before 1973.
const minMillisLen = 12

func parseMillis(text []byte) (time.Time, bool) {
	ms, problem := parseInt64(text)
	return time.UnixMilli(ms).UTC(), problem == noProblem
}

// isoLayouts are tried in turn. A fraction of a second is accepted by
// [time.Parse] behind the seconds of each.
var isoLayouts = [...]string{
	"2006-01-02T15:04:05",
	"2006-01-02 15:04:05",
	"2006-01-02T15:04:05Z0700",
	"2006-01-02T15:04:05Z07",
	"2006-01-02 15:04:05Z07:00",
	"2006-01-02 15:04:05Z0700",
	"2006-01-02 15:04:05 Z07:00",
	"2006-01-02 15:04:05 Z0700",
	"2006-01-02T15:04Z07:00",
	"2006-01-02T15:04",
	"20060102T150405Z0700",
	"20060102T150405",
	"2006-01-02",
	"20060102",
}

func parseTime(text []byte) (time.Time, bool) {
	var t time.Time
	if t.UnmarshalText(text) == nil { // RFC 3339, without an allocation
		return t.UTC(), true
	}
	if len(text) > len("2006-01-02T15:04:05.999999999 +00:00") {
		return time.Time{}, false
	}
	for _, layout := range isoLayouts {
		if t, err := time.Parse(layout, string(text)); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}
