// Package demobot is a bot that trades for a demonstration, with the real client over the
// wire, and shows what the client knows of each write. It reaches a simulator as any
// program does: by its address and its keys.
package demobot

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/tradingapi/trading-go"
)

// Config is where the bot trades.
type Config struct {
	BaseURL    string
	SandboxKey string
	LiveKey    string
	Account    trading.AccountID
}

// The bot trades a market in each environment, so that its writes stand apart. It reads
// each account again and again: what it held before an order is what the client finds the
// order by when its reply is lost.
const (
	liveSymbol    = "BTC"
	sandboxSymbol = "ETH"
	every         = time.Second
	rounds        = 10 // from one write of an environment to its next
	callTimeout   = 20 * time.Second
)

// Run trades until ctx ends, which is not an error. It calls show for each write whenever
// something is known of it anew.
func Run(ctx context.Context, c Config, show func(Write)) error { return run(ctx, c, show) }

// run is Run with further options of the client.
func run(ctx context.Context, c Config, show func(Write), more ...trading.Option) error {
	seen := newWitness(show)
	client, err := trading.New(c.BaseURL, append(more,
		trading.WithSandboxKey(c.SandboxKey), trading.WithLiveKey(c.LiveKey),
		trading.WithApplication("demobot", "1"), trading.WithExclusiveAccounts(), trading.WithHooks(seen.hooks()))...)
	if err != nil {
		return err
	}
	bot := bot{client: client, witness: seen}
	live, paper := client.Live.Account(c.Account), client.Sandbox
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for round := 1; ; round++ {
		bot.turn(ctx, live, liveSymbol, "0.01", round > rounds && round%rounds == 4)
		bot.turn(ctx, paper, sandboxSymbol, "0.2", round%rounds == 9)
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return bot.end()
		}
	}
}

type bot struct {
	client  *trading.Client
	witness *witness
}

// end closes the client. A write that is pending then is no failure of a demonstration.
func (b bot) end() error {
	err := b.client.Close()
	var pending *trading.PendingError
	if errors.As(err, &pending) {
		return nil
	}
	return err
}

// waits reports whether a write of a market is pending. The bot does nothing there until the
// client has found out: what it did would only hide what happened.
func (b bot) waits(ctx context.Context, symbol string) bool {
	pending, err := b.client.Pending(ctx)
	return err != nil || slices.ContainsFunc(pending, func(w trading.PendingWrite) bool { return w.Symbol == symbol })
}

// turn reads an account, and trades there if its time has come: it closes the position
// where there is one, and opens one otherwise. Whatever becomes of that, the witness has
// seen it.
func (b bot) turn(ctx context.Context, account trading.Trader, symbol, size string, trade bool) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	positions, err := b.read(ctx, account)
	if err != nil || !trade || b.waits(ctx, symbol) {
		return // the next turn asks again
	}
	if p, open := positions.In(symbol); open {
		ctx = b.witness.expect(ctx, symbol, "close "+p.Size.String()+" "+symbol)
		_, _ = account.ClosePosition(ctx, symbol, trading.All)
		return
	}
	ctx = b.witness.expect(ctx, symbol, "buy "+size+" "+symbol)
	_, _ = account.PlaceOrder(ctx, trading.Order{
		Symbol: symbol, Side: trading.Long, Size: trading.Dec(size), Leverage: trading.Dec("2"),
	})
}

// read reads everything that an order changes.
func (b bot) read(ctx context.Context, account trading.Trader) (trading.Positions, error) {
	if _, err := account.State(ctx); err != nil {
		return trading.Positions{}, err
	}
	if _, err := account.Trades(ctx); err != nil {
		return trading.Positions{}, err
	}
	if live, ok := account.(*trading.Account); ok {
		if _, err := live.OpenOrders(ctx); err != nil {
			return trading.Positions{}, err
		}
		if _, err := live.FinishedRuns(ctx); err != nil {
			return trading.Positions{}, err
		}
	}
	return account.Positions(ctx)
}
