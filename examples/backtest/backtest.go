package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/tradingapi/trading-go/examples/backtest/reversion"
	"github.com/tradingapi/trading-go/tradingsim"
	"github.com/tradingapi/trading-go/tradingtest"
)

// The market of the backtest.
const (
	symbol     = "BTC"
	startPrice = "64000"
)

// settings are what to run.
type settings struct {
	days  int
	seed  uint64
	step  int    // of the walk, in hundredths of a percent a second
	marks string // a recording instead of the walk
	live  bool   // on a live account instead of the paper account
	log   *slog.Logger
}

// account is the account that the bot trades, as the report names it.
func (s settings) account() string {
	if s.live {
		return "acc_1"
	}
	return ""
}

func (s settings) feed() (tradingsim.Feed, error) {
	if s.marks == "" {
		return tradingsim.RandomWalk(s.seed, startPrice, s.step), nil
	}
	file, err := os.Open(s.marks)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	feed, err := tradingsim.ReadCSV(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.marks, err)
	}
	return tradingsim.FromStart(feed), nil
}

// result is what a run came to.
type result struct {
	report  tradingsim.Report
	stopped error // why the bot ended before its time
}

// backtest lets the bot trade, inside a bubble.
func backtest(t *testing.T, s settings) (result, error) {
	if s.days < 1 {
		return result{}, errors.New("a backtest takes a day at least")
	}
	feed, err := s.feed()
	if err != nil {
		return result{}, err
	}
	sim := tradingsim.New(
		tradingsim.WithFeed(symbol, feed),
		tradingsim.WithRequestLog(1000), // the report counts them all
	)
	client := tradingtest.Client(t, sim)
	bot := reversion.New(symbol)
	bot.Log = s.log

	// Between two looks: of two things due at the same moment, chance takes one first.
	length := time.Duration(s.days)*24*time.Hour + bot.Every/2
	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	var r result
	if s.live {
		r.stopped = bot.Run(ctx, client.Sandbox.MarketData, client.Live.Account("acc_1"))
	} else {
		r.stopped = bot.Run(ctx, client.Sandbox.MarketData, client.Sandbox)
	}
	r.report = sim.Report()
	return r, nil
}
