// Stop closes everything on an account, and posts to a person what came of it.
package main

import (
	"context"
	"log"
	"log/slog"
	"os"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/flatten"
	"github.com/tradingapi/trading-go/notify"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	client, err := trading.FromEnv() // TRADING_BASE_URL, TRADING_LIVE_KEY
	if err != nil {
		return err
	}
	defer client.Close()
	hook, err := notify.New(notify.Config{
		URL:    os.Getenv("WEBHOOK_URL"),
		Format: notify.Slack, // or notify.Discord, or notify.Telegram("-1001234567890"), or your own
		Logger: slog.Default(),
	})
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := hook.Close(ctx); err != nil { // posts what waits
			log.Print(err)
		}
	}()
	go hook.Watch(ctx, client) // halts, and writes that are pending for a minute
	// go hook.Protection(ctx, protection) // floors

	report, err := flatten.Account(ctx, client.Live.Account("acc_1"), flatten.Options{Halt: client})
	hook.Flattened(report, err)
	hook.Notify(notify.Message{Kind: "bot", Text: "it has stopped"}) // whatever else
	return err
}
