package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/backtest"
	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
)

// tradesFile writes a trade a day, with an edge, and returns the balance after the last.
func tradesFile(t *testing.T, path string, days int) (balance string) {
	t.Helper()
	r, at, sum := rand.New(rand.NewPCG(1, 2)), time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC), decimal.NewFromInt(100_000)
	text := "opened,closed,net,mae,mfe,notional\n"
	for range days {
		net := decimal.NewFromInt(int64(r.IntN(900) - 150))
		text += fmt.Sprintf("%s,%s,%s,%d,%d,40000\n", at.Format(time.RFC3339), at.Add(time.Hour).Format(time.RFC3339), net, -200-r.IntN(100), 800)
		at, sum = at.Add(24*time.Hour), sum.Add(net)
	}
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return sum.String()
}

// oddsResult writes a backtest of a bot that trades at a size.
func oddsResult(t *testing.T, name string, days int) {
	t.Helper()
	data, err := backtest.Walk(backtest.WalkOptions{Symbol: "BTC", Seed: 3, Length: time.Duration(days) * 24 * time.Hour})
	require.NoError(t, err)
	result := backtest.Run(t, func(ctx context.Context, client *trading.Client) error {
		for ctx.Err() == nil {
			if _, err := client.Sandbox.PlaceOrder(ctx, trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.1")}); err != nil {
				return err
			}
			time.Sleep(time.Hour)
			if _, err := client.Sandbox.ClosePosition(ctx, "BTC", trading.Percent(trading.Dec("100"))); err != nil {
				return err
			}
			time.Sleep(23 * time.Hour)
		}
		return ctx.Err()
	}, backtest.Config{Name: "long an hour", Data: data, Account: backtest.Account{DailyLossFloor: "50000", GlobalLossFloor: "50000"}})
	text, err := json.Marshal(result)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(name, text, 0o600))
}

func TestOddsOfAResult(t *testing.T) {
	r := newRig(t)
	t.Chdir(t.TempDir())
	oddsResult(t, "result.json", 64)
	r.env = nil // no service is needed
	page := filepath.Join(t.TempDir(), "report.html")
	type answer struct {
		Headline    string
		Refused     string
		HorizonDays int
		Seen        struct{ Days int }
		Undecided   struct{ Mean float64 }
		Size        struct{ Refused string }
		Assumptions []backtest.Assumption
	}
	var v answer
	require.NoError(t, json.Unmarshal([]byte(r.done("odds", "--result", "result.json", "--horizon", "30d", "--report", page, "-o", "json")), &v))
	assert.Equal(t, 64, v.Seen.Days)
	assert.Equal(t, 30, v.HorizonDays)
	assert.NotEmpty(t, v.Assumptions)
	assert.Contains(t, v.Headline, "Of 100 such accounts between 0 and ")
	if assert.Empty(t, v.Refused) {
		assert.Greater(t, v.Undecided.Mean, 0.9)
	}
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.Contains(t, string(text), "What are the")

	var curve answer
	args := []string{"odds", "--result", "result.json", "--horizon", "30d", "--size-curve", "-o", "json"}
	for _, size := range []string{"0.5", "1", "2"} {
		args = append(args, "--rerun", size+"=result.json")
	}
	require.NoError(t, json.Unmarshal([]byte(r.done(args...)), &curve))
	assert.Contains(t, curve.Size.Refused, "that is no edge that a size could use")

	for want, args := range map[string][]string{
		"is no result of a backtest":      {"--result", page},
		"want a number of days":           {"--result", "result.json", "--horizon", "month"},
		"want a size and a file":          {"--result", "result.json", "--size-curve", "--rerun", "half.json"},
		"Size.Payoff and Size.Fee belong": {"--result", "result.json", "--size-curve", "--payoff", "5"},
	} {
		code, _, errs := r.run(append([]string{"odds"}, args...)...)
		assert.NotEqual(t, cli.Done, code)
		assert.Contains(t, errs, want)
	}
	selected := r.done("odds", "--result", "result.json", "--variant", "result.json", "--variant", "result.json", "--horizon", "30d")
	assert.Contains(t, selected, "the best of 3 variants")
	joined := r.done("odds", "--result", "result.json", "--result", "result.json", "--horizon", "30d")
	assert.Contains(t, joined, "64 days are on a date that another account has too")
}
