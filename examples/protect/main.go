// Protect carries a protection beside a bot: the guard refuses entries that the room
// above the loss floor is too small for, and the loop flattens the account before it
// reaches the floor.
//
//	go run ./examples/protect
//
// With nothing configured a careless bot trades a falling market on the simulator. With
// TRADING_BASE_URL, TRADING_SANDBOX_KEY, TRADING_LIVE_KEY (a key of the protection's own)
// and TRADING_ACCOUNT set it watches that account, beside bots in any language, until
// it is interrupted: then it can flatten and report, and refuses nobody's entries.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/protect"
	"github.com/tradingapi/trading-go/tradingsim"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) error {
	if os.Getenv("TRADING_BASE_URL") == "" {
		return simulate(ctx, out)
	}
	client, err := trading.FromEnv(trading.WithApplication("protect", "1.0"))
	if err != nil {
		return err
	}
	defer client.Close()
	return protect.Main(ctx, protect.Options{
		Client:   client,
		Accounts: []trading.AccountID{trading.AccountID(os.Getenv("TRADING_ACCOUNT"))},
		Dir:      "protect.state", // on a disk that outlives a container
	}, func(e protect.Event) { fmt.Fprintln(out, e.At.Format(time.TimeOnly), e) })
}

// simulate lets a careless bot trade a market that falls by a third of a percent a second.
func simulate(ctx context.Context, out io.Writer) error {
	dir, err := os.MkdirTemp("", "protect")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	sim := tradingsim.New(tradingsim.WithMarket(tradingsim.Market{Symbol: "BTC", Price: "64000"}))
	defer sim.Close()
	connect := func(opts ...trading.Option) (*trading.Client, error) {
		return trading.New(sim.URL(), append(opts, trading.WithTransport(sim.Transport()),
			trading.WithSandboxKey(sim.NewSandboxKey()), trading.WithLiveKey(sim.NewLiveKey()))...)
	}
	writes := journal.NewMemory()                    // journal.Open, for real money
	own, err := connect(trading.WithJournal(writes)) // keys of its own: a bot's 429 must not blind it
	if err != nil {
		return err
	}
	defer own.Close()
	protection, err := protect.New(protect.Options{Client: own, Accounts: []trading.AccountID{"acc_1"}, Dir: dir})
	if err != nil {
		return err
	}
	defer func() { _ = protection.Close() }()
	bot, err := connect(trading.WithJournal(writes), // the same, so that the bot knows what is closed
		trading.WithGuard(protection.Guard()), trading.WithHooks(protection.Hooks())) // both
	if err != nil {
		return err
	}
	defer bot.Close()

	ctx, cancel := context.WithCancel(ctx)
	say := log.New(out, "", 0) // two goroutines write
	printed, ended := make(chan struct{}), make(chan error, 1)
	events := protection.Events(ctx)
	go func() {
		defer close(printed)
		for e := range events {
			say.Println(e)
		}
	}()
	go func() { ended <- protection.Run(ctx) }()
	defer func() { cancel(); <-printed }()

	err = careless(ctx, bot.Live.Account("acc_1"), protection, sim, say)
	cancel()
	return errors.Join(err, <-ended)
}

// careless buys as much as it may, and never sells.
func careless(ctx context.Context, account *trading.Account, protection *protect.Protection, sim *tradingsim.Sim, say *log.Logger) error {
	price := trading.Dec("64000")
	for range 100 {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second / 4):
		}
		status, err := protection.State("acc_1")
		switch {
		case err != nil:
			return err
		case status.State == protect.Held:
			return report(ctx, account, say)
		case status.Entries:
			_, err := account.PlaceOrder(ctx, trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("1"), Leverage: trading.Dec("5")})
			if err == nil {
				say.Println("bought 1 BTC")
			}
		}
		price = price.Mul(trading.Dec("0.9992")).Round(2)
		sim.SetMark("BTC", price.String())
	}
	return errors.New("the account was not flattened")
}

// report says what is left.
func report(ctx context.Context, account *trading.Account, say *log.Logger) error {
	state, err := account.State(ctx)
	if err != nil {
		return err
	}
	room, _ := state.LossRoom()
	kept := room.Mul(decimal.NewFromInt(100)).DivRound(state.Balance, 1)
	say.Printf("the account is %s with $%s, %s percent above its floor", state.Status, state.Balance.StringFixed(2), kept)
	return nil
}
