package tradingsim

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"
)

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
