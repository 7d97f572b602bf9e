package values

import (
	"encoding/json"
	"fmt"
	"math/big"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/jsontext"
	"github.com/tradingapi/trading-go/internal/wire"
)

func TestDec(t *testing.T) {
	assert.True(t, trading.Dec("-0.50").Equal(decimal.New(-5, -1)))
	for _, text := range []string{"", ".5", "+5", "NaN", "1e999999999"} {
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

// netAt is what one unit earns after the fees, worked out from the fee schedule
// and not from the formula of BreakEven.
func netAt(side trading.Side, entry, exit decimal.Decimal) decimal.Decimal {
	gross := exit.Sub(entry)
	if side == trading.Short {
		gross = gross.Neg()
	}
	return trading.Trade{GrossPnL: gross, RoundTripFee: trading.RoundTripFee(entry, exit)}.NetPnL()
}

// checkBreakEven proves for one entry that the break-even never loses, and that
// the next price before it does.
func checkBreakEven(t *testing.T, side trading.Side, entry decimal.Decimal) {
	t.Helper()
	exit, ok := trading.BreakEven(side, entry)
	require.True(t, ok, "%s at %v has no break-even", side, entry)
	if net := netAt(side, entry, exit); net.IsNegative() {
		t.Fatalf("%s at %v loses %v at its break-even %v", side, entry, net, exit)
	}
	step := decimal.New(1, -8+min(0, entry.Exponent()))
	if side == trading.Long {
		step = step.Neg()
	}
	if nearer := exit.Add(step); !netAt(side, entry, nearer).IsNegative() {
		t.Fatalf("%s at %v gains at %v, before its break-even %v", side, entry, nearer, exit)
	}
}

func TestTrap_T70_BracketNarrowerThanTheFees(t *testing.T) {
	entries := []string{"60000", "60000.00", "6e4", "99955", "100045", "1", "0.1", "0.00001234", "1e-7", "0.123456789012345678", "123456789.987654321"}
	for _, side := range []trading.Side{trading.Long, trading.Short} {
		for _, entry := range entries {
			checkBreakEven(t, side, trading.Dec(entry))
		}
	}
	// Nine basis points are not quite enough for a long: the fee of the close
	// is on the higher price.
	assert.True(t, netAt(trading.Long, trading.Dec("10000"), trading.Dec("10009")).IsNegative())
	assert.True(t, netAt(trading.Short, trading.Dec("10000"), trading.Dec("9991")).IsPositive())
}

func TestBreakEvenWithoutAnEntry(t *testing.T) {
	for _, c := range []struct {
		side  trading.Side
		entry decimal.Decimal
	}{
		{trading.Long, decimal.Zero},
		{trading.Short, trading.Dec("-1")},
		{"", trading.Dec("60000")},
		{"buy", trading.Dec("60000")},
		{trading.Long, unwritable[0]},
		{trading.Short, unwritable[1]},
	} {
		_, ok := trading.BreakEven(c.side, c.entry)
		assert.False(t, ok, "%s", c.side)
	}
}

// Fees are what math/big makes of them, and a break-even is one.
func FuzzFees(f *testing.F) {
	f.Add(int64(60000), int64(1), int8(0))
	f.Add(int64(1<<62), int64(99955), int8(-18))
	for dice := range jsontext.Dice(300) {
		f.Add(int64(dice.Uint64())>>dice.IntN(64), int64(dice.Uint64())>>dice.IntN(64), int8(dice.IntN(60)-45))
	}
	f.Fuzz(func(t *testing.T, coefficient, other int64, exponent int8) {
		open, closed := decimal.New(coefficient, int32(exponent)), decimal.New(other, 0)
		fee := func(of decimal.Decimal, tenths int64) *big.Rat {
			return new(big.Rat).Mul(new(big.Rat).Abs(of.Rat()), big.NewRat(tenths, 100_000)) // of a basis point
		}
		require.Zero(t, fee(open, 45).Cmp(trading.TakerFee(open).Rat()))
		require.Zero(t, fee(open, 15).Cmp(trading.MakerFee(open).Rat()))
		both := new(big.Rat).Add(fee(open, 45), fee(closed, 45))
		require.Zero(t, both.Cmp(trading.RoundTripFee(open, closed).Rat()))
		if open.IsPositive() && wire.Writable(open) {
			checkBreakEven(t, trading.Long, open)
			checkBreakEven(t, trading.Short, open)
		}
	})
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
