package redis_test

import (
	"context"
	"fmt"
	"log"

	"github.com/alicebob/miniredis/v2"
	goredis "github.com/redis/go-redis/v9"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/contrib/redis"
	"github.com/tradingapi/trading-go/tradingsim"
)

// Two processes share a key's limit. Here they are two clients of a simulation, and
// Redis is one in memory.
func Example() {
	server, err := miniredis.Run() // yours: its address
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	rdb := goredis.NewClient(&goredis.Options{Addr: server.Addr()})
	defer rdb.Close()
	sim := tradingsim.New() // the service: trading.FromEnv(…)
	ctx := context.Background()

	open := func() *trading.Client {
		store, err := redis.New(rdb, "desk-1")
		if err != nil {
			log.Fatal(err)
		}
		client, err := trading.New(sim.URL(), trading.WithLiveKey(sim.LiveKey()), trading.WithTransport(sim.Transport()),
			trading.WithRateLimits(trading.RateLimits{Store: store, Owner: "desk-1"}))
		if err != nil {
			log.Fatal(err)
		}
		return client
	}
	one, other := open(), open()
	defer one.Close()
	defer other.Close()
	for range 3 {
		if _, err := one.Live.Accounts(ctx); err != nil {
			log.Fatal(err)
		}
	}
	usages, err := other.RateLimitUsage(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(usages[0].Used, "of", usages[0].Bucket.Limit)
	// Output: 3 of 600
}
