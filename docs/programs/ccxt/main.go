// Ccxt places a limit order that rests.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/tradingapi/trading-go"
)

func main() {
	client, err := trading.FromEnv() // TRADING_BASE_URL, TRADING_LIVE_KEY
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	ctx, account := context.Background(), client.Live.Account("acc_1")

	resting, err := account.PlaceLimit(ctx, trading.Order{
		Symbol:     "BTC",
		Side:       trading.Long,
		Size:       trading.Dec("0.05"),
		Leverage:   trading.Dec("2"),
		LimitPrice: trading.At(trading.Dec("60000")),
	})
	if err != nil {
		log.Print(trading.OutcomeOf(err), ": ", err)
		return
	}
	fmt.Println("resting as", resting.Order.ID)
}
