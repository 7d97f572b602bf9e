package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/program"
	"github.com/tradingapi/trading-go/tradingsim"
	"github.com/tradingapi/trading-go/tradingtest"
)

const want = `acc_1  bought 0.0031 at 64000, closed for 0
acc_2  bought 0.0156 at 64000, closed for 0
acc_3  takes no entries: it is PASSED
`

func TestNothingConfigured(t *testing.T) { program.Prints(t, want, run) }

func TestAccountsAreNamed(t *testing.T) {
	t.Setenv("TRADING_BASE_URL", "http://127.0.0.1:1/v1")
	for _, list := range []string{"", "acc_1,", " "} {
		t.Setenv("TRADING_ACCOUNTS", list)
		require.ErrorContains(t, run(t.Context(), &bytes.Buffer{}), "TRADING_ACCOUNTS", list)
	}
}

// One account that fails does not stop another.
func TestOneFails(t *testing.T) {
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
	var out bytes.Buffer
	err := trade(t.Context(), tradingtest.Client(t, sim), []trading.AccountID{"acc_9", "acc_1"}, &out)
	require.ErrorIs(t, err, trading.CodeAccountNotFound)
	require.Contains(t, out.String(), "acc_1  bought")
}
