package claims

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go"
)

// TestOddRecords: an order without a name is not counted anew with each look, and one whose size is negative makes
// room for nothing: both close what they may be in.
func TestOddRecords(t *testing.T) {
	s := &Set[int]{}
	resting := trading.RestingOrder{Symbol: "BTC", Side: trading.Long, Size: trading.Some(one)}
	negative := trading.RestingOrder{ID: "ord_1", Symbol: "ETH", Side: trading.Long, Size: trading.Some(two.Neg())}
	for range 3 {
		s.See(Snapshot{Open: &trading.OpenOrders{Limits: []trading.RestingOrder{resting, resting, negative}, Runs: []trading.Run{{Symbol: "BTC"}}}})
	}
	assert.Len(t, s.All(), 2)
	for _, symbol := range []string{"BTC", "ETH"} {
		_, is := s.Unsized(symbol)
		assert.True(t, is, symbol)
	}
	own := &Claim[int]{Symbol: "BTC", Side: trading.Long, Size: one}
	s.Add(own)
	own.Applied(0)
	s.See(Snapshot{Began: Lag, Ended: Lag, Open: &trading.OpenOrders{Limits: []trading.RestingOrder{resting}}})
	assert.NotContains(t, s.All(), own, "it is not what has no name")
}
