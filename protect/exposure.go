package protect

import (
	"math/big"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/claims"
)

// What is in this file, in worst.go, floor.go, moves.go and level.go are functions over
// values: no clock, no lock, no connection.

// readLag is how much older than its request what a read shows may be.
const readLag = claims.Lag

// closeTime is how long a close may take.
const closeTime = 3 * time.Second

var (
	// whileClosing is what the price moves while a position is closed, of the notional.
	whileClosing = decimal.New(3, -4)
	four         = decimal.NewFromInt(4)
	one          = decimal.NewFromInt(1)
	cent         = decimal.New(1, -2)
)

// bounds are how far a market is assumed to move against a position, as fractions of the
// price: by shock before a close can have ended, by gap at once where nothing stops it.
type bounds struct{ shock, gap decimal.Decimal }

// boundsOf are those of a market with a leverage cap. A cap that is not known, or below
// 1, counts as 1, which gives the widest bounds.
func boundsOf(shock, gap, leverageCap decimal.Decimal) bounds {
	if leverageCap.LessThan(one) {
		leverageCap = one
	}
	return bounds{shock.DivRound(leverageCap, 8), gap.DivRound(leverageCap, 8)}
}

// holding is one position.
type holding struct {
	symbol string
	size   decimal.Decimal // less than zero is short
	entry  decimal.Decimal
	mark   decimal.Decimal // the price that it is worth
	stop   trading.Level
	bounds
}

func (h holding) side() trading.Side {
	if h.size.IsNegative() {
		return trading.Short
	}
	return trading.Long
}

func (h holding) notional() decimal.Decimal { return h.size.Abs().Mul(h.mark) }

// adverse is the price that a market is assumed to have when its last mark is age old: it
// moves against the position by shock·√(1 + age/15 s), at most by gap.
func adverse(mark, size decimal.Decimal, b bounds, age time.Duration) decimal.Decimal {
	factor := one.Add(seconds(max(age, 0)).DivRound(decimal.NewFromInt(15), 8))
	move := decimal.Min(b.shock.Mul(root(factor)), b.gap)
	if size.IsNegative() {
		return mark.Mul(one.Add(move))
	}
	return mark.Mul(one.Sub(move))
}

// computedEquity is what the account is worth at the marks of its holdings.
func computedEquity(balance decimal.Decimal, held []holding) decimal.Decimal {
	for _, h := range held {
		balance = balance.Add(h.size.Mul(h.mark.Sub(h.entry)))
	}
	return balance
}

func grossOf(held []holding) (gross decimal.Decimal) {
	for _, h := range held {
		gross = gross.Add(h.notional())
	}
	return gross
}

// disagree reports whether two equities of one account differ by more than lag and
// rounding explain: by 0.1 percent of what is held, and a cent.
func disagree(read, computed, gross decimal.Decimal) bool {
	return read.Sub(computed).Abs().GreaterThan(gross.Mul(decimal.New(1, -3)).Add(cent))
}

// closingCost is what it costs to close all of it.
func closingCost(gross decimal.Decimal) decimal.Decimal {
	return trading.TakerFee(gross).Add(gross.Mul(whileClosing))
}

// needOf is how much room the holdings need so that closing them, decided within an
// interval, ends above the floor. variance is that of their profit in a second.
func needOf(gross, shocks, variance decimal.Decimal, interval time.Duration) decimal.Decimal {
	wait := seconds(interval + readLag + closeTime)
	drift := four.Mul(root(variance.Mul(wait)))
	return closingCost(gross).Add(decimal.Max(drift, shocks))
}

// shocksOf is what the holdings lose if every market moves against them by its shock.
func shocksOf(held []holding) (sum decimal.Decimal) {
	for _, h := range held {
		sum = sum.Add(h.notional().Mul(h.shock))
	}
	return sum
}

func seconds(d time.Duration) decimal.Decimal { return decimal.New(int64(d), -9) }

// rootPlaces is the precision of a root.
const rootPlaces = 10

// root is the square root, cut at ten places. It is 0 for what is not positive.
func root(d decimal.Decimal) decimal.Decimal {
	if !d.IsPositive() {
		return decimal.Zero
	}
	scaled := d.Shift(2 * rootPlaces).BigInt()
	return decimal.NewFromBigInt(new(big.Int).Sqrt(scaled), -rootPlaces)
}
