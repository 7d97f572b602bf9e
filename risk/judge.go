package risk

import (
	"fmt"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

// What the service would refuse, in the order in which it is taken to judge.

// judgeListing is the symbol, which the sandbox judges with the fields.
func (p *preview) judgeListing() {
	if p.env == trading.EnvSandbox && p.f.Closed == trading.CodeBadSymbol {
		p.refuse(trading.CodeBadSymbol, "%s is not listed", p.o.Symbol)
	}
}

// judgeAccount is the status: a live account that has passed takes what only
// reduces, and the sandbox nothing.
func (p *preview) judgeAccount() {
	state := p.f.State
	if state == nil {
		return
	}
	allowed := state.Status.AllowsEntry
	if p.o.ReduceOnly {
		allowed = state.Status.AllowsExit
	}
	switch {
	case state.Locked || !allowed():
		p.refuse(trading.CodeAccountLocked, "the account is %s", state.Status)
	case p.env == trading.EnvSandbox && p.breached() && p.allPriced():
		p.refuse(trading.CodeAccountLocked, "the equity of $%s is at a loss floor", state.Equity)
	}
}

// breached reports whether the equity is at or below a floor.
func (p *preview) breached() bool {
	room, ok := p.room(p.f.State.Equity).Get()
	return ok && !room.IsPositive()
}

// allPriced reports whether every position is known to have a price: otherwise the
// sandbox does not judge the equity.
func (p *preview) allPriced() bool {
	positions, known := p.f.Positions.Get()
	for _, held := range positions {
		known = known && !held.Mark.IsZero()
	}
	return known
}

// anyUnpriced reports whether a position is known to have no price.
func (p *preview) anyUnpriced() bool {
	positions, _ := p.f.Positions.Get()
	for _, held := range positions {
		if unpriced(held) {
			return true
		}
	}
	return false
}

// judgeMarket is what is known of the market, but for its price.
func (p *preview) judgeMarket() {
	code := p.f.Closed
	switch {
	case code == "":
	case code == trading.CodeMarketPaused && (p.env == trading.EnvSandbox || !p.known || !p.Opens.IsPositive()):
		// Only new exposure on live accounts is paused, whatever the flag of the order.
	case code == trading.CodeBadSymbol && p.env == trading.EnvSandbox:
		// Judged with the fields.
	case code == trading.CodeBadSymbol:
		p.refuse(trading.CodeAssetDisabled, "%s is not listed", p.o.Symbol)
	default:
		p.refuse(code, "%s is known to take no orders", p.o.Symbol)
	}
}

// judgePrice is what a fill now is judged by, and whether there is anything to
// reduce.
func (p *preview) judgePrice() {
	if _, priced, unpriced := p.f.mark(p.o.Symbol); unpriced && !priced && !p.method.rest() {
		p.refuse(trading.CodeNoPrice, "%s has no price at present", p.o.Symbol)
	}
	if p.method.now() && p.priced {
		p.judgeLimit()
		p.judgeGuardBand()
	}
	if p.o.ReduceOnly && p.known && !p.Closes.IsPositive() {
		p.refuse(trading.CodeNoPosition, "there is no %s position in %s to reduce", p.o.Side.Opposite(), p.o.Symbol)
	}
}

func (p *preview) judgeLimit() {
	limit, ok := p.o.LimitPrice.Value()
	if !ok || !signed(p.o.Side, p.price.Sub(limit)).IsPositive() {
		return
	}
	code := trading.CodeNotMarketable
	if p.env == trading.EnvSandbox {
		code = trading.CodeOrderNotMarketable
	}
	p.refuse(code, "the market is at %s and has not reached the limit %s", p.price, limit)
}

func (p *preview) judgeGuardBand() {
	expected, ok := p.o.ExpectedPrice.Value()
	band, known := p.f.GuardBandPct.Get()
	if !ok || !known {
		return
	}
	if p.price.Sub(expected).Abs().GreaterThan(expected.Mul(band).Shift(-2)) {
		p.refuse(trading.CodeGuardBand, "the market is at %s, more than %s%% from the expected %s: expect the new price", p.price, band, expected)
	}
}

// judgeClips holds each part of a Pro order against the minimum order value.
func (p *preview) judgeClips() {
	if !p.method.pro() || !p.priced {
		return
	}
	if p.method.op == trading.OpConditional && p.method.how != nil && p.method.trigger.Equal(p.price) {
		p.refuse(trading.CodeBadTrigger, "the trigger %s is the price now", p.method.trigger)
	}
	least, known := p.f.minOrder()
	small, ok := p.method.smallest(p.o.Size, p.price)
	if known && ok && small.value.LessThan(least) {
		p.refuse(trading.CodeMinNotional, "of %d parts the smallest, %s %s, is worth $%s, below the minimum of $%s",
			p.method.parts, small.size, p.o.Symbol, small.value, least)
	}
}

// judgeLevels holds the order's own levels against the price now, not against the
// entry: at or past it they are refused. Those of a conditional are held against where
// it will fill. Where the market is known to have no
// price the entry counts. An order that opens nothing has no levels.
func (p *preview) judgeLevels() {
	if !p.Opens.IsPositive() || p.o.TakeProfit.IsZero() && p.o.StopLoss.IsZero() {
		return
	}
	price, what := p.price, "price"
	switch trigger, ok := p.method.entry(p.o); {
	case ok:
		price, what = trigger, "entry"
	case !p.priced:
		if _, _, unpriced := p.f.mark(p.o.Symbol); !unpriced || p.Effect != Adds {
			return
		}
		price, what = p.held.EntryPrice, "entry"
	}
	if target, ok := p.o.TakeProfit.Value(); ok && !signed(p.o.Side, target.Sub(price)).IsPositive() {
		p.refuse(trading.CodeInvalidTPSL, "the take-profit %s of a %s is not beyond the %s %s", target, p.o.Side, what, price)
		return
	}
	if loss, ok := ToStop(p.o.Side, price, p.o.StopLoss); ok && !loss.IsPositive() {
		p.refuse(trading.CodeInvalidTPSL, "the stop-loss %s of a %s is not before the %s %s", p.o.StopLoss, p.o.Side, what, price)
		return
	}
	if p.Effect == Adds {
		p.add(crossedLevels(p.o.Side, either(p.o.TakeProfit, p.held.TakeProfit), either(p.o.StopLoss, p.held.StopLoss)))
	}
}

// either is the first level that is there.
func either(first, second trading.Level) trading.Level {
	if first.IsZero() {
		return second
	}
	return first
}

// judgeLossLimits is the live equity check: an order whose own fee brings the
// equity to a floor is refused. A resting limit pays a maker's, all others a taker's.
func (p *preview) judgeLossLimits() {
	if p.env != trading.EnvLive || !p.Opens.IsPositive() {
		return
	}
	if p.anyUnpriced() {
		p.refuse(trading.CodePriceUnavailable, "a position has no price, so the equity is not known")
		return
	}
	if p.f.State == nil {
		return
	}
	if p.breached() {
		p.refuse(trading.CodeEquityCheckLocked, "the equity of $%s is at a loss floor", p.f.State.Equity)
		return
	}
	notional, ok := p.Notional.Get()
	if !ok {
		return
	}
	equity := p.f.State.Equity.Sub(p.fee(notional))
	for _, floor := range floors(p.f.State) {
		if equity.LessThanOrEqual(floor.level) {
			p.refuse(floor.code, "the fee of the order alone brings the equity to $%s, and the %s loss floor is $%s", equity, floor.name, floor.level)
			return
		}
	}
}

// judgeCaps holds what opens or adds against the caps that are known.
func (p *preview) judgeCaps() {
	if !p.Opens.IsPositive() {
		return
	}
	if p.f.State != nil && !p.f.State.Equity.IsPositive() {
		p.refuse(trading.CodeNoEquity, "the account has an equity of $%s", p.f.State.Equity)
	}
	after, ok := p.After.Get()
	if !ok {
		return
	}
	added := p.Opens.Mul(p.price)
	notional, _ := after.Notional.Get()
	if least, known := p.f.minOrder(); known && added.LessThan(least) && !p.method.pro() { // of which each clip counts
		worth := fmt.Sprintf("the order is worth $%s", added)
		if p.Closes.IsPositive() {
			worth = fmt.Sprintf("of the order's $%s, $%s close the opposite position and $%s would open a new one (with reduceOnly it would only close)", p.o.Size.Mul(p.price), p.Closes.Mul(p.price), added)
		}
		p.refuse(trading.CodeMinNotional, "%s, below the minimum of $%s", worth, least)
	}
	if limit, known := p.f.Caps.Position.Get(); known && notional.GreaterThan(limit) {
		p.refuse(trading.CodePerPositionCap, "the position would be worth $%s, above the cap of $%s", notional, limit)
	}
	if limit, known := p.f.Caps.Margin.Get(); known {
		others, complete := p.otherMargin()
		if margin, ok := after.Margin.Get(); ok && complete && others.Add(margin).GreaterThan(limit) {
			p.refuse(trading.CodeTotalMarginCap, "all positions would take $%s of margin, above the cap of $%s", others.Add(margin), limit)
		}
	}
	if limit, known := p.f.Caps.Market.Get(); known && notional.GreaterThan(limit) {
		p.refuse(trading.CodeAssetNotionalCap, "the position would be worth $%s, above the market's cap of $%s", notional, limit)
	}
}

// otherMargin is what the positions in other markets bind; ok is false if that is
// not known.
func (p *preview) otherMargin() (sum decimal.Decimal, ok bool) {
	positions, known := p.f.Positions.Get()
	if !known {
		return sum, false
	}
	for _, held := range positions {
		if held.Symbol == p.o.Symbol {
			continue
		}
		margin, given := held.Margin.Get()
		if !given {
			return sum, false
		}
		sum = sum.Add(margin)
	}
	return sum, true
}
