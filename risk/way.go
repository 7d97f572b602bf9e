package risk

import (
	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

// Way is how an order is placed: each method of [trading.Account] that takes an
// Order has one. The zero value is PlaceOrder, which both environments have; all
// others are for live accounts alone.
//
// The service checks each clip and each rung of a Pro order against the minimum
// order value, and tells nobody how it cuts them. Sizes of clips are taken here
// to be equal and to have eight decimal places, the last one taking what is left
// over.
type Way struct {
	op    trading.Operation // empty for PlaceOrder
	check checker           // the second argument of the method; nil if it is not known

	trigger decimal.Decimal
	exec    trading.ExecKind
	ladder  trading.Ladder
	parts   int // clips or rungs; 0 is not known
}

// checker is the second argument of a method that places a Pro order.
type checker interface {
	Check(o trading.Order) error
}

// Resting is PlaceLimit: the order fills at its own limit price, as a maker.
func Resting() Way { return Way{op: trading.OpLimit} }

// Conditional is PlaceConditional.
func Conditional(how trading.Conditional) Way {
	return Way{op: trading.OpConditional, check: how, trigger: how.Trigger, exec: how.Exec, parts: 1}
}

// Ladder is PlaceLadder. With a SizeSkew the rungs are not judged one by one.
func Ladder(how trading.Ladder) Way {
	return Way{op: trading.OpLadder, check: how, ladder: how, parts: how.Rungs}
}

// TWAP is PlaceTWAP, in as many clips as the service makes of the duration. It
// does not tell how many: with 0 the clips are not judged.
func TWAP(how trading.TWAP, clips int) Way {
	return Way{op: trading.OpTWAP, check: how, parts: clips}
}

// Chase is PlaceChase.
func Chase(how trading.Chase) Way { return Way{op: trading.OpChase, check: how, parts: 1} }

// ChaseTWAP is PlaceChaseTWAP; clips as in [TWAP].
func ChaseTWAP(how trading.ChaseTWAP, clips int) Way {
	return Way{op: trading.OpChaseTWAP, check: how, parts: clips}
}

// Swarm is PlaceSwarm.
func Swarm(how trading.Swarm) Way { return Way{op: trading.OpSwarm, check: how, parts: how.Orders} }

// wayOf is what the operation alone says: nothing of the second argument.
func wayOf(op trading.Operation) Way {
	if op == trading.OpOrder || op == trading.OpSandboxOrder {
		return Way{}
	}
	return Way{op: op}
}

func (w Way) now() bool  { return w.op == "" }
func (w Way) rest() bool { return w.op == trading.OpLimit }
func (w Way) pro() bool  { return !w.now() && !w.rest() }

// entry is where a conditional opens its position: at its trigger, or at its limit. Of
// other orders ok is false.
func (w Way) entry(o trading.Order) (price decimal.Decimal, ok bool) {
	switch {
	case w.op != trading.OpConditional || w.check == nil:
		return decimal.Decimal{}, false
	case w.exec == trading.StopLimit:
		return o.LimitPrice.Value()
	}
	return w.trigger, true
}

// operation is the endpoint that the order goes to.
func (w Way) operation(env trading.Environment) trading.Operation {
	switch {
	case w.op != "":
		return w.op
	case env == trading.EnvSandbox:
		return trading.OpSandboxOrder
	default:
		return trading.OpOrder
	}
}

// typed gives the order the type that the method gives it.
func (w Way) typed(o trading.Order) trading.Order {
	switch {
	case w.rest():
		o.Type = trading.LimitOrder
	case w.op == trading.OpConditional && w.check != nil:
		o.Type = trading.MarketOrder
		if w.exec == trading.StopLimit {
			o.Type = trading.LimitOrder
		}
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
func (w Way) smallest(size, price decimal.Decimal) (c clip, ok bool) {
	if w.check == nil || w.parts <= 0 {
		return clip{}, false
	}
	n := decimal.NewFromInt(int64(w.parts))
	each, _ := size.QuoRem(n, clipPlaces)
	last := size.Sub(each.Mul(n.Sub(decimal.NewFromInt(1))))
	if w.op != trading.OpLadder {
		least := each // the last is never smaller
		if w.parts == 1 {
			least = last
		}
		return clip{least, least.Mul(price)}, true
	}
	if !w.ladder.SizeSkew.IsZero() {
		return clip{}, false
	}
	// Prices go evenly from one end to the other, so the least is at an end, or
	// next to the one that takes what is left over.
	ends := []clip{{each, each.Mul(w.ladder.From)}, {last, last.Mul(w.ladder.To)}}
	if w.parts == 1 {
		ends = []clip{{last, last.Mul(w.ladder.From)}}
	} else if w.parts > 2 {
		step := w.ladder.To.Sub(w.ladder.From).DivRound(n.Sub(decimal.NewFromInt(1)), clipPlaces)
		beside := w.ladder.From.Add(step.Mul(n.Sub(decimal.NewFromInt(2))))
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
