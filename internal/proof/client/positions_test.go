package client

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/risk"
)

// A position of size 0 is not open, whoever looks at it.
func TestFound15_APositionOfSizeZeroIsNotOpen(t *testing.T) {
	ctx := context.Background()
	for _, size := range []string{"0", "0.0", "-0", "0e3"} {
		row := fmt.Sprintf(`{"symbol":"BTC","side":"long","size":%s,"leverage":2,"entryPrice":64000,"markPrice":null,"notionalValue":0,`+
			`"marginRequired":0,"unrealizedPnL":null,"takeProfitPrice":null,"stopLossPrice":null,"openedAt":"2026-11-20T10:00:00.000Z"}`, size)
		list := rig.Answered(200, `{"ok":true,"positions":[`+row+`]}`)
		result := func(member string) rig.Step {
			return rig.Answered(200, `{"ok":true,"success":true,"action":"closed","fill":{"price":64000,"size":0.01,"fee":0.3,"repriced":false,"ageMs":0},`+
				`"pnl":"1.50","fee":"0.58","newBalance":100000,"closed":{"symbol":"BTC","pct":100,"exitPrice":64000,"realizedPnL":1,"fee":1},"account":null,`+
				`"`+member+`":`+row+`}`)
		}
		script := rig.NewScript(t, list, list, result("position"), result("position"))
		client := rig.ScriptedClient(t, script)
		for name, trader := range map[string]trading.Trader{"paper": client.Sandbox, "live": client.Live.Account("acc_1")} {
			positions, err := trader.Positions(ctx)
			require.NoError(t, err, name)
			assert.Empty(t, positions, name)
			_, priced := positions.UnrealizedPnL()
			assert.True(t, priced, name)
		}
		order, err := client.Live.Account("acc_1").PlaceOrder(ctx, rig.Buy("0.01"))
		require.NoError(t, err)
		assert.True(t, order.Position.IsZero())
		levels, err := client.Sandbox.SetTPSL(ctx, "BTC", trading.TPSL{StopLoss: trading.Clear})
		require.NoError(t, err)
		assert.True(t, levels.Position.IsZero())

		held := trading.Positions{{Symbol: "BTC", Size: trading.Dec(size)}}
		_, open := held.In("BTC")
		assert.False(t, open)
		report := risk.Preview(rig.Buy("0.01"), risk.Inputs{Mark: trading.MarkAt(trading.Dec("64000")), Positions: trading.Some(held)})
		assert.Equal(t, risk.Opens, report.Effect)
	}
}
