package tradingsim

import (
	"time"

	"github.com/shopspring/decimal"
)

func readTrigger(_ *Sim, t *proTicket) *refusal {
	price, p := t.fields.number("triggerPrice")
	if p != given || !price.IsPositive() {
		return refuse("BAD_TRIGGER", "triggerPrice must be greater than 0.")
	}
	t.trigger = price
	return nil
}

func readExecKind(_ *Sim, t *proTicket) *refusal {
	kind, p := t.fields.text("execKind")
	if p == absent || kind == "stop-market" {
		return nil
	}
	if kind != "stop-limit" {
		return refuse("bad_request", "execKind must be stop-market or stop-limit.")
	}
	t.stopLimit = true
	if t.readLimitPrice(t.fields) != nil {
		return refuse("BAD_PRICE", "A stop-limit needs a limitPrice greater than 0.")
	}
	return nil
}

func readRange(_ *Sim, t *proTicket) *refusal {
	for _, o := range []struct {
		name string
		to   *decimal.Decimal
	}{{"startPrice", &t.first}, {"endPrice", &t.last}} {
		price, p := t.fields.number(o.name)
		if p != given || !price.IsPositive() {
			return refuse("BAD_PRICE", "%s must be greater than 0.", o.name)
		}
		*o.to = price
	}
	return nil
}

func readCount(s *Sim, t *proTicket) *refusal {
	n, p := t.fields.number("totalOrders")
	least, most := decimal.NewFromInt(int64(s.pro.MinOrders)), decimal.NewFromInt(int64(s.pro.MaxOrders))
	if p != given || !n.IsInteger() || n.LessThan(least) || n.GreaterThan(most) {
		return refuse("BAD_ORDER_COUNT", "totalOrders must be a whole number from %s to %s.", least, most)
	}
	t.count = int(n.IntPart())
	return nil
}

func readDuration(s *Sim, t *proTicket) *refusal {
	ms, p := t.fields.number("durationMs")
	least := decimal.NewFromInt(s.pro.MinDuration.Milliseconds())
	most := decimal.NewFromInt(s.pro.MaxDuration.Milliseconds())
	if p != given || !ms.IsInteger() || ms.LessThan(least) || ms.GreaterThan(most) {
		return refuse("BAD_DURATION", "durationMs must be a whole number from %s to %s.", least, most)
	}
	t.duration = time.Duration(ms.IntPart()) * time.Millisecond
	return nil
}

func readBound(_ *Sim, t *proTicket) *refusal {
	price, p := t.fields.number("chaseTo")
	if p == absent {
		return nil
	}
	if p != given || !price.IsPositive() {
		return refuse("BAD_PRICE", "chaseTo must be greater than 0.")
	}
	t.bound = some(price)
	return nil
}

// conditionalChild waits for the mark to cross the trigger from where it is
// now, and then fills at the mark or rests a limit.
func conditionalChild(_ *Sim, t *proTicket, mark decimal.Decimal) ([]child, *refusal) {
	if t.trigger.Equal(mark) {
		return nil, refuse("BAD_TRIGGER", "triggerPrice %s is the current price; it must be above or below.", t.trigger)
	}
	c := child{size: t.size, trigger: some(t.trigger), up: t.trigger.GreaterThan(mark)}
	if t.stopLimit {
		c.rest = some(t.limitPrice)
	}
	return []child{c}, nil
}

// ladderChildren are limits spread evenly from the first price to the last.
func ladderChildren(s *Sim, t *proTicket, _ decimal.Decimal) ([]child, *refusal) {
	step := t.last.Sub(t.first).DivRound(decimal.NewFromInt(int64(max(1, t.count-1))), 8)
	children := make([]child, t.count)
	for i, size := range s.shares(t.size, t.count) {
		price := t.first.Add(step.Mul(decimal.NewFromInt(int64(i))))
		if i == t.count-1 && i > 0 {
			price = t.last
		}
		children[i] = child{size: size, limit: some(price), maker: true}
	}
	return children, nil
}

// clips are equal parts, one after each interval.
func (s *Sim) clips(t *proTicket, maker bool) []child {
	n := max(1, int(t.duration/s.pro.Clip))
	children := make([]child, n)
	for i, size := range s.shares(t.size, n) {
		intervals := i + 1
		if s.other(46) {
			intervals = i
		}
		children[i] = child{size: size, due: s.now.Add(time.Duration(intervals) * s.pro.Clip), bound: t.bound, maker: maker}
	}
	return children
}

func twapChildren(s *Sim, t *proTicket, _ decimal.Decimal) ([]child, *refusal) {
	return s.clips(t, false), nil
}

// chaseTwapChildren are the clips of a TWAP that are chased instead of taken.
func chaseTwapChildren(s *Sim, t *proTicket, _ decimal.Decimal) ([]child, *refusal) {
	return s.clips(t, true), nil
}

// chaseTime is how long a chase follows the price before it is filled.
const chaseTime = 5 * time.Second

func chaseChild(s *Sim, t *proTicket, _ decimal.Decimal) ([]child, *refusal) {
	return []child{{size: t.size, due: s.now.Add(chaseTime), bound: t.bound, maker: true}}, nil
}

// swarmChildren are small market orders, one a second.
func swarmChildren(s *Sim, t *proTicket, _ decimal.Decimal) ([]child, *refusal) {
	children := make([]child, t.count)
	for i, size := range s.shares(t.size, t.count) {
		children[i] = child{size: size, due: s.now.Add(time.Duration(i+1) * time.Second)}
	}
	return children, nil
}
