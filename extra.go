package trading

import (
	"bytes"
	"encoding/json"
	"maps"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/wire"
)

// Extra holds the members of a record that have no field here, each as it came.
// The contract leaves the contents of some records open, and the service may add
// members to any of them. A nil Extra has none.
type Extra map[string]json.RawMessage

// Decimal returns the number of that name. It takes a JSON number and a string
// that spells one, since the service sends both. ok is false if there is no such
// member, or if it is null or no number.
func (e Extra) Decimal(name string) (n decimal.Decimal, ok bool) {
	raw := e[name]
	if text, quoted := e.Text(name); quoted {
		raw = json.RawMessage(text)
	}
	n, err := wire.ParseDecimal(raw)
	return n, err == nil
}

// Text returns the string of that name. ok is false if there is no such member,
// or if it is no JSON string.
func (e Extra) Text(name string) (s string, ok bool) {
	raw := e[name]
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", false
	}
	return s, true
}

// equal reports whether both have the same members, byte for byte.
func (e Extra) equal(other Extra) bool {
	return maps.EqualFunc(e, other, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) })
}
