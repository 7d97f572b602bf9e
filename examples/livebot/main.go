// Livebot trades a real account: it finds out what became of the orders that an
// earlier run left, refuses to trade while that is not safe, decides once a minute and
// never twice the same, and gets out of the market when its context ends.
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
	if os.Getenv("TRADING_BASE_URL") == "" {
		return simulate(ctx, log)
	}
	id := trading.AccountID(os.Getenv("TRADING_ACCOUNT"))
	writes, err := journal.Open("livebot.journal") // on a disk that outlives a container
	if err != nil {
		return err
	}
	defer writes.Close()
	client, err := trading.FromEnv(options(writes, id, log)...)
	if err != nil {
		return err
	}
	defer closeClient(client, log)
	return trade(ctx, client, id, time.Minute, 0, log)
}

// simulate trades on the simulator for a few rounds.
func simulate(ctx context.Context, log *slog.Logger) error {
	dir, err := os.MkdirTemp("", "livebot")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	writes, err := journal.Open(filepath.Join(dir, "livebot.journal"))
	if err != nil {
		return err
	}
	defer writes.Close()
	sim := tradingsim.New(tradingsim.WithFeed(symbol, tradingsim.RandomWalk(7, "64000", 4)))
	defer sim.Close()
	client, err := trading.New(sim.URL(), append(options(writes, "acc_1", log),
		trading.WithSandboxKey(sim.SandboxKey()),
		trading.WithLiveKey(sim.LiveKey()),
		trading.WithTransport(sim.Transport()))...)
	if err != nil {
		return err
	}
	defer closeClient(client, log)
	return trade(ctx, client, "acc_1", time.Second, 5, log)
}

// options are what a bot that trades real money sets.
func options(writes journal.Store, id trading.AccountID, log *slog.Logger) []trading.Option {
	return []trading.Option{
		trading.WithJournal(writes),
		trading.WithExclusiveAccounts(id), // leave it out if anybody else trades the account
		trading.WithHealthGate(trading.HealthGate{KeepWarm: true}),
		trading.WithMaxSlippagePct(trading.Dec("0.5")),
		trading.WithApplication("livebot", "1.0"),
		trading.WithLogger(log),
	}
}

// closeClient ends the client. What is pending then is in the journal for the next run.
func closeClient(client *trading.Client, log *slog.Logger) {
	if err := client.Close(); err != nil {
		log.Warn("closed", "err", err)
	}
}

// trade decides once a round until its context ends; 0 rounds are endless.
func trade(ctx context.Context, client *trading.Client, id trading.AccountID, every time.Duration, rounds int, log *slog.Logger) error {
	account := client.Live.Account(id)
	defer leave(account, log)

	// What an earlier run left keeps its own market closed to entries, and no other: so
	// the bot trades beside this. It has its own context, which ends with the bot.
	ctx, cancel := context.WithCancel(ctx)
	recovered := make(chan struct{})
	go func() {
		defer close(recovered)
		recoverWrites(ctx, client, log)
	}()
	defer func() { cancel(); <-recovered }()

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

// recoverWrites finds out what became of the writes of earlier runs.
func recoverWrites(ctx context.Context, client *trading.Client, log *slog.Logger) {
	resolutions, err := client.Recover(ctx)
	for _, r := range resolutions {
		log.Info("recovered", "operation", r.Intent.Operation, "symbol", r.Intent.Symbol, "outcome", r.Outcome, "evidence", r.Evidence)
	}
	if err != nil && ctx.Err() == nil {
		log.Error("a person has to look", "err", err)
	}
}

// decide buys what is missing to a small position. The round names the order: a bot
// that crashes and decides the same again does not buy twice.
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
	}, trading.WithClientOrderID("livebot "+round.Format(time.RFC3339)))

	switch {
	case err == nil:
		log.Info("bought", "price", filled.Fill.Price, "fee", filled.Fill.Fee)
		return nil
	case trading.OutcomeOf(err) == trading.Unknown:
		// The client goes on finding out, and takes no entry in this market meanwhile.
		log.Warn("not known yet", "err", err)
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
