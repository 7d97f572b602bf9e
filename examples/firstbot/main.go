// Firstbot keeps a small long position with a stop on the paper account, and closes it when it ends.
//
//	go run ./examples/firstbot
//
// It needs TRADING_BASE_URL and TRADING_SANDBOX_KEY: "go run ./cmd/trading sim" prints those of a
// simulator.
package main

import (
	"context"
	"errors"
	"log"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/tradingapi/trading-go"
)

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	client, err := trading.FromEnv(trading.WithExclusiveAccounts()) // nobody else trades: so the account shows what a lost order did
	if err != nil {
		return err
	}
	defer client.Close()
	b := &bot{account: client.Sandbox, prices: client.Sandbox.MarketData, log: slog.Default()}
	return b.run(ctx)
}

// bot keeps a small long position with a stop, and closes it when it ends.
type bot struct {
	account trading.Trader      // the paper account, or a live one
	prices  *trading.MarketData // marks, for live bots too
	log     *slog.Logger
	doubt   error // of the last order whose outcome was not known
}

// run decides five seconds after the start, and then once a minute, until ctx ends. A read that begins sooner
// may be older than the run, so that it proves nothing of a lost order.
func (b *bot) run(ctx context.Context) error {
	defer b.leave()
	for round := time.NewTimer(5 * time.Second); ; round.Reset(time.Minute) {
		select {
		case <-round.C:
		case <-ctx.Done():
			return nil
		}
		if err := b.decide(ctx); err != nil {
			return err
		}
	}
}

// decide buys if nothing is open. An error that it returns ends the bot.
func (b *bot) decide(ctx context.Context) error {
	if b.doubt != nil {
		short, cancel := context.WithTimeout(ctx, 30*time.Second)
		defer cancel()
		if _, err := b.account.Resolve(short, b.doubt); err == nil {
			b.doubt = nil
		}
		return nil // the next round reads what it did: reads lag by some seconds
	}
	positions, err := b.account.Positions(ctx) // in the sandbox, this read also fires stops
	if err != nil {
		return b.judge(ctx, nil, err)
	}
	if _, err := b.account.Trades(ctx); err != nil { // with the positions it shows later what a lost order did
		return b.judge(ctx, nil, err)
	}
	mark, err := b.prices.Price(ctx, "BTC")
	if err != nil {
		return b.judge(ctx, nil, err)
	}
	price, priced := mark.Price()
	if _, open := positions.In("BTC"); open || !priced {
		return nil
	}
	bought, err := b.account.PlaceOrder(context.WithoutCancel(ctx), trading.Order{ // a stop ends the loop, not the order
		Symbol:        "BTC",
		Side:          trading.Long,
		Size:          trading.Dec("0.01"), // base units
		Leverage:      trading.Dec("2"),
		StopLoss:      trading.At(price.Mul(trading.Dec("0.99")).Round(2)),
		ExpectedPrice: trading.At(price),
	})
	return b.judge(ctx, bought, err)
}

// judge ends the bot where no order helps; else it asks first whether it happened, then why not.
func (b *bot) judge(ctx context.Context, bought *trading.OrderResult, err error) error {
	if trading.OutcomeOf(err) == trading.Unknown {
		b.doubt = err
	}
	switch {
	case err == nil:
		b.log.Info("bought", "price", bought.Fill.Price)
		return nil
	case errors.Is(err, trading.ErrAccountLocked), errors.Is(err, trading.ErrLossLimit), errors.Is(err, trading.ErrKeyRefused):
		return err // nothing that the bot does helps
	case trading.OutcomeOf(err) == trading.Unknown:
		b.log.Warn("not known yet: the client finds out, and refuses entries here until then", "err", err)
		return nil
	case ctx.Err() != nil: // it is stopped
		return nil
	default:
		b.log.Warn("an error", "err", err, "advice", trading.AdviceOf(err))
		return nil
	}
}

// leave closes the position, also that of an order in doubt. It has a context of its own,
// since the bot's has ended.
func (b *bot) leave() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if _, err := b.account.Resolve(ctx, b.doubt); err != nil { // nil without a doubt
		b.log.Error("AN ORDER MAY STILL BE EXECUTED: look at the account", "err", err)
	}
	closed, err := b.account.ClosePosition(ctx, "BTC", trading.All)
	switch {
	case err == nil:
		b.log.Info("closed", "pnl", closed.PnL)
	case errors.Is(err, trading.CodeNoPosition):
		b.log.Info("nothing to close")
	default:
		b.log.Error("NOT CLOSED: look at the account", "err", err)
	}
}
