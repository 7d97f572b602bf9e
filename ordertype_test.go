package trading

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The sandbox places an order of an unknown type as a market order. That such a
// type does not compile is in TestRefusedByTheCompiler.
func TestTrap_T56_OrderTypesAreClosed(t *testing.T) {
	for n := 2; n < 256; n++ {
		_, err := json.Marshal(OrderType(n))
		assert.Error(t, err)
		_, err = json.Marshal(ExecKind(n))
		assert.Error(t, err)
	}
	for _, text := range []string{`"Limit"`, `"stop"`, `""`, `"limit "`, `1`, `"MARKET"`} {
		typ, kind := LimitOrder, StopLimit
		assert.Error(t, json.Unmarshal([]byte(text), &typ), text)
		assert.Error(t, json.Unmarshal([]byte(text), &kind), text)
	}
}

func TestOrderTypeText(t *testing.T) {
	assert.Equal(t, "market limit OrderType(7)", fmt.Sprintf("%v %s %v", MarketOrder, LimitOrder, OrderType(7)))
	assert.Equal(t, "stop-market stop-limit ExecKind(7)", fmt.Sprintf("%v %s %v", StopMarket, StopLimit, ExecKind(7)))
	for _, typ := range []OrderType{MarketOrder, LimitOrder} {
		text, err := json.Marshal(typ)
		require.NoError(t, err)
		again := OrderType(9)
		require.NoError(t, json.Unmarshal(text, &again))
		assert.Equal(t, typ, again)
	}
	for _, kind := range []ExecKind{StopMarket, StopLimit} {
		text, err := json.Marshal(kind)
		require.NoError(t, err)
		again := ExecKind(9)
		require.NoError(t, json.Unmarshal(text, &again))
		assert.Equal(t, kind, again)
	}
}
