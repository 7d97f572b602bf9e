// Package docs_test compiles and runs the code that the guides show.
package docs_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
	"github.com/tradingapi/trading-go/tradingtest"
)

// bot keeps a small long position with a stop, and closes it when it ends.
type bot struct {
	account trading.Trader      // the paper account, or a live one
	prices  *trading.MarketData // marks, for live bots too
	log     *slog.Logger
	doubt   error // of the last order whose outcome was not known
}

// run decides once a minute until ctx ends.
func (b *bot) run(ctx context.Context) error {
	defer b.leave()
	ticker := time.NewTicker(time.Minute)
	defer ticker.Stop()
	for {
		if err := b.decide(ctx); err != nil {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// decide buys if nothing is open. An error that it returns ends the bot.
func (b *bot) decide(ctx context.Context) error {
	positions, err := b.account.Positions(ctx) // in the sandbox, this read also fires stops
	if err != nil {
		b.log.Warn("cannot read the positions", "err", err)
		return nil
	}
	mark, err := b.prices.Price(ctx, "BTC")
	if err != nil {
		b.log.Warn("cannot read the price", "err", err)
		return nil
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
	return b.judge(bought, err)
}

// judge ends the bot where no order helps; else it asks first whether it happened, then why not.
func (b *bot) judge(bought *trading.OrderResult, err error) error {
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
	default:
		b.log.Info("not bought", "err", err, "advice", trading.AdviceOf(err))
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

// The stop fires while the bot runs, and it buys again a minute later.
func TestTheStopFires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
		client := tradingtest.Client(t, sim)
		b := &bot{account: client.Sandbox, prices: client.Sandbox.MarketData, log: slog.New(slog.DiscardHandler)}

		ctx, cancel := context.WithTimeout(t.Context(), 150*time.Second) // virtual: it takes no time
		defer cancel()
		time.AfterFunc(30*time.Second, func() { sim.SetMark("BTC", "63000") })
		require.NoError(t, b.run(ctx))

		require.Equal(t, "0", sim.Position("", "BTC").String(), "it has left the market")
		trades, err := client.Sandbox.Trades(t.Context())
		require.NoError(t, err)
		require.Len(t, trades, 2)
		require.Equal(t, trading.CauseStopLoss, trades[1].Cause)
	})
}

// A live order whose reply is lost is executed once, and the bot learns that.
func TestALostReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
		client := tradingtest.Client(t, sim)
		b := &bot{account: client.Live.Account("acc_1"), prices: client.Sandbox.MarketData, log: slog.New(slog.DiscardHandler)}

		sim.Fault("POST /orders", tradingsim.DropResponse())
		require.NoError(t, b.decide(t.Context()))
		require.Len(t, sim.Ledger(), 1)
		require.NoError(t, b.decide(t.Context()), "the position is open: nothing more is bought")
		require.Len(t, sim.Ledger(), 1)
	})
}

// The bot is stopped while its order is at the service: it leaves the market all the same,
// also where the outcome was not known when the order's call returned.
func TestAStopInTheMiddleOfAnOrder(t *testing.T) {
	for _, opts := range [][]trading.Option{nil, {trading.WithResolveTimeout(0)}} {
		synctest.Test(t, func(t *testing.T) {
			sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
			client := tradingtest.Client(t, sim, append(opts, trading.WithExclusiveAccounts("acc_1"))...)
			b := &bot{account: client.Live.Account("acc_1"), prices: client.Sandbox.MarketData, log: slog.New(slog.DiscardHandler)}
			sim.Fault("POST /orders", tradingsim.Delay(20*time.Second))
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			require.NoError(t, b.run(ctx))
			require.Len(t, sim.Ledger(), 2, "a buy and a close")
			time.Sleep(time.Hour)
			require.Equal(t, "0", sim.Position("acc_1", "BTC").String(), "it has left the market")
		})
	}
}

// The process dies in the middle of an order, and its next run finds out what became of it.
func TestARestart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bot.journal")
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
		start := func(opts ...trading.Option) (*trading.Client, *journal.Log) {
			writes, err := journal.Open(file)
			require.NoError(t, err)
			opts = append(opts, trading.WithJournal(writes), trading.WithExclusiveAccounts("acc_1"),
				trading.WithTransport(sim.Transport()), trading.WithLiveKey(sim.LiveKey()))
			client, err := trading.New(sim.URL(), opts...)
			require.NoError(t, err)
			return client, writes
		}
		order := trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.01"), Leverage: trading.Dec("2")}

		// One attempt, and no time to find out: as if killed before the reply.
		first, writes := start(trading.WithRetry(trading.Retry{Attempts: 1}), trading.WithResolveTimeout(0), trading.WithoutBackground())
		sim.Fault("POST /orders", tradingsim.DropResponse())
		_, err := first.Live.Account("acc_1").PlaceOrder(t.Context(), order)
		require.Equal(t, trading.Unknown, trading.OutcomeOf(err))
		require.Error(t, first.Close(), "a write is pending")
		require.NoError(t, writes.Close())

		second, writes := start()
		defer writes.Close()
		defer second.Close()
		resolutions, err := second.Recover(t.Context())
		require.NoError(t, err)
		require.Len(t, resolutions, 1)
		require.Equal(t, trading.Applied, resolutions[0].Outcome)
		require.Len(t, sim.Ledger(), 1)
	})
}
