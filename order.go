package trading

import (
	"encoding/json"
	"fmt"
	"slices"
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
	Symbol string          // the market, exactly as its Market has it; required
	Side   Side            // [Long] or [Short]; required
	Size   decimal.Decimal // in base units (0.5 is half a bitcoin, not half a dollar), greater than 0; required

	// Leverage is clamped to the market's cap and never refused for being above
	// it: the leverage in force is in the position of the result. Required on a
	// live account. On the sandbox 0 leaves it to the service, whose default the
	// contract does not show.
	Leverage decimal.Decimal

	// Type is [MarketOrder] unless set. A [LimitOrder] needs LimitPrice, and a
	// market order must not have one: neither turns into the other by a field
	// that was forgotten. A resting limit takes either type.
	Type       OrderType
	LimitPrice Level `json:",omitzero"` // bounds the price of an order that fills now, and is the price of one that rests

	// ReduceOnly makes an order that only shrinks an opposite position and never
	// opens one. Live accounts only: the sandbox does not know it and could open
	// a position instead, so there it is refused before it is sent.
	ReduceOnly bool

	TakeProfit Level `json:",omitzero"` // closes the position at a profit once the price reaches it
	StopLoss   Level `json:",omitzero"` // closes it at a loss; a gap fills at the price behind it, not at the level

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
	TakeProfit Level                `json:",omitzero"` // a price
	StopLoss   Level                `json:",omitzero"` // a price; one at the entry or in profit is valid
	ClosePct   Opt[decimal.Decimal] `json:",omitzero"` // the percent of the position that a trigger closes, 100 for all; sandbox only

	ClearClosePct bool `json:",omitzero"` // sends closePct as null, which clears it; sandbox only, and not beside ClosePct
}

// OrderType is whether an order takes the price it finds or has a limit. It is
// a closed number and no string: the sandbox places an order of a type that it
// does not know as a market order, so a misspelled type must not compile, and a
// value that is not one of these is refused before it is sent.
type OrderType uint8

// The types.
const (
	MarketOrder OrderType = iota // fills at the service's own fresh price
	LimitOrder                   // fills at its LimitPrice or better
)

var orderTypes = [...]string{"market", "limit"}

// String returns the name on the wire, "market" or "limit".
func (t OrderType) String() string {
	if int(t) < len(orderTypes) {
		return orderTypes[t]
	}
	return "OrderType(" + strconv.Itoa(int(t)) + ")"
}

// MarshalText returns the name on the wire.
func (t OrderType) MarshalText() ([]byte, error) {
	if int(t) >= len(orderTypes) {
		return nil, fmt.Errorf("trading: order type is %d: it must be MarketOrder or LimitOrder", t)
	}
	return []byte(orderTypes[t]), nil
}

// UnmarshalText reads "market" or "limit", exactly, and refuses anything else.
func (t *OrderType) UnmarshalText(text []byte) error {
	i := slices.Index(orderTypes[:], string(text))
	if i < 0 {
		return fmt.Errorf("trading: order type is %q: it must be market or limit", text)
	}
	*t = OrderType(i)
	return nil
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

// isAll reports whether a percent is all of a position.
func isAll(pct decimal.Decimal) bool { return pct.Equal(decimal.NewFromInt(100)) }

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

// Conditional waits for a price and then places the order: at the market, or as a limit order if the
// order's Type is [LimitOrder] (execKind: stop-market or stop-limit).
type Conditional struct {
	Trigger decimal.Decimal // the price to wait for: triggerPrice; required
}

// Ladder splits the order into limit orders at prices between From and To.
type Ladder struct {
	From     decimal.Decimal      // the first price: startPrice; required
	To       decimal.Decimal      // the last price: endPrice; required
	Rungs    int                  // how many orders there are: totalOrders; required
	SizeSkew Opt[decimal.Decimal] `json:",omitzero"` // how the size is spread over the rungs
}

// TWAP splits the order into clips that are placed evenly over a time. If the
// clips would be too small, the refusal is MIN_NOTIONAL.
type TWAP struct {
	Duration      time.Duration // how long it takes, in whole milliseconds: durationMs; required
	RandomizeSize Opt[bool]     `json:",omitzero"` // varies the size of the clips
	RandomizeTime Opt[bool]     `json:",omitzero"` // varies the time between the clips
}

// Chase follows the market with a limit order until it fills.
type Chase struct {
	To Level `json:",omitzero"` // the price beyond which it does not follow: chaseTo; absent means no bound
}

// ChaseTWAP splits the order into clips as [TWAP] does and places each as [Chase]
// does.
type ChaseTWAP struct {
	Duration time.Duration // how long it takes, in whole milliseconds: durationMs; required
	To       Level         `json:",omitzero"` // the price beyond which it does not follow: chaseTo; absent means no bound
}

// Swarm splits the order into many small ones.
type Swarm struct {
	Orders int // how many there are: totalOrders; required

	// Aggression is how eagerly they take the price. The contract shows neither its
	// type nor its values, so it is sent as the JSON that is given here: a number,
	// or a text with its quotes.
	Aggression  Opt[json.RawMessage] `json:",omitzero"`
	SlippageBps Opt[decimal.Decimal] `json:",omitzero"` // how far they may fill away, in basis points, not percent: 50 is half a percent
	Irregular   Opt[bool]            `json:",omitzero"` // varies the orders
}
