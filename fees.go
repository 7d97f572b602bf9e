package trading

import "github.com/shopspring/decimal"

// The contract's fee schedule, as fractions of notional in units of 1e-5.
const (
	takerFee = 45 // 4.5 bps
	makerFee = 15 // 1.5 bps
	feeUnit  = 100_000
)

// TakerFee returns the fee of a fill that takes its price, in dollars: 4.5 bps of
// the notional value. Market orders, limits that fill at once, closes and
// triggers all pay it. The sign of the notional does not matter.
func TakerFee(notional decimal.Decimal) decimal.Decimal {
	return notional.Abs().Mul(decimal.New(takerFee, -5))
}

// MakerFee returns the fee of a resting limit order that fills, in dollars: 1.5
// bps of the notional value. The sign of the notional does not matter.
func MakerFee(notional decimal.Decimal) decimal.Decimal {
	return notional.Abs().Mul(decimal.New(makerFee, -5))
}

// RoundTripFee returns the fees for getting in and out at the market, in dollars.
// Each half is 4.5 bps of what is traded then: the two notional values differ by
// what the price moved.
func RoundTripFee(atOpen, atClose decimal.Decimal) decimal.Decimal {
	return TakerFee(atOpen).Add(TakerFee(atClose))
}

// BreakEven returns the exit price at which a position that was opened at entry
// earns just the taker fees of getting in and out: it loses before it and gains
// beyond it. That is entry * 1.00045 / 0.99955 for a long and entry * 0.99955 /
// 1.00045 for a short.
//
// The fraction rarely has an end. It is cut eight digits behind the last digit of
// entry, and away from entry, so that closing exactly there never loses. A
// position that was opened by a resting limit breaks even a little earlier.
//
// ok is false if side is neither [Long] nor [Short] or entry is not a positive
// price.
func BreakEven(side Side, entry decimal.Decimal) (exit decimal.Decimal, ok bool) {
	if !side.valid() || !entry.IsPositive() || !writable(entry) {
		return decimal.Decimal{}, false
	}
	const more, less = feeUnit + takerFee, feeUnit - takerFee
	places := max(0, -entry.Exponent()) + 8
	if side == Short {
		// QuoRem cuts toward zero, which is away from the entry of a short.
		exit, _ = entry.Mul(decimal.NewFromInt(less)).QuoRem(decimal.NewFromInt(more), places)
		return exit, true
	}
	exit, rest := entry.Mul(decimal.NewFromInt(more)).QuoRem(decimal.NewFromInt(less), places)
	if !rest.IsZero() {
		exit = exit.Add(decimal.New(1, -places))
	}
	return exit, true
}

// NarrowestBracket returns how far from entry a take-profit must at least be so
// that it does not lose money after the fees of the round trip: the distance from
// entry to [BreakEven], which is about 9 bps of it. A narrower bracket loses on
// every outcome. The distance is exact for a fill at the level; a trigger fills
// at the price that it finds. After adding to a position, its average entry
// counts.
//
// ok is false if side is neither [Long] nor [Short] or entry is not a positive
// price.
func NarrowestBracket(side Side, entry decimal.Decimal) (distance decimal.Decimal, ok bool) {
	exit, ok := BreakEven(side, entry)
	if !ok {
		return decimal.Decimal{}, false
	}
	return exit.Sub(entry).Abs(), true
}
