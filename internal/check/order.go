package check

import (
	"cmp"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/api"
	"github.com/tradingapi/trading-go/internal/wire"
)

// Order returns the first reason why an environment would not take an order. The sandbox
// takes fewer members, but the same values. A number that was never set is missing; one that was
// set to 0, or computed as 0, is wrong.
func Order(env string, o *api.OrderRequest) *Fault {
	reduceOnly, _ := o.ReduceOnly.Get()
	switch {
	case env == Sandbox && reduceOnly:
		return fault("bad_request", "reduceOnly is true: the sandbox ignores it and could open a position, so close part of the position instead")
	case env == Live && (unset(o.Leverage) || o.Symbol == ""):
		return missing(env, o, "missing_fields")
	case o.Symbol == "":
		return missing(env, o, "bad_symbol")
	case o.Side == "":
		return missing(env, o, "bad_side")
	case unset(o.Size):
		return missing(env, o, "bad_size")
	case o.Side != api.SideLong && o.Side != api.SideShort:
		return fault("bad_side", "side is %q: it must be long or short", o.Side)
	case !positive(o.Size):
		return fault("bad_size", "size is %s: it must be greater than 0, in base units", wire.NumberText(o.Size))
	case !unset(o.Leverage) && !positive(o.Leverage):
		return fault("bad_request", "leverage is %s: it must be greater than 0", wire.NumberText(o.Leverage))
	default:
		return cmp.Or(limitPrice(env, o), levels(o), MaxSlippage(o.MaxSlippagePct))
	}
}

// missing names every required field that the order lacks.
func missing(env string, o *api.OrderRequest, code string) *Fault {
	var names []string
	for _, field := range [...]struct {
		name    string
		missing bool
	}{
		{"symbol", o.Symbol == ""},
		{"side", o.Side == ""},
		{"size", unset(o.Size)},
		{"leverage", env == Live && unset(o.Leverage)},
		{"limitPrice", limited(o) && o.LimitPrice.IsAbsent()},
	} {
		if field.missing {
			names = append(names, field.name)
		}
	}
	return fault(code, "required and missing: %s", strings.Join(names, ", "))
}

// unset reports whether a number is the zero Decimal, which an order has where nobody sets one. A 0
// that was parsed or computed is another value.
func unset(d decimal.Decimal) bool { return d == decimal.Decimal{} }

func limited(o *api.OrderRequest) bool {
	kind, _ := o.OrderType.Get()
	return kind == api.OrderTypeLimit
}

// limitPrice holds the type and the limit price against each other: neither kind of order
// may turn into the other by a field that was forgotten.
func limitPrice(env string, o *api.OrderRequest) *Fault {
	kind, given := o.OrderType.Get()
	price, isPrice := o.LimitPrice.Get()
	switch {
	case given && kind != api.OrderTypeLimit && kind != api.OrderTypeMarket:
		return fault("bad_request", "Type (orderType) is %s: it must be market or limit", kind)
	case limited(o) && o.LimitPrice.IsAbsent():
		return missing(env, o, "bad_limit_price")
	case limited(o) && !(isPrice && positive(price)):
		return fault("bad_limit_price", "limitPrice is %s: it must be greater than 0", text(o.LimitPrice))
	case !limited(o) && !o.LimitPrice.IsAbsent():
		return fault("bad_limit_price", "limitPrice is %s: a market order must have none; set Type to LimitOrder, or leave it out", text(o.LimitPrice))
	default:
		return nil
	}
}

// levels wants every level of an order to be left out or a price, and the stop not past
// the take-profit.
func levels(o *api.OrderRequest) *Fault {
	for _, level := range [...]struct {
		name, code string
		at         number
	}{
		{"takeProfitPrice", "invalid_tpsl", o.TakeProfitPrice},
		{"stopLossPrice", "invalid_tpsl", o.StopLossPrice},
		{"expectedPrice", "bad_request", o.ExpectedPrice},
	} {
		if level.at.IsNull() {
			return fault("bad_request", "%s is Clear: an order has nothing to clear, so leave it out", level.name)
		}
		if !priceOrAbsent(level.at) {
			return fault(level.code, "%s is %s: it must be greater than 0", level.name, text(level.at))
		}
	}
	target, hasTarget := o.TakeProfitPrice.Get()
	stop, hasStop := o.StopLossPrice.Get()
	past := o.Side == api.SideLong && stop.GreaterThan(target) || o.Side == api.SideShort && stop.LessThan(target)
	if hasTarget && hasStop && past {
		return fault("invalid_tpsl", "stopLossPrice is %s: for a %s it must not be past takeProfitPrice, which is %s",
			text(o.StopLossPrice), o.Side, text(o.TakeProfitPrice))
	}
	return nil
}

// The bounds of maximum slippage, in tenths of a percent.
const minTenths, maxTenths = 1, 300

// MaxSlippage wants 0.1 to 30 percent with one decimal place, or nothing.
func MaxSlippage(max number) *Fault {
	pct, ok := max.Get()
	if !ok {
		return nil
	}
	tenths := pct.Shift(1)
	switch {
	case !wire.Writable(pct) || tenths.LessThan(decimal.NewFromInt(minTenths)) || tenths.GreaterThan(decimal.NewFromInt(maxTenths)):
		return fault("BAD_MAX_SLIPPAGE", "maxSlippagePct is %s: it must be between 0.1 and 30 percent", wire.NumberText(pct))
	case !tenths.IsInteger():
		return fault("BAD_MAX_SLIPPAGE", "maxSlippagePct is %s: it must have at most one decimal place", wire.NumberText(pct))
	default:
		return nil
	}
}
