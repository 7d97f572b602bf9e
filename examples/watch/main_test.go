package main

import (
	"bytes"
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/testing/program"
	"github.com/tradingapi/trading-go/tradingsim"
)

const want = `mark     BTC 64000
account  active
opened   long 0.5 BTC at 64000
mark     BTC 64500
trade    BTC market: net 88.44
changed  long 0.3 BTC, stop clear, target clear
trade    BTC market: net 132.65
closed   long BTC, by flip
opened   short 0.2 BTC at 64500
mark     BTC has none; it was 64500
mark     BTC 64400
changed  short 0.2 BTC, stop clear, target 64000
trade    BTC take_profit: net 90.44
closed   short BTC, by take_profit
mark     BTC 63990
seen     3 trades, 0 open
`

func TestNothingConfigured(t *testing.T) { program.Prints(t, want, run) }

func TestInterrupted(t *testing.T) {
	t.Setenv("TRADING_BASE_URL", "")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second+100*time.Millisecond)
		defer cancel()
		var out bytes.Buffer
		require.NoError(t, run(ctx, &out))
		require.Contains(t, out.String(), "seen     0 trades, 1 open")
	})
}

func TestConfiguredService(t *testing.T) {
	sim := tradingsim.Start(t)
	t.Setenv("TRADING_BASE_URL", sim.URL())
	t.Setenv("TRADING_SANDBOX_KEY", sim.SandboxKey())
	t.Setenv("TRADING_LIVE_KEY", "")
	ctx, cancel := context.WithCancel(t.Context())
	out := &until{text: "account  active", reached: cancel}
	require.NoError(t, run(ctx, out))
	require.Contains(t, out.String(), "seen     0 trades, 0 open")
}

// until is told when a text has been written.
type until struct {
	bytes.Buffer
	text    string
	reached func()
}

func (u *until) Write(p []byte) (int, error) {
	n, err := u.Buffer.Write(p)
	if bytes.Contains(u.Bytes(), []byte(u.text)) {
		u.reached()
	}
	return n, err
}
