package main

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
	"github.com/tradingapi/trading-go/tradingtest"
)

// The stop fires while the bot runs, and it buys again a minute later.
func TestTheStopFires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
		client := tradingtest.Client(t, sim)
		b := &bot{account: client.Sandbox, prices: client.Sandbox.MarketData, log: slog.New(slog.DiscardHandler)}

		ctx, cancel := context.WithTimeout(t.Context(), 150*time.Second) // virtual: it takes no time
		defer cancel()
		time.AfterFunc(30*time.Second, func() { sim.SetMark("BTC", "63000") })
		require.NoError(t, b.run(ctx))

		require.Equal(t, "0", sim.Position("", "BTC").String(), "it has left the market on paper")
		trades, err := client.Sandbox.Trades(t.Context())
		require.NoError(t, err)
		require.Len(t, trades, 2)
		require.Equal(t, trading.CauseStopLoss, trades[1].Cause)
	})
}
