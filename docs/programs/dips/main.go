// Dips runs a bot through a week of a random walk, and prints the result.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/backtest"
)

func main() {
	backtest.Main(func(r *backtest.Runner) int {
		data, err := backtest.Walk(backtest.WalkOptions{Symbol: "BTC", Seed: 1, Length: 7 * 24 * time.Hour}) // or ReadFile
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		result, err := r.Run(dips, backtest.Config{Data: data, Account: backtest.Account{ID: "acc_1", Balance: "50000"}})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Print(result)
		return 0
	})
}

// dips buys a fall of one percent within the hour, with a stop and a target.
func dips(ctx context.Context, client *trading.Client) error {
	account := client.Live.Account("acc_1")
	ticker := time.NewTicker(time.Minute)
	defer ticker.Stop()
	high, since := trading.Dec("0"), time.Now()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
		mark, err := client.Sandbox.Price(ctx, "BTC")
		if err != nil {
			continue
		}
		price, ok := mark.Price()
		if !ok {
			continue
		}
		if price.GreaterThan(high) || time.Since(since) > time.Hour {
			high, since = price, time.Now()
		}
		positions, err := account.Positions(ctx)
		if err != nil {
			continue
		}
		if _, open := positions.In("BTC"); !open && price.LessThan(high.Mul(trading.Dec("0.99"))) {
			_, err := account.PlaceOrder(ctx, trading.Order{
				Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.1"), Leverage: trading.Dec("2"),
				StopLoss:   trading.At(price.Mul(trading.Dec("0.98")).Round(1)),
				TakeProfit: trading.At(price.Mul(trading.Dec("1.01")).Round(1)),
			})
			if err != nil {
				return err
			}
			high = price
		}
	}
}
