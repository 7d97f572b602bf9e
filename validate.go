package trading

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/shopspring/decimal"
)

// What the contract refuses for certain is refused here, before a byte is sent,
// with the code that the service would have used.

// Check returns what is wrong with the order by itself: what PlaceOrder refuses
// before it sends anything, with the code that the service would have used. It is
// nil if nothing is. A resting limit is checked with Type [LimitOrder]; what Pro
// orders need besides, their own Check judges.
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
		return refuse(env, CodeBadSide, "side is %q: it must be long or short", o.Side)
	case !o.Size.IsPositive() || !writable(o.Size):
		return refuse(env, CodeBadSize, "size is %s: it must be greater than 0, in base units", numberText(o.Size))
	case !o.Leverage.IsZero() && (!o.Leverage.IsPositive() || !writable(o.Leverage)):
		return refuse(env, CodeBadRequest, "leverage is %s: it must be greater than 0", numberText(o.Leverage))
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
	return refuse(env, code, "required and missing: %s", strings.Join(names, ", "))
}

// checkType holds the type and the limit price against each other: neither kind
// of order may turn into the other by a field that was forgotten.
func (o *Order) checkType(env Environment) *Error {
	_, limited := o.LimitPrice.Value()
	switch {
	case !o.Type.valid():
		return refuse(env, CodeBadRequest, "orderType is %s: it must be market or limit", o.Type)
	case o.Type == LimitOrder && o.LimitPrice.IsZero():
		return o.missing(env, CodeBadLimitPrice)
	case o.Type == LimitOrder && (!limited || !o.LimitPrice.valid()):
		return refuse(env, CodeBadLimitPrice, "limitPrice is %s: it must be greater than 0", o.LimitPrice)
	case o.Type == MarketOrder && !o.LimitPrice.IsZero():
		return refuse(env, CodeBadLimitPrice, "limitPrice is %s: a market order must have none; set Type to LimitOrder, or leave it out", o.LimitPrice)
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
		{"takeProfitPrice", o.TakeProfit, CodeInvalidTPSL},
		{"stopLossPrice", o.StopLoss, CodeInvalidTPSL},
		{"expectedPrice", o.ExpectedPrice, CodeBadRequest},
	} {
		if level.IsClear() {
			return refuse(env, CodeBadRequest, "%s is Clear: an order has nothing to clear, so leave it out", level.name)
		}
		if !level.valid() {
			return refuse(env, level.code, "%s is %s: it must be greater than 0", level.name, level.Level)
		}
	}
	target, hasTarget := o.TakeProfit.Value()
	stop, hasStop := o.StopLoss.Value()
	if !hasTarget || !hasStop {
		return nil
	}
	if o.Side == Long && stop.GreaterThan(target) || o.Side == Short && stop.LessThan(target) {
		return refuse(env, CodeInvalidTPSL, "stopLossPrice is %s: for a %s it must not be past takeProfitPrice, which is %s", o.StopLoss, o.Side, o.TakeProfit)
	}
	return nil
}

// The bounds of maximum slippage, in tenths of a percent.
var minSlippage, maxSlippage = decimal.NewFromInt(1), decimal.NewFromInt(300)

// checkMaxSlippage wants 0.1 to 30 percent with one decimal place, or nothing.
func checkMaxSlippage(env Environment, max Opt[decimal.Decimal]) *Error {
	pct, ok := max.Get()
	if !ok {
		return nil
	}
	tenths := pct.Shift(1)
	switch {
	case !writable(pct) || tenths.LessThan(minSlippage) || tenths.GreaterThan(maxSlippage):
		return refuse(env, CodeBadMaxSlippage, "maxSlippagePct is %s: it must be between 0.1 and 30 percent", numberText(pct))
	case !tenths.IsInteger():
		return refuse(env, CodeBadMaxSlippage, "maxSlippagePct is %s: it must have at most one decimal place", numberText(pct))
	default:
		return nil
	}
}

