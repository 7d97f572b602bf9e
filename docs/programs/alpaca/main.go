// Alpaca places an order under a name of its own.
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

	order := trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.05"), Leverage: trading.Dec("2")}
	bought, err := account.PlaceOrder(ctx, order, trading.WithClientOrderID("breakout 2026-11-20T10:15"))
	if err != nil {
		log.Print(trading.OutcomeOf(err), ": ", err)
		return
	}
	fmt.Println("filled", bought.Fill.Size, "at", bought.Fill.Price)
}
