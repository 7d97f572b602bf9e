// Livebot trades a real account: it settles what an earlier run left open, refuses
// to trade while that is not safe, decides once a minute and never twice the same,
// and gets out of the market when it is told to stop.
//
//	go run ./examples/livebot
//
// With nothing configured it trades on the simulator for a few rounds. With
// TRADING_BASE_URL, TRADING_SANDBOX_KEY (prices), TRADING_LIVE_KEY and
// TRADING_ACCOUNT set it trades that account, with real money.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/tradingapi/trading-go"
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
	if os.Getenv("TRADING_BASE_URL") != "" {
		intents, err := journal.Open("livebot.journal", journal.Options{})
		if err != nil {
			return err
		}
		defer intents.Close()
		client, err := trading.FromEnv(options(intents, log)...)
		if err != nil {
			return err
		}
		defer client.Close()
		return trade(ctx, client, trading.AccountID(os.Getenv("TRADING_ACCOUNT")), time.Minute, 0, log)
	}

	dir, err := os.MkdirTemp("", "livebot")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	intents, err := journal.Open(filepath.Join(dir, "livebot.journal"), journal.Options{})
	if err != nil {
		return err
	}
	defer intents.Close()
	sim := tradingsim.New(tradingsim.WithFeed(symbol, tradingsim.RandomWalk(7, "64000", 4)))
	defer sim.Close()
	client, err := trading.New(sim.URL(), append(options(intents, log),
		trading.WithSandboxKey(sim.SandboxKey()),
		trading.WithLiveKey(sim.LiveKey()),
		trading.WithTransport(sim.Transport()))...)
	if err != nil {
		return err
	}
	defer client.Close()
	return trade(ctx, client, "acc_1", time.Second, 5, log)
}

// options are what a bot that trades real money sets.
func options(intents trading.Journal, log *slog.Logger) []trading.Option {
	return []trading.Option{
		trading.WithJournal(intents),
		trading.WithHealthGate(trading.HealthGate{KeepWarm: true}),
		trading.WithMaxSlippagePct(trading.Dec("0.5")),
		trading.ReadBaseline(),
		trading.WithApplication("livebot", "1.0"),
		trading.WithLogger(log),
	}
}

// trade decides once a round until it is told to stop; 0 rounds are endless.
func trade(ctx context.Context, client *trading.Client, id trading.AccountID, every time.Duration, rounds int, log *slog.Logger) error {
	// Nothing new before everything old is settled.
	if _, err := client.Recover(ctx); err != nil {
		return fmt.Errorf("a person has to look: %w", err)
	}
	account := client.Live.Account(id)
	defer leave(account, log)

	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for round := 1; ; round++ {
		if err := decide(ctx, client, account, time.Now().Truncate(every), log); err != nil {
			return err
		}
		if round == rounds {
			return nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// decide buys what is missing to a small position. The name of the decision is the
// round: a bot that crashes and decides the same again does not buy twice.
func decide(ctx context.Context, client *trading.Client, account *trading.Account, round time.Time, log *slog.Logger) error {
	mark, err := client.Sandbox.Price(ctx, symbol)
	if err != nil {
		return err
	}
	price, ok := mark.Price()
	if !ok {
		log.Info("no price")
		return nil
	}
	positions, err := account.Positions(ctx)
	if err != nil {
		return err
	}
	if _, open := positions.In(symbol); open {
		return nil
	}

	filled, err := account.PlaceOrder(ctx, trading.Order{
		Symbol:        symbol,
		Side:          trading.Long,
		Size:          trading.Dec("0.01"),
		Leverage:      trading.Dec("2"),
		ExpectedPrice: trading.At(price),
		StopLoss:      trading.At(price.Mul(trading.Dec("0.99")).Round(2)),
	}, trading.WithDecision("livebot", round.Format(time.RFC3339)))

	switch {
	case err == nil:
		log.Info("bought", "price", filled.Fill.Price, "fee", filled.Fill.Fee)
		return nil
	case trading.OutcomeOf(err) == trading.Unknown:
		client.Halt("an order is in the air")
		verdict, err := account.Resolve(ctx, err)
		if err != nil {
			return err
		}
		client.Unhalt()
		log.Info("resolved", "outcome", verdict.Outcome, "basis", verdict.Basis)
		return nil
	case errors.Is(err, trading.ErrLossLimit), errors.Is(err, trading.ErrAccountLocked):
		return err
	default:
		log.Info("not bought", "err", err, "advice", trading.AdviceOf(err))
		return nil
	}
}

// leave closes the position. It has its own time, since the program's has ended.
func leave(account *trading.Account, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	closed, err := account.ClosePosition(ctx, symbol, trading.All)
	switch {
	case err == nil:
		log.Info("out", "pnl", closed.PnL, "fee", closed.Fee, "balance", closed.Balance)
	case errors.Is(err, trading.CodeNoPosition):
		log.Info("out already")
	default:
		log.Error("NOT OUT", "err", err)
	}
}
