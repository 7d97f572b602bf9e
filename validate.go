package trading

import (
	"strings"

	"github.com/shopspring/decimal"
)

// What the contract refuses for certain is refused here, before a byte is sent,
// with the code that the service would have used.

// Check returns what is wrong with the order by itself: what PlaceOrder refuses
// before it sends anything, with the code that the service would have used. It is
// nil if nothing is. A resting limit is checked with Type [LimitOrder]; what Pro
// orders want besides, their own Check tells.
func (o Order) Check(env Environment) error {
	if env == EnvSandbox {
		return errorOf(o.checkSandbox())
	}
	return errorOf(o.checkLive())
}

// errorOf keeps a nil *Error from becoming an error that is not nil.
func errorOf(err *Error) error {
	if err == nil {
		return nil
	}
	return err
}

// check returns the first reason why no environment would take the order.
func (o *Order) check(env Environment) *Error {
	switch {
	case o.Symbol == "":
		code := CodeBadSymbol
		if env == EnvLive {
			code = CodeMissingFields
		}
		return o.missing(env, code)
	case o.Side == "":
		return o.missing(env, CodeBadSide)
	case o.Size.IsZero():
		return o.missing(env, CodeBadSize)
	case !o.Side.valid():
		return refuse(env, CodeBadSide, "side %q is neither long nor short", o.Side)
	case !o.Size.IsPositive() || !writable(o.Size):
		return refuse(env, CodeBadSize, "size %s is not a number of base units above 0", numberText(o.Size))
	case !o.Leverage.IsZero() && (!o.Leverage.IsPositive() || !writable(o.Leverage)):
		return refuse(env, CodeBadRequest, "leverage %s is not above 0", numberText(o.Leverage))
	}
	if err := o.checkType(env); err != nil {
		return err
	}
	if err := o.checkLevels(env); err != nil {
		return err
	}
	return checkMaxSlippage(env, o.MaxSlippagePct)
}

// missing names every required field that the order lacks, with the code of the first
// that is judged.
func (o *Order) missing(env Environment, code Code) *Error {
	var names []string
	for _, field := range [...]struct {
		name    string
		missing bool
	}{
		{"symbol", o.Symbol == ""},
		{"side", o.Side == ""},
		{"size", o.Size.IsZero()},
		{"leverage", env == EnvLive && o.Leverage.IsZero()},
		{"limitPrice", o.Type == LimitOrder && o.LimitPrice.IsZero()},
	} {
		if field.missing {
			names = append(names, field.name)
		}
	}
	return refuse(env, code, "the order lacks what is required: %s", strings.Join(names, ", "))
}

// checkType holds the type and the limit price against each other: neither kind
// of order may turn into the other by a field that was forgotten.
func (o *Order) checkType(env Environment) *Error {
	_, limited := o.LimitPrice.Value()
	switch {
	case !o.Type.valid():
		return refuse(env, CodeBadRequest, "order type %s is neither market nor limit", o.Type)
	case o.Type == LimitOrder && o.LimitPrice.IsZero():
		return o.missing(env, CodeBadLimitPrice)
	case o.Type == LimitOrder && (!limited || !o.LimitPrice.valid()):
		return refuse(env, CodeBadLimitPrice, "limit price %s is not above 0", o.LimitPrice)
	case o.Type == MarketOrder && !o.LimitPrice.IsZero():
		return refuse(env, CodeBadLimitPrice, "a market order takes no limit price")
	default:
		return nil
	}
}

// checkLevels wants every level of an order to be left out or a price, and the
// stop not past the take-profit.
func (o *Order) checkLevels(env Environment) *Error {
	for _, level := range [...]struct {
		name string
		Level
		code Code
	}{
		{"take-profit", o.TakeProfit, CodeInvalidTPSL},
		{"stop-loss", o.StopLoss, CodeInvalidTPSL},
		{"expected price", o.ExpectedPrice, CodeBadRequest},
	} {
		if level.IsClear() {
			return refuse(env, CodeBadRequest, "the order has nothing to clear: leave the %s out", level.name)
		}
		if !level.valid() {
			return refuse(env, level.code, "the %s, %s, is not a price above 0", level.name, level.Level)
		}
	}
	target, hasTarget := o.TakeProfit.Value()
	stop, hasStop := o.StopLoss.Value()
	if !hasTarget || !hasStop {
		return nil
	}
	if o.Side == Long && stop.GreaterThan(target) || o.Side == Short && stop.LessThan(target) {
		return refuse(env, CodeInvalidTPSL, "the stop-loss, %s, is past the take-profit, %s", o.StopLoss, o.TakeProfit)
	}
	return nil
}

