// Backtest runs a bot through a month of virtual time and says what it came to.
//
//	go run ./examples/backtest                                   # on a random walk
//	go run ./examples/backtest -prices btc.csv -candles open     # on a recording
//	go run ./examples/backtest -sweep                            # variants of the bot
//
// The bot in package reversion knows nothing of it. The same seed, or the same file, gives
// the same result to the last digit.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/backtest"
	"github.com/tradingapi/trading-go/backtest/report"
	"github.com/tradingapi/trading-go/examples/backtest/reversion"
)

var (
	days    = flag.Int("days", 30, "how many days of a random walk")
	seed    = flag.Uint64("seed", 1, "the `number` that the walk follows from")
	prices  = flag.String("prices", "", "a CSV `file` of prices instead of a walk")
	candles = flag.String("candles", "", "what the time of a candle in it is: `open` or close")
	symbol  = flag.String("symbol", "BTC", "the market")
	account = flag.String("account", "", "trade a simulated live account of this `id` instead of the paper account")
	html    = flag.String("report", "report.html", "the `file` for the report")
	sweep   = flag.Bool("sweep", false, "try variants on the first two thirds, and the best on the rest")
)

func main() {
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "backtest: unexpected argument %q\n", flag.Arg(0))
		os.Exit(2)
	}
	backtest.Main(func(r *backtest.Runner) int {
		if err := run(r); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	})
}

func run(r *backtest.Runner) error {
	data, err := read()
	if err != nil {
		return err
	}
	config := backtest.Config{Name: "Reversion to the mean", Data: data, Account: backtest.Account{ID: *account}}
	if *sweep {
		return try(r, config)
	}
	result, err := r.Run(bot(reversion.New(*symbol)), config)
	if err != nil {
		return err
	}
	fmt.Print(result)
	return report.WriteFile(*html, result)
}

func read() (*backtest.Data, error) {
	if *prices == "" {
		return backtest.Walk(backtest.WalkOptions{Symbol: *symbol, Seed: *seed, Length: time.Duration(*days) * 24 * time.Hour})
	}
	how := backtest.CSV{Symbol: *symbol}
	switch *candles {
	case "":
	case "open":
		how.Time = backtest.OpenTime
	case "close":
		how.Time = backtest.CloseTime
	default:
		return nil, fmt.Errorf("backtest: -candles is %q; it must be open or close", *candles)
	}
	return backtest.ReadFile(*prices, how)
}

// bot is the bot as a backtest takes it.
func bot(b *reversion.Bot) backtest.Bot {
	return func(ctx context.Context, client *trading.Client) error {
		var on trading.Trader = client.Sandbox
		if *account != "" {
			on = client.Live.Account(trading.AccountID(*account))
		}
		return b.Run(ctx, client.Sandbox.MarketData, on)
	}
}

// try varies how far from the mean the bot enters, and how far away its stop is.
func try(r *backtest.Runner, config backtest.Config) error {
	var variants []backtest.Variant
	for _, deviations := range []string{"2", "2.5", "3"} {
		for _, stop := range []string{"1", "2", "4"} {
			b := reversion.New(*symbol)
			b.Deviations, b.StopPct = decimal.RequireFromString(deviations), decimal.RequireFromString(stop)
			variants = append(variants, backtest.Variant{Name: deviations + " deviations, stop " + stop + "%", Bot: bot(b)})
		}
	}
	from, to := config.Data.Span()
	train, test := backtest.Split(config, from.Add(to.Sub(from)*2/3).Truncate(time.Hour))
	result, err := r.Sweep(backtest.Sweep{Variants: variants, Train: []backtest.Config{train}, Test: []backtest.Config{test}})
	if err != nil {
		return err
	}
	fmt.Print(result)
	if len(result.Best) == 0 {
		return nil
	}
	return report.WriteFile(*html, result.Best[0])
}
