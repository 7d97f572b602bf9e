package tradingsim

import (
	"math/bits"
	"strconv"

	"github.com/shopspring/decimal"
)

// The amounts of a poll nearly all fit a machine word. Here they are computed with as one;
// what does not fit, package decimal computes. Either way the result is the same number
// with the same exponent.

// maxWord is how many digits always fit an int64.
const maxWord = 18

var powersOfTen = func() (list [maxWord + 1]int64) {
	list[0] = 1
	for i := range maxWord {
		list[i+1] = 10 * list[i]
	}
	return list
}()

// words are the coefficients of two numbers at the smaller of their exponents. ok is false
// where one does not fit.
func words(a, b decimal.Decimal) (x, y int64, exp int32, ok bool) {
	if a.NumDigits() > maxWord || b.NumDigits() > maxWord {
		return 0, 0, 0, false
	}
	x, y, exp = a.CoefficientInt64(), b.CoefficientInt64(), a.Exponent()
	switch apart := exp - b.Exponent(); {
	case apart > 0:
		exp = b.Exponent()
		x, ok = scaled(x, apart)
	case apart < 0:
		y, ok = scaled(y, -apart)
	default:
		ok = true
	}
	return x, y, exp, ok
}

// scaled is v × 10^by, if that fits.
func scaled(v int64, by int32) (int64, bool) {
	if by < 0 || by > maxWord {
		return 0, false
	}
	return times(v, powersOfTen[by])
}

func times(a, b int64) (int64, bool) {
	hi, lo := bits.Mul64(magnitude(a), magnitude(b))
	if hi != 0 || lo > 1<<62 {
		return 0, false
	}
	if (a < 0) != (b < 0) {
		return -int64(lo), true
	}
	return int64(lo), true
}

func magnitude(v int64) uint64 {
	if v < 0 {
		return -uint64(v)
	}
	return uint64(v)
}

func sum(a, b decimal.Decimal) decimal.Decimal {
	if x, y, exp, ok := words(a, b); ok && magnitude(x) <= 1<<62 && magnitude(y) < 1<<62 {
		return decimal.New(x+y, exp)
	}
	return a.Add(b)
}

func difference(a, b decimal.Decimal) decimal.Decimal {
	if x, y, exp, ok := words(a, b); ok && magnitude(x) <= 1<<62 && magnitude(y) < 1<<62 {
		return decimal.New(x-y, exp)
	}
	return a.Sub(b)
}

func product(a, b decimal.Decimal) decimal.Decimal {
	if a.NumDigits() <= maxWord && b.NumDigits() <= maxWord {
		if v, ok := times(a.CoefficientInt64(), b.CoefficientInt64()); ok {
			return decimal.New(v, a.Exponent()+b.Exponent())
		}
	}
	return a.Mul(b)
}

// compare is -1, 0 or 1 as a is less than b, equal, or greater.
func compare(a, b decimal.Decimal) int {
	x, y, _, ok := words(a, b)
	switch {
	case !ok:
		return a.Cmp(b)
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// reciprocal is 1/d where it has few places, as that of a usual leverage has.
func reciprocal(d decimal.Decimal) opt {
	if !d.IsInteger() || !d.IsPositive() || d.NumDigits() > 4 {
		return opt{}
	}
	whole := d.IntPart()
	for places, power := range powersOfTen[:5] {
		if power%whole == 0 {
			return some(decimal.New(power/whole, -int32(places)))
		}
	}
	return opt{}
}

// appendNumber appends what d.String() returns.
func appendNumber(b []byte, d decimal.Decimal) []byte {
	exp := int(d.Exponent())
	if exp > 0 || d.NumDigits() > maxWord {
		return append(b, d.String()...)
	}
	var room [24]byte
	digits := strconv.AppendInt(room[:0], d.CoefficientInt64(), 10)
	if digits[0] == '-' {
		b = append(b, '-')
		digits = digits[1:]
	}
	for exp < 0 && len(digits) > 1 && digits[len(digits)-1] == '0' {
		digits, exp = digits[:len(digits)-1], exp+1
	}
	point := len(digits) + exp
	switch {
	case len(digits) == 1 && digits[0] == '0':
		return append(b, '0')
	case exp == 0:
		return append(b, digits...)
	case point > 0:
		b = append(append(b, digits[:point]...), '.')
		return append(b, digits[point:]...)
	}
	b = append(b, "0."...)
	for range -point {
		b = append(b, '0')
	}
	return append(b, digits...)
}
