package trading

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/wire"
)

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
	MaxSlippagePct Opt[decimal.Decimal] `json:",omitzero"`
}

// TPSL are the levels at which the service closes a position. A level is
// judged against the current price of the market, not against the entry: for a
// long the stop below it and the take-profit above, for a short the reverse.
//
// [At] sets a level and [Clear] removes it; an absent level stays as it is. On a live
// account that costs a read, since the contract does not show what leaving a level
// out does there: see [Account.SetTPSL]. A level read from the position can be
// given back.
type TPSL struct {
	// TakeProfit is a price.
	TakeProfit Level `json:",omitzero"`

	// StopLoss is a price. One at the entry or in profit is valid.
	StopLoss Level `json:",omitzero"`

	// ClosePct is the percent of the position that a trigger closes, 100 for all of
	// it. Sandbox only.
	ClosePct Opt[decimal.Decimal] `json:",omitzero"`
}

// OrderType is whether an order takes the price it finds or has a limit. It is
// a closed number and no string: the sandbox places an order of a type that it
// does not know as a market order, so a misspelled type must not compile, and a
// value that is not one of these is refused before it is sent.
type OrderType uint8

const (
	// MarketOrder fills at the service's own fresh price.
	MarketOrder OrderType = iota
	// LimitOrder fills at its LimitPrice or better.
	LimitOrder
)

func (t OrderType) valid() bool { return t <= LimitOrder }

// String returns the name on the wire, "market" or "limit".
func (t OrderType) String() string {
	switch t {
	case MarketOrder:
		return "market"
	case LimitOrder:
		return "limit"
	default:
		return "OrderType(" + strconv.Itoa(int(t)) + ")"
	}
}

// MarshalText returns the name on the wire.
func (t OrderType) MarshalText() ([]byte, error) {
	if !t.valid() {
		return nil, fmt.Errorf("trading: order type is %d: it must be MarketOrder or LimitOrder", uint8(t))
	}
	return []byte(t.String()), nil
}

// UnmarshalText reads "market" or "limit", exactly, and refuses anything else.
func (t *OrderType) UnmarshalText(text []byte) error {
	for _, known := range []OrderType{MarketOrder, LimitOrder} {
		if string(text) == known.String() {
			*t = known
			return nil
		}
	}
	return fmt.Errorf("trading: order type is %q: it must be market or limit", text)
}

// ExecKind is what a conditional order becomes once its trigger is reached. Like
// [OrderType] it is closed.
type ExecKind uint8

const (
	// StopMarket becomes a market order.
	StopMarket ExecKind = iota
	// StopLimit becomes a limit order at the LimitPrice of its [Order].
	StopLimit
)

func (k ExecKind) valid() bool { return k <= StopLimit }

// String returns the name on the wire, "stop-market" or "stop-limit".
func (k ExecKind) String() string {
	switch k {
	case StopMarket:
		return "stop-market"
	case StopLimit:
		return "stop-limit"
	default:
		return "ExecKind(" + strconv.Itoa(int(k)) + ")"
	}
}

// MarshalText returns the name on the wire.
func (k ExecKind) MarshalText() ([]byte, error) {
	if !k.valid() {
		return nil, fmt.Errorf("trading: exec kind is %d: it must be StopMarket or StopLimit", uint8(k))
	}
	return []byte(k.String()), nil
}

// UnmarshalText reads "stop-market" or "stop-limit", exactly, and refuses
// anything else.
func (k *ExecKind) UnmarshalText(text []byte) error {
	for _, known := range []ExecKind{StopMarket, StopLimit} {
		if string(text) == known.String() {
			*k = known
			return nil
		}
	}
	return fmt.Errorf("trading: exec kind is %q: it must be stop-market or stop-limit", text)
}

// Part is how much of a position to close: [All], or a [Percent] of it. It is
// always sent, since the contract does not show what a live close does when it
// is left out. For the same reason the zero value means nothing, and is refused
// before anything is sent.
//
// Compare with [Part.Equal]; == does not compile.
type Part struct {
	_   incomparable
	pct decimal.Decimal
}

// All is the whole position. It is a variable only because Go has no constants
// of a struct type: do not assign to it. The package itself never reads it.
var All = Percent(decimal.NewFromInt(100))

// Percent is p percent of a position; 100 is [All]. The sandbox takes 1 to 100. For
// a live account the contract names no least part: anything above 0 is sent, and the
// service decides. What lies outside is refused before it is sent.
func Percent(p decimal.Decimal) Part { return Part{pct: p} }

// Percent returns how much of a position p is, in percent; 0 for the zero value.
func (p Part) Percent() decimal.Decimal { return p.pct }

// Equal reports whether both are the same part.
func (p Part) Equal(other Part) bool { return p.pct.Equal(other.pct) }

// String returns the percentage, such as "25%".
func (p Part) String() string { return wire.NumberText(p.pct) + "%" }

// MarshalJSON returns the percentage as a JSON number.
func (p Part) MarshalJSON() ([]byte, error) {
	return numberJSON(p.pct, "part")
}

// UnmarshalJSON reads a JSON number of percent. Null and an error give the zero
// value, which closes nothing.
func (p *Part) UnmarshalJSON(data []byte) error {
	*p = Part{}
	if isNull(data) {
		return nil
	}
	pct, err := parseNumber(data, "part")
	if err != nil {
		return err
	}
	*p = Percent(pct)
	return nil
}

// A Pro order is an [Order], which says what to trade, and one of the types here,
// which says how. Live accounts only. The service carries it out over time as a
// run; each part of it must clear the minimum order value of 10 dollars.
//
// The contract shows the names of these fields, the types of few, and no ranges. The
// types of the optional ones are what their names suggest.
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

	// SizeSkew is how the size is spread over the rungs.
	SizeSkew Opt[decimal.Decimal] `json:",omitzero"`
}

// TWAP splits the order into clips that are placed evenly over a time. If the
// clips would be too small, the refusal is MIN_NOTIONAL.
type TWAP struct {
	// Duration is how long it takes, in whole milliseconds: durationMs.
	// Required.
	Duration time.Duration

	// RandomizeSize varies the size of the clips.
	RandomizeSize Opt[bool] `json:",omitzero"`

	// RandomizeTime varies the time between the clips.
	RandomizeTime Opt[bool] `json:",omitzero"`
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

	// Aggression is how eagerly they take the price. The contract shows neither its
	// type nor its values, so it is sent as the JSON that is given here: a number,
	// or a text with its quotes.
	Aggression Opt[json.RawMessage] `json:",omitzero"`

	// SlippageBps is how far they may fill away, in basis points and not in
	// percent: 50 is half a percent.
	SlippageBps Opt[decimal.Decimal] `json:",omitzero"`

	// Irregular varies the orders.
	Irregular Opt[bool] `json:",omitzero"`
}

// RunEdit changes a running [TWAP], the only kind of run that can be changed.
type RunEdit struct {
	// TotalSize is the new size of the whole run in base units, what is already
	// filled included: less than that is refused with size_below_executed.
	// Required.
	TotalSize decimal.Decimal
}
