package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/backtest"
	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/tradingsim"
)

// tradesFile writes a trade a day, with an edge, and returns the balance after the last.
func tradesFile(t *testing.T, days int) (balance string) {
	t.Helper()
	r, at, sum := rand.New(rand.NewPCG(1, 2)), time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC), decimal.NewFromInt(100_000)
	text := "opened,closed,net,mae,mfe,notional\n"
	for range days {
		net := decimal.NewFromInt(int64(r.IntN(900) - 150))
		text += fmt.Sprintf("%s,%s,%s,%d,%d,40000\n", at.Format(time.RFC3339), at.Add(time.Hour).Format(time.RFC3339), net, -200-r.IntN(100), 800)
		at, sum = at.Add(24*time.Hour), sum.Add(net)
	}
	require.NoError(t, os.WriteFile("trades.csv", []byte(text), 0o600))
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

func TestOdds(t *testing.T) {
	r := newRig(t, tradingsim.WithAccount(tradingsim.Account{ID: "acc_1", Balance: "100000", DailyLossFloor: "95000", GlobalLossFloor: "90000", ProfitTarget: "110000"}))
	here, err := os.Getwd()
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	var all strings.Builder
	show := func(args ...string) {
		code, out, errs := r.run(append([]string{"odds"}, args...)...)
		fmt.Fprintf(&all, "$ trading odds %s\n%s%s-> %d\n\n", strings.Join(args, " "), out, errs, code)
	}
	balance := tradesFile(t, 90)
	csv := []string{"--csv", "trades.csv", "--opening", "100000", "--balance", balance}
	rules := []string{"--daily-floor", "95000", "--global-floor", "90000", "--target", "110000", "--horizon", "60d"}
	show(append(append(csv, rules...), "--end", "failed")...)
	show(append(append(csv, "--account", "acc_1", "--horizon", "60d"), "--protection", "next-day", "--jump", "0.01", "--jumps-a-year", "4", "--size-curve")...)
	show(append(csv, "--account", "acc_1", "--min-days", "5", "--best-day", "0.4", "--daily-floor-rule", "fixed", "--jump", "0")...)
	show("--account", "acc_1") // its own trades: it has none
	show("--csv", "trades.csv", "--target", "110000")
	show(append([]string{"--csv", "trades.csv", "--opening", "100000", "--balance", "100000"}, rules...)...)
	show(csv...)
	few := tradesFile(t, 20)
	show(append([]string{"--csv", "trades.csv", "--opening", "100000", "--balance", few}, rules...)...)
	few = tradesFile(t, 3)
	show(append([]string{"--csv", "trades.csv", "--opening", "100000", "--balance", few}, rules...)...)
	require.NoError(t, os.WriteFile("trades.csv", []byte("opened,net\n"), 0o600))
	show(append(csv, rules...)...)
	t.Chdir(here)
	golden(t, "odds.txt", all.String())
	assert.Empty(t, r.sim.Ledger(), "nothing is traded")
}

// The account's own trades have no excursions, and the refusal names all that is missing.
func TestOddsOfTheTradesOfAnAccount(t *testing.T) {
	r := newRig(t, tradingsim.WithAccount(tradingsim.Account{ID: "acc_1", Balance: "100000"}))
	r.sim.Trade("acc_1", "long", "0.1", "BTC")
	r.done("close", "--env", "live", "--account", "acc_1", "--symbol", "BTC", "--yes")
	assert.Empty(t, r.ends(cli.NotApplied, "1 of 1 trades have no MAE (the worst profit while open); 1 of 1 trades have no MFE (the best profit while open)",
		"odds", "--account", "acc_1"))
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
		"no such file":                    {"--result", "missing.json"},
		"want a number of days":           {"--result", "result.json", "--horizon", "month"},
		"want a size and a file":          {"--result", "result.json", "--size-curve", "--rerun", "half.json"},
		"--rerun is for --size-curve":     {"--result", "result.json", "--rerun", "1=result.json"},
		"--variant takes one --result":    {"--csv", "trades.csv", "--variant", "result.json"},
		"--csv and --result exclude":      {"--result", "result.json", "--csv", "trades.csv"},
		"--report takes one --result":     {"--csv", "trades.csv", "--report", "x.html"},
		"--jumps-a-year is for --jump":    {"--result", "result.json", "--jumps-a-year", "2"},
		"--from \"today\": want a time":   {"--csv", "result.json", "--from", "today"},
		"whose chances?":                  {},
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
