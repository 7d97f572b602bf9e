package api

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/wire"
)

// T25: the amounts of a live close are strings, and may become numbers.
func TestTrap_T25_ClosePositionResponse(t *testing.T) {
	for _, data := range []string{
		`{"success":true,"pnl":"-12.50","fee":"0.30","newBalance":"50247.87","status":"ACTIVE"}`,
		`{"success":true,"pnl":-12.50,"fee":0.3,"newBalance":50247.87,"status":"ACTIVE"}`,
	} {
		var v PositionCloseResponse
		require.NoError(t, wire.Unmarshal([]byte(data), &v))
		assert.Equal(t, "-12.5", v.Pnl.String())
		assert.Equal(t, "0.3", v.Fee.String())
		assert.Equal(t, "50247.87", v.NewBalance.String())
	}
	for _, pnl := range []string{`"12.5 USD"`, `""`, `"+12.50"`, `"NaN"`, `"1,000.00"`, `true`} {
		err := wire.Unmarshal([]byte(`{"success":true,"pnl":`+pnl+`,"fee":"0.30","newBalance":"1","status":"ACTIVE"}`), new(PositionCloseResponse))
		assert.Error(t, err, pnl)
	}
}

// T49: the shapes of "no mark" that are members.
func TestTrap_T49_NoMark(t *testing.T) {
	var market Market
	require.NoError(t, wire.Unmarshal([]byte(`{"symbol":"BTC","label":"Bitcoin","category":"crypto","maxLeverage":5,"markPrice":null}`), &market))
	assert.True(t, market.MarkPrice.IsNull())

	var prices SandboxPriceMap
	require.NoError(t, wire.Unmarshal([]byte(`{"ok":true,"prices":{"BTC":64010.5,"ETH":null}}`), &prices))
	btc, ok := prices.Prices["BTC"].Get()
	assert.True(t, ok)
	assert.Equal(t, "64010.5", btc.String())
	assert.True(t, prices.Prices["ETH"].IsNull())
	assert.True(t, prices.Prices["SOL"].IsAbsent())
}

// T34: the estimate is null where the book cannot fill the size.
func TestTrap_T34_Error(t *testing.T) {
	var v Error
	require.NoError(t, wire.Unmarshal([]byte(`{"error":"INSUFFICIENT_LIQUIDITY","message":"No.","estSlippagePct":null,"maxSlippagePct":0.5,"requestId":"r1"}`), &v))
	assert.Equal(t, "INSUFFICIENT_LIQUIDITY", v.Code)
	assert.True(t, v.EstSlippagePct.IsNull())
	limit, ok := v.MaxSlippagePct.Get()
	assert.True(t, ok)
	assert.Equal(t, "0.5", limit.String())
	assert.Equal(t, `"r1"`, string(v.Extra["requestId"]))
}

// Values that the contract does not know survive, and so does a time stamp
// that cannot be read.
func TestHealth_UnknownValuesSurvive(t *testing.T) {
	var v Health
	require.NoError(t, wire.Unmarshal([]byte(`{"ok":false,"status":"maintenance","feed":"replay","service":"s","version":"v1","asOf":"soon","cacheSeconds":"5"}`), &v))
	assert.Equal(t, "maintenance", v.Status)
	assert.Equal(t, "replay", v.Feed)
	_, ok := v.AsOf.Get()
	assert.False(t, ok)
	assert.Equal(t, "soon", v.AsOf.Raw())
	assert.Equal(t, "5", v.CacheSeconds.String())
}

const orderAnswer = `{"success":true,"action":"opened","fill":{"price":64010.5,"size":0.1,"fee":2.8804725},` +
	`"position":{"symbol":"BTC","side":"long","size":0.1,"leverage":3,"entryPrice":64010.5,"markPrice":64010.5,` +
	`"notionalValue":6401.05,"marginRequired":2133.683333,"unrealizedPnL":0,"takeProfitPrice":66000,` +
	`"stopLossPrice":63000,"openedAt":"2026-11-02T09:30:00.000Z"},"newBalance":50247.8695275}`

func TestOrderResponse_Allocations(t *testing.T) {
	data := []byte(orderAnswer)
	allocs := testing.AllocsPerRun(100, func() {
		assert.NoError(t, wire.Unmarshal(data, new(OrderResponse)))
	})
	assert.LessOrEqual(t, allocs, 16.0)
}

// tradesAnswer is a list of n trades with other numbers in each row.
func tradesAnswer(n int) []byte {
	data := []byte(`{"ok":true,"trades":[`)
	for i := range n {
		if i > 0 {
			data = append(data, ',')
		}
		data = fmt.Appendf(data, `{"symbol":%q,"side":%q,"orderType":%q,"size":%d.%04d,"entryPrice":%d.%04d,"exitPrice":%d.%04d,`+
			`"realizedPnL":-%d.%06d,"fee":%d.%07d,"openedAt":"2026-11-02T09:%02d:%02d.%03dZ","closedAt":%d}`,
			[]string{"BTC", "ETH", "SOL", "XRP"}[i%4], []string{"long", "short"}[i%2],
			[]string{"market", "stop_loss", "take_profit"}[i%3],
			i%7, 1000+i%9000, 60000+i%9999, i%10000, 60000+i*7%9999, i*13%10000,
			i%500, i*7919%1000000, i%40, i*104729%10000000, i/60%60, i%60, i%1000, 1793600000000+i*1000)
	}
	return append(data, `]}`...)
}

func TestTrades_Allocations(t *testing.T) {
	data := tradesAnswer(10_000)
	allocs := testing.AllocsPerRun(3, func() {
		assert.NoError(t, wire.Unmarshal(data, rowsOf[ClosedTrade]("trades")()))
	})
	assert.LessOrEqual(t, allocs, 101_000.0) // two for each decimal
}
