package reversion

import "github.com/shopspring/decimal"

// mean is the mean and the spread of the latest prices. Its sums are exact, so that
// they can be carried on forever without drifting.
type mean struct {
	prices  []decimal.Decimal
	count   decimal.Decimal // of prices
	next    int
	full    bool
	sum     decimal.Decimal
	squares decimal.Decimal
	spread  decimal.Decimal // count² times the variance
}

func newMean(window int) *mean {
	return &mean{prices: make([]decimal.Decimal, window), count: decimal.NewFromInt(int64(window))}
}

func (m *mean) add(price decimal.Decimal) {
	if m.full {
		old := m.prices[m.next]
		m.sum = m.sum.Sub(old)
		m.squares = m.squares.Sub(old.Mul(old))
	}
	m.prices[m.next] = price
	m.sum = m.sum.Add(price)
	m.squares = m.squares.Add(price.Mul(price))
	m.spread = m.count.Mul(m.squares).Sub(m.sum.Mul(m.sum))
	m.next = (m.next + 1) % len(m.prices)
	m.full = m.full || m.next == 0
}

// value is the mean. It has no meaning before the window is full.
func (m *mean) value() decimal.Decimal { return m.sum.DivRound(m.count, 8) }

// isFarFrom reports whether a price is at least so many standard deviations away from
// the mean; false before the window is full. With n prices p, both sides times n²:
//
//	(n·price - Σp)² >= deviations² · (n·Σp² - (Σp)²)
//
// so that it takes neither a quotient nor a root.
func (m *mean) isFarFrom(price, deviations decimal.Decimal) bool {
	if !m.full || !m.spread.IsPositive() {
		return false
	}
	away := m.count.Mul(price).Sub(m.sum)
	return away.Mul(away).GreaterThanOrEqual(deviations.Mul(deviations).Mul(m.spread))
}
