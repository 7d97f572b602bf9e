// Lostreply places an order whose reply is lost, on a simulated service, and finds it.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

func main() {
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000")) // the whole service, in process
	defer sim.Close()
	client, err := trading.New(sim.URL(), trading.WithLiveKey(sim.LiveKey()), trading.WithTransport(sim.Transport())) // yours: trading.FromEnv()
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	sim.Fault("POST /orders", tradingsim.DropResponse()) // executed, but the reply is lost
	bought, err := client.Live.Account("acc_1").PlaceOrder(context.Background(), trading.Order{
		Symbol:   "BTC",
		Side:     trading.Long,
		Size:     trading.Dec("0.05"), // base units
		Leverage: trading.Dec("2"),
		StopLoss: trading.At(trading.Dec("63000")),
	})
	if err != nil {
		log.Print(err)
		return
	}
	fmt.Println("the bot knows: filled at", bought.Fill.Price)
	fmt.Println("the service executed:", len(sim.Ledger()), "order")
}
