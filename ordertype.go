package trading

import (
	"fmt"
	"strconv"
)

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
		return nil, fmt.Errorf("trading: no such order type: %d", uint8(t))
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
	return fmt.Errorf("trading: no such order type: %q", text)
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
		return nil, fmt.Errorf("trading: no such kind of execution: %d", uint8(k))
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
	return fmt.Errorf("trading: no such kind of execution: %q", text)
}
