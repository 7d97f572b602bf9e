// Package swept holds variants of a bot.
package swept

import (
	"context"
	"fmt"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/backtest"
)

func Variants() (list []backtest.Variant) {
	for _, size := range []string{"0.01", "0.02", "0.03"} {
		list = append(list, backtest.Variant{Name: size, Bot: func(ctx context.Context, client *trading.Client) error {
			fmt.Println("the bot prints")
			_, err := client.Sandbox.PlaceOrder(ctx, trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec(size)})
			return err
		}})
	}
	return append(list, backtest.Variant{Name: "panics", Bot: func(context.Context, *trading.Client) error { panic("no") }})
}
