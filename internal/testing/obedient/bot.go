package obedient

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

// The times of docs/errors.md.
const (
	shortest    = time.Second // wait
	longest     = time.Minute
	quiet       = 10 * time.Minute // of waiting, until a person is alerted
	mostFinding = time.Hour
)

// Bot wants a position in one market, and has it by what the pages say.
type Bot struct {
	Pages
	Client  *trading.Client
	Account trading.Trader
	Symbol  string
	// Patience is how long it lets a call run; 0 for as long as that takes.
	Patience time.Duration
	// ID is the client order id of its decision; empty for none.
	ID string
	// Alert has a person look, who acts in there, if at all.
	Alert func(context.Context, error)
	// Note hears each step; nil for nobody.
	Note func(format string, args ...any)

	// Longest is the longest that it took to find out about a write, of which no person was alerted.
	Longest time.Duration
}

// End is how a decision ended.
type End uint8

// The ends.
const (
	Stopped End = iota // by its context
	Held               // the account has what it wants, or the order was executed
	Dropped            // it never will
)

func (e End) String() string { return [...]string{"stopped", "held", "dropped"}[e] }

// Pursue has the bot have a position of a signed size.
func (b *Bot) Pursue(ctx context.Context, want decimal.Decimal) End {
	var (
		order trading.Order
		wait  = shortest
		began = time.Now()
		todo  = []Step{DecideAnew}
		err   error
	)
	for {
		sends := false
		for _, step := range todo {
			b.note("it does: %s", step)
			switch step {
			case FindOut:
				b.findOut(ctx, err)
			case Wait, WaitAsAsked:
				if time.Since(began) > quiet {
					b.Alert(ctx, err)
				}
				wait = b.pause(ctx, err, wait)
			case AlertAPerson:
				b.Alert(ctx, err)
			case Drop, ChangeOrDrop: // it has no other order, and sends nothing
			case SendAgain:
				sends = true
			case DecideAnew:
				missing, known := b.missing(ctx, want)
				if !known {
					return Stopped
				}
				if missing.IsZero() {
					return Held
				}
				order, sends = orderOf(b.Symbol, missing), true
			}
			if ctx.Err() != nil {
				return Stopped
			}
		}
		if !sends {
			return Dropped
		}
		if err = b.send(ctx, order); err == nil {
			return Held
		}
		if errors.Is(err, context.DeadlineExceeded) {
			b.Patience = min(2*b.Patience, longest)
		}
		todo = b.Of(err)
		b.note("it hears: %v: %s", err, trading.AdviceOf(err))
		if ctx.Err() != nil {
			return Stopped
		}
	}
}

func orderOf(symbol string, missing decimal.Decimal) trading.Order {
	o := trading.Order{Symbol: symbol, Side: trading.Long, Size: missing.Abs(), Leverage: trading.Dec("2")}
	if missing.IsNegative() {
		o.Side = trading.Short
	}
	return o
}

func (b *Bot) send(ctx context.Context, o trading.Order) error {
	if b.Patience > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, b.Patience)
		defer cancel()
	}
	var opts []trading.CallOption
	if b.ID != "" {
		opts = append(opts, trading.WithClientOrderID(b.ID))
	}
	_, err := b.Account.PlaceOrder(ctx, o, opts...)
	return err
}

// missing waits until nothing is pending in the market, and reads what is missing then; false if
// the context ends.
func (b *Bot) missing(ctx context.Context, want decimal.Decimal) (decimal.Decimal, bool) {
	wait := shortest
	for ctx.Err() == nil {
		pending, err := b.Account.Pending(ctx)
		if err != nil {
			wait = b.pause(ctx, err, wait)
			continue
		}
		pending = slices.DeleteFunc(pending, func(w trading.PendingWrite) bool {
			return w.MarketOpen || w.Symbol != "" && w.Symbol != b.Symbol
		})
		for _, w := range pending {
			b.resolve(ctx, func(ctx context.Context) error { _, err := b.Client.ResolveID(ctx, w.ID); return err })
		}
		if len(pending) > 0 {
			continue
		}
		sleep(ctx, b.Behind)
		var meta trading.Meta
		positions, err := b.Account.Positions(ctx, trading.ResponseInto(&meta))
		if err != nil || !slices.Contains([]string{"", "0"}, meta.Header.Get("Age")) {
			b.note("it cannot read: %v", err)
			wait = b.pause(ctx, err, wait)
			continue
		}
		p, open := positions.In(b.Symbol)
		switch {
		case !open:
			return want, true
		case p.Side == trading.Short:
			return want.Add(p.Size), true
		default:
			return want.Sub(p.Size), true
		}
	}
	return decimal.Zero, false
}

func (b *Bot) findOut(ctx context.Context, err error) {
	var pending *trading.PendingError
	if !errors.As(err, &pending) {
		b.resolve(ctx, func(ctx context.Context) error { _, err := b.Client.Resolve(ctx, err); return err })
		return
	}
	for _, id := range pending.IDs {
		b.resolve(ctx, func(ctx context.Context) error { _, err := b.Client.ResolveID(ctx, id); return err })
	}
}

// resolve asks until the outcome is known.
func (b *Bot) resolve(ctx context.Context, ask func(context.Context) error) {
	for began, again := time.Now(), false; ctx.Err() == nil; again = true {
		bounded, cancel := context.WithTimeout(ctx, mostFinding)
		err := ask(bounded)
		cancel()
		if took := time.Since(began); err == nil && !again {
			b.Longest = max(b.Longest, took)
		}
		if err == nil || ctx.Err() != nil {
			return
		}
		b.note("it does not find out: %v", err)
		b.Alert(ctx, err)
		sleep(ctx, longest)
	}
}

// pause waits as an error says, or else longer each time. It returns the next wait.
func (b *Bot) pause(ctx context.Context, err error, wait time.Duration) time.Duration {
	if asked, ok := trading.RetryAfter(err); ok {
		sleep(ctx, asked)
		return wait
	}
	sleep(ctx, wait)
	return min(2*wait, longest)
}

func (b *Bot) note(format string, args ...any) {
	if b.Note != nil {
		b.Note(format, args...)
	}
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
