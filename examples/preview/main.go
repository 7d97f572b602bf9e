// Preview looks at orders before they are sent: it reads what is known of an
// account once, finds a size for a risk in dollars, and says of several orders what
// each would do and why the service would refuse it. It places none of them.
//
//	go run ./examples/preview
//
// With nothing configured it looks at an account of the simulator. With TRADING_BASE_URL,
// TRADING_SANDBOX_KEY (prices), TRADING_LIVE_KEY and TRADING_ACCOUNT set it looks at that
// account.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/risk"
	"github.com/tradingapi/trading-go/tradingsim"
)

const symbol = "BTC"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "preview:", err)
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
		return look(ctx, client, client.Live.Account(trading.AccountID(os.Getenv("TRADING_ACCOUNT"))), out)
	}

	sim := tradingsim.New(
		tradingsim.WithMark(symbol, "64500"),
		tradingsim.WithAccount(tradingsim.Account{ID: "acc_1", Balance: "10000"}),
	)
	defer sim.Close()
	sim.Trade("acc_1", "long", "0.02", symbol) // somebody has bought already, at 64500
	sim.SetMark(symbol, "64000")
	client, err := trading.New(sim.URL(), trading.WithTransport(sim.Transport()),
		trading.WithSandboxKey(sim.SandboxKey()), trading.WithLiveKey(sim.LiveKey()))
	if err != nil {
		return err
	}
	defer client.Close()
	return look(ctx, client, client.Live.Account("acc_1"), out)
}

// look previews some orders, and places none.
func look(ctx context.Context, client *trading.Client, account *trading.Account, out io.Writer) error {
	inputs, err := know(ctx, client, account)
	if err != nil {
		return err
	}
	market, _ := inputs.Market.Get()
	price, ok := market.Mark.Price()
	if !ok {
		return fmt.Errorf("%s has no price right now", symbol)
	}
	stop := price.Mul(trading.Dec("0.985")).Round(1)
	size, err := risk.Size(risk.Plan{Side: trading.Long, Entry: price, Stop: stop, MaxLoss: trading.Dec("50"), Decimals: 4})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s at %s; %s of it lose $50 at %s\n", symbol, price, size, stop)

	sensible := trading.Order{
		Symbol: symbol, Side: trading.Long, Size: size, Leverage: trading.Dec("2"), StopLoss: trading.At(stop),
	}
	narrow := sensible
	narrow.TakeProfit = trading.At(price.Mul(trading.Dec("1.0005")).Round(1))
	wrong := sensible
	wrong.StopLoss = trading.At(price.Mul(trading.Dec("1.01")).Round(1))
	tiny := sensible
	tiny.Size = trading.Dec("0.0001")
	opposite := trading.Order{Symbol: symbol, Side: trading.Short, Size: trading.Dec("0.05"), Leverage: trading.Dec("2")}

	show(out, "sensible", sensible, inputs)
	show(out, "narrow target", narrow, inputs)
	show(out, "stop above", wrong, inputs)
	show(out, "tiny", tiny, inputs)
	show(out, "opposite", opposite, inputs)
	inputs.Method = risk.TWAP(trading.TWAP{Duration: time.Hour}, 120)
	show(out, "in 120 clips", trading.Order{
		Symbol: symbol, Side: trading.Long, Size: trading.Dec("0.01"), Leverage: trading.Dec("2"),
	}, inputs)
	return nil
}

// know reads everything that an order is judged by.
func know(ctx context.Context, client *trading.Client, account *trading.Account) (risk.Inputs, error) {
	markets, err := client.Sandbox.Markets(ctx)
	if err != nil {
		return risk.Inputs{}, err
	}
	state, err := account.State(ctx)
	if err != nil {
		return risk.Inputs{}, err
	}
	positions, err := account.Positions(ctx)
	if err != nil {
		return risk.Inputs{}, err
	}
	inputs := risk.Inputs{
		Environment: trading.EnvLive,
		Closed:      trading.CodeBadSymbol, // unless it is listed
		State:       state,
		Positions:   trading.Some(positions),
	}
	for _, market := range markets {
		if market.Symbol == symbol {
			inputs.Market, inputs.Closed = trading.Some(market), ""
		}
	}
	return inputs, nil
}

func show(out io.Writer, name string, order trading.Order, inputs risk.Inputs) {
	report := risk.Preview(order, inputs)
	after, _ := report.After.Get()
	fmt.Fprintf(out, "%-14s %s %s: %s to %s %s at %s, fee $%s\n", name, order.Side, order.Size,
		report.Effect, after.Side, after.Size, after.EntryPrice, report.Fee)
	if loss, ok := report.LossAtStop.Get(); ok {
		fmt.Fprintf(out, "%-14s   at the stop $%s lost, $%s above the loss floor\n", "", loss.StringFixed(2), report.RoomAfterStop)
	}
	for _, problem := range report.Problems {
		verdict := "mind"
		if problem.Fatal {
			verdict = "DO NOT SEND"
		}
		fmt.Fprintf(out, "%-14s   %s: %s\n", "", verdict, problem)
	}
}
