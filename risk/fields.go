package risk

import (
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

// What is wrong with the order by itself. The client refuses it before anything
// is sent, in this order; the service would too.

// fields returns the first thing that is wrong, if there is one.
func (p *preview) fields() *Problem {
	checks := [...]func() *Problem{
		p.fieldsOfEnvironment, p.fieldsOfOrder, p.fieldsOfType, p.fieldsOfLevels, p.fieldsOfSlippage, p.fieldsOfWay,
	}
	for _, check := range checks {
		if problem := check(); problem != nil {
			return problem
		}
	}
	return nil
}

func refused(code trading.Code, format string, args ...any) *Problem {
	return &Problem{Code: code, Text: fmt.Sprintf(format, args...), Fatal: true}
}

func (p *preview) fieldsOfEnvironment() *Problem {
	switch {
	case p.env == trading.EnvSandbox && !p.way.now():
		return refused(trading.CodeWrongEnvironment, "%s is for live accounts alone", p.way.op)
	case p.env == trading.EnvSandbox && p.o.ReduceOnly:
		return refused(trading.CodeBadRequest, "the sandbox does not know reduce-only and could open a position instead")
	case p.env == trading.EnvLive && p.o.Leverage.IsZero():
		return refused(trading.CodeMissingFields, "a live order names its leverage")
	default:
		return nil
	}
}

func (p *preview) fieldsOfOrder() *Problem {
	o := &p.o
	switch {
	case o.Symbol == "" && p.env == trading.EnvLive:
		return refused(trading.CodeMissingFields, "the order names no symbol")
	case o.Symbol == "":
		return refused(trading.CodeBadSymbol, "the order names no symbol")
	case o.Side != trading.Long && o.Side != trading.Short:
		return refused(trading.CodeBadSide, "side %q is neither long nor short", o.Side)
	case !positive(o.Size):
		return refused(trading.CodeBadSize, "size %s is not a number of base units above 0", text(o.Size))
	case !o.Leverage.IsZero() && !positive(o.Leverage):
		return refused(trading.CodeBadRequest, "leverage %s is not above 0", text(o.Leverage))
	default:
		return nil
	}
}

func (p *preview) fieldsOfType() *Problem {
	limit, limited := p.o.LimitPrice.Value()
	switch {
	case p.o.Type != trading.MarketOrder && p.o.Type != trading.LimitOrder:
		return refused(trading.CodeBadRequest, "order type %s is neither market nor limit", p.o.Type)
	case p.o.Type == trading.LimitOrder && (!limited || !positive(limit)):
		return refused(trading.CodeBadLimitPrice, "a limit order needs a limit price above 0")
	case p.o.Type == trading.MarketOrder && !p.o.LimitPrice.IsZero():
		return refused(trading.CodeBadLimitPrice, "a market order takes no limit price")
	default:
		return nil
	}
}

func (p *preview) fieldsOfLevels() *Problem {
	for _, level := range [...]struct {
		name string
		trading.Level
		code trading.Code
	}{
		{"take-profit", p.o.TakeProfit, trading.CodeInvalidTPSL},
		{"stop-loss", p.o.StopLoss, trading.CodeInvalidTPSL},
		{"expected price", p.o.ExpectedPrice, trading.CodeBadRequest},
	} {
		if level.IsClear() {
			return refused(trading.CodeBadRequest, "the order has nothing to clear: leave the %s out", level.name)
		}
		if !absentOrPositive(level.Level) {
			return refused(level.code, "the %s is not a price above 0", level.name)
		}
	}
	return crossedLevels(p.o.Side, p.o.TakeProfit, p.o.StopLoss)
}

// crossedLevels refuses a stop that is past the take-profit.
func crossedLevels(side trading.Side, takeProfit, stopLoss trading.Level) *Problem {
	target, hasTarget := takeProfit.Value()
	stop, hasStop := stopLoss.Value()
	if hasTarget && hasStop && signed(side, stop.Sub(target)).IsPositive() {
		return refused(trading.CodeInvalidTPSL, "the stop-loss, %s, is past the take-profit, %s", stop, target)
	}
	return nil
}

var (
	leastSlippage = decimal.New(1, -1)
	mostSlippage  = decimal.NewFromInt(30)
)

func (p *preview) fieldsOfSlippage() *Problem {
	if p.o.MaxSlippagePct.IsZero() {
		return nil
	}
	pct, ok := p.o.MaxSlippagePct.Value()
	if !ok || !positive(pct) || pct.LessThan(leastSlippage) || pct.GreaterThan(mostSlippage) || !pct.Shift(1).IsInteger() {
		return refused(trading.CodeBadMaxSlippage, "the maximum slippage is not 0.1 to 30 percent with one decimal place")
	}
	return nil
}

func (p *preview) fieldsOfWay() *Problem {
	w := &p.way
	if !w.detailed {
		return nil
	}
	if problem := w.fields(); problem != nil {
		return problem
	}
	for _, setting := range w.settings {
		if _, err := setting.MarshalJSON(); err != nil {
			return refused(trading.CodeBadRequest, "a setting cannot be written as JSON")
		}
	}
	// A ladder is certain to have a rung below the minimum if the average one, at
	// the highest of its prices, is.
	if w.op == trading.OpLadder {
		value := p.o.Size.Mul(decimal.Max(w.ladder.From, w.ladder.To))
		if value.LessThan(liveMinOrder.Mul(decimal.NewFromInt(int64(w.parts)))) {
			return refused(trading.CodeMinNotional, "%d rungs of a total of at most $%s are below $%s each", w.parts, value, liveMinOrder)
		}
	}
	return nil
}

// fields is what is wrong with the second argument of the method.
func (w *Way) fields() *Problem {
	switch w.op {
	case trading.OpConditional:
		switch {
		case w.exec != trading.StopMarket && w.exec != trading.StopLimit:
			return refused(trading.CodeBadRequest, "exec kind %s is neither stop-market nor stop-limit", w.exec)
		case !positive(w.trigger):
			return refused(trading.CodeBadTrigger, "trigger price %s is not above 0", text(w.trigger))
		}
	case trading.OpLadder:
		switch {
		case !positive(w.ladder.From) || !positive(w.ladder.To):
			return refused(trading.CodeBadPrice, "a ladder from %s to %s is not between prices above 0", text(w.ladder.From), text(w.ladder.To))
		case w.parts <= 0:
			return refused(trading.CodeBadOrderCount, "a ladder of %d orders", w.parts)
		}
	case trading.OpSwarm:
		if w.parts <= 0 {
			return refused(trading.CodeBadOrderCount, "a swarm of %d orders", w.parts)
		}
	case trading.OpTWAP, trading.OpChaseTWAP:
		if w.duration < time.Millisecond || w.duration%time.Millisecond != 0 {
			return refused(trading.CodeBadDuration, "a duration of %s is not a number of milliseconds above 0", w.duration)
		}
	}
	if w.to.IsClear() || !absentOrPositive(w.to) {
		return refused(trading.CodeBadPrice, "the bound of the chase is not a price above 0")
	}
	return nil
}

// absentOrPositive reports whether a level is no number, or one to compute with.
func absentOrPositive(l trading.Level) bool {
	n, ok := l.Value()
	return !ok || positive(n)
}

// maxDigits is how long a number of the wire can be.
const maxDigits = 64

// positive reports whether a number is above 0 and of a length that the service
// takes. Comparing and adding numbers such as 1e999999999 would fill the memory.
func positive(d decimal.Decimal) bool { return d.IsPositive() && usable(d) }

func usable(d decimal.Decimal) bool {
	return d.Exponent() <= maxDigits && d.Exponent() >= -maxDigits && d.NumDigits() <= 2*maxDigits && len(d.String()) <= maxDigits
}

// text is a number for people, however long it is.
func text(d decimal.Decimal) string {
	if usable(d) {
		return d.String()
	}
	digits := d.Coefficient().String()
	return fmt.Sprintf("%s…e%d", digits[:min(len(digits), 8)], d.Exponent())
}

// signed turns a distance into a profit: upwards for a long, downwards for a
// short.
func signed(side trading.Side, d decimal.Decimal) decimal.Decimal {
	if side == trading.Short {
		return d.Neg()
	}
	return d
}
