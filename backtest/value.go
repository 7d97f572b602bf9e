package backtest

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/epoch"
)

// timeUnit is how a file writes its times.
type timeUnit string

const (
	unitUnknown timeUnit = ""
	unitRFC3339 timeUnit = "RFC 3339"
	unitLocal   timeUnit = "local time" // RFC 3339 without a zone
	unitSeconds timeUnit = "Unix seconds"
	unitMillis  timeUnit = "Unix milliseconds"
	unitMicros  timeUnit = "Unix microseconds"
	unitNanos   timeUnit = "Unix nanoseconds"
)

// The years that a time can lie in. No number is between them in two units.
const (
	firstSecond = 946_684_800   // 2000-01-01T00:00:00Z
	lastSecond  = 4_102_444_800 // 2100-01-01T00:00:00Z
)

var unitsOf = map[time.Duration]timeUnit{
	time.Second: unitSeconds, time.Millisecond: unitMillis, time.Microsecond: unitMicros, time.Nanosecond: unitNanos,
}

// time reads the time of the present line.
func (r *reader) time() (int64, error) {
	field := r.cols.time
	text := strings.TrimSpace(r.fields[field])
	if clock := r.cols.clock; clock >= 0 {
		text += " " + strings.TrimSpace(r.fields[clock])
	}
	zone := r.Zone
	if zone == nil {
		zone = r.layout.zone
	}
	at, unit, wrong, want := readTime(text, zone)
	r.local = unit == unitLocal
	if r.local {
		unit = unitRFC3339
	}
	switch {
	case wrong == noZone(text):
		want += ", or " + r.setting("Zone")
	case wrong != "" && r.cols.names[field] == "":
		wrong, want = fmt.Sprintf("the first column has no name, and %.40q in it is no time", text), "want the times as the index, or a column called time"
	}
	if wrong != "" {
		return 0, r.wrong(field, wrong, want)
	}
	if r.unit == unitUnknown {
		r.unit = unit
	}
	if unit != r.unit {
		if unit == unitRFC3339 || r.unit == unitRFC3339 {
			return 0, r.wrong(field, fmt.Sprintf("%q is in %s, and the times before it in %s", text, unit, r.unit), "want one form in the whole file")
		}
		r.units = true // no number is a time in two of them
	}
	if r.layout.ends > 0 && !strings.Contains(text, ".") {
		at += int64(r.layout.ends)
	}
	return at, nil
}

func noZone(text string) string { return fmt.Sprintf("%q has no zone", text) }

const wantTime = "want RFC 3339 with a zone, such as 2026-01-31T00:00:00Z, or a Unix time"

// readTime reads a time; wrong and want say why it cannot. A zone is that of times which name
// none.
func readTime(text string, zone *time.Location) (at int64, unit timeUnit, wrong, want string) {
	if text == "" {
		return 0, "", "it is empty", wantTime
	}
	unit = unitRFC3339
	if whole, rest, ok := readNumber(text); ok && len(text) != len("20060102") {
		if at, unit, ok := epoch.Time(whole); ok && at.Unix() >= firstSecond && at.Unix() < lastSecond {
			return at.UnixNano() + rest.Mul(decimal.NewFromInt(int64(unit))).IntPart(), unitsOf[unit], "", ""
		}
		return 0, "", fmt.Sprintf("%s is in no unit a time between 2000 and 2100", text), "want Unix seconds, milliseconds, microseconds or nanoseconds"
	}
	t, ok := readDate(text, withZone, time.UTC)
	if !ok {
		if t, ok = readDate(text, withoutZone, time.UTC); ok && zone == nil {
			return 0, "", noZone(text), "want " + t.Format(time.RFC3339) + " if it is UTC"
		}
		if ok {
			t, _ = readDate(text, withoutZone, zone)
			unit = unitLocal
		}
	}
	switch {
	case !ok:
		return 0, "", fmt.Sprintf("%.40q is no time", text), wantTime
	case t.Unix() < firstSecond || t.Unix() >= lastSecond:
		return 0, "", fmt.Sprintf("%.40q is not between 2000 and 2100", text), "want a time in these years"
	}
	return t.UnixNano(), unit, "", ""
}

var (
	withZone    = []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999Z07:00"}
	withoutZone = []string{
		"2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02",
		"2006.01.02 15:04:05.999999999", "2006.01.02 15:04", "2006.01.02",
		"20060102 150405.999", "20060102 150405", "20060102",
	}
)

func readDate(text string, layouts []string, zone *time.Location) (t time.Time, ok bool) {
	const thousandths = "20060102 150405999" // without a point, as histdata writes them
	if at := len(thousandths) - 3; len(text) == len(thousandths) && text[8] == ' ' {
		text = text[:at] + "." + text[at:]
	}
	for _, layout := range layouts {
		if t, err := time.ParseInLocation(layout, text, zone); err == nil {
			return t, true
		}
	}
	return t, false
}

