package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"testing"
	"unicode/utf8"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/testing/jsontext"
)

// T100: sizes are JSON numbers in plain notation, never quoted, never with an
// exponent.
func TestTrap_T100_AppendDecimal(t *testing.T) {
	huge, ok := new(big.Int).SetString("-1234567890123456789012345678901234567890", 10)
	require.True(t, ok)
	for _, tt := range []struct {
		d    decimal.Decimal
		want string
	}{
		{decimal.Decimal{}, "0"},
		{decimal.New(0, -5), "0"},
		{decimal.New(0, 5), "0"},
		{decimal.New(1, -7), "0.0000001"},
		{decimal.New(1, 7), "10000000"},
		{decimal.New(10, -2), "0.1"},
		{decimal.New(100, -2), "1"},
		{decimal.New(100, 0), "100"},
		{decimal.New(1200, -1), "120"},
		{decimal.New(-12345, -3), "-12.345"},
		{decimal.New(-5, -1), "-0.5"},
		{decimal.New(99987_1234, -4), "99987.1234"},
		{decimal.New(999_999_999_999_999_999, -18), "0.999999999999999999"},
		{decimal.New(1_000_000_000_000_000_000, -18), "1"},
		{decimal.New(math.MaxInt64, 0), "9223372036854775807"},
		{decimal.New(math.MinInt64, -3), "-9223372036854775.808"},
		{decimal.NewFromBigInt(huge, -20), "-12345678901234567890.1234567890123456789"},
		{decimal.NewFromBigInt(huge, 2), "-123456789012345678901234567890123456789000"},
	} {
		assert.Equal(t, tt.want, string(AppendDecimal(nil, tt.d)))
		assert.Equal(t, "size:"+tt.want, string(AppendDecimal([]byte("size:"), tt.d)))
	}
}

func TestAppendDecimal_IgnoresPackageGlobals(t *testing.T) {
	quotes, trim, scientific := decimal.MarshalJSONWithoutQuotes, decimal.TrimTrailingZeros, decimal.UseScientificNotation
	defer func() {
		decimal.MarshalJSONWithoutQuotes, decimal.TrimTrailingZeros, decimal.UseScientificNotation = quotes, trim, scientific
	}()
	decimal.MarshalJSONWithoutQuotes, decimal.TrimTrailingZeros, decimal.UseScientificNotation = false, false, true
	assert.Equal(t, "0.1", string(AppendDecimal(nil, decimal.New(100, -3))))
	assert.Equal(t, "1200", string(AppendDecimal(nil, decimal.New(12, 2))))
}

func TestParseDecimal_MakesNothingOfAMegabyte(t *testing.T) {
	text := bytes.Repeat([]byte("7"), 1<<20)
	allocs := testing.AllocsPerRun(10, func() {
		if _, err := ParseDecimal(text); err == nil {
			t.Error("accepted")
		}
	})
	assert.LessOrEqual(t, allocs, 1.0, "no number is made of it")
}

// The shared table of small numbers must not be reachable for writing.
func TestParseDecimal_SmallNumbersAreNotAliased(t *testing.T) {
	one, err := ParseDecimal([]byte("1"))
	require.NoError(t, err)
	one.BigInt().SetInt64(7)
	one.Coefficient().SetInt64(7)
	require.NoError(t, one.UnmarshalJSON([]byte("9")))
	again, err := ParseDecimal([]byte("1"))
	require.NoError(t, err)
	assert.Equal(t, "1", again.String())
}

func TestDecimal_Allocations(t *testing.T) {
	var dst [64]byte
	for _, d := range []decimal.Decimal{
		{}, decimal.New(1, -7), decimal.New(-99987_1234, -4), decimal.New(999_999_999_999_999_999, -9),
	} {
		assert.Zero(t, testing.AllocsPerRun(100, func() { AppendDecimal(dst[:0], d) }), d.String())
	}
	small, price := []byte("0.05"), []byte("99987.1234")
	assert.Zero(t, testing.AllocsPerRun(100, func() { _, _ = ParseDecimal(small) }))
	assert.LessOrEqual(t, testing.AllocsPerRun(100, func() { _, _ = ParseDecimal(price) }), 2.0)
}

// grammar is that of RFC 8259, with the digits behind the point and the exponent.
var grammar = regexp.MustCompile(`^-?(?:0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$`)

