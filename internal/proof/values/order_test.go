package values

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/check"
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

// The sandbox places an order of an unknown type as a market order. That such a
// type does not compile is in TestRefusedByTheCompiler.
func TestTrap_T56_OrderTypesAreClosed(t *testing.T) {
	for n := 2; n < 256; n++ {
		_, err := json.Marshal(trading.OrderType(n))
		assert.Error(t, err)
	}
	for _, text := range []string{`"Limit"`, `"stop"`, `""`, `"limit "`, `1`, `"MARKET"`} {
		typ := trading.LimitOrder
		assert.Error(t, json.Unmarshal([]byte(text), &typ), text)
	}
}

func TestOrderTypeText(t *testing.T) {
	assert.Equal(t, "market limit OrderType(7)", fmt.Sprintf("%v %s %v", trading.MarketOrder, trading.LimitOrder, trading.OrderType(7)))
	for _, typ := range []trading.OrderType{trading.MarketOrder, trading.LimitOrder} {
		text, err := json.Marshal(typ)
		require.NoError(t, err)
		again := trading.OrderType(9)
		require.NoError(t, json.Unmarshal(text, &again))
		assert.Equal(t, typ, again)
	}
}

// The zero value is no part: nobody closes a position by forgetting to say how much
// of it, and nobody leaves it to the service to decide.
func TestTrap_T59_HowMuchToCloseIsAlwaysSaid(t *testing.T) {
	taken := func(p trading.Part) (live, sandbox bool) {
		return check.Part(check.Live, p.Percent()) == nil, check.Part(check.Sandbox, p.Percent()) == nil
	}
	for _, p := range []trading.Part{trading.All, trading.Percent(trading.Dec("1")), trading.Percent(trading.Dec("33.3")), trading.Percent(trading.Dec("100.00"))} {
		live, sandbox := taken(p)
		assert.True(t, live && sandbox, p)
	}
	for _, p := range []trading.Part{trading.Percent(trading.Dec("0.99")), trading.Percent(trading.Dec("0.001"))} {
		live, sandbox := taken(p)
		assert.True(t, live && !sandbox, p)
	}
	for _, p := range []trading.Part{{}, trading.Percent(trading.Dec("0")), trading.Percent(trading.Dec("100.01")), trading.Percent(trading.Dec("-50")), trading.Percent(unwritable[0])} {
		live, sandbox := taken(p)
		assert.False(t, live || sandbox, p)
	}
}

func TestAll(t *testing.T) {
	assert.True(t, trading.All.Equal(trading.Percent(trading.Dec("100.0"))))
	assert.True(t, trading.All.Percent().Equal(trading.Dec("100")))
}
