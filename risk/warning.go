package risk

import (
	"fmt"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

// worry adds what the service would not notice.
func (p *preview) worry() {
	p.worryAboutFees()
	p.worryAboutFloors()
	if p.Effect == Flips {
		p.warn(WarningFlip, false, "the order ends %s %s %s and opens %s %s", p.held.Side, p.held.Size, p.o.Symbol, p.o.Side, p.Opens)
	}
	if leverage, ok := p.Leverage.Get(); ok && p.Opens.IsPositive() && !leverage.Equal(p.o.Leverage) {
		p.warn(WarningLeverage, false, "asked for %s, in force will be %s", p.o.Leverage, leverage)
	}
	if !p.Opens.IsPositive() && !(p.o.TakeProfit.IsZero() && p.o.StopLoss.IsZero()) {
		p.warn(WarningLevels, false, "the order opens nothing, so its stop and its target may not be set")
	}
	if left, ok := p.After.Get(); ok && p.Effect == Reduces {
		least, known := p.f.minOrder()
		if worth, _ := left.Notional.Get(); known && worth.LessThan(least) {
			p.warn(WarningDust, false, "%s %s is left, worth $%s, below the minimum of $%s", left.Size, p.o.Symbol, worth, least)
		}
	}
	if gap, ok := p.GapAtTarget.Get(); ok && !gap.IsPositive() {
		p.warn(WarningPass, false, "at the take-profit the account is $%s above its target, and all its positions are closed", gap.Neg())
	}
}

func (p *preview) warn(w Warning, fatal bool, format string, args ...any) {
	p.add(&Problem{Warning: w, Text: fmt.Sprintf(format, args...), Fatal: fatal})
}

// worryAboutFees: a position whose target does not even pay the fees loses at the
// target, and more at any stop before it.
func (p *preview) worryAboutFees() {
	after, _ := p.After.Get()
	gain, ok := p.GainAtTarget.Get()
	if !ok || !p.Opens.IsPositive() || !gain.IsNegative() {
		return
	}
	p.warn(WarningFees, true, "at the take-profit %s the position has lost $%s, fees included", after.TakeProfit, gain.Neg())
}

// worryAboutFloors: the stop protects the account only if it is reached before a
// floor. On the sandbox the fee of the order can reach one unhindered.
func (p *preview) worryAboutFloors() {
	if !p.Opens.IsPositive() {
		return
	}
	if room, ok := p.RoomAfterStop.Get(); ok && !room.IsPositive() {
		p.warn(WarningLossFloor, true, "at the stop the equity is $%s below the loss floor", room.Neg())
		return
	}
	if fee, ok := p.Fee.Get(); ok && p.env == trading.EnvSandbox && p.f.State != nil && p.reaches(fee) {
		p.warn(WarningLossFloor, true, "the fee of $%s alone brings the equity to a loss floor", fee)
	}
}

// reaches reports whether a loss brings the equity to a floor.
func (p *preview) reaches(loss decimal.Decimal) bool {
	room, ok := p.room(p.f.State.Equity.Sub(loss)).Get()
	return ok && !room.IsPositive()
}
