package client

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/proof/rig"
)

const tpslPath = "POST /positions/tpsl"

// A caller who names one level of a live position keeps the other, without a read of
// its own: the client reads it, and sends both.
func TestTrap_T68_OneLevelAloneKeepsTheOther(t *testing.T) {
	position := func(levels string) string {
		return `{"positions":[{"symbol":"ETH","side":"long","size":1,"entryPrice":3000,"takeProfitPrice":1},` +
			`{"symbol":"BTC","side":"long","size":1,"entryPrice":64000` + levels + `}]}`
	}
	for name, row := range map[string]struct {
		change trading.TPSL
		found  string // of the levels in the position
		body   string
	}{
		"a stop beside a target": {trading.TPSL{StopLoss: trading.At(trading.Dec("63000"))}, `,"takeProfitPrice":70000.5,"stopLossPrice":null`,
			`"stopLossPrice":63000,"symbol":"BTC","takeProfitPrice":70000.5`},
		"a target beside a stop": {trading.TPSL{TakeProfit: trading.At(trading.Dec("70000"))}, `,"takeProfitPrice":null,"stopLossPrice":61000`,
			`"stopLossPrice":61000,"symbol":"BTC","takeProfitPrice":70000`},
		"clear one of two": {trading.TPSL{TakeProfit: trading.Clear}, `,"takeProfitPrice":70000,"stopLossPrice":61000`,
			`"stopLossPrice":61000,"symbol":"BTC","takeProfitPrice":null`},
		"no other level": {trading.TPSL{StopLoss: trading.At(trading.Dec("63000"))}, `,"takeProfitPrice":null,"stopLossPrice":null`,
			`"stopLossPrice":63000,"symbol":"BTC","takeProfitPrice":null`},
		"a position without the member": {trading.TPSL{StopLoss: trading.At(trading.Dec("63000"))}, ``,
			`"stopLossPrice":63000,"symbol":"BTC","takeProfitPrice":null`},
	} {
		t.Run(name, func(t *testing.T) {
			script := rig.NewScript(t, rig.Answered(200, position(row.found)), rig.Answered(200, doneBody))
			_, err := rig.ScriptedClient(t, script).Live.Account("acc_1").SetTPSL(context.Background(), "BTC", row.change)
			require.NoError(t, err)
			got := script.Received()
			require.Len(t, got, 2)
			assert.Equal(t, "GET /positions?accountId=acc_1", got[0].Operation)
			assert.Equal(t, tpslPath, got[1].Operation)
			assert.Equal(t, `{"accountId":"acc_1",`+row.body+`}`, got[1].Body)
		})
	}
}

// Where the other level cannot be learned, nothing is sent and the error says why.
func TestTrap_T68_OneLevelAloneIsNotGuessed(t *testing.T) {
	stop := trading.TPSL{StopLoss: trading.At(trading.Dec("63000"))}
	for name, row := range map[string]struct {
		steps []rig.Step
		opts  []trading.CallOption
		is    error
		says  string
	}{
		"the read is refused": {[]rig.Step{rig.Answered(404, rig.RefusalBody(trading.CodeAccountNotFound))}, nil, trading.CodeAccountNotFound,
			"Price is missing, and the position to read it from cannot be read"},
		"no position in the read": {[]rig.Step{rig.Answered(200, `{"positions":[]}`)}, nil, trading.CodeNoPosition, "shows no position in BTC to read it from: name both levels"},
		"a level that is no price": {[]rig.Step{rig.Answered(200,
			`{"positions":[{"symbol":"BTC","side":"long","size":1,"entryPrice":64000,"takeProfitPrice":0}]}`)}, nil, trading.CodeInvalidTPSL,
			"takeProfitPrice is 0: it must be greater than 0"},
		"a key of the caller's": {nil, []trading.CallOption{trading.WithIdempotencyKey("k")}, trading.CodeMissingFields, "both levels must be named"},
		"a client order id":     {nil, []trading.CallOption{trading.WithClientOrderID("p d")}, trading.CodeMissingFields, "both levels must be named"},
	} {
		t.Run(name, func(t *testing.T) {
			script := rig.NewScript(t, row.steps...)
			_, err := rig.ScriptedClient(t, script).Live.Account("acc_1").SetTPSL(context.Background(), "BTC", stop, row.opts...)
			require.ErrorIs(t, err, row.is)
			require.ErrorContains(t, err, row.says)
			assert.Equal(t, trading.NotApplied, trading.OutcomeOf(err))
			script.Done()
			for _, request := range script.Received() {
				assert.NotEqual(t, tpslPath, request.Operation)
			}
		})
	}
}
