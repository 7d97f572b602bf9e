// Grid rests buy orders at several levels below the market. When the market has moved
// away by a step, it cancels those that have not filled and rests them anew. At its end it
// leaves the market, with proof.
//
//	go run ./examples/grid
//
// With nothing configured it trades on the simulator. With TRADING_BASE_URL,
// TRADING_SANDBOX_KEY (prices), TRADING_LIVE_KEY and TRADING_ACCOUNT set it trades that
// account, with real money, until it is interrupted.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/flatten"
	"github.com/tradingapi/trading-go/tradingsim"
)

const symbol = "BTC"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout); err != nil {
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
		g := newGrid(client, trading.AccountID(os.Getenv("TRADING_ACCOUNT")), out)
		return g.run(ctx, 10*time.Second)
	}
	sim := tradingsim.New(tradingsim.WithMark(symbol, "64000"))
	defer sim.Close()
	client, err := trading.New(sim.URL(), trading.WithTransport(sim.Transport()),
		trading.WithSandboxKey(sim.SandboxKey()), trading.WithLiveKey(sim.LiveKey()))
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, 3500*time.Millisecond)
	defer cancel()
	for i, price := range []string{"63750", "64300", "63900"} { // one after the other
		time.AfterFunc(time.Duration(i)*time.Second+500*time.Millisecond, func() { sim.SetMark(symbol, price) })
	}
	return newGrid(client, "acc_1", out).run(ctx, time.Second)
}

// grid is what is wanted, and around which price it rests.
type grid struct {
	client  *trading.Client
	account *trading.Account
	step    decimal.Decimal
	levels  int
	center  decimal.Decimal // zero before the first look
	out     io.Writer
}

func newGrid(client *trading.Client, id trading.AccountID, out io.Writer) *grid {
	return &grid{client: client, account: client.Live.Account(id), step: trading.Dec("200"), levels: 3, out: out}
}

func (g *grid) run(ctx context.Context, every time.Duration) error {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		if err := g.look(ctx); err != nil && ctx.Err() == nil {
			fmt.Fprintln(g.out, "error   ", err) // the next look sees what is there
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return g.leave()
		}
	}
}

// look rests the grid anew where the market has moved up by a step, or nothing rests.
func (g *grid) look(ctx context.Context) error {
	mark, err := g.client.Sandbox.Price(ctx, symbol)
	if err != nil {
		return err
	}
	price, ok := mark.Price()
	if !ok {
		return nil
	}
	open, err := g.account.OpenOrders(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(g.out, "market   %s, %d resting\n", price, len(open.Limits))
	if len(open.Limits) > 0 && price.LessThan(g.center.Add(g.step)) {
		return nil
	}
	for _, limit := range open.Limits {
		if _, err := g.account.CancelOrder(ctx, limit.ID); err != nil && !errors.Is(err, trading.CodeOrderNotFound) {
			return err // order_not_found: it has filled meanwhile
		}
	}
	return g.place(ctx, price)
}

// place rests the levels below a price.
func (g *grid) place(ctx context.Context, center decimal.Decimal) error {
	g.center = center
	for i := range g.levels {
		at := center.Sub(g.step.Mul(decimal.NewFromInt(int64(i) + 1))).Round(1)
		placed, err := g.account.PlaceLimit(ctx, trading.Order{
			Symbol: symbol, Side: trading.Long, Size: trading.Dec("0.01"), Leverage: trading.Dec("2"),
			LimitPrice: trading.At(at), StopLoss: trading.At(at.Mul(trading.Dec("0.95")).Round(1)),
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(g.out, "resting  %s at %s\n", placed.Order.ID, at)
	}
	return nil
}

// leave cancels and closes everything in the market, in a time of its own.
func (g *grid) leave() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	report, err := flatten.Account(ctx, g.account, flatten.Options{Halt: g.client, Symbols: []string{symbol}})
	fmt.Fprintf(g.out, "flat     %t\n", report != nil && report.Flat)
	return err
}
