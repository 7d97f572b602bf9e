package notify_test

import (
	"fmt"
	"log"
	"time"

	"github.com/tradingapi/trading-go/notify"
)

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