// numberBy is what a text is by math/big.
func numberBy(text string) (*big.Rat, Problem) {
	if len(text) > 64 {
		return nil, NumberTooLong
	}
	parts := grammar.FindStringSubmatch(text)
	if parts == nil {
		return nil, NotANumber
	}
	exponent, _ := new(big.Int).SetString(cmp.Or(parts[2], "0"), 10)
	lowest := big.NewInt(int64(len(parts[1]) - 64))
	if exponent.Cmp(big.NewInt(64)) > 0 || exponent.Cmp(big.NewInt(-64)) < 0 || exponent.Cmp(lowest) < 0 {
		return nil, NumberTooLarge
	}
	number, _ := new(big.Rat).SetString(text)
	return number, noProblem
}

// A number is what math/big makes of it, alone and in a list, in quotes and without; and so is a whole number.
func FuzzParseDecimal(f *testing.F) {
	jsontext.Add[[]byte](f, 1500, jsontext.Spoiled(3, jsontext.Number))
	f.Fuzz(func(t *testing.T, text []byte) {
		want, problem := numberBy(string(text))
		same := func(how string, got decimal.Decimal, err error) {
			require.Equal(t, problem, problemOf(err), "%q %s", text, how)
			require.True(t, err != nil || got.Rat().Cmp(want) == 0, "%q %s: got %s", text, how, got)
		}
		alone, err := ParseDecimal(text)
		same("alone", alone, err)
		quoted := AppendString(nil, string(text))
		if utf8.Valid(text) {
			d := NewDecoder(quoted)
			got := d.Decimal()
			same("in quotes", got, d.Finish())
		}
		if !grammar.Match(text) {
			return // which may be two numbers for a list
		}
		d := NewDecoder(fmt.Appendf(nil, "[%s,%s ,%s]", text, quoted, text))
		d.Array()
		for d.Element() {
			got := d.Decimal()
			same("in a list", got, d.Err())
			require.True(t, err != nil || got.Exponent() == alone.Exponent(), "%q: %s", text, got)
		}
		require.Equal(t, problem, problemOf(d.Finish()), "%q", text)
		if problem == noProblem && !(want.IsInt() && want.Num().IsInt64()) {
			problem = NotAnInteger
		}
		d = NewDecoder(text)
		whole := d.Int64()
		require.Equal(t, problem, problemOf(d.Finish()), "%q", text)
		require.True(t, problem != noProblem || whole == want.Num().Int64(), "%q: whole number %d", text, whole)
	})
}

// problemOf is what an error of this package says.
func problemOf(err error) Problem {
	var wireErr *JSONError
	if errors.As(err, &wireErr) {
		return wireErr.Problem
	}
	return noProblem
}

// A number is written in plain notation, with no digit more than it needs, and read as the same.
func FuzzAppendDecimal(f *testing.F) {
	for dice := range jsontext.Dice(500) {
		f.Add(int64(dice.Uint64())>>dice.IntN(64), int64(dice.Uint64())>>dice.IntN(64), int8(dice.Uint32()))
	}
	f.Fuzz(func(t *testing.T, high, low int64, exp int8) {
		// Two words make coefficients beyond an int64 as well.
		coefficient := new(big.Int).Lsh(big.NewInt(high), 64)
		coefficient.Add(coefficient, big.NewInt(low))
		for _, d := range []decimal.Decimal{decimal.NewFromBigInt(coefficient, int32(exp)), decimal.New(low, int32(exp))} {
			text := AppendDecimal(nil, d)
			require.True(t, json.Valid(text) && !bytes.ContainsAny(text, `eE"`), "%s: not a plain JSON number", text)
			require.False(t, bytes.Contains(text, []byte(".")) && text[len(text)-1] == '0', "%s: not canonical", text)
			got, ok := new(big.Rat).SetString(string(text))
			require.True(t, ok && got.Cmp(d.Rat()) == 0, "%s: not the number %s", text, d)
			zeros := d.Add(decimal.New(0, d.Exponent()-70)) // behind the digits
			require.Equal(t, string(text), string(AppendDecimal(nil, zeros)))
			require.Equal(t, len(text) <= maxNumberLen, Writable(d), "%s", text)
			require.Equal(t, Writable(d), Writable(zeros), "%s with more zeros", text)
			if Writable(d) {
				got, err := ParseDecimal(text)
				require.NoError(t, err, "%s", text)
				require.True(t, got.Equal(d), "%s: is read as %s", text, got)
			}
		}
	})
}
