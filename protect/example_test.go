package protect_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/protect"
	"github.com/tradingapi/trading-go/tradingsim"
)

var ctx = context.Background()

// It runs until its context ends, so it is compiled and not run.
func ExampleNew() {
	own, err := trading.FromEnv(trading.WithApplication("protect", "1.0"))
	if err != nil {
		log.Fatal(err)
	}
	// README
	protection, err := protect.New(protect.Options{
		Client:   own, // a live key and a sandbox key that no bot uses
		Accounts: []trading.AccountID{"acc_1"},
		Dir:      "protect.state", // on a disk that outlives a container
	})
	if err != nil {
		log.Fatal(err)
	}
	defer protection.Close()
	bot, err := trading.FromEnv(
		trading.WithGuard(protection.Guard()),
		trading.WithHooks(protection.Hooks()), // both: without the hooks entries are refused
	)
	if err != nil {
		log.Fatal(err)
	}
	defer bot.Close()
	go trade(ctx, bot)
	if err := protection.Run(ctx); err != nil {
		log.Fatal(err)
	}
}

func trade(context.Context, *trading.Client) {}

// While no protection runs, whoever follows it places no entry.
func ExampleFollow() {
	dir, err := os.MkdirTemp("", "protect")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
	defer sim.Close()
	client, err := trading.New(sim.URL(), trading.WithLiveKey(sim.LiveKey()), trading.WithTransport(sim.Transport()),
		trading.WithGuard(protect.Follow(dir)))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	_, err = client.Live.Account("acc_1").PlaceOrder(ctx, trading.Order{
		Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.05"), Leverage: trading.Dec("2"),
	})
	fmt.Println(trading.OutcomeOf(err), len(sim.Ledger()))
	// Output: not applied 0
}
