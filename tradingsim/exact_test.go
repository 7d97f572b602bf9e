package tradingsim

import (
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"
)

// numbers are of every size, at both sides of what a word holds.
func numbers(dice *rand.Rand) decimal.Decimal {
	coefficient := dice.Int64() >> dice.IntN(64)
	switch dice.IntN(8) {
	case 0:
		coefficient = [...]int64{0, 1, -1, 1 << 62, -1 << 62, math.MaxInt64, math.MinInt64, 999_999_999_999_999_999}[dice.IntN(8)]
	case 1:
		coefficient = -coefficient
	}
	d := decimal.New(coefficient, int32(dice.IntN(24)-20))
	if dice.IntN(8) == 0 {
		d = d.Mul(decimal.New(math.MaxInt64, 0))
	}
	return d
}

// TestWordsComputeAsDecimalsDo holds the arithmetic in words against that of package
// decimal, value and exponent.
func TestWordsComputeAsDecimalsDo(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 2))
	same := func(want, got decimal.Decimal, of string, a, b decimal.Decimal) {
		require.True(t, want.Equal(got) && want.Exponent() == got.Exponent(), "%s of %s and %s is %s, not %s", of, a, b, want, got)
	}
	inWords := 0
	for range 100_000 {
		a, b := numbers(dice), numbers(dice)
		x, y := amountOf(a), amountOf(b)
		if _, _, _, ok := words(x, y); ok {
			inWords++
		}
		same(a, x.decimal(), "the amount", a, b)
		same(a.Add(b), x.plus(y).decimal(), "sum", a, b)
		same(a.Sub(b), x.minus(y).decimal(), "difference", a, b)
		same(a.Mul(b), x.times(y).decimal(), "product", a, b)
		require.Equal(t, a.Cmp(b), x.compare(y), "%s and %s", a, b)
		require.Equal(t, a.String(), string(x.append(nil)))
		require.Equal(t, a.Add(b).String(), string(x.plus(y).append(nil)))
	}
	require.Greater(t, inWords, 20_000)
	require.Less(t, inWords, 80_000)
}

func TestReciprocal(t *testing.T) {
	for of, want := range map[string]string{"1": "1", "2": "0.5", "4": "0.25", "5": "0.2", "8": "0.125", "10": "0.1", "16": "0.0625", "25": "0.04"} {
		got := reciprocal(dec(of))
		require.True(t, got.set, of)
		require.Equal(t, want, got.value.String())
	}
	for _, of := range []string{"3", "7", "2.5", "0", "-2", "32", "100000", "1e30"} {
		require.False(t, reciprocal(dec(of)).set, of)
	}
}

func dec(text string) decimal.Decimal { return decimal.RequireFromString(text) }

// The numbers of a test have an exponent of 30 at the most, either way.
func TestNumbersOfATest(t *testing.T) {
	for text, want := range map[string]bool{"1e30": true, "1E-30": true, "1e31": false, "1e-31": false, "1e": false, "x": false, "": false} {
		_, err := parseNumber(text)
		require.Equal(t, want, err == nil, "%q: %v", text, err)
	}
}

// A number of a request is itself up to the bound of its magnitude.
func TestTheLargestNumbers(t *testing.T) {
	for literal, want := range map[string]string{"9e99": "9e99", "9e100": "1e100", "-9e100": "-1e100", "9e-101": "9e-101", "9e-102": "1e-100"} {
		require.True(t, dec(want).Equal(readNumber(literal)), "%s is %s", literal, readNumber(literal))
	}
}

// A text that is written as it is has no other form in JSON.
func TestPlainTexts(t *testing.T) {
	require.True(t, isPlain("BTC of acc_1 ~"))
	for b := range 256 {
		text := "a" + string([]byte{byte(b)})
		if encoded, err := json.Marshal(text); isPlain(text) {
			require.NoError(t, err)
			require.Equal(t, `"`+text+`"`, string(encoded))
		}
	}
}

// TestHTTPDate holds the date against that of package time, over days and years.
func TestHTTPDate(t *testing.T) {
	var d httpDate
	dice := rand.New(rand.NewPCG(3, 4))
	at := time.Date(1969, 12, 31, 23, 59, 58, 0, time.UTC)
	for range 2_000 {
		require.Equal(t, at.Format("Mon, 02 Jan 2006 15:04:05 GMT"), d.text(at))
		at = at.Add(time.Duration(dice.Int64N(int64(3*24*time.Hour) >> dice.IntN(30))))
	}
}

// FuzzReadNumber reads any JSON number: bounded in size, and on the same side of every
// bound as the number itself.
func FuzzReadNumber(f *testing.F) {
	for _, seed := range []string{
		"0", "-0", "1", "-1.50", "0.1e1", "1e31", "1e-31", "1E+400", "-1e99999999999999999999", "1e-99999999999999999999",
		strings.Repeat("9", 61), "0." + strings.Repeat("0", 70) + "1", "8." + strings.Repeat("0", 70) + "1", "30" + strings.Repeat("0", 70) + "e-70",
	} {
		f.Add(seed)
	}
	bounds := []decimal.Decimal{decimal.Zero, leastSlippage, decimal.NewFromInt(1), mostSlippage, hundred, must("", "64000.1"), must("", "-3")}
	f.Fuzz(func(t *testing.T, literal string) {
		f, ok := parseFields([]byte(`{"n":` + literal + `}`))
		if !ok || len(f) != 1 || !json.Valid([]byte(literal)) {
			t.Skip()
		}
		d, p := f.number("n")
		if p != given {
			t.Skip()
		}
		require.LessOrEqual(t, d.NumDigits(), maxDigits+1)
		require.LessOrEqual(t, d.Exponent(), int32(maxMagnitude))
		require.GreaterOrEqual(t, d.Exponent(), int32(-maxMagnitude-maxDigits-1))
		if i := strings.IndexAny(literal, "eE"); i >= 0 && len(literal)-i > 5 {
			return // beyond what big.Rat can be asked for
		}
		exact, ok := new(big.Rat).SetString(strings.TrimSpace(literal))
		require.True(t, ok)
		for _, bound := range bounds {
			require.Equal(t, exact.Cmp(bound.Rat()), d.Cmp(bound), "%s against %s", literal, bound)
		}
	})
}
