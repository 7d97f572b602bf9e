package report_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/backtest"
	"github.com/tradingapi/trading-go/backtest/report"
)

// It is compiled and not run, since Main ends the process.
func ExampleWriteFile() {
	data, err := backtest.Walk(backtest.WalkOptions{Symbol: "BTC", Seed: 1, Length: 24 * time.Hour})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	bot := func(ctx context.Context, client *trading.Client) error { return nil } // yours
	backtest.Main(func(r *backtest.Runner) int {
		result, err := r.Run(bot, backtest.Config{Data: data})
		if err == nil {
			err = report.WriteFile("report.html", result)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	})
}
