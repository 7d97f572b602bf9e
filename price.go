package trading

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/wire"
)

// Dec returns the number that text spells, for constants in source code:
//
//	MaxSlippagePct: trading.Some(trading.Dec("0.5"))
//
// The text is written as a JSON number ("42", "-0.5", "1e-7"; not ".5" or
// "+5"), of at most 64 bytes. Dec panics on anything else, so it is not for
// text that the program reads: use [decimal.NewFromString] there.
func Dec(text string) decimal.Decimal {
	d, err := wire.ParseDecimal([]byte(text))
	if err != nil {
		panic("trading: Dec(" + strconv.Quote(text) + "): " + err.Error())
	}
	return d
}

// errUnwritable is a number that arithmetic made longer or larger than any
// amount, price or percent of the service. In plain notation it could fill the
// memory, and nothing could read it back.
var errUnwritable = errors.New("number has too many digits for the wire")

// numberJSON is d as a JSON number in plain notation; what names the type in its error.
func numberJSON(d decimal.Decimal, what string) ([]byte, error) {
	text, ok := wire.AppendNumber(nil, d)
	if !ok {
		return nil, fmt.Errorf("trading: %s: %w", what, errUnwritable)
	}
	return text, nil
}

// parseNumber is the reverse of numberJSON: what it reads can be written.
func parseNumber(data []byte, what string) (decimal.Decimal, error) {
	d, err := wire.ParseDecimal(data)
	if err == nil && !wire.Writable(d) {
		err = errUnwritable
	}
	if err != nil {
		return decimal.Decimal{}, fmt.Errorf("trading: %s: %w", what, err)
	}
	return d, nil
}

func isNull(data []byte) bool { return string(data) == "null" }

// Level is an optional price with the three states of a JSON member: absent
// (the zero value), null ([Clear]) and a number ([At]). Stops, targets and the
// optional prices of an order are Levels, in requests and in answers alike, so
// that a level read from a position can be given back as it is.
//
// What the states mean is up to the field: to change a trigger, absent leaves
// it as it is and Clear removes it; of a position, Clear says that none is
// set. An order takes no Clear.
//
// A Level in a request has to be positive. At(0) is a Level all the same, and
// is refused before anything is sent: a stop that was computed as zero is a
// mistake to hear of, not a stop to leave out.
//
// A Level prints as "absent", "clear" or its number. Compare with
// [Level.Equal]; == does not compile. In JSON, Clear is null and At a number. A
// type cannot leave out itself: give a field `json:",omitzero"`, or an absent
// Level is written as null and comes back as Clear.
type Level struct {
	_     incomparable
	state levelState
	at    decimal.Decimal // meaningful if state is levelAt
}

type levelState uint8

const (
	levelAbsent levelState = iota
	levelClear
	levelAt
)

// Clear removes a level: it is sent as null. It is a variable only because Go
// has no constants of a struct type: do not assign to it. The package itself never
// reads it.
var Clear = Level{state: levelClear}

// At sets a level to the price n.
func At(n decimal.Decimal) Level { return Level{state: levelAt, at: n} }

// Value returns the number; ok is false if l is absent or [Clear].
func (l Level) Value() (n decimal.Decimal, ok bool) { return l.at, l.state == levelAt }

// IsClear reports whether l is [Clear], that is null on the wire.
func (l Level) IsClear() bool { return l.state == levelClear }

// IsZero reports whether l is absent, for the JSON option omitzero.
func (l Level) IsZero() bool { return l.state == levelAbsent }

// Equal reports whether both are absent, both are [Clear], or both are the
// same number.
func (l Level) Equal(other Level) bool { return l.state == other.state && l.at.Equal(other.at) }

// orClear returns l, or null for an absent level.
func (l Level) orClear() Level {
	if l.IsZero() {
		return Level{state: levelClear}
	}
	return l
}

// String returns "absent", "clear", or the number in plain notation.
func (l Level) String() string {
	switch l.state {
	case levelAt:
		return wire.NumberText(l.at)
	case levelClear:
		return "clear"
	default:
		return "absent"
	}
}

// MarshalJSON returns the number as a JSON number, or null.
func (l Level) MarshalJSON() ([]byte, error) {
	if l.state != levelAt {
		return []byte("null"), nil
	}
	return numberJSON(l.at, "level")
}

// UnmarshalJSON reads a JSON number, or null as [Clear]. On an error l becomes
// absent.
func (l *Level) UnmarshalJSON(data []byte) error {
	*l = Level{}
	if isNull(data) {
		*l = Level{state: levelClear}
		return nil
	}
	n, err := parseNumber(data, "level")
	if err != nil {
		return err
	}
	*l = At(n)
	return nil
}

// Mark is the current price of a market, which may be absent. The zero value
// is unpriced.
//
// The service has four ways to say that it has no price: null, a symbol that
// is missing from the list of prices, 404 no_price, and a PnL that is null. A
// missing mark is never zero, and a price that is not positive is none. All of
// them are the unpriced Mark, and [Mark.Price] is the only way to the number.
//
// Marks are read from a cache and can be some seconds old: what an order
// really paid is in its [Fill].
//
// A Mark prints as its price or "unpriced" and marshals as a JSON number or
// null. Compare with [Mark.Equal]; == does not compile.
type Mark struct {
	_     incomparable
	price decimal.Decimal // zero if unpriced, positive otherwise
}

// incomparable makes == on a struct a compile-time error: two equal decimals
// differ under ==, since each points to digits of its own.
type incomparable [0]func()

// MarkAt returns the mark at price, which is unpriced unless price is positive.
func MarkAt(price decimal.Decimal) Mark {
	if !price.IsPositive() {
		return Mark{}
	}
	return Mark{price: price}
}

// Price returns the price; ok is false if the market is unpriced.
func (m Mark) Price() (price decimal.Decimal, ok bool) { return m.price, m.price.IsPositive() }

// Equal reports whether both are unpriced or both have the same price.
func (m Mark) Equal(other Mark) bool { return m.price.Equal(other.price) }

// IsZero reports whether m is unpriced, for the JSON option omitzero.
func (m Mark) IsZero() bool { return !m.price.IsPositive() }

// String returns the price in plain notation, or "unpriced".
func (m Mark) String() string {
	if m.IsZero() {
		return "unpriced"
	}
	return wire.NumberText(m.price)
}

// MarshalJSON returns the price as a JSON number, or null.
func (m Mark) MarshalJSON() ([]byte, error) {
	if m.IsZero() {
		return []byte("null"), nil
	}
	return numberJSON(m.price, "mark")
}

// UnmarshalJSON reads null or a JSON number; one that is not positive gives an
// unpriced mark. On an error m becomes unpriced and keeps no older price.
func (m *Mark) UnmarshalJSON(data []byte) error {
	*m = Mark{}
	if isNull(data) {
		return nil
	}
	price, err := parseNumber(data, "mark")
	if err != nil {
		return err
	}
	*m = MarkAt(price)
	return nil
}
