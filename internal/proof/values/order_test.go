package values

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
)

// An order that was written to a log or a file is the same order when it is read
// again: what was absent stays absent, and does not come back as null.
func TestOrderSurvivesJSON(t *testing.T) {
	for _, o := range []trading.Order{
		{},
		{Symbol: "BTC", Side: trading.Short, Size: trading.Dec("0.0000001"), Type: trading.LimitOrder, LimitPrice: trading.At(trading.Dec("60000.10"))},
		{Symbol: "BTC", ReduceOnly: true, TakeProfit: trading.Clear, StopLoss: trading.At(trading.Dec("1")), MaxSlippagePct: trading.Some(trading.Dec("0.5"))},
	} {
		text, err := json.Marshal(o)
		require.NoError(t, err)
		var again trading.Order
		require.NoError(t, json.Unmarshal(text, &again))
		assert.Equal(t, fmt.Sprintf("%+v", o), fmt.Sprintf("%+v", again))
	}
}

func TestTPSLSurvivesJSON(t *testing.T) {
	levels := []trading.Level{{}, trading.Clear, trading.At(trading.Dec("1.5"))}
	for _, tp := range levels {
		for i, sl := range levels {
			part := []trading.Opt[decimal.Decimal]{{}, trading.Some(trading.Dec("0")), trading.Some(trading.Dec("50"))}[i]
			want := trading.TPSL{TakeProfit: tp, StopLoss: sl, ClosePct: part}
			text, err := json.Marshal(want)
			require.NoError(t, err)
			var got trading.TPSL
			require.NoError(t, json.Unmarshal(text, &got))
			assert.True(t, got.TakeProfit.Equal(tp) && got.StopLoss.Equal(sl) && got.ClosePct.Equal(part), string(text))
		}
	}
}
