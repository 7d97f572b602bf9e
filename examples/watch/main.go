// Watch prints what changes on the paper account and in a market, for a short while,
// and then what it has seen.
//
//	go run ./examples/watch
//
// With nothing configured it watches a simulated account on which somebody trades. With
// TRADING_BASE_URL and TRADING_SANDBOX_KEY set it watches that paper account until it is
// interrupted. Looking at it fires its triggers.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
	"github.com/tradingapi/trading-go/watch"
)

const symbol = "BTC"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "watch:", err)
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
		return show(ctx, out,
			watch.Marks(client.Sandbox.MarketData, symbol).WithSnapshot(),
			watch.Account(client.Sandbox).WithSnapshot(),
		)
	}

	sim := tradingsim.New(tradingsim.WithMark(symbol, "64000"))
	defer sim.Close()
	client, err := trading.New(sim.URL(), trading.WithSandboxKey(sim.SandboxKey()), trading.WithTransport(sim.Transport()))
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithCancel(ctx)
	traded := make(chan error, 1)
	go func() {
		defer cancel() // the end of the show
		traded <- trade(ctx, client.Sandbox, sim)
	}()
	const often = 200 * time.Millisecond // of a service that is not there
	err = show(ctx, out,
		watch.Marks(client.Sandbox.MarketData, symbol).WithSnapshot().WithInterval(often).Seed(1),
		watch.Account(client.Sandbox).WithSnapshot().WithInterval(often).Seed(2),
	)
	cancel()
	if failed := <-traded; err == nil {
		err = failed
	}
	return err
}

// show prints events until ctx ends. An error is news and not the end, unless the loop
// ends with it.
func show(ctx context.Context, out io.Writer, watches ...watch.Watch) error {
	var view watch.View
	var last error
	for ev, err := range watch.Events(ctx, watches...) {
		last = err
		if err != nil {
			say(out, "error", "%v", err)
			continue
		}
		view.Apply(ev)
		printEvent(out, ev)
	}
	say(out, "seen", "%d trades, %d open", len(view.Trades), len(view.Positions))
	return last
}

// printEvent prints an event on a line.
func printEvent(out io.Writer, ev watch.Event) {
	switch ev := ev.(type) {
	case watch.MarkChanged:
		say(out, "mark", "%s %s", ev.Symbol, ev.New)
	case watch.MarkLost:
		say(out, "mark", "%s has none; it was %s", ev.Symbol, ev.Last)
	case watch.StatusChanged:
		say(out, "account", "%s", ev.New)
	case watch.PositionOpened:
		say(out, "opened", "%s %s %s at %s", ev.Position.Side, ev.Position.Size, ev.Position.Symbol, ev.Position.EntryPrice)
	case watch.PositionChanged:
		say(out, "changed", "%s %s %s, stop %s, target %s", ev.New.Side, ev.New.Size, ev.New.Symbol, ev.New.StopLoss, ev.New.TakeProfit)
	case watch.TradeClosed:
		say(out, "trade", "%s %s: net %s", ev.Trade.Symbol, ev.Trade.Cause, ev.Trade.NetPnL().StringFixed(2))
	case watch.PositionClosed:
		say(out, "closed", "%s %s, by %s", ev.Old.Side, ev.Old.Symbol, ev.Cause)
	case watch.Gap:
		say(out, "gap", "%s may lack what happened for %s: %s", ev.Watch, ev.To.Sub(ev.From), ev.Reason)
	}
}

// trade is somebody else on the simulated account.
func trade(ctx context.Context, paper *trading.Sandbox, sim *tradingsim.Sim) error {
	failed := func(_ any, err error) error { return err }
	order := func(side trading.Side, size string) func() error {
		o := trading.Order{Symbol: symbol, Side: side, Size: trading.Dec(size), Leverage: trading.Dec("2")}
		return func() error { return failed(paper.PlaceOrder(ctx, o)) }
	}
	mark := func(price string) func() error {
		return func() error { sim.SetMark(symbol, price); return nil }
	}
	target := trading.TPSL{TakeProfit: trading.At(trading.Dec("64000"))}
	for _, act := range []func() error{
		order(trading.Long, "0.5"),
		mark("64500"),
		func() error { return failed(paper.ClosePosition(ctx, symbol, trading.Percent(trading.Dec("40")))) },
		order(trading.Short, "0.5"), // flips what is left
		mark(""),
		mark("64400"),
		func() error { return failed(paper.SetTPSL(ctx, symbol, target)) },
		mark("63990"), // the next read fires it
		func() error { return nil },
	} {
		select {
		case <-time.After(500 * time.Millisecond):
		case <-ctx.Done():
			return nil // interrupted
		}
		if err := act(); err != nil {
			return err
		}
	}
	return nil
}

func say(out io.Writer, what, format string, args ...any) {
	fmt.Fprintf(out, "%-8s %s\n", what, fmt.Sprintf(format, args...))
}
