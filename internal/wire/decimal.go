package wire

import (
	"math/big"
	"strconv"

	"github.com/shopspring/decimal"
)

const (
	// maxNumberLen bounds the text of a number. Converting digits to binary
	// takes quadratic time: a megabyte of them costs seconds and gigabytes.
	maxNumberLen = 64

	// maxExponent bounds the exponent in both directions, as written and
	// after the decimal point is moved to the end of the digits.
	maxExponent = 64

	// maxFastDigits is how many decimal digits always fit an int64.
	maxFastDigits = 18
)

// AppendDecimal appends d as a JSON number in plain notation: no exponent, no
// quotes, no digit more than needed, so that equal values are equal bytes. It
// depends on none of package decimal's global settings.
//
// The length follows the exponent of d, which the caller bounds if d did not
// come from [ParseDecimal].
func AppendDecimal(dst []byte, d decimal.Decimal) []byte {
	// The digits of a coefficient of up to 18 digits fit the stack.
	var buf [24]byte
	digits := buf[:0]
	if d.NumDigits() <= maxFastDigits {
		digits = strconv.AppendInt(digits, d.CoefficientInt64(), 10)
	} else {
		digits = d.Coefficient().Append(digits, 10)
	}
	if digits[0] == '-' {
		dst = append(dst, '-')
		digits = digits[1:]
	}
	exp := int(d.Exponent())
	for exp < 0 && len(digits) > 1 && digits[len(digits)-1] == '0' {
		digits = digits[:len(digits)-1]
		exp++
	}
	if len(digits) == 1 && digits[0] == '0' {
		return append(dst, '0')
	}
	switch point := len(digits) + exp; {
	case exp >= 0:
		dst = append(dst, digits...)
		return appendZeros(dst, exp)
	case point <= 0:
		dst = append(dst, '0', '.')
		dst = appendZeros(dst, -point)
		return append(dst, digits...)
	default:
		dst = append(dst, digits[:point]...)
		dst = append(dst, '.')
		return append(dst, digits[point:]...)
	}
}

func appendZeros(dst []byte, n int) []byte {
	for range n {
		dst = append(dst, '0')
	}
	return dst
}

// AppendNumber is [AppendDecimal] for any decimal. It reports false, and appends nothing,
// if the text would be longer than ParseDecimal reads, or the number has more than 128
// digits: arithmetic can make numbers that would fill the memory in plain notation.
func AppendNumber(dst []byte, d decimal.Decimal) ([]byte, bool) {
	// Judged first by what is cheap: the text is as long as the exponent is high, but for
	// the zeros that end the digits.
	if exp := d.Exponent(); !d.IsZero() && (exp > maxNumberLen || exp < -3*maxNumberLen || d.NumDigits() > 2*maxNumberLen) {
		return dst, false
	}
	text := AppendDecimal(dst, d)
	if len(text)-len(dst) > maxNumberLen {
		return dst, false
	}
	return text, true
}

// Writable reports whether d has a text that the service could read.
func Writable(d decimal.Decimal) bool {
	// Nearly every number is: with its sign, its point and the zero before that, the
	// text is no longer than this.
	if exp := int(d.Exponent()); max(exp, -exp) < maxNumberLen && d.NumDigits()+max(exp, -exp)+3 <= maxNumberLen {
		return true
	}
	var buf [3 * maxNumberLen]byte
	_, ok := AppendNumber(buf[:0], d)
	return ok
}

// NumberText renders d for people, and never fails.
func NumberText(d decimal.Decimal) string {
	if text, ok := AppendNumber(nil, d); ok {
		return string(text)
	}
	return d.Coefficient().String() + "e" + strconv.Itoa(int(d.Exponent()))
}

// ParseDecimal parses a JSON number exactly. It refuses what is not one by the
// grammar of RFC 8259 (such as "+5", ".5", "5." and "NaN"), more than 64 bytes
// of text, and an exponent beyond ±64. The error is an [*JSONError].
func ParseDecimal(text []byte) (decimal.Decimal, error) {
	d, problem := parseDecimal(text)
	if problem != noProblem {
		return decimal.Decimal{}, &JSONError{Problem: problem}
	}
	return d, nil
}

