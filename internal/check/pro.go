package check

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/api"
	"github.com/tradingapi/trading-go/internal/wire"
)

// What a Pro order has besides an order. The contract does not show the ranges of most of
// these members.

// Conditional wants a trigger and a known kind of execution.
func Conditional(r *api.ConditionalOrderRequest) *Fault {
	kind, _ := r.ExecKind.Get()
	switch {
	case kind != api.ExecKindStopMarket && kind != api.ExecKindStopLimit:
		return fault("bad_request", "execKind is %s: it must be stop-market or stop-limit", kind)
	case !positive(r.TriggerPrice):
		return fault("BAD_TRIGGER", "Trigger (triggerPrice) is %s: it must be greater than 0", wire.NumberText(r.TriggerPrice))
	default:
		return nil
	}
}

// minOrderValue is the contract's: dollars of an order, a clip or a rung.
const minOrderValue = 10

// Ladder refuses one that is certain to have a rung below the minimum: one whose average
// rung, at the highest of its prices, is. Clips of the other kinds have no price that is
// known before they fill.
func Ladder(r *api.LadderOrderRequest) *Fault {
	rungs := decimal.NewFromInt(r.TotalOrders)
	switch {
	case !positive(r.StartPrice) || !positive(r.EndPrice):
		return fault("BAD_PRICE", "From (startPrice) is %s and To (endPrice) %s: both must be greater than 0", wire.NumberText(r.StartPrice), wire.NumberText(r.EndPrice))
	case r.TotalOrders <= 0:
		return fault("BAD_ORDER_COUNT", "Rungs (totalOrders) is %d: it must be greater than 0", r.TotalOrders)
	}
	value := r.Size.Mul(decimal.Max(r.StartPrice, r.EndPrice))
	if value.LessThan(rungs.Mul(decimal.NewFromInt(minOrderValue))) {
		return fault("MIN_NOTIONAL", "Rungs (totalOrders) is %d: of at most $%s in all, each must be worth at least $%d",
			r.TotalOrders, wire.NumberText(value), minOrderValue)
	}
	return nil
}

// Orders wants a number of orders.
func Orders(n int64) *Fault {
	if n > 0 {
		return nil
	}
	return fault("BAD_ORDER_COUNT", "Orders (totalOrders) is %d: it must be greater than 0", n)
}

// Duration wants whole milliseconds above 0, which is what is sent.
func Duration(d time.Duration) *Fault {
	if d >= time.Millisecond && d%time.Millisecond == 0 {
		return nil
	}
	return fault("BAD_DURATION", "Duration (durationMs) is %s: it must be whole milliseconds, greater than 0", d)
}

// ChaseTo wants no bound, or a price.
func ChaseTo(to number) *Fault {
	if to.IsNull() || !priceOrAbsent(to) {
		return fault("BAD_PRICE", "chaseTo is %s: it must be greater than 0", text(to))
	}
	return nil
}

// TotalSize wants a size.
func TotalSize(size decimal.Decimal) *Fault {
	if positive(size) {
		return nil
	}
	return fault("bad_size", "totalSize is %s: it must be greater than 0, in base units", wire.NumberText(size))
}

// Number refuses a number that is too long for the wire.
func Number(field string, n number) *Fault {
	if v, _ := n.Get(); !wire.Writable(v) {
		return fault("bad_request", "%s is %s: it must be a number that can be written without an exponent", field, wire.NumberText(v))
	}
	return nil
}

// Aggression wants a JSON scalar, which is all that the contract can mean.
func Aggression(aggression wire.Nullable[json.RawMessage]) *Fault {
	text, ok := aggression.Get()
	if ok && (!json.Valid(text) || strings.ContainsAny(strings.TrimSpace(string(text))[:1], "[{n")) {
		return fault("bad_request", "aggression is %q: it must be a JSON number, text or boolean", text)
	}
	return nil
}
