package trading

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/wire"
)

// Dec returns the number that text spells, for constants in source code:
//
//	MaxSlippagePct: trading.At(trading.Dec("0.5"))
//
// The text is written as a JSON number ("42", "-0.5", "1e-7"; not ".5" or
// "+5"), of at most 64 bytes. Dec panics on anything else, so it is not for
// text that the program reads: use [decimal.NewFromString] there.
func Dec(text string) decimal.Decimal {
	d, err := wire.ParseDecimal([]byte(text))
	if err != nil {
		panic("trading: Dec(" + strconv.Quote(text) + "): " + err.Error())
	}
	return d
}

// errUnwritable is a number that arithmetic made longer or larger than any
// amount, price or percent of the service. In plain notation it could fill the
// memory, and nothing could read it back.
var errUnwritable = errors.New("number has too many digits for the wire")

// maxNumber is the length in bytes of the longest number that
// [wire.ParseDecimal] reads.
const maxNumber = 64

// appendNumber appends d as a JSON number in plain notation, whatever the global
// settings of package decimal are in this program. It reports false, and appends
// nothing, if the number would be too long.
func appendNumber(dst []byte, d decimal.Decimal) ([]byte, bool) {
	// Judged first by what is cheap: the text is as long as the exponent is high.
	if exp := d.Exponent(); exp > maxNumber || exp < -maxNumber || d.NumDigits() > 2*maxNumber {
		return dst, false
	}
	text := wire.AppendDecimal(dst, d)
	if len(text)-len(dst) > maxNumber {
		return dst, false
	}
	return text, true
}

// writable reports whether d has a text that the service could read.
func writable(d decimal.Decimal) bool {
	// Nearly every number is: with its sign, its point and the zero before that, the
	// text is no longer than this.
	if exp := int(d.Exponent()); max(exp, -exp) < maxNumber && d.NumDigits()+max(exp, -exp)+3 <= maxNumber {
		return true
	}
	var buf [3 * maxNumber]byte
	_, ok := appendNumber(buf[:0], d)
	return ok
}

// numberJSON is appendNumber with an error; what names the type in it.
func numberJSON(d decimal.Decimal, what string) ([]byte, error) {
	text, ok := appendNumber(nil, d)
	if !ok {
		return nil, fmt.Errorf("trading: %s: %w", what, errUnwritable)
	}
	return text, nil
}

// numberText renders d for people, and never fails.
func numberText(d decimal.Decimal) string {
	if text, ok := appendNumber(nil, d); ok {
		return string(text)
	}
	return d.Coefficient().String() + "e" + strconv.Itoa(int(d.Exponent()))
}

// parseNumber is the reverse of numberJSON: what it reads can be written.
func parseNumber(data []byte, what string) (decimal.Decimal, error) {
	d, err := wire.ParseDecimal(data)
	if err == nil && !writable(d) {
		err = errUnwritable
	}
	if err != nil {
		return decimal.Decimal{}, fmt.Errorf("trading: %s: %w", what, err)
	}
	return d, nil
}

func isNull(data []byte) bool { return string(data) == "null" }
