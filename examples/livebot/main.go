// Livebot trades a real account. It finds out what became of the orders that an earlier run left, decides
// once a minute, never twice the same, and gets out of the market when its context ends.
//
//	go run ./examples/livebot
//
// With nothing configured it trades on the simulator for some seconds. With
// TRADING_BASE_URL, TRADING_SANDBOX_KEY (prices), TRADING_LIVE_KEY and
// TRADING_ACCOUNT set it trades that account, with real money.
package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/flatten"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
)

const symbol = "BTC"

func main() {
	log := slog.New(slog.NewTextHandler(os.Stdout, nil))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, log); err != nil {
		log.Error("stopped", "err", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, log *slog.Logger) error {
	if baseURL := os.Getenv("TRADING_BASE_URL"); baseURL != "" {
		id := trading.AccountID(os.Getenv("TRADING_ACCOUNT"))
		writes, err := journal.Open("livebot.journal") // on a disk that outlives a container
		if err != nil {
			return err
		}
		defer writes.Close()
		return trade(ctx, baseURL, append(options(writes, id, log), trading.WithSandboxKey(os.Getenv("TRADING_SANDBOX_KEY")),
			trading.WithLiveKey(os.Getenv("TRADING_LIVE_KEY"))), id, time.Minute, log)
	}
	ctx, cancel := context.WithTimeout(ctx, 4500*time.Millisecond)
	defer cancel()
	sim := tradingsim.New(tradingsim.WithFeed(symbol, tradingsim.RandomWalk(7, "64000", 4)))
	defer sim.Close()
	return trade(ctx, sim.URL(), append(options(journal.NewMemory(), "acc_1", log), trading.WithSandboxKey(sim.SandboxKey()),
		trading.WithLiveKey(sim.LiveKey()), trading.WithTransport(sim.Transport())), "acc_1", time.Second, log)
}

// options are what a bot that trades real money sets.
func options(writes journal.Store, id trading.AccountID, log *slog.Logger) []trading.Option {
	return []trading.Option{
		trading.WithJournal(writes),
		trading.WithExclusiveAccounts(id), // leave it out if anybody else trades the account
		trading.WithHealthGate(trading.HealthGate{KeepWarm: true}),
		trading.WithMaxSlippagePct(trading.Dec("0.5")),
		trading.WithLogger(log),
	}
}

// trade decides once a round until its context ends.
func trade(ctx context.Context, baseURL string, opts []trading.Option, id trading.AccountID, every time.Duration, log *slog.Logger) error {
	client, err := trading.New(baseURL, opts...)
	if err != nil {
		return err
	}
	defer func() { log.Info("closed", "pending", client.Close()) }() // for the next run
	account := client.Live.Account(id)
	defer leave(account, log)
	// It trades beside this: what an earlier run left closes its own market to entries, and no other.
	ctx, cancel := context.WithCancel(ctx)
	var recovery sync.WaitGroup
	defer recovery.Wait()
	defer cancel()
	recovery.Go(func() {
		found, err := client.Recover(ctx)
		for _, r := range found {
			log.Info("recovered", "operation", r.Intent.Operation, "symbol", r.Intent.Symbol, "outcome", r.Outcome, "evidence", r.Evidence)
		}
		if err != nil && ctx.Err() == nil {
			log.Error("a person has to look", "err", err)
		}
	})
	was, known := false, nothingPending(ctx, account) // what became of every order: the reads of the round after show it
	for round := time.NewTimer(min(every, 5*time.Second)); ; round.Reset(every) {
		select {
		case <-round.C:
		case <-ctx.Done():
			return nil
		}
		if was, known = known, nothingPending(ctx, account); was && known {
			known, err = decide(ctx, client, account, time.Now().Truncate(every), log)
			switch {
			case errors.Is(err, trading.ErrLossLimit), errors.Is(err, trading.ErrAccountLocked), errors.Is(err, trading.ErrKeyRefused), errors.Is(err, trading.CodeAccountNotFound):
				return err // nothing that it does helps
			case err != nil && ctx.Err() == nil: // of an order that is not known the client finds out, and takes no entry here until then
				log.Warn("not this round", "outcome", trading.OutcomeOf(err), "err", err, "advice", trading.AdviceOf(err))
			}
		}
	}
}

// nothingPending reports whether the outcome of every order is known, or can show in no read any more.
func nothingPending(ctx context.Context, account *trading.Account) bool {
	pending, err := account.Pending(ctx)
	return err == nil && !slices.ContainsFunc(pending, func(w trading.PendingWrite) bool { return !w.MarketOpen })
}

// decide buys if nothing is open. The round names the order: decided again after a crash, it is not placed twice.
func decide(ctx context.Context, client *trading.Client, account *trading.Account, round time.Time, log *slog.Logger) (known bool, err error) {
	mark, unread := client.Sandbox.Price(ctx, symbol)
	positions, err := account.Positions(ctx)
	if err := errors.Join(unread, err); err != nil {
		return true, err
	}
	price, priced := mark.Price()
	if _, open := positions.In(symbol); open || !priced {
		return true, nil
	}
	filled, err := account.PlaceOrder(context.WithoutCancel(ctx), trading.Order{ // a stop ends the loop, not the order
		Symbol: symbol, Side: trading.Long, Size: trading.Dec("0.01"), Leverage: trading.Dec("2"),
		ExpectedPrice: trading.At(price), StopLoss: trading.At(price.Mul(trading.Dec("0.99")).Round(2)),
	}, trading.WithClientOrderID("livebot "+round.Format(time.RFC3339)))
	if err == nil {
		log.Info("bought", "price", filled.Fill.Price, "fee", filled.Fill.Fee)
	}
	return trading.OutcomeOf(err) != trading.Unknown, err
}

// leave gets out of the market, also of an order in doubt, in a time of its own.
func leave(account *trading.Account, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if _, err := flatten.Account(ctx, account, flatten.Options{Symbols: []string{symbol}}); err != nil {
		log.Error("NOT OUT", "err", err)
		return
	}
	log.Info("out")
}
