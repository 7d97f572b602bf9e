package values

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
)

// A record that a program stores and reads again is the same record: nothing that
// was missing comes back as zero.
func TestRecordsSurviveJSON(t *testing.T) {
	state, position, trade := fullAccountState(), fullPosition(), fullTrade()

	for _, want := range []trading.AccountState{{}, state} {
		assert.True(t, roundTrip(t, want).Equal(want))
	}
	for _, want := range []trading.Position{{}, {TakeProfit: trading.Clear}, position} {
		assert.True(t, roundTrip(t, want).Equal(want))
	}
	for _, want := range []trading.Trade{{}, trade} {
		assert.True(t, roundTrip(t, want).Equal(want))
	}
	market := roundTrip(t, trading.Market{Symbol: "BTC", MaxLeverage: trading.Dec("5")})
	assert.True(t, market.Mark.IsZero())
	assert.True(t, market.MaxLeverage.Equal(trading.Dec("5")))
}

func roundTrip[T any](t *testing.T, v T) (again T) {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &again), string(text))
	return again
}
