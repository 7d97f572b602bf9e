// Package program is the source of the program that runs a bot in a backtest.
package program

import (
	_ "embed"
	"strings"
	"time"
)

//go:embed main.go.txt
var source string

// Source returns a package main that runs a function of a package.
func Source(importPath, function string) string {
	return strings.NewReplacer("BOT_PACKAGE", importPath, "BOT_FUNC", function).Replace(source)
}

// Run is what the program takes as its argument, as JSON.
type Run struct {
	Symbol, Prices, Candles, Report, Balance string

	DailyLossFloor, GlobalLossFloor, ProfitTarget, DailyFloor, CandlePaths, Attempts, Trades, Result string

	HalfSpread, Slippage, SlippageLaw, Funding string

	Latency, Lag, MaxAge, WarmUp time.Duration

	Accounts []string // live ones; none is the paper account
	Protect  bool

	Format, Zone string
	Columns      map[string]string
	Heading      []string
	Interval     time.Duration
	NewestFirst  bool

	Days     int
	Seed     uint64
	From, To time.Time
	JSON     bool
}
