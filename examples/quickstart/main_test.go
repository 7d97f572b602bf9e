package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

const want = `service    the simulator, on this machine
health     healthy, feed live: safe to trade: true
key        of user_1, for the sandbox
market     BTC           64000  up to 5x
market     ETH            3200  up to 5x
market     NEWCOIN    unpriced  up to 2x
account    equity $100000.00, active
           $5000.00 above the nearer loss floor
           $10000.00 below the profit target
buy        0.05 BTC filled at 64000
position   long 0.05 at 64000, at 2x
           stop 62720, target 64640
close 40%  at 64000, gross $0.00
market     BTC moves to 64650
read       fires the trigger: the position is closed
trade      take_profit  exit 64650: gross $19.50 - fees $1.74 = net $17.76
trade      market       exit 64000: gross $0.00 - fees $1.15 = net $-1.15
refused    MAX_SLIPPAGE: estimated 0.2733%, allowed 0.1%: not applied
reset      balance $100000.00
live       the reply to the next order will be lost
buy        0.01 BTC filled at 64650
           the service had executed it; the client asked again under the same key,
           and got the stored answer of the first order, not a second order
position   long 0.01: once, not twice
`

func TestNothingConfigured(t *testing.T) {
	t.Setenv("TRADING_BASE_URL", "")
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), &out))
	require.Equal(t, want, out.String())
}

func TestConfiguredService(t *testing.T) {
	// The market of this service does not move, so the position is closed by hand.
	sim := tradingsim.Start(t, tradingsim.WithMark("BTC", "64000"))
	t.Setenv("TRADING_BASE_URL", sim.URL())
	t.Setenv("TRADING_SANDBOX_KEY", sim.SandboxKey())
	t.Setenv("TRADING_LIVE_KEY", "")
	var out bytes.Buffer
	service, err := connect(&out)
	require.NoError(t, err)
	defer service.close()
	service.pause = func() {}
	require.NoError(t, firstTrade(t.Context(), service, &out))
	require.Contains(t, out.String(), "closed by hand")
	require.Contains(t, out.String(), "reset      balance $100000.00")
}
