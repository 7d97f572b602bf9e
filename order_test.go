package trading

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func ExampleOrder() {
	order := Order{
		Symbol:         "BTC",
		Side:           Long,
		Size:           Dec("0.05"), // bitcoin
		Leverage:       Dec("2"),
		StopLoss:       At(Dec("59000")),
		MaxSlippagePct: Some(Dec("0.5")), // half a percent
	}
	fmt.Printf("%s %s %s %s, stop %s, target %s\n",
		order.Type, order.Side, order.Size, order.Symbol, order.StopLoss, order.TakeProfit)
	// Output: market long 0.05 BTC, stop 59000, target absent
}

// An order that was written to a log or a file is the same order when it is read
// again: what was absent stays absent, and does not come back as null.
func TestOrderSurvivesJSON(t *testing.T) {
	for _, o := range []Order{
		{},
		{Symbol: "BTC", Side: Short, Size: Dec("0.0000001"), Type: LimitOrder, LimitPrice: At(Dec("60000.10"))},
		{Symbol: "BTC", ReduceOnly: true, TakeProfit: Clear, StopLoss: At(Dec("1")), MaxSlippagePct: Some(Dec("0.5"))},
	} {
		text, err := json.Marshal(o)
		require.NoError(t, err)
		var again Order
		require.NoError(t, json.Unmarshal(text, &again))
		assert.Equal(t, fmt.Sprintf("%+v", o), fmt.Sprintf("%+v", again))
	}
}

func TestTPSLSurvivesJSON(t *testing.T) {
	levels := []Level{{}, Clear, At(Dec("1.5"))}
	for _, tp := range levels {
		for i, sl := range levels {
			part := []Opt[decimal.Decimal]{{}, Some(Dec("0")), Some(Dec("50"))}[i]
			want := TPSL{TakeProfit: tp, StopLoss: sl, ClosePct: part}
			text, err := json.Marshal(want)
			require.NoError(t, err)
			var got TPSL
			require.NoError(t, json.Unmarshal(text, &got))
			assert.True(t, got.TakeProfit.Equal(tp) && got.StopLoss.Equal(sl) && got.ClosePct.Equal(part), string(text))
		}
	}
}
