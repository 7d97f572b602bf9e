package ratelimit_test

import (
	"context"
	"fmt"
	"log"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/ratelimit"
	"github.com/tradingapi/trading-go/tradingsim"
)

// Two clients that share a key share a store, and see what the other has used.
func ExampleNewMemoryStore() {
	sim := tradingsim.New()
	limits := trading.RateLimits{Store: ratelimit.NewMemoryStore(), Owner: "desk-1"}
	var clients [2]*trading.Client
	for i := range clients {
		client, err := trading.New(sim.URL(), trading.WithSandboxKey(sim.SandboxKey()),
			trading.WithTransport(sim.Transport()), trading.WithRateLimits(limits))
		if err != nil {
			log.Fatal(err)
		}
		defer client.Close()
		clients[i] = client
	}
	if _, err := clients[0].Sandbox.State(context.Background()); err != nil {
		log.Fatal(err)
	}
	usage, err := clients[1].RateLimitUsage(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(usage[0].Used, "used,", usage[0].Left, "left")
	// Output: 1 used, 599 left
}
