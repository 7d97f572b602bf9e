package trading

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A record that a program stores and reads again is the same record: nothing that
// was missing comes back as zero.
func TestRecordsSurviveJSON(t *testing.T) {
	state, position, trade := fullAccountState(), fullPosition(), fullTrade()

	for _, want := range []AccountState{{}, state} {
		assert.True(t, roundTrip(t, want).Equal(want))
	}
	for _, want := range []Position{{}, {TakeProfit: Clear}, position} {
		assert.True(t, roundTrip(t, want).Equal(want))
	}
	for _, want := range []Trade{{}, trade} {
		assert.True(t, roundTrip(t, want).Equal(want))
	}
	market := roundTrip(t, Market{Symbol: "BTC", MaxLeverage: Dec("5")})
	assert.True(t, market.Mark.IsZero())
	assert.True(t, market.MaxLeverage.Equal(Dec("5")))
}

func roundTrip[T any](t *testing.T, v T) (again T) {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &again), string(text))
	return again
}
