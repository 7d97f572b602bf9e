// Http places an order, and shows the status of the reply.
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

	var meta trading.Meta
	bought, err := account.PlaceOrder(ctx, trading.Order{ // POST /orders
		Symbol:         "BTC",
		Side:           trading.Long,
		Size:           trading.Dec("0.05"),
		Leverage:       trading.Dec("2"),
		StopLoss:       trading.At(trading.Dec("63000")), // stopLossPrice
		MaxSlippagePct: trading.Some(trading.Dec("0.5")), // maxSlippagePct
	}, trading.ResponseInto(&meta)) // status, headers and the body as it came
	if err != nil {
		log.Print(err)
		return
	}
	fmt.Println(meta.Status, bought.Fill.Price)
}
