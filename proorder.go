package trading

import (
	"time"

	"github.com/shopspring/decimal"
)

// A Pro order is an [Order], which says what to trade, and one of the types here,
// which says how. Live accounts only. The service carries it out over time as a
// run; each part of it must clear the minimum order value of 10 dollars.
//
// The contract shows the names of these fields, the types of few, and no ranges.
// It does not describe the kinds either: what is said of them here is what their
// names commonly mean. What is out of range the service refuses with a code of
// its own, such as BAD_DURATION, and says in the message what to change.

// Conditional waits for a price and then places the order.
type Conditional struct {
	// Trigger is the price to wait for: triggerPrice. Required.
	Trigger decimal.Decimal

	// Exec is [StopMarket] unless set. [StopLimit] needs the LimitPrice of the
	// order.
	Exec ExecKind
}

// Ladder splits the order into limit orders at prices between From and To.
type Ladder struct {
	// From is the first price: startPrice. Required.
	From decimal.Decimal

	// To is the last price: endPrice. Required.
	To decimal.Decimal

	// Rungs is how many orders there are: totalOrders. Required.
	Rungs int

	// SizeSkew is how the size is spread over the rungs. The contract does not
	// show its type.
	SizeSkew Setting `json:",omitzero"`
}

// TWAP splits the order into clips that are placed evenly over a time. If the
// clips would be too small, the refusal is MIN_NOTIONAL.
type TWAP struct {
	// Duration is how long it takes, in whole milliseconds: durationMs.
	// Required.
	Duration time.Duration

	// RandomizeSize varies the size of the clips. The contract does not show its
	// type.
	RandomizeSize Setting `json:",omitzero"`

	// RandomizeTime varies the time between the clips. The contract does not
	// show its type.
	RandomizeTime Setting `json:",omitzero"`
}

// Chase follows the market with a limit order until it fills.
type Chase struct {
	// To is the price beyond which it does not follow: chaseTo. Absent means no
	// bound.
	To Level `json:",omitzero"`
}

// ChaseTWAP splits the order into clips as [TWAP] does and places each as [Chase]
// does.
type ChaseTWAP struct {
	// Duration is how long it takes, in whole milliseconds: durationMs.
	// Required.
	Duration time.Duration

	// To is the price beyond which it does not follow: chaseTo. Absent means no
	// bound.
	To Level `json:",omitzero"`
}

// Swarm splits the order into many small ones.
type Swarm struct {
	// Orders is how many there are: totalOrders. Required.
	Orders int

	// Aggression is how eagerly they take the price. The contract does not show
	// its type.
	Aggression Setting `json:",omitzero"`

	// SlippageBps is how far they may fill away, in basis points and not in
	// percent: 50 is half a percent. The contract does not show its type.
	SlippageBps Setting `json:",omitzero"`

	// Irregular varies the orders. The contract does not show its type.
	Irregular Setting `json:",omitzero"`
}

// RunEdit changes a running [TWAP], the only kind of run that can be changed.
type RunEdit struct {
	// TotalSize is the new size of the whole run in base units, what is already
	// filled included: less than that is refused with size_below_executed.
	// Required.
	TotalSize decimal.Decimal
}
