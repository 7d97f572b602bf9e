package wire

import (
	"bytes"
	"encoding/json"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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

func TestParseDecimal(t *testing.T) {
	for _, tt := range []struct {
		text string
		want decimal.Decimal
	}{
		{"0", decimal.Decimal{}},
		{"-0", decimal.Decimal{}},
		{"-0.00", decimal.Decimal{}},
		{"0e5", decimal.Decimal{}},
		{"1", decimal.New(1, 0)},
		{"-1.5", decimal.New(-15, -1)},
		{"0.10", decimal.New(1, -1)},
		{"127", decimal.New(127, 0)},
		{"128", decimal.New(128, 0)},
		{"1.27", decimal.New(127, -2)},
		{"0.127", decimal.New(127, -3)},
		{"99987.1234", decimal.New(99987_1234, -4)},
		{"1e2", decimal.New(100, 0)},
		{"1.5E+3", decimal.New(1500, 0)},
		{"25e-1", decimal.New(25, -1)},
		{"1e64", decimal.New(1, 64)},
		{"1e-64", decimal.New(1, -64)},
		{"999999999999999999", decimal.New(999_999_999_999_999_999, 0)},
		{"9223372036854775808", decimal.RequireFromString("9223372036854775808")},
		{"-12345678901234567890.123456789", decimal.RequireFromString("-12345678901234567890.123456789")},
		{"0.00000000000000000000000000000000000001", decimal.New(1, -38)},
		{strings.Repeat("9", 64), decimal.RequireFromString(strings.Repeat("9", 64))},
		{strings.Repeat("9", 60) + "e-10", decimal.RequireFromString(strings.Repeat("9", 50) + "." + strings.Repeat("9", 10))},
	} {
		got, err := ParseDecimal([]byte(tt.text))
		require.NoError(t, err, tt.text)
		assert.True(t, tt.want.Equal(got), "%s: got %s", tt.text, got)
		for _, behind := range []string{"", " ", ",", "]", "}"} {
			d := NewDecoder([]byte(tt.text + behind))
			read := d.Decimal()
			require.NoError(t, d.Err(), tt.text+behind)
			assert.True(t, tt.want.Equal(read), "%s: read %s", tt.text, read)
			assert.Equal(t, len(tt.text), d.pos, tt.text+behind)
		}
	}
}

func TestParseDecimal_Refuses(t *testing.T) {
	for text, want := range map[string]Problem{
		"": NotANumber, "-": NotANumber, "+5": NotANumber, ".5": NotANumber, "5.": NotANumber,
		"01": NotANumber, "-01": NotANumber, "1e": NotANumber, "1e+": NotANumber, "1.e1": NotANumber,
		"0x10": NotANumber, "1_000": NotANumber, "1,5": NotANumber, "--1": NotANumber, "1-": NotANumber,
		" 1": NotANumber, "1 ": NotANumber, `"1"`: NotANumber, "null": NotANumber, "\u22125": NotANumber,
		"NaN": NotANumber, "Infinity": NotANumber, "-Infinity": NotANumber, "1\x00": NotANumber,
		"1e65": NumberTooLarge, "1e-65": NumberTooLarge, "1.5e-64": NumberTooLarge, "0e999999999": NumberTooLarge,
		"1e999999999": NumberTooLarge, "1e-999999999": NumberTooLarge, "1e99999999999999999999": NumberTooLarge,
		strings.Repeat("9", 65):              NumberTooLong,
		"0." + strings.Repeat("0", 62) + "1": NumberTooLong,
	} {
		_, err := ParseDecimal([]byte(text))
		var wireErr *JSONError
		require.ErrorAs(t, err, &wireErr, "%q", text)
		assert.Equal(t, want, wireErr.Problem, "%q", text)
	}
	for _, text := range []string{"", "-", "--1", ".5", "1.e5"} {
		d := NewDecoder([]byte(text))
		d.Decimal()
		assert.Error(t, d.Err(), "%q", text)
	}
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

func FuzzParseDecimal(f *testing.F) {
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := ParseDecimal(text)
		d := NewDecoder(append([]byte("[1,"), append(text, ']')...))
		d.Array()
		d.Element()
		d.Decimal()
		d.Element()
		read := d.Decimal()
		if d.Element() || d.Finish() != nil {
			read = decimal.Decimal{}
		}
		isNumber := json.Valid(text) && len(text) > 0 && (text[0] == '-' || text[0]-'0' <= 9) &&
			bytes.Equal(text, bytes.TrimSpace(text))
		if err != nil {
			var wireErr *JSONError
			require.ErrorAs(t, err, &wireErr, "%q", text)
			require.False(t, isNumber && wireErr.Problem == NotANumber, "%q: refused a JSON number", text)
			return
		}
		require.True(t, read.Equal(got) && read.Exponent() == got.Exponent(), "%q: parsed as %s, decoded as %s", text, got, read)
		require.True(t, isNumber, "%q: accepted what is no JSON number", text)
		want, err := decimal.NewFromString(string(text))
		require.NoError(t, err, "%q", text)
		require.True(t, got.Equal(want), "%q: got %s, want %s", text, got, want)
		plain := AppendDecimal(nil, got)
		require.LessOrEqual(t, len(plain), 2*(maxNumberLen+maxExponent), "%q", text)
		again, err := decimal.NewFromString(string(plain))
		require.NoError(t, err, "%q", text)
		require.True(t, again.Equal(got), "%q: written as %s", text, plain)
	})
}

func FuzzAppendDecimal(f *testing.F) {
	f.Fuzz(func(t *testing.T, high, low int64, exp int8) {
		// Two words make coefficients beyond an int64 as well.
		coefficient := new(big.Int).Lsh(big.NewInt(high), 64)
		coefficient.Add(coefficient, big.NewInt(low))
		for _, d := range []decimal.Decimal{decimal.NewFromBigInt(coefficient, int32(exp)), decimal.New(low, int32(exp))} {
			text := AppendDecimal(nil, d)
			require.True(t, json.Valid(text) && !bytes.ContainsAny(text, `eE"`), "%s: not a plain JSON number", text)
			got, err := decimal.NewFromString(string(text))
			require.NoError(t, err)
			require.True(t, got.Equal(d), "%s: not the number %s", text, d)
			require.False(t, bytes.Contains(text, []byte(".")) && text[len(text)-1] == '0', "%s: not canonical", text)
			if len(text) <= maxNumberLen {
				got, err := ParseDecimal(text)
				require.NoError(t, err, "%s", text)
				require.True(t, got.Equal(d), "%s: is read as %s", text, got)
			}
		}
	})
}

// What is told from the size of a number is what its text says.
func TestWritableIsWhatHasAText(t *testing.T) {
	for _, digits := range []int64{1, 2, 17, 18, 19, 20, 60, 61, 62, 63, 64, 65, 128, 129} {
		coefficient := new(big.Int).Exp(big.NewInt(10), big.NewInt(digits-1), nil)
		for exp := int32(-70); exp <= 70; exp++ {
			for _, d := range []decimal.Decimal{decimal.NewFromBigInt(coefficient, exp), decimal.NewFromBigInt(coefficient, exp).Neg()} {
				_, ok := AppendNumber(nil, d)
				assert.Equal(t, ok, Writable(d), "%d digits, exponent %d", digits, exp)
			}
		}
	}
	assert.True(t, Writable(decimal.Decimal{}))
}
