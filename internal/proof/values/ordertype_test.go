package values

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
)

// The sandbox places an order of an unknown type as a market order. That such a
// type does not compile is in TestRefusedByTheCompiler.
func TestTrap_T56_OrderTypesAreClosed(t *testing.T) {
	for n := 2; n < 256; n++ {
		_, err := json.Marshal(trading.OrderType(n))
		assert.Error(t, err)
		_, err = json.Marshal(trading.ExecKind(n))
		assert.Error(t, err)
	}
	for _, text := range []string{`"Limit"`, `"stop"`, `""`, `"limit "`, `1`, `"MARKET"`} {
		typ, kind := trading.LimitOrder, trading.StopLimit
		assert.Error(t, json.Unmarshal([]byte(text), &typ), text)
		assert.Error(t, json.Unmarshal([]byte(text), &kind), text)
	}
}

func TestOrderTypeText(t *testing.T) {
	assert.Equal(t, "market limit OrderType(7)", fmt.Sprintf("%v %s %v", trading.MarketOrder, trading.LimitOrder, trading.OrderType(7)))
	assert.Equal(t, "stop-market stop-limit ExecKind(7)", fmt.Sprintf("%v %s %v", trading.StopMarket, trading.StopLimit, trading.ExecKind(7)))
	for _, typ := range []trading.OrderType{trading.MarketOrder, trading.LimitOrder} {
		text, err := json.Marshal(typ)
		require.NoError(t, err)
		again := trading.OrderType(9)
		require.NoError(t, json.Unmarshal(text, &again))
		assert.Equal(t, typ, again)
	}
	for _, kind := range []trading.ExecKind{trading.StopMarket, trading.StopLimit} {
		text, err := json.Marshal(kind)
		require.NoError(t, err)
		again := trading.ExecKind(9)
		require.NoError(t, json.Unmarshal(text, &again))
		assert.Equal(t, kind, again)
	}
}
