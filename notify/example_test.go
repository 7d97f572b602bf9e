package notify_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"os"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/flatten"
	"github.com/tradingapi/trading-go/notify"
)

// It needs a webhook, so it is compiled and not run.
func ExampleNew() {
	ctx := context.Background()
	client, err := trading.FromEnv()
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	// README
	hook, err := notify.New(notify.Config{
		URL:    os.Getenv("WEBHOOK_URL"),
		Format: notify.Slack, // or notify.Discord, or notify.Telegram("-1001234567890"), or your own
		Logger: slog.Default(),
	})
	if err != nil {
		log.Fatal(err)
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
}

func ExampleDiscord() {
	body, err := notify.Discord(notify.Message{
		At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Kind: notify.Halt, Text: "halted, entries are refused: lunch",
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(body))
	// Output: {"allowed_mentions":{"parse":[]},"content":"[halt] halted, entries are refused: lunch (2026-01-02 03:04:05 UTC)"}
}
