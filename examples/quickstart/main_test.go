package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/testing/program"
	"github.com/tradingapi/trading-go/tradingsim"
	"github.com/tradingapi/trading-go/tradingtest"
)

const want = `health    healthy, feed live: safe to trade: true
buy       0.05 BTC filled at 64000, stop 62720, target 64640
trade     take_profit at 64650: gross 32.50 - fees 2.89 = net 29.61
`

func TestNothingConfigured(t *testing.T) { program.Prints(t, want, run) }

// In a market that does not move, the position is closed by hand.
func TestTheTargetIsNotReached(t *testing.T) {
	client := tradingtest.Client(t, tradingsim.New(tradingsim.WithMark("BTC", "64000")))
	var out bytes.Buffer
	require.NoError(t, firstTrade(t.Context(), client, func() {}, &out))
	require.Contains(t, out.String(), "by hand")
	require.Contains(t, out.String(), "trade     market at 64000")
}
