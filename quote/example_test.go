package quote_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/quote"
)

func ExampleDiff() {
	buy := func(price, size string) quote.Quote {
		return quote.Quote{Side: trading.Long, Price: trading.Dec(price), Size: trading.Dec(size)}
	}
	rests := []quote.Resting{{ID: "ord_1", Quote: buy("63990", "0.1")}, {ID: "ord_2", Quote: buy("63500", "0.1")}}
	desired := []quote.Quote{buy("63992", "0.1"), buy("63600", "0.1")}

	plan := quote.Diff(desired, rests, quote.Change{Price: trading.Dec("5")})
	fmt.Println("keep", plan.Keep[0].ID, "cancel", plan.Cancel[0].ID, "place at", plan.Place[0].Price)
	// Output: keep ord_1 cancel ord_2 place at 63600
}

// It runs until its context ends, so it is compiled and not run.
func ExampleQuoter() {
	ctx := context.Background()
	client, err := trading.FromEnv()
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	// README
	quoter, err := quote.New(client, "acc_1", quote.Options{
		Symbol: "BTC", Leverage: trading.Dec("2"),
		MaxBuy: trading.Dec("0.2"), MaxSell: trading.Dec("0.2"), // what may rest at once
		Least: quote.Change{Price: trading.Dec("5")}, // a smaller move replaces nothing
	})
	if err != nil {
		log.Fatal(err)
	}
	for ctx.Err() == nil {
		mark, err := client.Sandbox.Price(ctx, "BTC")
		var quotes []quote.Quote // none without a price: everything is cancelled
		if price, ok := mark.Price(); err == nil && ok {
			away := trading.Dec("50")
			quotes = []quote.Quote{
				{Side: trading.Long, Price: price.Sub(away), Size: trading.Dec("0.1")},
				{Side: trading.Short, Price: price.Add(away), Size: trading.Dec("0.1")},
			}
		}
		result, err := quoter.Step(ctx, quotes)
		if err != nil {
			log.Print("the next step goes on from what is there: ", err)
		} else if result.Reason != "" {
			log.Print(len(result.Held), " quotes wait: ", result.Reason)
		}
		time.Sleep(2 * time.Second)
	}
}
