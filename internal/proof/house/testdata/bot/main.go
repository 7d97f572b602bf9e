// Bot opens a journal, recovers and places an order: the least that a bot with real
// money links.
package main

import (
	"context"
	"log"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	writes, err := journal.Open("bot.journal")
	if err != nil {
		return err
	}
	defer writes.Close()
	client, err := trading.FromEnv(trading.WithJournal(writes))
	if err != nil {
		return err
	}
	defer client.Close()
	if _, err := client.Recover(ctx); err != nil {
		return err
	}
	bought, err := client.Live.Account("acc_1").PlaceOrder(ctx, trading.Order{
		Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.05"), Leverage: trading.Dec("2"),
	})
	if err != nil {
		return err
	}
	log.Println("filled at", bought.Fill.Price)
	return nil
}
