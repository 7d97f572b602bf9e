// Quotes keeps a limit on each side of the market, until it is interrupted.
package main

import (
	"context"
	"log"
	"os"
	"os/signal"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/quote"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	client, err := trading.FromEnv() // TRADING_BASE_URL, TRADING_LIVE_KEY, TRADING_SANDBOX_KEY
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	quoter, err := quote.New(client, "acc_1", quote.Options{
		Symbol: "BTC", Leverage: trading.Dec("2"),
		MaxBuy: trading.Dec("0.2"), MaxSell: trading.Dec("0.2"), // what may rest at once
		Least: quote.Change{Price: trading.Dec("5")}, // a smaller move replaces nothing
	})
	if err != nil {
		log.Print(err)
		return
	}
	keep(ctx, client.Sandbox.MarketData, quoter)
}

// keep quotes around the price until its context ends.
func keep(ctx context.Context, prices *trading.MarketData, quoter *quote.Quoter) {
	for ctx.Err() == nil {
		mark, err := prices.Price(ctx, "BTC")
		var quotes []quote.Quote // none without a price: everything is cancelled
		if price, ok := mark.Price(); err == nil && ok {
			away := trading.Dec("50")
			quotes = []quote.Quote{
				{Side: trading.Long, Price: price.Sub(away), Size: trading.Dec("0.1")},
				{Side: trading.Short, Price: price.Add(away), Size: trading.Dec("0.1")},
			}
		}
		result, err := quoter.Step(context.WithoutCancel(ctx), quotes) // an interrupt leaves no order in doubt
		if err != nil {
			log.Print("the next step goes on from what is there: ", err)
		} else if result.Reason != "" {
			log.Print(len(result.Held), " quotes wait: ", result.Reason)
		}
		select {
		case <-ctx.Done(): // the quotes still rest
		case <-time.After(2 * time.Second):
		}
	}
}
