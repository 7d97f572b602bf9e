package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/testing/program"
	"github.com/tradingapi/trading-go/tradingsim"
)

const want = `BTC at 64000; 0.0491 of it lose $50 at 63040
sensible       long 0.0491: adds to long 0.0691 at 64144.7178002894356006, fee $1.41408
                 at the stop $80.29 lost, $419.7091912 above the loss floor
narrow target  long 0.0491: adds to long 0.0691 at 64144.7178002894356006, fee $1.41408
                 at the stop $80.29 lost, $419.7091912 above the loss floor
                 DO NOT SEND: the fees eat up the target: at the take-profit 64032 the position has lost $11.77445504, fees included
stop above     long 0.0491: adds to long 0.0691 at 64144.7178002894356006, fee $1.41408
                 at the stop $-30.22 lost, $530.2194392 above the loss floor
                 DO NOT SEND: invalid_tpsl: the stop-loss 64640 of a long is not before the price 64000
tiny           long 0.0001: adds to long 0.0201 at 64497.5124378109452736, fee $0.00288
                 at the stop $30.45 lost, $469.5504232 above the loss floor
                 DO NOT SEND: MIN_NOTIONAL: the order is worth $6.4, below the minimum of $10
opposite       short 0.05: flips to short 0.03 at 64000, fee $1.44
                 mind: flips the position: the order ends long 0.02 BTC and opens short 0.03
in 120 clips   long 0.01: adds to long 0.03 at 64333.3333333333333333, fee $0.288
                 DO NOT SEND: MIN_NOTIONAL: of 120 parts the smallest, 0.00008333 BTC, is worth $5.33312, below the minimum of $10
`

func TestNothingConfigured(t *testing.T) { program.Prints(t, want, run) }

func TestConfiguredServicePlacesNothing(t *testing.T) {
	sim := tradingsim.Start(t, tradingsim.WithMark(symbol, "64000"))
	t.Setenv("TRADING_BASE_URL", sim.URL())
	t.Setenv("TRADING_SANDBOX_KEY", sim.SandboxKey())
	t.Setenv("TRADING_LIVE_KEY", sim.LiveKey())
	t.Setenv("TRADING_ACCOUNT", "acc_1")
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), &out))
	require.Contains(t, out.String(), "sensible       long")
	require.Empty(t, sim.Ledger())
}
