// Quickstart opens a position with a stop and a target, sees the target fire, and shows
// what the trade earned.
//
//	go run ./examples/quickstart
//
// With nothing configured it starts the simulator and trades there. With
// TRADING_BASE_URL and TRADING_SANDBOX_KEY set it trades on the paper account of that
// service.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) error {
	if os.Getenv("TRADING_BASE_URL") != "" {
		client, err := trading.FromEnv()
		if err != nil {
			return err
		}
		defer client.Close()
		wait := func() { time.Sleep(2 * time.Second) } // the market moves by itself
		return firstTrade(ctx, client, wait, out)
	}
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
	defer sim.Close()
	client, err := trading.New(sim.URL(), trading.WithTransport(sim.Transport()), trading.WithSandboxKey(sim.SandboxKey()))
	if err != nil {
		return err
	}
	defer client.Close()
	rise := func() { sim.SetMark("BTC", "64650") }
	return firstTrade(ctx, client, rise, out)
}

// firstTrade buys on the paper account, with a stop and a target.
func firstTrade(ctx context.Context, client *trading.Client, move func(), out io.Writer) error {
	health, err := client.Health(ctx)
	if err != nil {
		return err
	}
	say(out, "health", "%s, feed %s: safe to trade: %t", health.Status, health.Feed, health.Safe())

	mark, err := client.Sandbox.Price(ctx, "BTC")
	if err != nil {
		return err
	}
	price, ok := mark.Price()
	if !ok {
		return errors.New("BTC has no price right now: try again shortly")
	}
	stop := price.Mul(trading.Dec("0.98")).Round(2)
	target := price.Mul(trading.Dec("1.01")).Round(2)
	bought, err := client.Sandbox.PlaceOrder(ctx, trading.Order{
		Symbol:     "BTC",
		Side:       trading.Long,
		Size:       trading.Dec("0.05"), // base units
		Leverage:   trading.Dec("2"),
		StopLoss:   trading.At(stop),
		TakeProfit: trading.At(target),
	})
	if err != nil {
		return err
	}
	say(out, "buy", "0.05 BTC filled at %s, stop %s, target %s", bought.Fill.Price, stop, target)

	if err := waitForTarget(ctx, client.Sandbox, move, out); err != nil {
		return err
	}
	trades, err := client.Sandbox.Trades(ctx)
	if err != nil {
		return err
	}
	last := trades[0]
	say(out, "trade", "%s at %s: gross %s - fees %s = net %s", last.Cause, last.ExitPrice,
		last.GrossPnL.StringFixed(2), last.RoundTripFee.StringFixed(2), last.NetPnL().StringFixed(2))
	return nil
}

// waitForTarget reads the positions until the target has fired. The sandbox looks at
// levels only when it is read, so the reading is what makes them fire.
func waitForTarget(ctx context.Context, paper *trading.Sandbox, move func(), out io.Writer) error {
	for range 5 {
		move()
		positions, err := paper.Positions(ctx)
		if err != nil {
			return err
		}
		if _, open := positions.In("BTC"); !open {
			return nil
		}
	}
	say(out, "close", "by hand: the target is not reached")
	_, err := paper.ClosePosition(ctx, "BTC", trading.All)
	return err
}

func say(out io.Writer, what, format string, args ...any) {
	fmt.Fprintf(out, "%-9s %s\n", what, fmt.Sprintf(format, args...))
}
