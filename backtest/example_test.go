package backtest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/backtest"
)

// A file that leaves room for doubt is refused, with what would be right.
func ExampleReadCSV() {
	_, err := backtest.ReadCSV(strings.NewReader("time,open,high,low,close\n1767225600,64000,64100,63900,64050\n"),
		backtest.CSV{Name: "btc.csv", Symbol: "BTC"})
	var wrong *backtest.FeedError
	fmt.Println(errors.As(err, &wrong), "line", wrong.Line)

	data, err := backtest.ReadCSV(strings.NewReader("time,price\n1767225600,64000\n1767225660,64010\n"),
		backtest.CSV{Name: "btc.csv", Symbol: "BTC"})
	if err != nil {
		fmt.Println(err)
		return
	}
	from, to := data.Span()
	fmt.Println(from.UTC(), "and", to.Sub(from))
	// Output:
	// true line 1
	// 2026-01-01 00:00:00 +0000 UTC and 1m0s
}

// The size that did best in the first two thirds, judged on the rest.
func ExampleRunner_Sweep() {
	data, err := backtest.Walk(backtest.WalkOptions{Symbol: "BTC", Seed: 1, Length: 30 * 24 * time.Hour})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	backtest.Main(func(r *backtest.Runner) int {
		var variants []backtest.Variant
		for _, size := range []string{"0.01", "0.1", "1"} {
			variants = append(variants, backtest.Variant{Name: size, Bot: buys(size)})
		}
		config := backtest.Config{Data: data}
		from, to := data.Span()
		train, test := backtest.Split(config, from.Add(to.Sub(from)*2/3).Truncate(time.Hour))
		result, err := r.Sweep(backtest.Sweep{
			Variants: variants, Train: []backtest.Config{train}, Test: []backtest.Config{test},
		})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Print(result)
		return 0
	})
}

// buys is a bot that buys once, and holds.
func buys(size string) backtest.Bot {
	return func(ctx context.Context, client *trading.Client) error {
		_, err := client.Sandbox.PlaceOrder(ctx, trading.Order{
			Symbol: "BTC", Side: trading.Long, Size: trading.Dec(size), Leverage: trading.Dec("1"),
		})
		return err
	}
}
