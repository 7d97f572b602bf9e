package protect

import (
	"time"

	"github.com/shopspring/decimal"
)

// memory is how long a move counts.
var memory = decimal.NewFromInt(120)

// covariancePlaces is how exact a covariance of relative moves in a second is kept.
const covariancePlaces = 24

// pair is two markets, in the order of their names.
type pair struct{ a, b string }

func pairOf(a, b string) pair {
	if a > b {
		a, b = b, a
	}
	return pair{a, b}
}

// moves is how markets have moved of late, and with one another: an exponentially
// weighted covariance of their relative moves in a second. What a portfolio makes of them
// follows for any size, so that a size that has just changed needs no history.
type moves struct {
	last map[string]decimal.Decimal
	sum  map[pair]decimal.Decimal
	at   time.Duration // of the last move of any market, by the caller's clock
}

// add notes marks. Those that did not change say nothing: a feed that repeats itself is
// no calm.
func (m *moves) add(at time.Duration, marks map[string]decimal.Decimal, of func(symbol string) bool) {
	if m.last == nil {
		m.last, m.sum = map[string]decimal.Decimal{}, map[pair]decimal.Decimal{}
		m.at = at
	}
	moved := map[string]decimal.Decimal{}
	for symbol, mark := range marks {
		if !of(symbol) {
			continue
		}
		last, known := m.last[symbol]
		if !known {
			m.last[symbol] = mark
			continue
		}
		if !mark.Equal(last) {
			moved[symbol] = mark.Sub(last).DivRound(last, 12)
			m.last[symbol] = mark
		}
	}
	if len(moved) == 0 {
		return
	}
	step := seconds(max(at-m.at, time.Millisecond))
	m.at = at
	m.fold(step, moved)
}

// fold weighs one step in: (120·v + move²) ÷ (120 + step).
func (m *moves) fold(step decimal.Decimal, moved map[string]decimal.Decimal) {
	whole := memory.Add(step)
	for p, v := range m.sum {
		m.sum[p] = v.Mul(memory).DivRound(whole, covariancePlaces)
	}
	for a, x := range moved {
		for b, y := range moved {
			if a <= b {
				p := pairOf(a, b)
				m.sum[p] = m.sum[p].Add(x.Mul(y).DivRound(whole, covariancePlaces))
			}
		}
	}
}

// forget drops the markets that are of no use any more.
func (m *moves) forget(of func(symbol string) bool) {
	for symbol := range m.last {
		if !of(symbol) {
			delete(m.last, symbol)
		}
	}
	for p := range m.sum {
		if !of(p.a) || !of(p.b) {
			delete(m.sum, p)
		}
	}
}

// variance is that of the profit in a second of values held, with a sign, by market.
func (m *moves) variance(value map[string]decimal.Decimal) (sum decimal.Decimal) {
	for p, v := range m.sum {
		a, b := value[p.a], value[p.b]
		part := a.Mul(b).Mul(v)
		if p.a != p.b {
			part = part.Add(part)
		}
		sum = sum.Add(part)
	}
	return sum
}
