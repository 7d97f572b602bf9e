package values

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/wire"
)

func TestDec(t *testing.T) {
	for text, want := range map[string]decimal.Decimal{
		"0":     decimal.Zero,
		"42":    decimal.New(42, 0),
		"-0.50": decimal.New(-5, -1),
		"1e-7":  decimal.New(1, -7),
	} {
		assert.True(t, trading.Dec(text).Equal(want), "Dec(%q) is %v", text, trading.Dec(text))
	}
	for _, text := range []string{"", " 1", ".5", "5.", "+5", "1,000", "0x10", "NaN", "Infinity", "null", "1e999999999"} {
		assert.Panics(t, func() { trading.Dec(text) }, "Dec(%q)", text)
	}
}

// The service takes JSON numbers: no quotes, no exponent, no digit lost.
func TestTrap_T100_NumbersArePlain(t *testing.T) {
	for text, want := range map[string]string{
		"1e-7":                    "0.0000001",
		"9e-05":                   "0.00009",
		"6E4":                     "60000",
		"0.10":                    "0.1",
		"100":                     "100",
		"99987.1234":              "99987.1234",
		"12345678901234567.89012": "12345678901234567.89012",
	} {
		d := trading.Dec(text)
		for _, v := range []any{trading.MarkAt(d), trading.At(d), trading.Percent(d), trading.Some(d)} {
			got, err := json.Marshal(v)
			assert.NoError(t, err)
			assert.Equal(t, want, string(got), "%s as %T", text, v)
		}
	}
}

// unwritable are numbers that arithmetic can produce and that would take
// gigabytes in plain notation.
var unwritable = []decimal.Decimal{
	decimal.New(1, 2_000_000_000),
	decimal.New(1, -2_000_000_000),
}

func TestUnwritableNumbers(t *testing.T) {
	for _, d := range unwritable {
		assert.False(t, wire.Writable(d))
		assert.Equal(t, fmt.Sprintf("1e%d", d.Exponent()), wire.NumberText(d))

		for _, v := range []interface{ MarshalJSON() ([]byte, error) }{
			trading.MarkAt(d), trading.At(d), trading.Percent(d), trading.Some(d),
		} {
			_, err := v.MarshalJSON()
			assert.ErrorContains(t, err, "too many digits for the wire", "%T", v)
			assert.LessOrEqual(t, len(fmt.Sprint(v)), 16, "%T", v)
		}
	}
}

// What this package prints and writes does not depend on the settings of package
// decimal, which any part of the program can change at any time.
func TestSettingsOfPackageDecimalAreIgnored(t *testing.T) {
	defer func(quotes, zeros, scientific bool) {
		decimal.MarshalJSONWithoutQuotes = quotes
		decimal.TrimTrailingZeros = zeros
		decimal.UseScientificNotation = scientific
	}(decimal.MarshalJSONWithoutQuotes, decimal.TrimTrailingZeros, decimal.UseScientificNotation)

	d := decimal.New(15000, -4) // 1.5
	k := decimal.New(12, 2)     // 1200
	for _, on := range []bool{false, true} {
		decimal.MarshalJSONWithoutQuotes = on
		decimal.TrimTrailingZeros = on
		decimal.UseScientificNotation = on

		assert.Equal(t, "1.5 1.5 1.5 1.5%", fmt.Sprint(trading.MarkAt(d), " ", trading.At(d), " ", trading.Some(d), " ", trading.Percent(d)))
		assert.Equal(t, "1200 1200 1200 1200%", fmt.Sprint(trading.MarkAt(k), " ", trading.At(k), " ", trading.Some(k), " ", trading.Percent(k)))
		for _, v := range []interface{ MarshalJSON() ([]byte, error) }{
			trading.MarkAt(d), trading.At(d), trading.Some(d), trading.Percent(d),
		} {
			text, err := v.MarshalJSON()
			assert.NoError(t, err)
			assert.Equal(t, "1.5", string(text), "%T", v)
		}
	}
}
