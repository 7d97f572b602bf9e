// Package program is the source of the program that runs a bot in a backtest.
package program

import (
	_ "embed"
	"strings"
	"time"
)

//go:embed main.go.txt
var source string

// Source returns a package main that runs a function of a package: a bot, or one that returns the
// variants of a sweep.
func Source(importPath, function string, sweep bool) string {
	task := "one"
	if sweep {
		task = "sweep"
	}
	return strings.NewReplacer("BOT_PACKAGE", importPath, "BOT_FUNC", function, "BOT_TASK", task).Replace(source)
}

// Run is what the program takes as its argument, as JSON.
type Run struct {
	Symbol, Prices, Candles, Report, Balance string

	DailyLossFloor, GlobalLossFloor, ProfitTarget, DailyFloor, CandlePaths, Attempts, Trades, Result string

	HalfSpread, Slippage, SlippageLaw, Funding, Profile string

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

	Split         time.Time // the end of the train prices; zero is two thirds of all
	Shard, Shards int       // of a sweep
	Part          string    // the file that a shard of a sweep is written to
	RunTimeout    time.Duration
}
