package trading

import "github.com/shopspring/decimal"

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

// valid reports whether p is a part of a position that can be sent.
func (p Part) valid() bool {
	return writable(p.pct) && p.pct.IsPositive() && p.pct.LessThanOrEqual(decimal.NewFromInt(100))
}

// validOnSandbox reports whether the sandbox takes p.
func (p Part) validOnSandbox() bool {
	return p.valid() && p.pct.GreaterThanOrEqual(decimal.NewFromInt(1))
}

// String returns the percentage, such as "25%".
func (p Part) String() string { return numberText(p.pct) + "%" }

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
