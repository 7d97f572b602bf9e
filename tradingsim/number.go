package tradingsim

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/shopspring/decimal"
)

// quotientPlaces is where a quotient is cut. What a cut leaves over stays with
// the other share, so nothing is lost.
const quotientPlaces = 16

var hundred = decimal.NewFromInt(100)

// num is a number on the wire: a JSON number in plain notation, never quoted,
// never with an exponent.
type num decimal.Decimal

func (n num) MarshalJSON() ([]byte, error) { return []byte(decimal.Decimal(n).String()), nil }

// opt is a number that may be absent. The zero value is absent: null on the wire.
type opt struct {
	value decimal.Decimal
	set   bool
}

func some(d decimal.Decimal) opt { return opt{value: d, set: true} }

func (o opt) MarshalJSON() ([]byte, error) {
	if !o.set {
		return []byte("null"), nil
	}
	return []byte(o.value.String()), nil
}

func (o opt) equal(p opt) bool {
	return o.set == p.set && (!o.set || o.value.Equal(p.value))
}

// must reads a number that a test wrote.
func must(what, text string) decimal.Decimal {
	d, err := parseNumber(text)
	if err != nil {
		panic(fmt.Sprintf("tradingsim: %s: %v", what, err))
	}
	return d
}

// mustOr is must with a default for "", and takes nothing below 0.
func mustOr(what, text, fallback string) decimal.Decimal {
	if text == "" {
		text = fallback
	}
	d := must(what, text)
	if d.IsNegative() {
		panic(fmt.Sprintf("tradingsim: %s must not be negative, and is %s", what, text))
	}
	return d
}

// parseNumber reads a number of bounded length and exponent: a literal such as
// 1e999999999 is short to send and endless to compute with.
func parseNumber(text string) (decimal.Decimal, error) {
	const maxLength, maxExponent = 64, 30
	if len(text) > maxLength {
		return decimal.Decimal{}, fmt.Errorf("a number of %d characters", len(text))
	}
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		exponent, err := strconv.Atoi(text[i+1:])
		if err != nil || exponent > maxExponent || exponent < -maxExponent {
			return decimal.Decimal{}, fmt.Errorf("the exponent of %q is out of range", text)
		}
	}
	d, err := decimal.NewFromString(text)
	if err != nil {
		return decimal.Decimal{}, fmt.Errorf("%q is not a number", text)
	}
	return d, nil
}

// percent is part of whole in percent, for messages and estimates.
func percent(part, whole decimal.Decimal) decimal.Decimal {
	return part.Mul(hundred).DivRound(whole, quotientPlaces)
}

// dollars writes an amount for a person.
func dollars(d decimal.Decimal) string { return "$" + d.StringFixed(2) }

// fields are the members of a request body. Names are exact: encoding/json
// would also fill a struct from "SIZE".
type fields map[string]json.RawMessage

// presence is how a member was sent.
type presence int

const (
	absent presence = iota
	null
	malformed
	given
)

// parseFields reads a body; ok is false unless it is one JSON object. JSON is UTF-8,
// which encoding/json does not insist on.
func parseFields(body []byte) (f fields, ok bool) {
	if !utf8.Valid(body) {
		return nil, false
	}
	if err := json.Unmarshal(body, &f); err != nil || f == nil {
		return nil, false
	}
	return f, true
}

func (f fields) presence(name string) (json.RawMessage, presence) {
	raw, ok := f[name]
	switch {
	case !ok:
		return nil, absent
	case string(raw) == "null":
		return nil, null
	}
	return raw, given
}

func (f fields) text(name string) (string, presence) {
	raw, p := f.presence(name)
	if p != given {
		return "", p
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", malformed
	}
	return s, given
}

func (f fields) number(name string) (decimal.Decimal, presence) {
	raw, p := f.presence(name)
	if p != given {
		return decimal.Decimal{}, p
	}
	if raw[0] != '-' && (raw[0] < '0' || raw[0] > '9') {
		return decimal.Decimal{}, malformed
	}
	return readNumber(string(raw)), given
}

const (
	// maxDigits are the significant digits of a request's number that are kept.
	maxDigits = 60
	// maxMagnitude bounds the exponent of a request's number: beyond it every
	// number is as good as any other.
	maxMagnitude = 100
)

// readNumber reads a JSON number of any length and exponent into a decimal of bounded
// size. It compares with every amount of the simulation as the number itself would:
// digits beyond the kept ones leave a last digit 1 behind, and a magnitude out of all
// bounds stops at the bound.
func readNumber(literal string) decimal.Decimal {
	sign := ""
	if literal[0] == '-' {
		sign, literal = "-", literal[1:]
	}
	mantissa, power := literal, int64(0)
	if i := strings.IndexAny(literal, "eE"); i >= 0 {
		mantissa = literal[:i]
		power = readPower(literal[i+1:])
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	power -= int64(len(fraction))
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return decimal.Zero
	}
	if more := len(digits) - maxDigits; more > 0 {
		sticky := strings.Trim(digits[maxDigits:], "0") != ""
		digits, power = digits[:maxDigits], power+int64(more)
		if sticky {
			digits, power = digits+"1", power-1
		}
	}
	switch magnitude := power + int64(len(digits)); {
	case magnitude > maxMagnitude:
		digits, power = "1", maxMagnitude
	case magnitude < -maxMagnitude:
		digits, power = "1", -maxMagnitude
	}
	return decimal.RequireFromString(sign + digits + "e" + strconv.FormatInt(power, 10))
}

// readPower reads the digits after the e, no farther than any mantissa of a request
// could bring back.
func readPower(text string) int64 {
	const far = 1 << 40
	power, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err == nil:
		return max(-far, min(far, power))
	case text[0] == '-':
		return -far
	}
	return far
}

func (f fields) flag(name string) (bool, presence) {
	raw, p := f.presence(name)
	if p != given {
		return false, p
	}
	var b bool
	if err := json.Unmarshal(raw, &b); err != nil {
		return false, malformed
	}
	return b, given
}
