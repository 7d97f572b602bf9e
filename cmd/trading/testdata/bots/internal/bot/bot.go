// Package bot holds bots that know nothing of backtests.
package bot

import (
	"context"
	"fmt"
	"time"

	"github.com/tradingapi/trading-go"
)

// Bot buys once, and looks around for keys.
func Bot(ctx context.Context, client *trading.Client) error {
	if _, err := trading.FromEnv(); err == nil {
		return fmt.Errorf("it finds the way to the service")
	}
	fmt.Println("the bot prints")
	_, err := client.Sandbox.PlaceOrder(ctx, trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.01")})
	return err
}

func Live(ctx context.Context, client *trading.Client) error {
	_, err := client.Live.Account("acc_7").PlaceOrder(ctx, trading.Order{
		Symbol: "BTC", Side: trading.Short, Size: trading.Dec("0.01"), Leverage: trading.Dec("2"),
	})
	return err
}

// Cycle is long in every other minute.
func Cycle(ctx context.Context, client *trading.Client) error {
	ticker := time.NewTicker(time.Minute)
	defer ticker.Stop()
	for i := 0; ; i++ {
		var err error
		if i%2 == 0 {
			_, err = client.Sandbox.PlaceOrder(ctx, trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.1")})
		} else {
			_, err = client.Sandbox.ClosePosition(ctx, "BTC", trading.Percent(trading.Dec("100")))
		}
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

func Fails(context.Context, *trading.Client) error { return fmt.Errorf("it will not") }

func Busy(context.Context, *trading.Client) error {
	fmt.Println("busy")
	for {
	}
}

func Wrong() {}
