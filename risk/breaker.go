package risk

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tradingapi/trading-go"
)

// ErrRepeated means that the service has refused the same entry, with the same
// code, too often: sending it again would not help.
var ErrRepeated = errors.New("risk: refused again and again")

// Breaker holds back an entry that the service has refused with the same code n
// times within a window, until the first of these refusals is older than that. It
// stops the loop that sends a refused order for ever, and spends the rate limits
// that an exit may need.
//
// Only refusals count that sending again does not cure (those whose
// [trading.Advice] is AdviseChange or AdviseNever): a price that is missing for a
// moment does not. What the refusal is about decides what is held back:
//
//   - the account (account_locked, a loss limit, no equity): every entry on it;
//   - the market (asset_disabled, bad_symbol): every entry in it, on that account;
//   - anything else: the same order. Its prices may differ, since a loop that
//     follows the market names a new one each time: operation, symbol, side, size,
//     leverage, type and reduce-only make it the same.
//
// An entry that is accepted forgets all that counted against it.
//
// It takes a Breaker's hooks and its guard together:
//
//	breaker := risk.NewBreaker(3, time.Minute)
//	client, err := trading.FromEnv(
//		trading.WithHooks(breaker.Hooks()),
//		trading.WithGuard(breaker.Guard()),
//	)
type Breaker struct {
	n      int
	window time.Duration

	mu      sync.Mutex
	refused map[refusedFor][]time.Time // at most n, oldest first
}

// refusedFor is what refusals are counted by.
type refusedFor struct {
	subject subject
	code    trading.Code
}

// subject is what a refusal is about: an account, a market on it, or an order.
// The wider ones leave the rest empty.
type subject struct {
	environment trading.Environment
	account     trading.AccountID
	symbol      string
	operation   trading.Operation
	order       string
}

// NewBreaker returns a breaker that holds back after n refusals in a window. With
// n below 1 it is 1; with a window of 0 or below nothing is ever held back.
func NewBreaker(n int, window time.Duration) *Breaker {
	return &Breaker{n: max(n, 1), window: window, refused: make(map[refusedFor][]time.Time)}
}

// subjects are what a write can be refused for, from the widest to the narrowest.
func subjects(w trading.Write) [3]subject {
	account := subject{environment: w.Environment, account: w.Account}
	market := account
	market.symbol = w.Symbol
	order := market
	order.operation = w.Operation
	if o := w.Order; o != nil {
		order.order = fmt.Sprint(o.Side, " ", text(o.Size), " ", text(o.Leverage), " ", o.Type, " ", o.ReduceOnly)
	}
	return [3]subject{account, market, order}
}

// about is which of the subjects a code is about.
func about(code trading.Code) int {
	switch code {
	case trading.CodeAccountLocked, trading.CodeEquityCheckLocked, trading.CodeDailyLossLimit, trading.CodeGlobalLossLimit,
		trading.CodeNoEquity, trading.CodeAccountNotFound:
		return 0
	case trading.CodeAssetDisabled, trading.CodeBadSymbol:
		return 1
	default:
		return 2
	}
}

// Note informs the breaker what became of a write: err is what the call returned,
// nil if it was accepted. [Breaker.Hooks] does it for every call of a client;
// a program that wires a breaker by hand does it itself. What is no entry, and
// what the service did not refuse, is not counted.
func (b *Breaker) Note(w trading.Write, err error) {
	if !w.Entry {
		return
	}
	all := subjects(w)
	if err == nil {
		b.forget(all)
		return
	}
	refusal := (*trading.Error)(nil)
	if !errors.As(err, &refusal) || refusal.Local {
		return
	}
	switch trading.AdviceOf(err) {
	case trading.AdviseChange, trading.AdviseNever:
	default:
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	f := refusedFor{all[about(refusal.Code)], refusal.Code}
	b.refused[f] = append(b.refused[f], time.Now())
	if extra := len(b.refused[f]) - b.n; extra > 0 {
		b.refused[f] = b.refused[f][extra:]
	}
}

// forget drops what was counted against an entry.
func (b *Breaker) forget(all [3]subject) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for f := range b.refused {
		if f.subject == all[0] || f.subject == all[1] || f.subject == all[2] {
			delete(b.refused, f)
		}
	}
}

// expire drops what is older than the window. The lock is held.
func (b *Breaker) expire(now time.Time) {
	for f, times := range b.refused {
		for len(times) > 0 && now.Sub(times[0]) >= b.window {
			times = times[1:]
		}
		if b.refused[f] = times; len(times) == 0 {
			delete(b.refused, f)
		}
	}
}

// Guard holds back what was refused too often. Its error is [ErrRepeated], and the
// code that it was refused with. Exits pass.
func (b *Breaker) Guard() trading.Guard {
	return func(ctx context.Context, w trading.Write) error {
		b.remember(ctx, w)
		if !w.Entry {
			return nil
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		b.expire(time.Now())
		all := subjects(w)
		for f, times := range b.refused {
			if len(times) >= b.n && (f.subject == all[0] || f.subject == all[1] || f.subject == all[2]) {
				return fmt.Errorf("%w: %d times within %s: %w", ErrRepeated, len(times), b.window, f.code)
			}
		}
		return nil
	}
}
