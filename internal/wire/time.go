package wire

import (
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/epoch"
)

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

// Time reads a number since 1970, whose unit its size shows, or a text in one of the forms
// of ISO 8601; one without a zone is in UTC.
func (d *Decoder) Time() Time {
	if d.peek() == '"' {
		return parseTime(d.text())
	}
	n, text, _ := d.number()
	if d.err != nil {
		return Time{}
	}
	return timeOfNumber(n, text)
}

// parseTime reads the text of a time stamp.
func parseTime(text []byte) Time {
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
func timeOfNumber(n number, text []byte) Time {
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
func readableTime(at time.Time, text []byte) Time {
	if at.IsZero() || at.Unix() < minUnix || at.Unix() > maxUnix {
		return Time{raw: string(text)}
	}
	return TimeAt(at)
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
	if at, ok := parseUTC(text); ok {
		return at
	}
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

// parseUTC reads the notation that the service uses, 2006-01-02T15:04:05Z with or
// without a fraction, in one pass: a list of trades has two of them a row. Of any
// other text it says nothing.
func parseUTC(text []byte) (at time.Time, ok bool) {
	const seconds = len("2006-01-02T15:04:05")
	if len(text) <= seconds || text[len(text)-1] != 'Z' || text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' || text[16] != ':' {
		return time.Time{}, false
	}
	year, month, day := twoDigits(text)*100+twoDigits(text[2:]), twoDigits(text[5:]), twoDigits(text[8:])
	hour, minute, second := twoDigits(text[11:]), twoDigits(text[14:]), twoDigits(text[17:])
	switch {
	case min(year, month, day, hour, minute, second) < 0,
		month < 1 || month > 12 || hour > 23 || minute > 59 || second > 59,
		day < 1 || day > 28 && day > daysIn(year, month):
		return time.Time{}, false
	}
	nanos, unit := 0, 1_000_000_000
	for i, c := range text[seconds : len(text)-1] {
		if i == 0 {
			if c != '.' || len(text) == seconds+2 {
				return time.Time{}, false
			}
			continue
		}
		if unit /= 10; unit == 0 || c < '0' || c > '9' {
			return time.Time{}, false
		}
		nanos += int(c-'0') * unit
	}
	unix := daysSince1970(year, month, day)*86400 + int64(hour*3600+minute*60+second)
	return time.Unix(unix, int64(nanos)).UTC(), true
}

// twoDigits returns the number that text begins with; a negative one if it does not.
func twoDigits(text []byte) int {
	tens, ones := text[0]-'0', text[1]-'0'
	if tens > 9 || ones > 9 {
		return -10_000 // less than any other two can make good
	}
	return int(tens)*10 + int(ones)
}

func daysIn(year, month int) int {
	switch {
	case month == 4 || month == 6 || month == 9 || month == 11:
		return 30
	case month != 2:
		return 31
	case year%4 == 0 && (year%100 != 0 || year%400 == 0):
		return 29
	default:
		return 28
	}
}

// daysSince1970 counts the days of the Gregorian calendar. A year is taken to begin
// in March, so that a leap day is the last of its year.
func daysSince1970(year, month, day int) int64 {
	if month <= 2 {
		year--
		month += 12
	}
	const before1970 = 719_468 // from the first of March of the year 0
	ofMonths := (153*(month-3) + 2) / 5
	return int64(365*year+floorDiv(year, 4)-floorDiv(year, 100)+floorDiv(year, 400)+ofMonths+day-1) - before1970
}

// floorDiv divides rounding down: January of the year 0 belongs to the year -1.
func floorDiv(a, b int) int {
	if a < 0 {
		return -((b - 1 - a) / b)
	}
	return a / b
}

// Duration returns a number of units as a time, bounded by a day either way: the service
// counts seconds and milliseconds of age, and a decimal can be any number.
func Duration(n decimal.Decimal, unit time.Duration) time.Duration {
	const bound = 24 * time.Hour
	if n.Exponent() < 0 {
		n = n.Mul(decimal.NewFromInt(int64(unit))).Truncate(0)
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
