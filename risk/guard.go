package risk

import (
	"context"
	"errors"
	"fmt"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

// Limits are a program's own, in dollars. An amount that is left out bounds nothing; one that is 0,
// or was computed as less, lets nothing pass that adds. The zero Limits still refuse what [Preview]
// calls fatal, and a flip.
type Limits struct {
	// MaxNotional bounds the value of the position that the order leaves.
	MaxNotional trading.Opt[decimal.Decimal]

	// MaxLoss bounds what that position has lost at its stop, fees included; see
	// Report.LossAtStop. It demands a stop.
	MaxLoss trading.Opt[decimal.Decimal]

	// MinRoom is how far the equity must be above the loss floors at the stop; see
	// Report.RoomAfterStop. It demands a stop and the state of the account.
	MinRoom trading.Opt[decimal.Decimal]

	// AllowFlip lets an order end a position and open one on the other side.
	AllowFlip bool
}

func (l Limits) any() bool {
	return !l.MaxNotional.IsZero() || !l.MaxLoss.IsZero() || !l.MinRoom.IsZero()
}

// ErrNotJudged means that a limit is set and the inputs do not show whether the
// order keeps it: it is refused.
var ErrNotJudged = errors.New("risk: a limit cannot be judged")

// ErrLimit means that an order exceeds one of the [Limits].
var ErrLimit = errors.New("risk: limit exceeded")

// Guard holds back each order that [Preview] finds a fatal problem with, or that
// exceeds a limit. It asks for the inputs before every send; an error there holds
// the order back too. Without inputs (nil) only the order itself is judged.
// Environment and Method need not be in the inputs: the write has them, but for the
// second argument of a Pro order, which is judged only if Method has it.
//
// Exits pass, unasked: what reduces risk is never held back. So does an order that
// is known to open nothing, whatever the limits. An edit of a run can grow it, and
// a guard does not see to what size: while an amount is limited, it is refused.
//
//	trading.WithGuard(risk.Guard(limits, inputs))
func Guard(l Limits, inputs func(ctx context.Context, w trading.Write) (Inputs, error)) trading.Guard {
	return func(ctx context.Context, w trading.Write) error {
		switch {
		case !w.Entry:
			return nil
		case w.Order == nil && l.any():
			return fmt.Errorf("%w: %s has no size in its record", ErrNotJudged, w.Operation)
		case w.Order == nil:
			return nil
		}
		var f Inputs
		if inputs != nil {
			var err error
			if f, err = inputs(ctx, w); err != nil {
				return fmt.Errorf("risk: what the order is judged by is not known: %w", err)
			}
		}
		f.Environment = w.Environment
		if f.Method.operation(w.Environment) != w.Operation {
			f.Method = methodOf(w.Operation)
		}
		return l.judge(Preview(*w.Order, f))
	}
}

// judge holds a report against the limits.
func (l Limits) judge(r Report) error {
	for _, problem := range r.Problems {
		if problem.Fatal || problem.Warning == WarningFlip && !l.AllowFlip {
			return problem.cause()
		}
	}
	if r.Effect == Reduces || r.Effect == Ends {
		return nil
	}
	after, _ := r.After.Get()
	if err := within("MaxNotional", after.Notional, l.MaxNotional); err != nil {
		return err
	}
	if err := within("MaxLoss at the stop", r.LossAtStop, l.MaxLoss); err != nil {
		return err
	}
	least, bounded := l.MinRoom.Get()
	room, ok := r.RoomAfterStop.Get()
	switch {
	case !bounded:
		return nil
	case !ok:
		return fmt.Errorf("%w: MinRoom: it takes a stop, a price and the state of the account", ErrNotJudged)
	case room.LessThan(least):
		return fmt.Errorf("%w: at the stop $%s are left above the loss floor, MinRoom is $%s", ErrLimit, room, least)
	}
	return nil
}

// within holds an amount against the most that is allowed, if that is bounded.
func within(what string, amount, allowed trading.Opt[decimal.Decimal]) error {
	most, bounded := allowed.Get()
	dollars, ok := amount.Get()
	switch {
	case !bounded:
		return nil
	case !ok:
		return fmt.Errorf("%w: %s: the price or the stop is not known", ErrNotJudged, what)
	case dollars.GreaterThan(most):
		return fmt.Errorf("%w: $%s, %s is $%s", ErrLimit, dollars, what, most)
	}
	return nil
}
