package risk

import (
	"errors"
	"fmt"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

// fields is what is wrong with the order by itself: what the client refuses before
// anything is sent. It is nil if nothing is.
func (p *preview) fields() *Problem {
	if p.env == trading.EnvSandbox && !p.method.now() {
		return refused(trading.CodeWrongEnvironment, "%s is for live accounts alone", p.method.op)
	}
	var err error
	if p.method.how != nil {
		err = p.o.CheckPro(p.method.how)
	} else {
		err = p.o.Check(p.env)
	}
	if refusal := (*trading.Error)(nil); errors.As(err, &refusal) {
		return &Problem{Code: refusal.Code, Text: refusal.Message, Fatal: true}
	}
	return nil
}

func refused(code trading.Code, format string, args ...any) *Problem {
	return &Problem{Code: code, Text: fmt.Sprintf(format, args...), Fatal: true}
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

// positive reports whether a number is above 0 and of a length that the service
// takes. Comparing and adding numbers such as 1e999999999 would fill the memory.
func positive(d decimal.Decimal) bool { return d.IsPositive() && usable(d) }

func usable(d decimal.Decimal) bool {
	_, err := trading.At(d).MarshalJSON()
	return err == nil
}

// text is a number for people, however long it is. Equal numbers that are usable have one text.
func text(d decimal.Decimal) string {
	if usable(d) {
		return trading.At(d).String()
	}
	digits := d.Coefficient().String()
	return fmt.Sprintf("%s…e%d", digits[:min(len(digits), 8)], d.Exponent())
}

// ToStop is what one unit loses from a price to its stop, before fees: negative for a stop in
// profit. ok is false where there is no stop.
func ToStop(side trading.Side, price decimal.Decimal, stop trading.Level) (loss decimal.Decimal, ok bool) {
	at, ok := stop.Value()
	return signed(side, price.Sub(at)), ok
}

// signed turns a distance into a profit: upwards for a long, downwards for a
// short.
func signed(side trading.Side, d decimal.Decimal) decimal.Decimal {
	if side == trading.Short {
		return d.Neg()
	}
	return d
}
