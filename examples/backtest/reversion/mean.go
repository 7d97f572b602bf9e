package reversion

import "github.com/shopspring/decimal"

// mean is the mean and the spread of the latest prices. Its sums are exact, so that
// they can be carried on forever without drifting.
type mean struct {
	prices  []decimal.Decimal
	next    int
	full    bool
	sum     decimal.Decimal
	squares decimal.Decimal
}

func newMean(window int) *mean { return &mean{prices: make([]decimal.Decimal, window)} }

func (m *mean) add(price decimal.Decimal) {
	if m.full {
		old := m.prices[m.next]
		m.sum = m.sum.Sub(old)
		m.squares = m.squares.Sub(old.Mul(old))
	}
	m.prices[m.next] = price
	m.sum = m.sum.Add(price)
	m.squares = m.squares.Add(price.Mul(price))
	m.next = (m.next + 1) % len(m.prices)
	m.full = m.full || m.next == 0
}

func (m *mean) count() decimal.Decimal { return decimal.NewFromInt(int64(len(m.prices))) }

// value is the mean. It has no meaning before the window is full.
func (m *mean) value() decimal.Decimal { return m.sum.DivRound(m.count(), 8) }

// isFarFrom reports whether a price is at least so many standard deviations away from
// the mean; false before the window is full. With n prices p, both sides times n²:
//
//	(n·price - Σp)² >= deviations² · (n·Σp² - (Σp)²)
//
// so that it takes neither a quotient nor a root.
func (m *mean) isFarFrom(price, deviations decimal.Decimal) bool {
	if !m.full {
		return false
	}
	n := m.count()
	away := n.Mul(price).Sub(m.sum)
	spread := n.Mul(m.squares).Sub(m.sum.Mul(m.sum))
	if !spread.IsPositive() {
		return false
	}
	return away.Mul(away).GreaterThanOrEqual(deviations.Mul(deviations).Mul(spread))
}
