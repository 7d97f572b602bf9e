// Package docs_test compiles and runs the code that the guides show.
package docs_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

var ctx = context.Background()

// The first bot on a live account.
func Example_paperToLive() {
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
	if err := sim.Listen("127.0.0.1:0"); err != nil {
		log.Fatal(err)
	}
	defer sim.Close()
	os.Setenv("TRADING_BASE_URL", sim.URL())
	os.Setenv("TRADING_SANDBOX_KEY", sim.SandboxKey())
	os.Setenv("TRADING_LIVE_KEY", sim.LiveKey())
	os.Setenv("TRADING_ACCOUNT", "acc_1")
	// README
	client, err := trading.FromEnv() // with the options below
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	for _, env := range []trading.Environment{trading.EnvSandbox, trading.EnvLive} {
		me, err := client.Me(ctx, env) // the first call with the key: it fails if the key is missing or wrong
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(me.Environment, "key belongs to", me.UserID)
	}
	accounts, err := client.Live.Accounts(ctx) // all that the key reaches, archived ones too
	if err != nil {
		log.Fatal(err)
	}
	for _, a := range accounts {
		fmt.Println(a.ID, a.Status, a.CurrentBalance)
	}

	id := trading.AccountID(os.Getenv("TRADING_ACCOUNT")) // the bot's own variable: one of them
	account := client.Live.Account(id)                    // was client.Sandbox
	prices := client.Sandbox.MarketData                   // stays: a live key has no prices
	mark, err := prices.Price(ctx, "BTC")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("trades", account.ID(), "and sees BTC at", mark)
	// Output:
	// sandbox key belongs to user_1
	// live key belongs to user_1
	// acc_1 ACTIVE 100000
	// trades acc_1 and sees BTC at 64000
}
