package rawbody

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/api"
	"github.com/tradingapi/trading-go/internal/check"
	"github.com/tradingapi/trading-go/internal/wire"
)

// Each member is judged by its rule, and what is right by none.
func TestFault(t *testing.T) {
	const run = `"accountId":"acc_1","symbol":"BTC","side":"long","size":1,"leverage":2`
	for _, c := range []struct{ path, body, code string }{
		{"/orders", `{` + run + `}`, ""},
		{"/orders", `{"accountId":"acc_1","symbol":"BTC","side":"long","size":0,"leverage":2}`, "bad_size"},
		{"/orders/cancel", `{"accountId":"acc_1","orderId":"ord_1"}`, ""},
		{"/orders/cancel", `{"orderId":"ord_1"}`, "missing_fields"},
		{"/orders/cancel", `{"accountId":"acc_1","orderId":".."}`, "bad_request"},
		{"/positions/close", `{"accountId":"acc_1","symbol":"BTC"}`, ""},
		{"/positions/close", `{"accountId":"acc_1"}`, "missing_fields"},
		{"/positions/close", `{"accountId":"acc_1","symbol":"BTC","closePercent":101}`, "bad_request"},
		{"/sandbox/positions/close", `{"symbol":"BTC","pct":0.5}`, "bad_pct"},
		{"/sandbox/positions/tpsl", `{"symbol":"BTC","closePct":null}`, ""},
		{"/sandbox/positions/tpsl", `{"symbol":"BTC"}`, "invalid_tpsl"},
		{"/orders/conditional", `{` + run + `,"triggerPrice":1}`, ""},
		{"/orders/conditional", `{` + run + `,"triggerPrice":1,"execKind":"stop"}`, "bad_request"},
		{"/orders/conditional", `{` + run + `}`, "BAD_TRIGGER"},
		{"/orders/ladder", `{` + run + `,"startPrice":60,"endPrice":61,"totalOrders":2,"sizeSkew":1}`, ""},
		{"/orders/ladder", `{` + run + `,"startPrice":60,"totalOrders":2}`, "BAD_PRICE"},
		{"/orders/twap", `{` + run + `,"durationMs":1}`, ""},
		{"/orders/twap", `{` + run + `,"durationMs":999999999999999}`, "BAD_DURATION"},
		{"/orders/chase", `{` + run + `,"chaseTo":null}`, ""},
		{"/orders/chase", `{` + run + `,"chaseTo":0}`, "BAD_PRICE"},
		{"/orders/swarm", `{` + run + `,"totalOrders":2,"aggression":"high","slippageBps":5}`, ""},
		{"/orders/swarm", `{` + run + `,"totalOrders":0}`, "BAD_ORDER_COUNT"},
		{"/runs/edit", `{"accountId":"acc_1","runId":"run_1","totalSize":0}`, "bad_size"},
		{"/runs/edit", `{"accountId":"acc_1","totalSize":1}`, "missing_fields"},
	} {
		b, fault := Parse(c.path, []byte(c.body))
		require.Nil(t, fault, c.body)
		env := check.Live
		if !b.Takes("accountId") {
			env = check.Sandbox
		}
		var order *api.OrderRequest
		if b.Takes("side") {
			order = &api.OrderRequest{
				Symbol: b.Text("symbol"), Side: api.Side(b.Text("side")), Size: b.Decimal("size"), Leverage: b.Decimal("leverage"),
			}
		}
		if fault = b.Fault(env, order); c.code == "" {
			assert.Nil(t, fault, c.body)
		} else if assert.NotNil(t, fault, c.body) {
			assert.Equal(t, c.code, fault.Code, c.body)
		}
	}
}

// Each write has something that its answer is read into.
func TestAnswers(t *testing.T) {
	for _, w := range of {
		assert.Implements(t, (*wire.Value)(nil), (&Parsed{of: &w}).Answer(), w.path)
	}
	_, fault := Parse("/me", nil)
	assert.NotNil(t, fault)
}
