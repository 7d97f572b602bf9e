package ratelimit_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/tradingapi/trading-go/ratelimit"
	"github.com/tradingapi/trading-go/ratelimit/ratelimittest"
)

func TestMemoryStore(t *testing.T) {
	ratelimittest.Run(t, ratelimittest.Store{
		New:   func(*testing.T) ratelimit.Store { return ratelimit.NewMemoryStore() },
		In:    synctest.Test,
		Sleep: time.Sleep,
	})
}
