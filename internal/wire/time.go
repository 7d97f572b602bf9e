package wire

import (
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/epoch"
)

// Timestamp is a point in time in whatever notation the service chose. One that
// cannot be read is kept as it came: a record is not lost over its time stamp.
type Timestamp struct {
	at  time.Time
	raw string
}

// Get returns the time in UTC; ok is false if it could not be read.
func (t Timestamp) Get() (at time.Time, ok bool) { return t.at, !t.at.IsZero() }

// Raw returns the text that could not be read, empty if it could.
func (t Timestamp) Raw() string { return t.raw }

// Time reads a number since 1970, whose unit its size shows, or a text in one of the forms
// of ISO 8601; one without a zone is in UTC.
func (d *Decoder) Time() Timestamp {
	if d.peek() == '"' {
		return parseTime(d.text())
	}
	n, text, _ := d.number()
	if d.err != nil {
		return Timestamp{}
	}
	return timeOfNumber(n, text)
}

// parseTime reads the text of a time stamp.
func parseTime(text []byte) Timestamp {
	// Fewer digits than seconds have had since 2001 are a date.
	const leastDigits = 10
	if len(text) >= leastDigits {
		if n, ok := scanNumber(text); ok && n.end == len(text) {
			return timeOfNumber(n, text)
		}
	}
	return readableTime(parseISO(text), text)
}

// timeOfNumber is the time of a number, which text begins with.
func timeOfNumber(n number, text []byte) Timestamp {
	var at time.Time
	if whole, problem := n.int64(text); problem == noProblem {
		at, _, _ = epoch.Time(whole)
	}
	return readableTime(at, text[:n.end])
}

// The years that can be written with four digits.
const (
	minUnix = -62167219200 // 0000-01-01
	maxUnix = 253402300799 // 9999-12-31
)

// readableTime is at, or the text that it was made of if at is no time that
// can be used. The zero time says that the text could not be read.
func readableTime(at time.Time, text []byte) Timestamp {
	if at.IsZero() || at.Unix() < minUnix || at.Unix() > maxUnix {
		return Timestamp{raw: string(text)}
	}
	return Timestamp{at: at.UTC()}
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

// parseISO returns the zero time for a text in none of the layouts.
func parseISO(text []byte) time.Time {
	var at time.Time
	if at.UnmarshalText(text) == nil { // RFC 3339, without an allocation
		return at
	}
	if len(text) > len("2006-01-02T15:04:05.999999999 +00:00") {
		return time.Time{}
	}
	for _, layout := range isoLayouts {
		if at, err := time.Parse(layout, string(text)); err == nil {
			return at
		}
	}
	return time.Time{}
}

// Duration returns a number of units as a time, bounded by a day either way: the service
// counts seconds and milliseconds of age, and a decimal can be any number.
func Duration(n decimal.Decimal, unit time.Duration) time.Duration {
	const bound = 24 * time.Hour
	if n.Exponent() < 0 {
		n = n.Mul(decimal.NewFromInt(int64(unit)))
		unit = 1
	}
	// A day has 14 digits of nanoseconds; more digits than that are out of bounds
	// whatever the unit, and would overflow.
	if n.NumDigits()+int(n.Exponent()) > 15 {
		return bound * time.Duration(n.Sign())
	}
	whole := n.IntPart()
	if limit := int64(bound / unit); whole > limit || whole < -limit {
		return bound * time.Duration(n.Sign())
	}
	return time.Duration(whole) * unit
}
