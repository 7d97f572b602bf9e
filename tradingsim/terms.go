package tradingsim

import (
	"time"

	"github.com/shopspring/decimal"
)

// terms are the levels an account lives between, all in absolute dollars.
type terms struct {
	day         time.Time // the day that the daily floor is for
	opening     decimal.Decimal
	firstFloor  decimal.Decimal // the daily floor of the first day
	dailyFloor  decimal.Decimal
	globalFloor decimal.Decimal
	target      decimal.Decimal
	split       decimal.Decimal // the owner's share of the profit: 0.8 is 80 percent
}

// newTerms puts the floors 5 and 10 percent below the opening balance and the
// target 10 percent above it, where they are not given.
func newTerms(balance, daily, global, target, split string) terms {
	t := terms{opening: mustOr("balance", balance, "100000"), split: mustOr("profit split", split, "0.8")}
	share := func(what, text, of string) decimal.Decimal {
		if text != "" {
			return must(what, text)
		}
		return t.opening.Mul(decimal.RequireFromString(of))
	}
	t.dailyFloor = share("daily loss floor", daily, "0.95")
	t.firstFloor = t.dailyFloor
	t.globalFloor = share("global loss floor", global, "0.9")
	t.target = share("profit target", target, "1.1")
	return t
}

// newDay moves the daily floor with the balance that a day begins with, under
// interpretation 20.
func (s *Sim) newDay(t *terms, balance decimal.Decimal) (changed bool) {
	if !s.other(20) {
		return false
	}
	today := s.now.UTC().Truncate(24 * time.Hour)
	if today.Equal(t.day) {
		return false
	}
	if !t.day.IsZero() && !t.opening.IsZero() {
		t.dailyFloor = balance.Mul(t.firstFloor).DivRound(t.opening, 2)
	}
	t.day = today
	return true
}

// breached reports whether an equity is at or below a floor.
func (t *terms) breached(equity amount) bool {
	return equity.compare(amountOf(t.dailyFloor)) <= 0 || equity.compare(amountOf(t.globalFloor)) <= 0
}

// passed is the automatic pass: what would be left after the taker fees, at a rate, of
// closing every position reaches the target.
func (t *terms) passed(equity amount, b *book, rate decimal.Decimal, mark func(symbol string) opt) bool {
	return equity.compare(amountOf(t.target)) >= 0 && equity.decimal().Sub(b.exitFees(rate, mark)).GreaterThanOrEqual(t.target)
}