// checkSandbox adds what only the paper account refuses.
func (o *Order) checkSandbox() *Error {
	if o.ReduceOnly {
		return refuse(EnvSandbox, CodeBadRequest, "reduceOnly is true: the sandbox ignores it and could open a position, so close part of the position instead")
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
func (t TPSL) checkLive() *Error {
	if !t.ClosePct.IsZero() {
		return refuse(EnvLive, CodeBadRequest, "closePct is %s: it must be left out on a live account, where a level closes the whole position", t.ClosePct)
	}
	if t.TakeProfit.IsZero() && t.StopLoss.IsZero() {
		return refuse(EnvLive, CodeMissingFields, "required and missing: takeProfitPrice or stopLossPrice; set one with At, or remove one with Clear")
	}
	return t.checkPrices(EnvLive)
}

// checkPrices wants levels that can be prices.
func (t TPSL) checkPrices(env Environment) *Error {
	for _, level := range [...]struct {
		name string
		Level
	}{{"takeProfitPrice", t.TakeProfit}, {"stopLossPrice", t.StopLoss}} {
		if !level.valid() {
			return refuse(env, CodeInvalidTPSL, "%s is %s: it must be greater than 0", level.name, level.Level)
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
		return refuse(env, CodeMissingFields, "required and missing: symbol")
	}
	return refuse(env, CodeBadSymbol, "required and missing: symbol")
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

// checkSandboxTPSL wants a change, and levels that can be prices.
func (t TPSL) checkSandbox() *Error {
	if t.TakeProfit.IsZero() && t.StopLoss.IsZero() && t.ClosePct.IsZero() {
		return refuse(EnvSandbox, CodeInvalidTPSL, "required and missing: takeProfitPrice, stopLossPrice or closePct; set one, or remove a level with Clear")
	}
	if err := t.checkPrices(EnvSandbox); err != nil {
		return err
	}
	if pct, ok := t.ClosePct.Get(); ok && !Percent(pct).validOnSandbox() {
		return refuse(EnvSandbox, CodeBadPct, "closePct is %s: it must be between 1 and 100 percent", numberText(pct))
	}
	return nil
}

// checkAccountIDs wants ids that can be those of accounts.
func checkAccountIDs(option string, ids []AccountID) error {
	for i, id := range ids {
		if err := checkID("account", string(id)); err != nil {
			return invalid(option, "account id %d of %d: %s", i+1, len(ids), err.Message)
		}
	}
	return nil
}

// checkID refuses ids that would turn one endpoint into another, and those that
// no service gives out.
func checkID(what, id string) *Error {
	switch id {
	case "":
		return refuse(EnvLive, CodeMissingFields, "required and missing: the %s id", what)
	case ".", "..":
		return refuse(EnvLive, CodeBadRequest, "the %[2]s id is %[1]q: it must not be a part of a path", id, what)
	}
	for i := range len(id) {
		if id[i] < ' ' || id[i] == 0x7f {
			return refuse(EnvLive, CodeBadRequest, "the %s id is %q: it must not have a control character, as at position %d", what, id, i)
		}
	}
	return nil
}

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
	return refuse(EnvLive, CodeMinNotional, "totalOrders is %d: of at most $%s in all, each must be worth at least $%s",
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
		return refuse(EnvLive, CodeBadRequest, "execKind is %s: it must be stop-market or stop-limit", how.Exec)
	case !how.Trigger.IsPositive() || !writable(how.Trigger):
		return refuse(EnvLive, CodeBadTrigger, "triggerPrice is %s: it must be greater than 0", numberText(how.Trigger))
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
		return refuse(EnvLive, CodeBadPrice, "startPrice is %s and endPrice %s: both must be greater than 0", numberText(how.From), numberText(how.To))
	case how.Rungs <= 0:
		return refuse(EnvLive, CodeBadOrderCount, "totalOrders is %d: it must be greater than 0", how.Rungs)
	default:
		return firstError(checkNumber("sizeSkew", how.SizeSkew), how.checkRungs(o.Size))
	}
}

// Check returns what is wrong with the order placed in this way, as [Order.Check].
func (how TWAP) Check(o Order) error { return errorOf(how.check(&o)) }

func (how TWAP) check(o *Order) *Error {
	return firstError(o.checkLive(), checkDuration(how.Duration))
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
		return refuse(EnvLive, CodeBadOrderCount, "totalOrders is %d: it must be greater than 0", how.Orders)
	}
	return firstError(checkAggression(how.Aggression), checkNumber("slippageBps", how.SlippageBps))
}

// checkDuration wants whole milliseconds above 0, which is what is sent.
func checkDuration(d time.Duration) *Error {
	if d < time.Millisecond || d%time.Millisecond != 0 {
		return refuse(EnvLive, CodeBadDuration, "durationMs is %s: it must be whole milliseconds, greater than 0", d)
	}
	return nil
}

func checkChaseTo(to Level) *Error {
	if to.IsClear() || !to.valid() {
		return refuse(EnvLive, CodeBadPrice, "chaseTo is %s: it must be greater than 0", to)
	}
	return nil
}

// checkNumber refuses a number that is too long for the wire.
func checkNumber(field string, n Opt[decimal.Decimal]) *Error {
	if v, ok := n.Get(); ok && !writable(v) {
		return refuse(EnvLive, CodeBadRequest, "%s is %s: it must be a number that can be written without an exponent", field, numberText(v))
	}
	return nil
}

// checkAggression wants a JSON scalar, which is all that the contract can mean.
func checkAggression(aggression Opt[json.RawMessage]) *Error {
	text, ok := aggression.Get()
	if ok && (!json.Valid(text) || strings.ContainsAny(strings.TrimSpace(string(text))[:1], "[{n")) {
		return refuse(EnvLive, CodeBadRequest, "aggression is %q: it must be a JSON number, text or boolean", text)
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

// maxKeyLength is the contract's.
const maxKeyLength = 255

// checkIdempotencyKey refuses what the service would refuse: 1 to 255 visible ASCII characters.
func checkIdempotencyKey(k Key) *Error {
	if len(k) == 0 || len(k) > maxKeyLength {
		return refuse(EnvLive, CodeInvalidIdempotencyKey, "the idempotency key has %d characters: it must have 1 to %d", len(k), maxKeyLength)
	}
	for i, r := range string(k) {
		if r <= ' ' || r > '~' {
			return refuse(EnvLive, CodeInvalidIdempotencyKey, "the idempotency key has %q at position %d: it must have visible ASCII characters only", r, i)
		}
	}
	return nil
}
