package main

import (
	"context"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/examples/backtest/reversion"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
	"github.com/tradingapi/trading-go/tradingtest"
)

// What the README shows is here too, to be compiled and run.

func TestDay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New(tradingsim.WithFeed("BTC", tradingsim.RandomWalk(1, "64000", 1)))
		client := tradingtest.Client(t, sim)
		bot := reversion.New("BTC")
		ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour+bot.Every/2)
		defer cancel()
		if err := bot.Run(ctx, client.Sandbox.MarketData, client.Sandbox); err != nil {
			t.Fatal(err)
		}
		account, _ := sim.Report().Account("")
		t.Log(account.ReturnPct())
	})
}

func live(ctx context.Context, log *journal.Log, id trading.AccountID) error {
	client, err := trading.FromEnv(trading.WithJournal(log), trading.WithExclusiveAccounts(id))
	if err != nil {
		return err
	}
	defer client.Close()
	if _, err := client.Recover(ctx); err != nil { // nothing new before the outcome of everything old is known
		return err
	}
	return reversion.New("BTC").Run(ctx, client.Sandbox.MarketData, client.Live.Account(id))
}

func TestLiveNeedsAService(t *testing.T) {
	t.Setenv("TRADING_BASE_URL", "")
	require.ErrorContains(t, live(t.Context(), nil, "acc_1"), "TRADING_BASE_URL")
}

// TestReadme finds each line of the README's snippets above, in their order.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	self, err := os.ReadFile("readme_test.go")
	require.NoError(t, err)
	snippets := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(readme), -1)
	require.Len(t, snippets, 2)
	for _, snippet := range snippets {
		rest := string(self)
		for line := range strings.Lines(snippet[1]) {
			line = strings.TrimSpace(line)
			if line == "…" {
				continue
			}
			_, after, ok := strings.Cut(rest, line)
			require.True(t, ok, line)
			rest = after
		}
	}
}
