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
// The length follows the exponent of d: a number that did not come from
// [ParseDecimal] is to be checked with [FitsDecimal] first.
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

// FitsDecimal reports whether d is within the bounds of [ParseDecimal]: what
// a caller computed can have any number of digits and any exponent.
func FitsDecimal(d decimal.Decimal) bool {
	exp := int(d.Exponent())
	if exp > maxExponent || exp < -maxExponent {
		return false
	}
	digits := d.NumDigits()
	// The sign, the leading zero and the point also take room.
	return digits+max(exp, 0)+1 <= maxNumberLen && max(digits, -exp)+3 <= maxNumberLen
}

// ParseDecimal parses a JSON number exactly. It refuses what is not one by the
// grammar of RFC 8259 (such as "+5", ".5", "5." and "NaN"), more than 64 bytes
// of text, and an exponent beyond ±64. The error is an [*Error].
func ParseDecimal(text []byte) (decimal.Decimal, error) {
	d, problem := parseDecimal(text)
	if problem != noProblem {
		return decimal.Decimal{}, &Error{Problem: problem}
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
	exp := n.exponent - n.fraction
	if n.exponent > maxExponent || n.exponent < -maxExponent || exp < -maxExponent {
		return decimal.Decimal{}, NumberTooLarge
	}
	if n.digits > maxFastDigits {
		return decimal.NewFromBigInt(bigCoefficient(text), int32(exp)), noProblem
	}
	return newDecimal(n.coefficient, exp), noProblem
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

const (
	smallCoefficients = 128
	smallExponents    = 3 // 0, -1 and -2: counts, tenths and cents
)

// smallDecimals are the numbers that answers are full of (zeros, leverages,
// percents, cents of fees). A decimal is immutable, so they can be shared; each
// saves the two allocations of a big.Int. Never written after initialization.
var smallDecimals = func() (table [smallExponents][smallCoefficients]decimal.Decimal) {
	for e := range table {
		for c := range table[e] {
			table[e][c] = decimal.New(int64(c), int32(-e))
		}
	}
	return table
}()

func newDecimal(coefficient int64, exp int) decimal.Decimal {
	if 0 <= coefficient && coefficient < smallCoefficients && -smallExponents < exp && exp <= 0 {
		return smallDecimals[-exp][coefficient]
	}
	return decimal.New(coefficient, int32(exp))
}
