package risk

import (
	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

// Method is how an order is placed: by PlaceOrder, PlaceLimit, or PlacePro with each
// [trading.Pro]. The zero value is PlaceOrder, which both environments have; all
// others are for live accounts alone.
//
// The service checks each clip and each rung of a Pro order against the minimum
// order value, and does not publish how it cuts them. Sizes of clips are taken here
// to be equal and to have eight decimal places, the last one taking what is left
// over.
type Method struct {
	op  trading.Operation // empty for PlaceOrder
	how trading.Pro       // nil if it is not known

	trigger decimal.Decimal
	ladder  trading.Ladder
	parts   int // clips or rungs; 0 is not known
}

// Resting is PlaceLimit: the order fills at its own limit price, as a maker.
func Resting() Method { return Method{op: trading.OpLimit} }

// Conditional places a [trading.Conditional].
func Conditional(how trading.Conditional) Method {
	return Method{op: trading.OpConditional, how: how, trigger: how.Trigger, parts: 1}
}

// Ladder places a [trading.Ladder]. With a SizeSkew the rungs are not judged one by one.
func Ladder(how trading.Ladder) Method {
	return Method{op: trading.OpLadder, how: how, ladder: how, parts: how.Rungs}
}

// TWAP places a [trading.TWAP], in as many clips as the service makes of the duration. It
// does not show how many: with 0 the clips are not judged.
func TWAP(how trading.TWAP, clips int) Method {
	return Method{op: trading.OpTWAP, how: how, parts: clips}
}

// Chase places a [trading.Chase].
func Chase(how trading.Chase) Method { return Method{op: trading.OpChase, how: how, parts: 1} }

// ChaseTWAP places a [trading.ChaseTWAP]; clips as in [TWAP].
func ChaseTWAP(how trading.ChaseTWAP, clips int) Method {
	return Method{op: trading.OpChaseTWAP, how: how, parts: clips}
}

// Swarm places a [trading.Swarm].
func Swarm(how trading.Swarm) Method {
	return Method{op: trading.OpSwarm, how: how, parts: how.Orders}
}

// methodOf is what the operation alone says: nothing of the second argument.
func methodOf(op trading.Operation) Method {
	if op == trading.OpOrder || op == trading.OpSandboxOrder {
		return Method{}
	}
	return Method{op: op}
}

func (m Method) now() bool  { return m.op == "" }
func (m Method) rest() bool { return m.op == trading.OpLimit }
func (m Method) pro() bool  { return !m.now() && !m.rest() }

// entry is where a conditional opens its position: at its trigger, or at its limit. Of
// other orders ok is false.
func (m Method) entry(o trading.Order) (price decimal.Decimal, ok bool) {
	switch {
	case m.op != trading.OpConditional || m.how == nil:
		return decimal.Decimal{}, false
	case o.Type == trading.LimitOrder:
		return o.LimitPrice.Value()
	}
	return m.trigger, true
}

// operation is the endpoint that the order goes to.
func (m Method) operation(env trading.Environment) trading.Operation {
	switch {
	case m.op != "":
		return m.op
	case env == trading.EnvSandbox:
		return trading.OpSandboxOrder
	default:
		return trading.OpOrder
	}
}

// typed gives the order the type that the method gives it.
func (m Method) typed(o trading.Order) trading.Order {
	if m.rest() {
		o.Type = trading.LimitOrder
	}
	return o
}

// clipPlaces is where the size of a clip is cut.
const clipPlaces = 8

// clip is one part of a Pro order: its size and what it is worth.
type clip struct{ size, value decimal.Decimal }

// smallest returns the part of an order that is worth least at a price; ok is
// false if the parts are not known. Where the service varies the sizes of clips
// it is the average one: if that is too small, some are.
func (m Method) smallest(size, price decimal.Decimal) (c clip, ok bool) {
	if m.how == nil || m.parts <= 0 {
		return clip{}, false
	}
	n := decimal.NewFromInt(int64(m.parts))
	each, _ := size.QuoRem(n, clipPlaces)
	last := size.Sub(each.Mul(n.Sub(decimal.NewFromInt(1))))
	if m.op != trading.OpLadder {
		least := each // the last is never smaller
		if m.parts == 1 {
			least = last
		}
		return clip{least, least.Mul(price)}, true
	}
	if !m.ladder.SizeSkew.IsZero() {
		return clip{}, false
	}
	// Prices go evenly from one end to the other, so the least is at an end, or
	// next to the one that takes what is left over.
	ends := []clip{{each, each.Mul(m.ladder.From)}, {last, last.Mul(m.ladder.To)}}
	if m.parts == 1 {
		ends = []clip{{last, last.Mul(m.ladder.From)}}
	} else if m.parts > 2 {
		step := m.ladder.To.Sub(m.ladder.From).DivRound(n.Sub(decimal.NewFromInt(1)), clipPlaces)
		beside := m.ladder.From.Add(step.Mul(n.Sub(decimal.NewFromInt(2))))
		ends = append(ends, clip{each, each.Mul(beside)})
	}
	c = ends[0]
	for _, end := range ends[1:] {
		if end.value.LessThan(c.value) {
			c = end
		}
	}
	return c, true
}
