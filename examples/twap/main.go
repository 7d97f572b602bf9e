// Twap spreads an order over an hour, shows how it gets on, edits it on the way and
// cancels the rest.
//
//	go run ./examples/twap
//
// With nothing configured it trades on a simulated service, whose clock it moves. With
// TRADING_BASE_URL, TRADING_LIVE_KEY and TRADING_ACCOUNT set it trades that account, with
// real money, and takes the hour.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, out io.Writer) error {
	if os.Getenv("TRADING_BASE_URL") != "" {
		client, err := trading.FromEnv()
		if err != nil {
			return err
		}
		defer client.Close()
		return trade(ctx, client.Live.Account(trading.AccountID(os.Getenv("TRADING_ACCOUNT"))), time.Sleep, out)
	}
	sim := tradingsim.New(
		tradingsim.WithMark("BTC", "64000"),
		tradingsim.WithManualClock(time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)),
	)
	defer sim.Close()
	client, err := trading.New(sim.URL(),
		trading.WithLiveKey(sim.LiveKey()),
		trading.WithTransport(sim.Transport()),
	)
	if err != nil {
		return err
	}
	defer client.Close()
	return trade(ctx, client.Live.Account("acc_1"), sim.Advance, out)
}

// trade places the run and looks after it. pass lets time pass.
func trade(ctx context.Context, account *trading.Account, pass func(time.Duration), out io.Writer) error {
	// What to trade is an order, how is the second argument.
	order := trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("1.2"), Leverage: trading.Dec("2")}
	run, err := account.PlaceTWAP(ctx, order, trading.TWAP{Duration: time.Hour, RandomizeTime: trading.Some(true)})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%-8s %s BTC over an hour\n", "placed", order.Size)

	for range 3 {
		pass(10 * time.Minute)
		if err := show(ctx, account, out); err != nil {
			return err
		}
	}

	_, err = account.EditRun(ctx, run.ID, trading.RunEdit{TotalSize: trading.Dec("0.3")})
	if errors.Is(err, trading.CodeSizeBelowExecuted) {
		fmt.Fprintf(out, "%-8s more than 0.3 is filled already\n", "edit")
	} else if err != nil {
		return err
	}
	if _, err = account.EditRun(ctx, run.ID, trading.RunEdit{TotalSize: trading.Dec("0.9")}); err != nil {
		return err
	}
	fmt.Fprintf(out, "%-8s down to 0.9 BTC\n", "edit")

	pass(15 * time.Minute)
	_, err = account.CancelRun(ctx, run.ID)
	switch {
	case errors.Is(err, trading.CodeRunNotFound):
		fmt.Fprintf(out, "%-8s it had ended by itself\n", "cancel")
	case err != nil:
		return err
	default:
		fmt.Fprintf(out, "%-8s the rest\n", "cancel")
	}
	return show(ctx, account, out)
}

// show prints the position, and which runs run.
func show(ctx context.Context, account *trading.Account, out io.Writer) error {
	positions, err := account.Positions(ctx)
	if err != nil {
		return err
	}
	open, err := account.OpenOrders(ctx)
	if err != nil {
		return err
	}
	position, _ := positions.In("BTC")
	fmt.Fprintf(out, "%-8s %s BTC, %d running\n", "holds", position.Size, len(open.Runs))
	return nil
}
