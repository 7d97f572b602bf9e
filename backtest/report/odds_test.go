package report

import (
	"bytes"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/backtest"
	"github.com/tradingapi/trading-go/backtest/odds"
)

// days are of an account of 100,000, times a size.
func days(n int, mean, deviation, scale float64) odds.History {
	r, equity := rand.New(rand.NewPCG(2, 1)), decimal.NewFromInt(100_000)
	h := odds.History{Accounts: []odds.Source{{Name: "acc_1", End: "failed", Opening: equity, Days: n}}}
	for i := range n {
		begin := equity
		equity = equity.Add(decimal.NewFromFloat(scale * (mean + deviation*r.NormFloat64())).Round(2))
		h.Days = append(h.Days, odds.Day{
			Date: time.Date(2020, 1, 1+i, 0, 0, 0, 0, time.UTC), Traded: true, Largest: decimal.NewFromInt(40_000),
			Begin: odds.Midnight{Balance: begin, Equity: begin, Flat: true}, End: odds.Midnight{Balance: equity, Equity: equity, Flat: true},
		})
	}
	return h
}

// forecastOf is a forecast with every part of the section.
func forecastOf(t *testing.T, history int) *odds.Forecast {
	t.Helper()
	o := odds.Options{Horizon: 60, Outer: 60, Inner: 100, Size: &odds.Size{}, Rules: odds.Rules{
		Opening: trading.Dec("100000"), DailyFloor: trading.Some(trading.Dec("95000")),
		GlobalFloor: trading.Some(trading.Dec("90000")), Target: trading.Some(trading.Dec("110000")),
	}}
	for _, scale := range []string{"0.5", "1.5", "2"} {
		size := trading.Dec(scale)
		o.Size.Reruns = append(o.Size.Reruns, odds.Rerun{Scale: size, History: days(history, 160, 900, size.InexactFloat64())})
	}
	f, err := odds.Of(days(history, 160, 900, 1), o)
	require.NoError(t, err)
	return f
}

// The section has a picture of the equity, of the ends and of the sizes; a refusal has none, and
// comes first.
func TestOddsInTheReport(t *testing.T) {
	f := forecastOf(t, 2000)
	require.Empty(t, f.Refused)
	result := backtest.Run(t, inAndOut, backtest.Config{Data: candles(t)})
	var page bytes.Buffer
	require.NoError(t, Write(&page, result, f))
	text := page.String()
	for _, want := range []string{"What are the", "half and nine tenths of them are within", "Ended until each day", "times the present size is best", "acc_1 (failed, 2000 days)", "moving with the balance"} {
		require.Contains(t, text, want)
	}
	require.NotContains(t, text, "<script")
	if name := os.Getenv("ODDS_PAGE"); name != "" {
		require.NoError(t, os.WriteFile(name, page.Bytes(), 0o600))
	}

	page.Reset()
	require.NoError(t, Write(&page, result, forecastOf(t, 59)))
	text = page.String()
	require.Contains(t, text, "59 days of history: a probability takes 60, so 1 are missing")
	require.NotContains(t, text, "Ended until each day")
	page.Reset()
	require.NoError(t, Write(&page, result))
	require.NotContains(t, page.String(), "What are the")
}
