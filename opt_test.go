package trading

import (
	"encoding/json"
	"fmt"
	"math/big"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func ExampleOpt() {
	type row struct{ Fee, PnL Opt[decimal.Decimal] }
	var r row
	_ = json.Unmarshal([]byte(`{"Fee": 1.350, "PnL": null}`), &r)

	fmt.Println(r.Fee, r.PnL)
	fmt.Printf("%.2f\n", r.Fee)
	if _, ok := r.PnL.Get(); !ok {
		fmt.Println("the PnL is not known, which is not 0")
	}
	// Output:
	// 1.35 none
	// 1.35
	// the PnL is not known, which is not 0
}

func TestOptGet(t *testing.T) {
	v, ok := Some(0).Get()
	assert.True(t, ok)
	assert.Zero(t, v)
	_, ok = Opt[int]{}.Get()
	assert.False(t, ok)
	assert.True(t, Opt[int]{}.IsZero())
	assert.False(t, Some(0).IsZero())
}

func TestOptEqual(t *testing.T) {
	assert.True(t, Some(Dec("1.0")).Equal(Some(Dec("1"))), "decimals are compared by their own Equal")
	assert.True(t, Some(MarkAt(Dec("1.0"))).Equal(Some(MarkAt(Dec("1")))))
	assert.True(t, Some([]int{1}).Equal(Some([]int{1})))
	assert.True(t, Opt[int]{}.Equal(Opt[int]{}))
	assert.False(t, Some(0).Equal(Opt[int]{}))
	assert.False(t, Opt[int]{}.Equal(Some(0)))
	assert.False(t, Some(Dec("1")).Equal(Some(Dec("2"))))
	assert.True(t, Some(Some(Dec("1.0"))).Equal(Some(Some(Dec("1")))))
}

func TestOptPrints(t *testing.T) {
	pnl := Some(Dec("-12.50"))
	assert.Equal(t, "-12.5 -12.5 -12.500", fmt.Sprintf("%v %s %.3f", pnl, pnl, pnl))
	assert.Equal(t, "[ -12.5] [-12.5 ]", fmt.Sprintf("[%6v] [%-6v]", pnl, pnl))
	assert.Equal(t, "-12.5", pnl.String())
	assert.Equal(t, "007", fmt.Sprintf("%03d", Some(7)))
	assert.Equal(t, `"x"`, fmt.Sprintf("%q", Some("x")))
	assert.Equal(t, "decimal.New(-1250, -2)", fmt.Sprintf("%#v", pnl))

	var none Opt[decimal.Decimal]
	assert.Equal(t, "none none [  none] [none  ]", fmt.Sprintf("%v %.2f [%6v] [%-6v]", none, none, none, none))
	assert.Equal(t, "none", none.String())
}

// The slippage of a market whose book cannot fill the order is null, which is not
// a slippage of 0 percent.
func TestTrap_T34_NullIsNotZero(t *testing.T) {
	var refusal struct{ EstSlippagePct Opt[decimal.Decimal] }
	require.NoError(t, json.Unmarshal([]byte(`{"EstSlippagePct": null}`), &refusal))
	_, ok := refusal.EstSlippagePct.Get()
	assert.False(t, ok)
	assert.False(t, refusal.EstSlippagePct.Equal(Some(decimal.Zero)))
	assert.Equal(t, "none", refusal.EstSlippagePct.String())
}

func TestOptJSON(t *testing.T) {
	type inner struct{ A Opt[int] }
	type record struct {
		D Opt[decimal.Decimal]
		I Opt[int]
		S Opt[string] `json:",omitzero"`
		R Opt[inner]
	}
	for _, text := range []string{
		`{"D":null,"I":null,"R":null}`,
		`{"D":0.0000001,"I":0,"S":"","R":{"A":null}}`,
		`{"D":-12345678901234567890.123,"I":2,"S":"x","R":{"A":1}}`,
	} {
		var r record
		require.NoError(t, json.Unmarshal([]byte(text), &r), text)
		got, err := json.Marshal(r)
		require.NoError(t, err)
		assert.Equal(t, text, string(got))
	}
}

func TestOptRefusesWhatDoesNotFit(t *testing.T) {
	d := Some(Dec("7"))
	assert.Error(t, json.Unmarshal([]byte(`"1.5"`), &d))
	assert.True(t, d.IsZero(), "the old value is gone")
	i := Some(7)
	assert.Error(t, json.Unmarshal([]byte(`1.5`), &i))
	assert.True(t, i.IsZero())
}

// A huge integer of a caller's own type is no business of the decimal rules.
func TestOptLeavesOtherTypesAlone(t *testing.T) {
	text, err := json.Marshal(Some(new(big.Int).Lsh(big.NewInt(1), 400)))
	require.NoError(t, err)
	assert.Len(t, text, 121)
}
