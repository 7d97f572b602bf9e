package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/testing/program"
	"github.com/tradingapi/trading-go/tradingsim"
)

const want = `resting   ord_1 at 63360
resting   ord_2 at 60800
open      1
filled    ord_1
cancelled ord_2
closed    pnl -0.6
`

func TestNothingConfigured(t *testing.T) { program.Prints(t, want, run) }

// A configured service is taken from the environment.
func TestConfigured(t *testing.T) {
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
	require.NoError(t, sim.Listen("127.0.0.1:0"))
	defer sim.Close()
	t.Setenv("TRADING_BASE_URL", sim.URL())
	t.Setenv("TRADING_SANDBOX_KEY", sim.SandboxKey())
	t.Setenv("TRADING_LIVE_KEY", sim.LiveKey())
	t.Setenv("TRADING_ACCOUNT", "acc_1")
	sim.SetMark("BTC", "")
	var out bytes.Buffer
	require.ErrorContains(t, run(t.Context(), &out), "no price", "without a price it places nothing")
	require.Empty(t, sim.Ledger())
}