// The bounds of maximum slippage, in tenths of a percent.
var minSlippage, maxSlippage = decimal.NewFromInt(1), decimal.NewFromInt(300)

// checkMaxSlippage wants 0.1 to 30 percent with one decimal place, or nothing.
func checkMaxSlippage(env Environment, level Level) *Error {
	if level.IsZero() {
		return nil
	}
	pct, ok := level.Value()
	tenths := pct.Shift(1)
	switch {
	case !ok || !level.valid() || tenths.LessThan(minSlippage) || tenths.GreaterThan(maxSlippage):
		return refuse(env, CodeBadMaxSlippage, "maximum slippage %s is outside 0.1 to 30 percent", level)
	case !tenths.IsInteger():
		return refuse(env, CodeBadMaxSlippage, "maximum slippage %s has more than one decimal place", level)
	default:
		return nil
	}
}

// checkSandbox adds what only the paper account refuses.
func (o *Order) checkSandbox() *Error {
	if o.ReduceOnly {
		return refuse(EnvSandbox, CodeBadRequest, "the sandbox does not know reduce-only and could open a position instead: close part of the position")
	}
	return o.check(EnvSandbox)
}

// checkLive adds what only a live account refuses.
func (o *Order) checkLive() *Error {
	if o.Leverage.IsZero() {
		return o.missing(EnvLive, CodeMissingFields)
	}
	return o.check(EnvLive)
}

// checkLive wants a change, and levels that can be prices.
func (t Triggers) checkLive() *Error {
	if !t.ClosePct.IsZero() {
		return refuse(EnvLive, CodeBadRequest, "a live trigger closes the whole position: only the sandbox knows a percent")
	}
	if t.TakeProfit.IsZero() && t.StopLoss.IsZero() {
		return refuse(EnvLive, CodeMissingFields, "neither takeProfitPrice nor stopLossPrice is named: set one with At, or remove one with Clear")
	}
	return t.checkPrices(EnvLive)
}

// checkPrices wants levels that can be prices.
func (t Triggers) checkPrices(env Environment) *Error {
	for _, level := range [...]struct {
		name string
		Level
	}{{"take-profit", t.TakeProfit}, {"stop-loss", t.StopLoss}} {
		if !level.valid() {
			return refuse(env, CodeInvalidTPSL, "the %s, %s, must be greater than 0", level.name, level.Level)
		}
	}
	return nil
}

// checkSymbol wants a symbol for what is not an order.
func checkSymbol(env Environment, symbol string) *Error {
	if symbol != "" {
		return nil
	}
	if env == EnvLive {
		return refuse(env, CodeMissingFields, "no symbol is named")
	}
	return refuse(env, CodeBadSymbol, "no symbol is named")
}

// checkPart wants a part of at most 100 percent, and of at least 1 on the sandbox,
// for which alone the contract names a least part: on a live account a guess must
// not stop an exit. The zero value is refused, since nobody can mean it.
func checkPart(env Environment, part Part) *Error {
	switch {
	case env == EnvLive && !part.valid():
		return refuse(env, CodeBadRequest, "closePercent is %s: it must be greater than 0%% and at most 100%%", part)
	case env != EnvLive && !part.validOnSandbox():
		return refuse(env, CodeBadPct, "pct is %s: it must be between 1%% and 100%%", part)
	default:
		return nil
	}
}

// checkSandboxTriggers wants a change, and levels that can be prices.
func (t Triggers) checkSandbox() *Error {
	if t.TakeProfit.IsZero() && t.StopLoss.IsZero() && t.ClosePct.IsZero() {
		return refuse(EnvSandbox, CodeInvalidTPSL, "no trigger is named: set one with At, or remove one with Clear")
	}
	if err := t.checkPrices(EnvSandbox); err != nil {
		return err
	}
	if pct, ok := t.ClosePct.Value(); ok && !Percent(pct).validOnSandbox() {
		return refuse(EnvSandbox, CodeBadPct, "a trigger cannot close %s percent: outside 1 to 100", t.ClosePct)
	}
	return nil
}
