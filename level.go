package trading

import "github.com/shopspring/decimal"

// Level is an optional number with the three states of a JSON member: absent
// (the zero value), null ([Clear]) and a number ([At]). Stops, targets and the
// optional numbers of an order are Levels, in requests and in answers alike, so
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

// At sets a level to n: a price, or a percent, as the field says.
func At(n decimal.Decimal) Level { return Level{state: levelAt, at: n} }

// Value returns the number; ok is false if l is absent or [Clear].
func (l Level) Value() (n decimal.Decimal, ok bool) {
	return l.at, l.state == levelAt
}

// IsClear reports whether l is [Clear], that is null on the wire.
func (l Level) IsClear() bool { return l.state == levelClear }

// IsZero reports whether l is absent, for the JSON option omitzero.
func (l Level) IsZero() bool { return l.state == levelAbsent }

// Equal reports whether both are absent, both are [Clear], or both are the
// same number.
func (l Level) Equal(other Level) bool {
	return l.state == other.state && l.at.Equal(other.at)
}

// valid reports whether l can be sent: a number must be positive and short
// enough for the wire.
func (l Level) valid() bool {
	return l.state != levelAt || l.at.IsPositive() && writable(l.at)
}

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
		return numberText(l.at)
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