// readNumber reads a Unix time, also one such as 1.7e9 or 1700000000.25, and what is behind its
// point.
func readNumber(text string) (whole int64, rest decimal.Decimal, ok bool) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, rest, true
	}
	if len(text) > 40 || text[0] < '0' || text[0] > '9' {
		return 0, rest, false
	}
	d, err := decimal.NewFromString(text)
	if err != nil || d.Exponent() < -40 || d.Exponent() > 18 || d.GreaterThan(decimal.NewFromInt(math.MaxInt64)) {
		return 0, rest, false
	}
	return d.IntPart(), d.Sub(d.Floor()), true
}

// maxDigits bounds a price, so that 10^-places of it fit into a word with room to spare.
const maxDigits = 15

// number reads the whole number of 10^-places that a field holds, and makes the series
// finer where it must.
func (r *reader) number(s *shape, field int) (int64, error) {
	text := strings.TrimSpace(r.fields[field])
	const want = "want a plain decimal such as 64000.5"
	if text == "" {
		return 0, r.wrong(field, "it is empty beside prices that are not", "want all four prices of a candle, or none where the market had none")
	}
	if len(text) > 40 {
		return 0, r.wrong(field, fmt.Sprintf("%.40q… is too long", text), want)
	}
	d, err := decimal.NewFromString(text)
	if err != nil {
		return 0, r.wrong(field, fmt.Sprintf("%q is not a number", text), want)
	}
	if !d.IsPositive() {
		return 0, r.wrong(field, text+" is not greater than 0", "want a price, or an empty field where the market had none")
	}
	if exp := int(d.Exponent()); exp > maxDigits || exp < -40 || exp+d.NumDigits() > maxDigits {
		return 0, r.wrong(field, text+" is out of range", fmt.Sprintf("want a price of at most %d digits", maxDigits))
	}
	places := placesOf(d)
	whole := d.Shift(max(places, s.places))
	if whole.LessThan(tooLarge) && (places <= s.places || s.refine(places)) {
		value := whole.IntPart()
		s.most = max(s.most, value)
		return value, nil
	}
	return 0, r.wrong(field, text+" has too many digits beside the other prices of "+s.symbol, fmt.Sprintf("want at most %d digits in all, before and after the point", maxDigits))
}

var tooLarge = decimal.New(1, maxDigits)

// placesOf is how many places a number has behind the point, without zeros at its end.
func placesOf(d decimal.Decimal) int32 {
	if d.Exponent() >= 0 {
		return 0
	}
	text := d.String()
	point := strings.IndexByte(text, '.')
	if point < 0 {
		return 0
	}
	return int32(len(strings.TrimRight(text, "0")) - point - 1)
}

// refine writes the series in finer units; false if they do not fit.
func (s *shape) refine(places int32) bool {
	if places > maxDigits {
		return false
	}
	by := decimal.New(1, places-s.places).IntPart()
	if by <= 0 || s.most > (1_000_000_000_000_000-1)/by {
		return false
	}
	finer := func(r *row) { r.open, r.high, r.low, r.close = r.open*by, r.high*by, r.low*by, r.close*by }
	finer(&s.first)
	for i := range s.rows {
		finer(&s.rows[i])
	}
	s.places, s.most = places, s.most*by
	return true
}

// absent reports whether a field holds no value.
func (r *reader) absent(field int) bool {
	text := strings.TrimSpace(r.fields[field])
	return text == "" || text == r.layout.absent
}

func (r *reader) mark(s *shape, made *row) error {
	if r.absent(r.cols.price) {
		return nil
	}
	price, err := r.number(s, r.cols.price)
	if err != nil {
		return err
	}
	made.open, made.high, made.low, made.close = price, price, price, price
	return nil
}

func (r *reader) candle(s *shape, made *row) error {
	c := r.cols
	at := [...]int{c.open, c.high, c.low, c.close}
	empty := 0
	for _, field := range at {
		if r.absent(field) {
			empty++
		}
	}
	if empty == 4 {
		return nil
	}
	to := [...]*int64{&made.open, &made.high, &made.low, &made.close}
	for i, field := range at {
		before := s.places
		price, err := r.number(s, field)
		if err != nil {
			return err
		}
		if by := decimal.New(1, s.places-before).IntPart(); by > 1 { // those of this line, too
			for _, earlier := range to[:i] {
				*earlier *= by
			}
		}
		*to[i] = price
	}
	switch {
	case made.high < max(made.open, made.close, made.low):
		return r.wrong(c.high, "the high "+r.fields[c.high]+" is below another price of the candle", "want the highest of the four")
	case made.low > min(made.open, made.close):
		return r.wrong(c.low, "the low "+r.fields[c.low]+" is above another price of the candle", "want the lowest of the four")
	}
	return r.volume()
}

// volume judges what is not used: where it is no number, the columns are mixed up.
func (r *reader) volume() error {
	at := r.cols.volume
	if at < 0 || r.absent(at) {
		return nil
	}
	text := strings.TrimSpace(r.fields[at])
	if len(text) > 40 {
		return r.wrong(at, fmt.Sprintf("%.40q… is too long", text), "want a number")
	}
	d, err := decimal.NewFromString(text)
	if err != nil || d.IsNegative() {
		return r.wrong(at, fmt.Sprintf("%q is no volume", text), "want a number that is 0 or more, or an empty field")
	}
	return nil
}
