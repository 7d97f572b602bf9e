package main

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
	"github.com/tradingapi/trading-go/tradingtest"
)

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

// A paper order has no key to ask by: it is found out about against what the bot has read before, the first order too.
func TestALostReplyOnPaper(t *testing.T) {
	for name, fault := range map[string]tradingsim.Fault{"the reply is lost": tradingsim.DropResponse(), "it never arrives": tradingsim.DropRequest()} {
		synctest.Test(t, func(t *testing.T) {
			sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
			client := tradingtest.Client(t, sim, trading.WithExclusiveAccounts())
			var logged strings.Builder
			b := &bot{account: client.Sandbox, prices: client.Sandbox.MarketData, log: slog.New(slog.NewTextHandler(&logged, nil))}
			sim.Fault("POST /sandbox/orders", fault)
			ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
			defer cancel()
			require.NoError(t, b.run(ctx))
			require.NotContains(t, logged.String(), "level=ERROR", name)
			require.Len(t, sim.Ledger(), 2, "a buy and a close: "+name)
			require.Equal(t, "0", sim.Position("", "BTC").String(), name)
		})
	}
}

// An order that is found out about right before a round is in no read of that round yet, and is not placed again.
func TestAnOrderThatIsFoundOutBetweenTwoRounds(t *testing.T) {
	for late := time.Duration(45); late < 200; late++ {
		synctest.Test(t, func(t *testing.T) {
			sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"), tradingsim.WithLag(5*time.Second))
			client := tradingtest.Client(t, sim, trading.WithExclusiveAccounts("acc_1"))
			b := &bot{account: client.Live.Account("acc_1"), prices: client.Sandbox.MarketData, log: slog.New(slog.DiscardHandler)}
			sim.Fault("POST /orders", tradingsim.Delay(late*time.Second))
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
			defer cancel()
			require.NoError(t, b.run(ctx))
			require.Len(t, sim.Ledger(), 2, "%d s late: a buy and a close", late)
		})
	}
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
			ctx, cancel := context.WithTimeout(t.Context(), 6*time.Second) // the first round is at 5 s
			defer cancel()
			require.NoError(t, b.run(ctx))
			require.Len(t, sim.Ledger(), 2, "a buy and a close")
			time.Sleep(time.Hour)
			require.Equal(t, "0", sim.Position("acc_1", "BTC").String(), "it has left the market")
		})
	}
}

// A bot that is stopped in the middle of a read logs no error: nothing has failed.
func TestAStopInTheMiddleOfARead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
		client := tradingtest.Client(t, sim)
		var logged strings.Builder
		b := &bot{account: client.Sandbox, prices: client.Sandbox.MarketData, log: slog.New(slog.NewTextHandler(&logged, nil))}
		sim.Fault("GET /sandbox/positions", tradingsim.Delay(3*time.Second))
		ctx, cancel := context.WithTimeout(t.Context(), 6*time.Second) // the first round is at 5 s
		defer cancel()
		require.NoError(t, b.run(ctx))
		require.NotContains(t, logged.String(), "level=WARN")
		require.Contains(t, logged.String(), "nothing to close")
	})
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
		first, writes := start(trading.WithRetry(trading.Retry{Attempts: 1}), trading.WithResolveTimeout(0), trading.WithRecovery(trading.Recovery{WithoutBackground: true}))
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

// A key that is refused ends the bot, which cannot read with it either.
func TestARefusedKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
		for name, opts := range map[string][]trading.Option{
			"none":    nil,
			"unknown": {trading.WithSandboxKey("pk_test_unknown000000001")},
		} {
			client, err := trading.New(sim.URL(), append(opts, trading.WithTransport(sim.Transport()))...)
			require.NoError(t, err)
			b := &bot{account: client.Sandbox, prices: client.Sandbox.MarketData, log: slog.New(slog.DiscardHandler)}
			require.ErrorIs(t, b.decide(t.Context()), trading.ErrKeyRefused, name)
			require.NoError(t, client.Close())
		}
		sim.Close()
	})
}
