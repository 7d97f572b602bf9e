package tradingsim

import (
	"cmp"
	"math/bits"
	"strconv"

	"github.com/shopspring/decimal"
)

// maxWord is how many digits always fit an int64.
const maxWord = 18

var powersOfTen = func() (list [maxWord + 1]int64) {
	list[0] = 1
	for i := range maxWord {
		list[i+1] = 10 * list[i]
	}
	return list
}()

// amount is an exact number: word × 10^exp, or wide if that is set. The amounts of a poll nearly
// all fit a word. Computed either way, the result is the number that package decimal computes,
// with the same exponent.
type amount struct {
	word int64
	exp  int32
	wide *decimal.Decimal
}

func amountOf(d decimal.Decimal) amount {
	if d.NumDigits() > maxWord {
		wide := d
		return amount{wide: &wide}
	}
	return amount{word: d.CoefficientInt64(), exp: d.Exponent()}
}

func (a amount) decimal() decimal.Decimal {
	if a.wide != nil {
		return *a.wide
	}
	return decimal.New(a.word, a.exp)
}

// words are those of two amounts at the smaller of their exponents. ok is false where one
// does not fit.
func words(a, b amount) (x, y int64, exp int32, ok bool) {
	if a.wide != nil || b.wide != nil {
		return 0, 0, 0, false
	}
	x, y, exp = a.word, b.word, a.exp
	switch apart := exp - b.exp; {
	case apart > 0:
		exp = b.exp
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

func (a amount) plus(b amount) amount {
	if x, y, exp, ok := words(a, b); ok && magnitude(x) <= 1<<62 && magnitude(y) < 1<<62 {
		return amount{word: x + y, exp: exp}
	}
	return amountOf(a.decimal().Add(b.decimal()))
}

func (a amount) minus(b amount) amount {
	if x, y, exp, ok := words(a, b); ok && magnitude(x) <= 1<<62 && magnitude(y) < 1<<62 {
		return amount{word: x - y, exp: exp}
	}
	return amountOf(a.decimal().Sub(b.decimal()))
}

func (a amount) times(b amount) amount {
	if a.wide == nil && b.wide == nil {
		if v, ok := times(a.word, b.word); ok {
			return amount{word: v, exp: a.exp + b.exp}
		}
	}
	return amountOf(a.decimal().Mul(b.decimal()))
}

// compare is -1, 0 or 1 as a is less than b, equal, or greater.
func (a amount) compare(b amount) int {
	x, y, _, ok := words(a, b)
	if !ok {
		return a.decimal().Cmp(b.decimal())
	}
	return cmp.Compare(x, y)
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

// append appends what a.decimal().String() returns.
func (a amount) append(b []byte) []byte {
	exp := int(a.exp)
	if exp > 0 || a.wide != nil {
		return append(b, a.decimal().String()...)
	}
	var room [24]byte
	digits := strconv.AppendInt(room[:0], a.word, 10)
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
