package trading

import "github.com/shopspring/decimal"

// Order is what to trade. The same value goes to the paper account, to a live
// account, to a resting limit and to every Pro order; how to trade it is said by
// the method, and for Pro orders by a second argument.
//
// The zero value of each optional field leaves it out. What the contract refuses
// for certain is refused before anything is sent, with the service's own code:
// a side that is none, a size or level that is not positive, [Clear], a limit
// order without LimitPrice or a market order with one.
type Order struct {
	// Symbol is the market, exactly as its Market has it. Required.
	Symbol string

	// Side is [Long] or [Short]. Required.
	Side Side

	// Size is in base units (0.5 is half a bitcoin, not half a dollar) and
	// greater than 0. Required.
	Size decimal.Decimal

	// Leverage is clamped to the market's cap and never refused for being above
	// it: the leverage in force is in the position of the result. Required on a
	// live account. On the sandbox 0 leaves it to the service, whose default the
	// contract does not show.
	Leverage decimal.Decimal

	// Type is [MarketOrder] unless set. A [LimitOrder] needs LimitPrice, and a
	// market order must not have one: neither turns into the other by a field
	// that was forgotten. A resting limit takes either type.
	Type OrderType

	// LimitPrice bounds the price of an order that fills now, and is the price
	// of one that rests.
	LimitPrice Level `json:",omitzero"`

	// ReduceOnly makes an order that only shrinks an opposite position and never
	// opens one. Live accounts only: the sandbox does not know it and could open
	// a position instead, so there it is refused before it is sent.
	ReduceOnly bool

	// TakeProfit closes the position at a profit once the price reaches it.
	TakeProfit Level `json:",omitzero"`

	// StopLoss closes the position at a loss once the price reaches it. Gaps
	// fill at the price behind the gap, not at the level.
	StopLoss Level `json:",omitzero"`

	// ExpectedPrice is the price that the decision was made at: the order is
	// refused with GUARD_BAND if the fill would be too far from it. How far, the
	// contract does not show.
	ExpectedPrice Level `json:",omitzero"`

	// MaxSlippagePct is how far from the middle of the order book a market order
	// may fill by the service's estimate, in percent: 0.1 to 30, with one
	// decimal. If absent, the client's default is sent, or else the service
	// takes 8. The service checks nothing while it cannot read the book; use
	// ExpectedPrice as well.
	MaxSlippagePct Level `json:",omitzero"`
}

// Triggers are the levels at which the service closes a position. A level is
// judged against the current price of the market, not against the entry: for a
// long the stop below it and the take-profit above, for a short the reverse.
//
// [At] sets a level and [Clear] removes it; an absent level stays as it is. On a live
// account that costs a read, since the contract does not show what leaving a level
// out does there: see [Account.SetTriggers]. A level read from the position can be
// given back.
type Triggers struct {
	// TakeProfit is a price.
	TakeProfit Level `json:",omitzero"`

	// StopLoss is a price. One at the entry or in profit is valid.
	StopLoss Level `json:",omitzero"`

	// ClosePct is the percent of the position that a trigger closes. Sandbox
	// only.
	ClosePct Level `json:",omitzero"`
}
