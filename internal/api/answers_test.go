package api

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/wire"
)

func TestOrderResponse(t *testing.T) {
	var v OrderResponse
	require.NoError(t, wire.Unmarshal([]byte(orderAnswer), &v))
	assert.True(t, v.Success)
	assert.Equal(t, "opened", v.Action)
	assert.Equal(t, "64010.5", v.Fill.Price.String())
	assert.Equal(t, "2.8804725", v.Fill.Fee.String())
	assert.Equal(t, "50247.8695275", v.NewBalance.String())
	position, ok := v.Position.Get()
	require.True(t, ok)
	assert.Equal(t, "long", position.Side)
	stop, ok := position.StopLossPrice.Get()
	assert.True(t, ok)
	assert.Equal(t, "63000", stop.String())
	openedAt, ok := position.OpenedAt.Get()
	require.True(t, ok)
	at, ok := openedAt.Get()
	assert.True(t, ok)
	assert.Equal(t, time.Date(2026, 11, 2, 9, 30, 0, 0, time.UTC), at)

	// T60: an order that ended the position.
	v = OrderResponse{}
	require.NoError(t, wire.Unmarshal([]byte(`{"success":true,"action":"closed","fill":{"price":1,"size":1,"fee":0},"position":null,"newBalance":1}`), &v))
	assert.True(t, v.Position.IsNull())
}

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

func TestLists_BareAndEnveloped(t *testing.T) {
	const row = `{"symbol":"BTC","side":"long","size":1,"entryPrice":2,"liquidationPrice":1.10}`
	for _, data := range []string{`[` + row + `]`, `{"positions":[` + row + `]}`} {
		rows := wire.Rows[LivePosition, LivePosition, *LivePosition]{
			Member: "positions", Bare: true, Convert: func(p *LivePosition) LivePosition { return *p },
		}
		require.NoError(t, wire.Unmarshal([]byte(data), &rows))
		require.Len(t, rows.List, 1)
		assert.Equal(t, `1.10`, string(rows.List[0].Extra["liquidationPrice"]))
	}
	for _, data := range []string{`{"status":"ACTIVE","balance":1,"equity":2}`, `{"account":{"status":"ACTIVE","balance":1,"equity":2}}`} {
		var v LiveAccountDetail
		require.NoError(t, wire.Unmarshal([]byte(data), &wire.Either{Member: "account", Record: &v}))
		assert.Equal(t, "2", v.Equity.String())
	}
}

func TestErrors_NameTheMember(t *testing.T) {
	err := wire.Unmarshal([]byte(`{"ok":true,"positions":[{"symbol":"BTC","side":"long","size":1,"leverage":1,"entryPrice":1,"markPrice":"n/a"}]}`), rowsOf[SandboxPosition]("positions")())
	assertProblem(t, wire.NotANumber, "positions[0].markPrice", err)
}

func TestOrderResponse_Allocations(t *testing.T) {
	data := []byte(orderAnswer)
	allocs := testing.AllocsPerRun(100, func() {
		if err := wire.Unmarshal(data, new(OrderResponse)); err != nil {
			t.Error(err)
		}
	})
	assert.LessOrEqual(t, allocs, 16.0)
}

func TestTrades_Allocations(t *testing.T) {
	data := tradesAnswer(10_000, false)
	allocs := testing.AllocsPerRun(3, func() {
		if err := wire.Unmarshal(data, rowsOf[ClosedTrade]("trades")()); err != nil {
			t.Error(err)
		}
	})
	assert.LessOrEqual(t, allocs, 101_000.0) // two for each decimal
}
