package ratelimittest_test

import (
	"testing"

	"github.com/tradingapi/trading-go/ratelimit"
	"github.com/tradingapi/trading-go/ratelimit/ratelimittest"
)

// The test of a store of one's own.
func ExampleRun() {
	_ = func(t *testing.T) {
		ratelimittest.Run(t, ratelimittest.Store{
			New: func(*testing.T) ratelimit.Store { return ratelimit.NewMemoryStore() }, // yours
		})
	}
}
