// Desks has two clients that share the rate limits of one key.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/ratelimit"
)

func main() {
	limits := trading.RateLimits{Store: ratelimit.NewMemoryStore(), Owner: "desk-1"}
	first, err := trading.FromEnv(trading.WithRateLimits(limits)) // TRADING_BASE_URL, TRADING_LIVE_KEY
	if err != nil {
		log.Fatal(err)
	}
	defer first.Close()
	second, err := trading.FromEnv(trading.WithRateLimits(limits))
	if err != nil {
		log.Print(err)
		return
	}
	defer second.Close()

	ctx := context.Background()
	if _, err := first.Live.Accounts(ctx); err != nil {
		log.Print(err)
		return
	}
	usage, err := second.RateLimitUsage(ctx)
	if err != nil {
		log.Print(err)
		return
	}
	fmt.Println("free of the key's limit:", usage[0].Left) // what the first has sent counts
}
