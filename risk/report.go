package risk

import (
	"fmt"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

// Report is what an order would do, worked out as if it filled in whole at
// Price. Amounts are in dollars. What the inputs do not show is none, and never
// zero.
type Report struct {
	// Operation is the endpoint that the order was judged for.
	Operation trading.Operation

	// Symbol is the order's market.
	Symbol string

	// Effect is what the order does to the position; empty if the positions are
	// not known.
	Effect Effect

	// Price is where the order was taken to fill: the mark, or the limit price of
	// an order that rests.
	Price trading.Mark

	// Opens is the part of the size that opens or adds, in base units. Closes is
	// the part that shrinks an opposite position.
	Opens, Closes decimal.Decimal

	// Leverage is the one in force after the clamp: the one asked for, but not
	// above the market's cap and not below 1.
	Leverage trading.Opt[decimal.Decimal]

	// Notional is the value of what is filled.
	Notional trading.Opt[decimal.Decimal]

	// Fee is the fee of what is filled: both parts of a flip, the maker fee for
	// an order that rests, and the taker fee for all others. A Pro order can cost
	// less.
	Fee trading.Opt[decimal.Decimal]

	// RoundTripFee is the fee of getting in and out at Price of what opens.
	RoundTripFee trading.Opt[decimal.Decimal]

	// GrossPnL is what the part that closes realizes, before fees.
	GrossPnL trading.Opt[decimal.Decimal]

	// Balance is the account's balance afterwards.
	Balance trading.Opt[decimal.Decimal]

	// Flat means that nothing is left open in the market.
	Flat bool

	// After is the whole position afterwards, with the blended entry, at a mark of
	// Price. None if nothing is left, or if the inputs do not show it.
	After trading.Opt[trading.Position]

	// BreakEven is the exit price at which the position afterwards has earned its
	// fees; see [trading.BreakEven].
	BreakEven trading.Opt[decimal.Decimal]

	// LossAtStop is what the position afterwards has lost when it is closed at
	// its stop, since it was opened, with the fees of both ways. It is negative
	// if the stop is in profit. A gap closes behind the stop, and loses more.
	LossAtStop trading.Opt[decimal.Decimal]

	// GainAtTarget is what the position afterwards has earned when it is closed at
	// its take-profit, with the fees of both ways. It is negative if the fees eat
	// it up.
	GainAtTarget trading.Opt[decimal.Decimal]

	// RoomAfterStop is how far the account's equity is above the higher of its
	// loss floors when the position is closed at its stop and nothing else moves.
	// At 0 the account is lost.
	RoomAfterStop trading.Opt[decimal.Decimal]

	// GapAtTarget is how far the equity is below the profit target when the
	// position is closed at its take-profit and nothing else moves, with the
	// taker fees to close everything else deducted. At 0 the account passes.
	GapAtTarget trading.Opt[decimal.Decimal]

	// Problems are what is wrong: first what the service would refuse the order
	// for, in the order in which it is taken to judge, then what it would not
	// notice.
	Problems []Problem
}

// Effect is what an order does to the position that it meets.
type Effect string

const (
	// Opens is an order that meets no position.
	Opens Effect = "opens"
	// Adds is an order on the side of the position.
	Adds Effect = "adds"
	// Reduces leaves some of an opposite position.
	Reduces Effect = "reduces"
	// Ends leaves nothing.
	Ends Effect = "ends"
	// Flips ends an opposite position and opens one on the order's side.
	Flips Effect = "flips"
)

// Problem is one thing that is wrong with an order.
type Problem struct {
	// Code is what the service would refuse the order with; empty if it would
	// take it.
	Code trading.Code

	// Warning is what is wrong with an order that the service would take; empty
	// if Code is not.
	Warning Warning

	// Text says it to a person, with the numbers.
	Text string

	// Fatal means that the order should not be sent. Every refusal is, and of the
	// warnings those that end in a loss whatever the market does, or in a lost
	// account.
	Fatal bool
}

// Warning is what is wrong with an order that the service would take. It is an
// error, for use with [errors.Is].
type Warning string

const (
	// WarningFees is a take-profit so near that the fees of the round trip are
	// more than it gains: the order loses on every outcome. Fatal.
	WarningFees Warning = "the fees eat up the target"
	// WarningLossFloor is an order whose own fee, or whose stop, brings the equity
	// to a loss floor: the account is lost before the stop can protect it. Fatal.
	WarningLossFloor Warning = "reaches a loss floor"
	// WarningFlip is an order that ends the position and opens one on the other
	// side. [Guard] refuses it unless it is allowed.
	WarningFlip Warning = "flips the position"
	// WarningLeverage is a leverage that the service will change without a word.
	WarningLeverage Warning = "leverage is clamped"
	// WarningDust is a rest of a position that is worth less than the minimum
	// order value: an order of its size could be refused, only a close ends it.
	WarningDust Warning = "leaves less than the minimum order value"
	// WarningLevels is a stop or target in an order that opens nothing: the
	// levels of the position may stay as they are.
	WarningLevels Warning = "levels of an order that opens nothing"
	// WarningPass is a target that passes the account, which closes every
	// position of it.
	WarningPass Warning = "passes the account"
)

// Error returns the warning as words.
func (w Warning) Error() string { return string(w) }

// Error returns the problem as a sentence.
func (p Problem) Error() string {
	if p.Code != "" {
		return string(p.Code) + ": " + p.Text
	}
	return string(p.Warning) + ": " + p.Text
}

// Refused returns the code that the service would refuse the order with, as far
// as the inputs show; ok is false if it would take it. Where several would fit it
// is the one that is judged first. The contract does not show in which order the
// service judges.
func (r Report) Refused() (code trading.Code, ok bool) {
	for _, p := range r.Problems {
		if p.Code != "" {
			return p.Code, true
		}
	}
	return "", false
}

// Err returns nil unless a problem is fatal, and else the first that is. Like the
// error of an order that was refused before it was sent, it is a
// [trading.WriteError] of the outcome NotApplied; [errors.Is] finds its
// [trading.Code], the [trading.Kind] of that, or its [Warning].
func (r Report) Err() error {
	for _, p := range r.Problems {
		if p.Fatal {
			return &trading.WriteError{Outcome: trading.NotApplied, Operation: r.Operation, Symbol: r.Symbol, Err: p.cause()}
		}
	}
	return nil
}

// cause is the problem as an error.
func (p Problem) cause() error {
	if p.Code != "" {
		return &trading.Error{Code: p.Code, Message: p.Text, Local: true}
	}
	return fmt.Errorf("%w: %s", p.Warning, p.Text)
}

// Has reports whether a warning is among the problems.
func (r Report) Has(w Warning) bool {
	for _, p := range r.Problems {
		if p.Warning == w {
			return true
		}
	}
	return false
}
