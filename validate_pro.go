package trading

import (
	"time"

	"github.com/shopspring/decimal"
)

// What the contract lets one know of a Pro order before it is sent. The ranges of
// most of their fields it does not show.

// minOrderValue is the contract's: dollars of an order, a clip or a rung.
var minOrderValue = decimal.NewFromInt(10)

// checkRungs refuses a ladder that is certain to have a rung below the minimum:
// one whose average rung, at the highest of its prices, is. Clips of the other
// kinds have no price that is known before they fill.
func (how Ladder) checkRungs(size decimal.Decimal) *Error {
	value := size.Mul(decimal.Max(how.From, how.To))
	if how.Rungs <= 0 || value.GreaterThanOrEqual(minOrderValue.Mul(decimal.NewFromInt(int64(how.Rungs)))) {
		return nil
	}
	return refuse(EnvLive, CodeMinNotional, "%d rungs of a total of at most $%s are below $%s each",
		how.Rungs, numberText(value), numberText(minOrderValue))
}

// orderType is the order's, which the kind of execution decides.
func (how Conditional) orderType() OrderType {
	if how.Exec == StopLimit {
		return LimitOrder
	}
	return MarketOrder
}

// Check returns what is wrong with the order placed in this way, as [Order.Check].
func (how Conditional) Check(o Order) error {
	o.Type = how.orderType()
	return errorOf(how.check(&o))
}

func (how Conditional) check(o *Order) *Error {
	if err := o.checkLive(); err != nil {
		return err
	}
	switch {
	case !how.Exec.valid():
		return refuse(EnvLive, CodeBadRequest, "exec kind %s is neither stop-market nor stop-limit", how.Exec)
	case !how.Trigger.IsPositive() || !writable(how.Trigger):
		return refuse(EnvLive, CodeBadTrigger, "trigger price %s is not above 0", numberText(how.Trigger))
	default:
		return nil
	}
}

// Check returns what is wrong with the order placed in this way, as [Order.Check].
func (how Ladder) Check(o Order) error { return errorOf(how.check(&o)) }

func (how Ladder) check(o *Order) *Error {
	if err := o.checkLive(); err != nil {
		return err
	}
	switch {
	case !how.From.IsPositive() || !writable(how.From) || !how.To.IsPositive() || !writable(how.To):
		return refuse(EnvLive, CodeBadPrice, "a ladder from %s to %s is not between prices above 0", numberText(how.From), numberText(how.To))
	case how.Rungs <= 0:
		return refuse(EnvLive, CodeBadOrderCount, "a ladder of %d orders", how.Rungs)
	default:
		return firstError(checkSettings(how.SizeSkew), how.checkRungs(o.Size))
	}
}

// Check returns what is wrong with the order placed in this way, as [Order.Check].
func (how TWAP) Check(o Order) error { return errorOf(how.check(&o)) }

func (how TWAP) check(o *Order) *Error {
	return firstError(o.checkLive(), checkDuration(how.Duration), checkSettings(how.RandomizeSize, how.RandomizeTime))
}

// Check returns what is wrong with the order placed in this way, as [Order.Check].
func (how Chase) Check(o Order) error { return errorOf(how.check(&o)) }

func (how Chase) check(o *Order) *Error { return firstError(o.checkLive(), checkChaseTo(how.To)) }

// Check returns what is wrong with the order placed in this way, as [Order.Check].
func (how ChaseTWAP) Check(o Order) error { return errorOf(how.check(&o)) }

func (how ChaseTWAP) check(o *Order) *Error {
	return firstError(o.checkLive(), checkDuration(how.Duration), checkChaseTo(how.To))
}

// Check returns what is wrong with the order placed in this way, as [Order.Check].
func (how Swarm) Check(o Order) error { return errorOf(how.check(&o)) }

func (how Swarm) check(o *Order) *Error {
	if err := o.checkLive(); err != nil {
		return err
	}
	if how.Orders <= 0 {
		return refuse(EnvLive, CodeBadOrderCount, "a swarm of %d orders", how.Orders)
	}
	return checkSettings(how.Aggression, how.SlippageBps, how.Irregular)
}

// checkDuration wants whole milliseconds above 0, which is what is sent.
func checkDuration(d time.Duration) *Error {
	if d < time.Millisecond || d%time.Millisecond != 0 {
		return refuse(EnvLive, CodeBadDuration, "a duration of %s is not a number of milliseconds above 0", d)
	}
	return nil
}

func checkChaseTo(to Level) *Error {
	if to.IsClear() || !to.valid() {
		return refuse(EnvLive, CodeBadPrice, "the bound of the chase, %s, is not a price above 0", to)
	}
	return nil
}

func checkSettings(settings ...Setting) *Error {
	for _, setting := range settings {
		if !setting.valid() {
			return refuse(EnvLive, CodeBadRequest, "setting %s cannot be written as JSON", setting)
		}
	}
	return nil
}

// firstError returns the first that is one.
func firstError(errs ...*Error) *Error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