// parseDecimal is ParseDecimal without the allocation of an error.
func parseDecimal(text []byte) (decimal.Decimal, Problem) {
	if len(text) > maxNumberLen {
		return decimal.Decimal{}, NumberTooLong
	}
	n, ok := scanNumber(text)
	if !ok || n.end != len(text) {
		return decimal.Decimal{}, NotANumber
	}
	if problem := n.limits(); problem != noProblem {
		return decimal.Decimal{}, problem
	}
	return n.decimal(text), noProblem
}

// limits checks the number against the bounds of [ParseDecimal].
func (n *number) limits() Problem {
	if n.end > maxNumberLen {
		return NumberTooLong
	}
	if n.exponent > maxExponent || n.exponent < -maxExponent || n.scale() < -maxExponent {
		return NumberTooLarge
	}
	return noProblem
}

// scale is the exponent of the digits taken as an integer.
func (n *number) scale() int { return n.exponent - n.fraction }

// decimal returns the value of a number within limits, which text begins with.
func (n *number) decimal(text []byte) decimal.Decimal {
	if n.digits > maxFastDigits {
		return decimal.NewFromBigInt(bigCoefficient(text[:n.end]), int32(n.scale()))
	}
	if small, ok := smallDecimal(n.coefficient, n.scale()); ok {
		return small
	}
	return decimal.New(n.coefficient, int32(n.scale()))
}

// bigCoefficient collects the digits before the exponent of a valid number.
func bigCoefficient(text []byte) *big.Int {
	var buf [maxNumberLen]byte
	digits := buf[:0]
	for _, c := range text {
		if c == 'e' || c == 'E' {
			break
		}
		if c != '.' {
			digits = append(digits, c)
		}
	}
	coefficient, _ := new(big.Int).SetString(string(digits), 10)
	return coefficient
}

// smallDecimals are the coefficients that answers are full of (of zeros, leverages,
// percents, sizes, fees). A decimal is immutable, and so is the big.Int in it: those of
// another exponent share it, which saves its two allocations. Never written after
// initialization.
var smallDecimals = func() (table [1000]decimal.Decimal) {
	for c := range table {
		table[c] = decimal.New(int64(c), 0)
	}
	return table
}()

func smallDecimal(coefficient int64, exp int) (small decimal.Decimal, ok bool) {
	if 0 <= coefficient && coefficient < int64(len(smallDecimals)) {
		return smallDecimals[coefficient].Shift(int32(exp)), true
	}
	return decimal.Decimal{}, false
}

// number is what one pass over a JSON number finds out.
type number struct {
	end         int   // bytes that belong to the number
	coefficient int64 // the digits as an integer with the sign; meaningful up to 18 significant digits
	digits      int   // significant digits, that is without leading zeros
	fraction    int   // digits after the point
	exponent    int   // as written; capped far beyond any accepted one
}

// exponentCap keeps the exponent from overflowing however many digits it has.
const exponentCap = 1_000_000

// scanNumber reads the longest JSON number that text begins with.
func scanNumber(text []byte) (n number, ok bool) {
	i := 0
	negative := i < len(text) && text[i] == '-'
	if negative {
		i++
	}
	start := i
	i = n.scanDigits(text, i)
	if i == start || (text[start] == '0' && i > start+1) {
		return n, false
	}
	if i < len(text) && text[i] == '.' {
		start = i + 1
		i = n.scanDigits(text, start)
		if i == start {
			return n, false
		}
		n.fraction = i - start
	}
	if i < len(text) && (text[i] == 'e' || text[i] == 'E') {
		if i, ok = n.scanExponent(text, i+1); !ok {
			return n, false
		}
	}
	if negative {
		n.coefficient = -n.coefficient
	}
	n.end = i
	return n, true
}

func (n *number) scanDigits(text []byte, i int) int {
	for ; i < len(text); i++ {
		c := text[i] - '0'
		if c > 9 {
			break
		}
		if n.digits > 0 || c != 0 {
			n.digits++
			// Wraps around beyond 18 digits, where nobody reads it.
			n.coefficient = n.coefficient*10 + int64(c)
		}
	}
	return i
}

func (n *number) scanExponent(text []byte, i int) (end int, ok bool) {
	negative := false
	if i < len(text) && (text[i] == '+' || text[i] == '-') {
		negative = text[i] == '-'
		i++
	}
	start := i
	for ; i < len(text); i++ {
		c := text[i] - '0'
		if c > 9 {
			break
		}
		n.exponent = min(n.exponent*10+int(c), exponentCap)
	}
	if negative {
		n.exponent = -n.exponent
	}
	return i, i > start
}
