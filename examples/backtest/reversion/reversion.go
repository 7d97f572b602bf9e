// Package reversion is a bot that bets on the return of a price to its mean. It knows
// a market and an account and nothing else: it runs on the paper account, on a live
// account and through a month of virtual time, unchanged.
//
// It is an example of how a bot is written and not of how money is earned: on a
// random walk, which has no mean to return to, it loses about what it pays in fees.
package reversion

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

// Bot is what to trade and how. Start with [New] and change what you like.
type Bot struct {
	Symbol string
	// Every is the time between two looks, one request each. On the paper account
	// they are also what fires the stops.
	Every time.Duration
	// Sample is the time between two prices of the mean, and Window their number.
	Sample time.Duration
	Window int
	// Deviations is how many standard deviations away from the mean it enters.
	Deviations decimal.Decimal
	// StopPct is how far the stop is from the entry, in percent of the price.
	StopPct decimal.Decimal
	// RiskPct is what a trade may lose at its stop, fees included, in percent of
	// the equity.
	RiskPct decimal.Decimal
	// MaxNotional bounds a position, in multiples of the equity.
	MaxNotional decimal.Decimal
	// Patience is how long it holds a position at the most.
	Patience time.Duration
	// Pause is how long it stays out of the market after a position has ended.
	Pause time.Duration
	// Log is where it reports what it does; nowhere if nil.
	Log *slog.Logger
}

// New returns a cautious bot.
func New(symbol string) *Bot {
	return &Bot{
		Symbol: symbol,
		Every:  3 * time.Second, Sample: time.Minute, Window: 240,
		Deviations: trading.Dec("2.5"), StopPct: trading.Dec("2"),
		RiskPct: trading.Dec("0.25"), MaxNotional: trading.Dec("1"),
		Patience: 12 * time.Hour, Pause: time.Hour,
	}
}

// Run trades until the context ends, and then leaves the market. An error is what a
// person has to look at: the account takes no more orders, a key is refused, or the
// outcome of an order could not be determined.
func (b *Bot) Run(ctx context.Context, market *trading.MarketData, account trading.Trader) error {
	if b.Every <= 0 || b.Sample <= 0 || b.Window < 2 || !b.StopPct.IsPositive() {
		return errors.New("reversion: Every, Sample and StopPct must be greater than 0, and Window greater than 1")
	}
	r := &run{Bot: b, market: market, account: account, mean: newMean(b.Window), log: b.Log, holds: true}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	ticker := time.NewTicker(b.Every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return r.leave()
		case <-ticker.C:
		}
		if err := r.look(ctx); err != nil && ctx.Err() == nil {
			return err
		}
	}
}

// lag is how long a read may take to show a write: a position that does not show yet
// has not ended.
const lag = 10 * time.Second

// run is a bot at work.
type run struct {
	*Bot
	market  *trading.MarketData
	account trading.Trader
	log     *slog.Logger
	mean    *mean
	sampled time.Time
	holds   bool      // as far as it knows; true until it has looked
	seen    time.Time // when it first saw the position
	ended   time.Time // when the last one had ended
}

// look is one request most of the time: the position shows the price too.
func (r *run) look(ctx context.Context) error {
	mark, position, err := r.read(ctx)
	if err != nil {
		return r.mayGoOn("reading", err)
	}
	price, priced := mark.Price()
	if !priced {
		return nil
	}
	now := time.Now()
	if now.Sub(r.sampled) >= r.Sample {
		r.sampled = now
		r.mean.add(price)
	}
	if position != nil {
		if now.Sub(openSince(position, r.seen)) < r.Patience {
			return nil
		}
		_, err := r.account.ClosePosition(ctx, r.Symbol, trading.All)
		return r.after(ctx, "closing", err)
	}
	if !r.ended.IsZero() && now.Sub(r.ended) < r.Pause || !r.mean.isFarFrom(price, r.Deviations) {
		return nil
	}
	return r.enter(ctx, price)
}

// openSince is when a position was opened, or first seen where the record does not
// say, as a live one need not.
func openSince(p *trading.Position, seen time.Time) time.Time {
	if p.OpenedAt.IsZero() {
		return seen
	}
	return p.OpenedAt
}

// read returns the price and the position, nil if there is none.
func (r *run) read(ctx context.Context) (trading.Mark, *trading.Position, error) {
	if r.holds {
		positions, err := r.account.Positions(ctx)
		if err != nil {
			return trading.Mark{}, nil, err
		}
		if p, open := positions.In(r.Symbol); open {
			if r.seen.IsZero() {
				r.seen = time.Now()
			}
			return p.Mark, &p, nil
		}
		if !r.seen.IsZero() {
			if time.Since(r.seen) < lag {
				return trading.Mark{}, nil, nil
			}
			r.ended = time.Now()
		}
		r.holds, r.seen = false, time.Time{}
	}
	mark, err := r.market.Price(ctx, r.Symbol)
	return mark, nil, err
}

// enter bets on the return of the price: the target is the mean, and the stop is as
// far away as the stake allows.
func (r *run) enter(ctx context.Context, price decimal.Decimal) error {
	state, err := r.account.State(ctx)
	if err != nil {
		return r.mayGoOn("reading the account", err)
	}
	order, ok := r.order(price, state.Equity)
	if !ok {
		return nil
	}
	// What the account shows before the order helps to resolve it, should its answer be
	// lost.
	positions, err := r.account.Positions(ctx)
	if err != nil {
		return r.mayGoOn("reading the positions", err)
	}
	if _, err := r.account.Trades(ctx); err != nil {
		return r.mayGoOn("reading the trades", err)
	}
	r.holds = true // until a look says otherwise
	if _, open := positions.In(r.Symbol); open {
		return nil
	}
	r.seen = time.Now() // also while the outcome is not known
	result, err := r.account.PlaceOrder(ctx, order)
	switch {
	case trading.OutcomeOf(err) == trading.NotApplied:
		r.holds, r.seen = false, time.Time{}
	case err == nil:
		r.log.Info("in", "side", order.Side, "size", order.Size, "price", result.Fill.Price, "target", order.TakeProfit, "stop", order.StopLoss)
	}
	return r.after(ctx, "entering", err)
}

// after waits for the outcome of a write where that is unknown, and reports whether the
// bot can go on.
func (r *run) after(ctx context.Context, doing string, err error) error {
	if err == nil || trading.OutcomeOf(err) == trading.Applied {
		return nil
	}
	if trading.OutcomeOf(err) == trading.Unknown {
		resolution, err := r.account.Resolve(ctx, err)
		if err != nil {
			return fmt.Errorf("reversion: %s: %w", doing, err)
		}
		r.log.Warn("resolved", "doing", doing, "outcome", resolution.Outcome)
		return nil
	}
	return r.mayGoOn(doing, err)
}

// mayGoOn returns an error that another look will not mend.
func (r *run) mayGoOn(doing string, err error) error {
	final := errors.Is(err, trading.ErrAccountLocked) || errors.Is(err, trading.ErrLossLimit) || errors.Is(err, trading.ErrKeyRefused)
	if final {
		return fmt.Errorf("reversion: %s: %w", doing, err)
	}
	r.log.Info("next time", "doing", doing, "err", err)
	return nil
}

// leave closes the position. It has its own time, since that of the bot has ended.
func (r *run) leave() error {
	if !r.holds {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	_, err := r.account.ClosePosition(ctx, r.Symbol, trading.All)
	if errors.Is(err, trading.CodeNoPosition) {
		return nil
	}
	return r.after(ctx, "leaving", err)
}
