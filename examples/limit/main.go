// Limit leaves two limit orders to rest, sees one of them fill, cancels the other, and
// closes what it bought.
//
//	go run ./examples/limit
//
// With nothing configured it trades on the simulator. With TRADING_BASE_URL,
// TRADING_SANDBOX_KEY (prices), TRADING_LIVE_KEY and TRADING_ACCOUNT set it trades that
// account, with real money.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"github.com/shopspring/decimal"

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
		account := client.Live.Account(trading.AccountID(os.Getenv("TRADING_ACCOUNT")))
		return trade(ctx, account, client.Sandbox.MarketData, func() {}, out)
	}
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
	defer sim.Close()
	client, err := trading.New(sim.URL(), trading.WithTransport(sim.Transport()),
		trading.WithSandboxKey(sim.SandboxKey()), trading.WithLiveKey(sim.LiveKey()))
	if err != nil {
		return err
	}
	defer client.Close()
	fall := func() { sim.SetMark("BTC", "63300") }
	return trade(ctx, client.Live.Account("acc_1"), client.Sandbox.MarketData, fall, out)
}

// trade rests two orders, watches them for a while, and takes them back. move is what the
// market does meanwhile, where somebody can make it.
func trade(ctx context.Context, account *trading.Account, prices *trading.MarketData, move func(), out io.Writer) error {
	mark, err := prices.Price(ctx, "BTC")
	if err != nil {
		return err
	}
	price, ok := mark.Price()
	if !ok {
		return errors.New("BTC has no price right now: try again shortly")
	}
	var resting []trading.OrderID
	for _, part := range []string{"0.99", "0.95"} { // 1 and 5 percent below
		id, err := rest(ctx, account, price.Mul(trading.Dec(part)).Round(1), out)
		if err != nil {
			return errors.Join(err, cancel(ctx, account, resting, out))
		}
		resting = append(resting, id)
	}
	move()
	for range 5 {
		open, err := account.OpenOrders(ctx)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%-9s %d\n", "open", len(open.Limits))
		if len(open.Limits) < len(resting) {
			break
		}
		time.Sleep(time.Second)
	}
	if err := cancel(ctx, account, resting, out); err != nil {
		return err
	}
	return closeAll(ctx, account, out)
}

// rest leaves an order to rest. It fills at its price or better, and pays the maker fee.
func rest(ctx context.Context, account *trading.Account, price decimal.Decimal, out io.Writer) (trading.OrderID, error) {
	placed, err := account.PlaceLimit(ctx, trading.Order{
		Symbol:     "BTC",
		Side:       trading.Long,
		Size:       trading.Dec("0.01"),
		Leverage:   trading.Dec("2"),
		LimitPrice: trading.At(price),
		StopLoss:   trading.At(price.Mul(trading.Dec("0.98")).Round(1)),
	})
	if err != nil {
		return "", err
	}
	fmt.Fprintf(out, "%-9s %s at %s\n", "resting", placed.Order.ID, price)
	return placed.Order.ID, nil
}

// cancel takes orders back. One that is not there has filled, most likely.
func cancel(ctx context.Context, account *trading.Account, ids []trading.OrderID, out io.Writer) error {
	var errs []error
	for _, id := range ids {
		_, err := account.CancelOrder(ctx, id)
		switch {
		case err == nil:
			fmt.Fprintf(out, "%-9s %s\n", "cancelled", id)
		case errors.Is(err, trading.CodeOrderNotFound):
			fmt.Fprintf(out, "%-9s %s\n", "filled", id)
		default:
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func closeAll(ctx context.Context, account *trading.Account, out io.Writer) error {
	closed, err := account.ClosePosition(ctx, "BTC", trading.All)
	if errors.Is(err, trading.CodeNoPosition) {
		return nil
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%-9s pnl %s\n", "closed", closed.PnL)
	return nil
}
