package trading

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
		change TPSL
		found  string // of the levels in the position
		body   string
	}{
		"a stop beside a target": {TPSL{StopLoss: At(Dec("63000"))}, `,"takeProfitPrice":70000.5,"stopLossPrice":null`,
			`"stopLossPrice":63000,"symbol":"BTC","takeProfitPrice":70000.5`},
		"a target beside a stop": {TPSL{TakeProfit: At(Dec("70000"))}, `,"takeProfitPrice":null,"stopLossPrice":61000`,
			`"stopLossPrice":61000,"symbol":"BTC","takeProfitPrice":70000`},
		"clear one of two": {TPSL{TakeProfit: Clear}, `,"takeProfitPrice":70000,"stopLossPrice":61000`,
			`"stopLossPrice":61000,"symbol":"BTC","takeProfitPrice":null`},
		"no other level": {TPSL{StopLoss: At(Dec("63000"))}, `,"takeProfitPrice":null,"stopLossPrice":null`,
			`"stopLossPrice":63000,"symbol":"BTC","takeProfitPrice":null`},
		"a position without the member": {TPSL{StopLoss: At(Dec("63000"))}, ``,
			`"stopLossPrice":63000,"symbol":"BTC","takeProfitPrice":null`},
	} {
		t.Run(name, func(t *testing.T) {
			script := newScript(t, answered(200, position(row.found)), answered(200, doneBody))
			_, err := newTestClient(t, script).Live.Account("acc_1").SetTPSL(context.Background(), "BTC", row.change)
			require.NoError(t, err)
			got := script.received()
			require.Len(t, got, 2)
			assert.Equal(t, "GET /positions?accountId=acc_1", got[0].operation)
			assert.Equal(t, tpslPath, got[1].operation)
			assert.Equal(t, `{"accountId":"acc_1",`+row.body+`}`, got[1].body)
		})
	}
}

// Where the other level cannot be learned, nothing is sent and the error says why.
func TestTrap_T68_OneLevelAloneIsNotGuessed(t *testing.T) {
	stop := TPSL{StopLoss: At(Dec("63000"))}
	for name, row := range map[string]struct {
		steps []step
		opts  []CallOption
		is    error
		says  string
	}{
		"the read is refused": {[]step{answered(404, refusalBody(CodeAccountNotFound))}, nil, CodeAccountNotFound,
			"Price is missing, and the position to read it from cannot be read"},
		"no position in the read": {[]step{answered(200, `{"positions":[]}`)}, nil, CodeNoPosition, "shows no position in BTC to read it from: name both levels"},
		"a level that is no price": {[]step{answered(200,
			`{"positions":[{"symbol":"BTC","side":"long","size":1,"entryPrice":64000,"takeProfitPrice":0}]}`)}, nil, CodeInvalidTPSL,
			"takeProfitPrice is 0: it must be greater than 0"},
		"a key of the caller's": {nil, []CallOption{WithIdempotencyKey("k")}, CodeMissingFields, "both levels must be named"},
		"a client order id":     {nil, []CallOption{WithClientOrderID("p d")}, CodeMissingFields, "both levels must be named"},
	} {
		t.Run(name, func(t *testing.T) {
			script := newScript(t, row.steps...)
			_, err := newTestClient(t, script).Live.Account("acc_1").SetTPSL(context.Background(), "BTC", stop, row.opts...)
			require.ErrorIs(t, err, row.is)
			require.ErrorContains(t, err, row.says)
			assert.Equal(t, NotApplied, OutcomeOf(err))
			script.done()
			for _, request := range script.received() {
				assert.NotEqual(t, tpslPath, request.operation)
			}
		})
	}
}
