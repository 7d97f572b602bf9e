package risk

import (
	"fmt"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

// MaxSize returns the largest size with which the order stays within what is known
// of its limits, rounded down to so many decimal places; the Size of the order
// itself is not looked at. The limits are the caps of the inputs, the leverage (all
// margin together stays within the equity), and the loss floors: neither the fee
// of the order nor its stop brings the equity to one.
//
// Against an opposite position it is the size that ends it and what may be opened
// beyond. That the size is allowed does not say that the order is: its other
// fields are up to [Preview].
//
// The error is [ErrNoSize] if nothing fits that clears the minimum order value,
// and another if the inputs bound nothing: it takes the price, and a cap or the
// state of the account.
func MaxSize(o trading.Order, f Inputs, decimals int32) (decimal.Decimal, error) {
	if decimals < -maxDecimals || decimals > maxDecimals {
		return decimal.Decimal{}, fmt.Errorf("risk: a size with %d decimal places", decimals)
	}
	o.ReduceOnly = false
	// Worked out for one unit that opens, whatever has to be closed before it.
	closes := decimal.Zero
	if held, open, _ := f.position(o.Symbol); open && held.Side != o.Side {
		closes = held.Size
	}
	o.Size = closes.Add(decimal.NewFromInt(1))
	p := newPreview(o, f)
	if problem := p.fields(); problem != nil && problem.Code != trading.CodeMinNotional {
		return decimal.Decimal{}, fmt.Errorf("risk: no size helps: %w", problem.cause())
	}
	p.net()
	p.fill()
	if !p.priced {
		return decimal.Decimal{}, fmt.Errorf("risk: no price of %s is known", o.Symbol)
	}
	p.outlook()
	opens, bounded := p.mostOpened()
	if !bounded {
		return decimal.Decimal{}, fmt.Errorf("risk: nothing that is known bounds an order in %s", o.Symbol)
	}
	size := closes.Add(decimal.Max(opens, decimal.Zero)).RoundDown(decimals)
	// A floor is reached at it, not below it, and quotients are cut: the size can be
	// too large by the last place.
	for _, candidate := range [...]decimal.Decimal{size, size.Sub(decimal.New(1, -decimals)), closes.RoundDown(decimals)} {
		if o.Size = candidate; candidate.IsPositive() && !overLimit(Preview(o, f)) {
			return candidate, nil
		}
	}
	return decimal.Decimal{}, fmt.Errorf("%w: %s in %s", ErrNoSize, o.Side, o.Symbol)
}

// mostOpened is how much may open before the nearest limit; ok is false if none is
// known. It can be negative.
func (p *preview) mostOpened() (most decimal.Decimal, ok bool) {
	bound := func(opens decimal.Decimal) {
		if !ok || opens.LessThan(most) {
			most, ok = opens, true
		}
	}
	held := decimal.Zero // on the order's side already
	if p.Effect == Adds {
		held = p.held.Size
	}
	for _, limit := range [...]trading.Opt[decimal.Decimal]{p.f.Caps.Position, p.f.Caps.Market} {
		if dollars, known := limit.Get(); known {
			bound(down(dollars, p.price, maxDecimals).Sub(held))
		}
	}
	if leverage, known := p.Leverage.Get(); known {
		for _, limit := range p.marginLimits() {
			bound(down(limit.Mul(leverage), p.price, maxDecimals).Sub(held))
		}
	}
	if p.f.State != nil {
		if room, known := p.room(p.f.State.Equity).Get(); known {
			bound(down(room, p.fee(p.price), maxDecimals).Sub(p.Closes))
		}
	}
	if room, known := p.RoomAfterStop.Get(); known {
		after, _ := p.After.Get()
		stop, _ := after.StopLoss.Value()
		loss, _ := ToStop(p.o.Side, p.price, after.StopLoss)
		loss = loss.Add(p.fee(p.price)).Add(trading.TakerFee(stop))
		if loss.IsPositive() {
			bound(decimal.NewFromInt(1).Add(down(room, loss, maxDecimals)))
		}
	}
	return most, ok
}

// marginLimits are what is left of the margin for this market: of the cap, and of
// the equity.
func (p *preview) marginLimits() (left []decimal.Decimal) {
	others, known := p.otherMargin()
	if limit, ok := p.f.Caps.Margin.Get(); ok && known {
		left = append(left, limit.Sub(others))
	}
	if p.f.State != nil && known {
		left = append(left, p.f.State.Equity.Sub(others))
	}
	return left
}

// overLimit reports whether a limit that depends on the size is exceeded.
func overLimit(r Report) bool {
	for _, problem := range r.Problems {
		switch problem.Code {
		case trading.CodeMinNotional, trading.CodePerPositionCap, trading.CodeTotalMarginCap, trading.CodeAssetNotionalCap,
			trading.CodeNoEquity, trading.CodeEquityCheckLocked, trading.CodeDailyLossLimit, trading.CodeGlobalLossLimit:
			return true
		}
		if problem.Warning == WarningLossFloor {
			return true
		}
	}
	return false
}
