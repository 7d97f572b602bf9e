// Failover is a bot that runs on two machines: one trades, and the other one waits until the first is
// dead or hands over.
//
//	DATABASE_URL=postgres://bot@db/trading TRADING_BASE_URL=… TRADING_LIVE_KEY=… TRADING_ACCOUNT=… go run .
//
// Its test starts two on a simulated service, and kills the one that trades.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/contrib/postgres"
)

// barLasts is how often the bot decides.
const barLasts = time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	account := os.Getenv("TRADING_ACCOUNT")
	o := postgres.Options{
		Name: "failover", BaseURL: os.Getenv("TRADING_BASE_URL"), Accounts: []string{account},
		Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)), // says what it waits for
	}
	err := postgres.Campaign(ctx, os.Getenv("DATABASE_URL"), o, func(ctx context.Context, writes *postgres.Store) error {
		return trade(ctx, writes, trading.AccountID(account))
	})
	if err != nil { // its supervisor starts it again
		fmt.Fprintln(os.Stderr, "failover:", err)
		os.Exit(1)
	}
}

// trade trades for as long as this machine holds the lease.
func trade(ctx context.Context, writes *postgres.Store, id trading.AccountID) error {
	client, err := trading.New(os.Getenv("TRADING_BASE_URL"), trading.WithLiveKey(os.Getenv("TRADING_LIVE_KEY")),
		trading.WithJournal(writes), trading.WithExclusiveAccounts(id))
	if err != nil {
		return err
	}
	defer client.Close()
	fmt.Println("holds the lease")
	var recovery sync.WaitGroup
	defer recovery.Wait()
	recovery.Go(func() { // until it ends, the markets of what the other machine left take no entries
		resolutions, err := client.Recover(ctx)
		for _, r := range resolutions {
			fmt.Printf("found %s, left by the other machine: %s\n", r.Intent.ClientOrderID, r.Outcome)
		}
		if err != nil && ctx.Err() == nil {
			fmt.Println("recovery:", err)
		}
	})
	for {
		decide(ctx, client.Live.Account(id), time.Now().Truncate(barLasts))
		select {
		case <-time.After(time.Until(time.Now().Truncate(barLasts).Add(barLasts))):
		case <-ctx.Done():
			return nil
		}
	}
}

// decide places the order of a bar. The bar names it, so that two machines that decide the same place
// it once, and nobody has used the name before the bar.
func decide(ctx context.Context, account *trading.Account, bar time.Time) {
	id := "failover " + bar.UTC().Format(time.RFC3339)
	_, err := account.PlaceOrder(context.WithoutCancel(ctx), trading.Order{
		Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.001"), Leverage: trading.Dec("2"),
	}, trading.WithClientOrderID(id, trading.Since(bar)))
	if err != nil {
		fmt.Printf("%s: %s: %v\n", id, trading.OutcomeOf(err), err)
		return
	}
	fmt.Printf("%s: placed\n", id)
}
