package profile_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go/profile"
)

// What is wrong is said in the same order each time.
func TestWhatIsWrongHasAnOrder(t *testing.T) {
	p := &profile.Profile{Measured: profile.Measured{
		ReadLag: profile.Spread{N: -1}, MarkAge: profile.Spread{N: -1}, TakerFee: "x", MakerFee: "x", MinNotional: "x", DefaultLeverage: "x",
		AnswerTime: map[string]profile.Spread{"GET /me": {N: -1}, "GET /health": {N: -1}},
	}}
	for range 20 {
		assert.Equal(t, p.Validate().Error(), p.Validate().Error())
	}
}
