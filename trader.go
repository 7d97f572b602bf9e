package trading

import (
	"context"
	"errors"
	"fmt"
)

// Trader is what the paper account and a live account have in common: a strategy
// that takes a Trader runs on either. Methods may be added in a minor version;
// embed a Trader in a type of your own.
type Trader interface {
	// State reads the account: its money, its rules, and whether it accepts orders.
	State(ctx context.Context, opts ...CallOption) (*AccountState, error)
	// Positions reads the open positions.
	Positions(ctx context.Context, opts ...CallOption) (Positions, error)
	// Trades reads the closed trades.
	Trades(ctx context.Context, opts ...CallOption) ([]Trade, error)
	// PlaceOrder places an order at the market, or a marketable limit.
	PlaceOrder(ctx context.Context, o Order, opts ...CallOption) (*OrderResult, error)
	// ClosePosition closes a position, or a part of it, at the market.
	ClosePosition(ctx context.Context, symbol string, part Part, opts ...CallOption) (*CloseResult, error)
	// SetTriggers sets, clears or leaves the take-profit and the stop of a position.
	SetTriggers(ctx context.Context, symbol string, t Triggers, opts ...CallOption) (*TriggerResult, error)
	// Resolve finds out what became of the write that returned err.
	Resolve(ctx context.Context, err error, opts ...CallOption) (*Verdict, error)
}

var (
	_ Trader = (*Sandbox)(nil)
	_ Trader = (*Account)(nil)
)

// Resolve finds out what became of the write that returned err, by reading the
// paper account twice and comparing it with what was known before. Its error is
// nil exactly if that is known.
//
// The sandbox has no idempotency, so nothing can be asked of it and nothing can
// keep a copy that is still under way from running: a verdict here is as good as
// the readings, and takes nobody else to trade the paper account. Reading it fires
// triggers.
func (s *Sandbox) Resolve(ctx context.Context, err error, opts ...CallOption) (*Verdict, error) {
	if ctxErr := checkContext(ctx); ctxErr != nil {
		return nil, ctxErr
	}
	write := (*WriteError)(nil)
	switch {
	case err == nil:
		return &Verdict{Outcome: Applied, Basis: BasisAnswer}, nil
	case !errors.As(err, &write):
		return nil, fmt.Errorf("trading: Resolve: not the error of a write: %w", err)
	case write.Outcome != Unknown:
		return &Verdict{
			Intent:  Intent{Operation: write.Operation, Environment: EnvSandbox, Symbol: write.Symbol},
			Outcome: write.Outcome, Basis: BasisAnswer, Err: refusalIn(write),
		}, nil
	case write.sandbox == nil:
		return nil, fmt.Errorf("%w: %s shows in a read of the account: %w", ErrUndetermined, write.Operation, err)
	}
	v := &Verdict{Intent: *write.sandbox}
	baseline, known := v.Intent.Baseline.Get()
	if !known {
		v.Err = fmt.Errorf("%w: it is not known what the account held before: read positions and trades first", ErrUndetermined)
		return v, v.Err
	}
	r, optErr := newResolver(s.caller.core, s.caller.defaults, opts)
	if optErr != nil {
		return nil, optErr
	}
	v.Readings, v.Err = r.twoLooks(ctx, s.look(r, v.Intent.Symbol))
	if v.Err != nil {
		v.Err = fmt.Errorf("%w: %w", ErrUndetermined, v.Err)
		return v, v.Err
	}
	last := v.Readings[len(v.Readings)-1]
	switch {
	case !last.traceSince(baseline, false):
		v.Outcome, v.Basis = NotApplied, BasisReads
	case baseline.quiet() && v.Intent.explains(baseline, last):
		v.Outcome, v.Basis = Applied, BasisReads
	default:
		v.Err = fmt.Errorf("%w: the account has changed, but not as this write would have changed it", ErrUndetermined)
	}
	if v.Outcome != Unknown {
		r.core.hookSettled(ctx, *v)
	}
	return v, v.Err
}

// look reads everything in which a write to the paper account can show.
func (s *Sandbox) look(r *resolver, symbol string) func(context.Context) (Reading, error) {
	sandbox := &Sandbox{&MarketData{caller{r.core, r.opts}}}
	return func(ctx context.Context) (Reading, error) {
		reading := newReading()
		positions, err := sandbox.Positions(ctx)
		if err != nil {
			return reading, err
		}
		trades, err := sandbox.Trades(ctx)
		if err != nil {
			return reading, err
		}
		reading.note(symbol, positions, trades)
		return reading, nil
	}
}
