package protect_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/protect"
	"github.com/tradingapi/trading-go/tradingsim"
)

var ctx = context.Background()

// It runs until its context ends, so it is compiled and not run.
func ExampleNew() {
	writes := journal.NewMemory()
	// README
	own, err := trading.FromEnv(
		trading.WithLiveKey(os.Getenv("PROTECT_LIVE_KEY")), // keys that no bot uses
		trading.WithSandboxKey(os.Getenv("PROTECT_SANDBOX_KEY")),
		trading.WithJournal(writes), // the bot's, so that it knows what the protection closes
	)
	if err != nil {
		log.Fatal(err)
	}
	defer own.Close()
	protection, err := protect.New(protect.Options{
		Client:   own,
		Accounts: []trading.AccountID{"acc_1"},
		Dir:      "protect.state", // on a disk that outlives a container
	})
	if err != nil {
		log.Fatal(err)
	}
	defer protection.Close()
	bot, err := trading.FromEnv(
		trading.WithJournal(writes),
		trading.WithGuard(protection.Guard()),
		trading.WithHooks(protection.Hooks()), // both: without the hooks entries are refused
	)
	if err != nil {
		log.Fatal(err)
	}
	defer bot.Close()
	left, err := bot.Pending(ctx) // what an earlier run left in the journal
	if err != nil {
		log.Fatal(err)
	}
	if err := protection.Adopt(left...); err != nil {
		log.Print("entries are refused while these are pending: ", err)
	}

	watching, stopWatching := context.WithCancel(context.WithoutCancel(ctx)) // outlives the bot
	deciding, stopTrading := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		defer stopTrading() // no bot without a protection
		ended <- protection.Run(watching)
	}()
	trade(deciding, bot) // returns once its context has ended and it has left the market
	stopWatching()
	if err := <-ended; err != nil {
		log.Fatal(err)
	}
}

func trade(context.Context, *trading.Client) {}

// The simulator issues as many keys as a rehearsal needs.
func ExampleProtection_rehearsal() {
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
	defer sim.Close()
	connect := func(opts ...trading.Option) (*trading.Client, error) {
		return trading.New(sim.URL(), append(opts, trading.WithTransport(sim.Transport()),
			trading.WithLiveKey(sim.NewLiveKey()), trading.WithSandboxKey(sim.NewSandboxKey()))...)
	}
	writes := journal.NewMemory()                    // journal.Open, for the bot
	own, err := connect(trading.WithJournal(writes)) // for protect.Options.Client
	if err != nil {
		log.Fatal(err)
	}
	defer own.Close()
	bot, err := connect(trading.WithJournal(writes)) // in place of trading.FromEnv, with the same options
	if err != nil {
		log.Fatal(err)
	}
	defer bot.Close()

	first, err := own.Me(ctx, trading.EnvLive)
	if err != nil {
		log.Fatal(err)
	}
	second, err := bot.Me(ctx, trading.EnvLive)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("one owner:", first.UserID == second.UserID, "one key:", first.KeyID == second.KeyID)
	// Output: one owner: true one key: false
}

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
