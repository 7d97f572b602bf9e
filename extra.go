package trading

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"

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

// Equal reports whether both have the same members, byte for byte.
func (e Extra) Equal(other Extra) bool {
	return maps.EqualFunc(e, other, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) })
}

// Body is the body of a request or an answer, byte for byte.
type Body = wire.Body

// causeText is the text of an error beneath one of this package, which may be
// anybody's.
func causeText(err error) string { return wire.Printable(err.Error(), 4*wire.MostMessage) }

// String returns the members as a JSON object on one line, in the order of their
// names, cut if it is long.
func (e Extra) String() string {
	var text strings.Builder
	text.WriteByte('{')
	for i, name := range slices.Sorted(maps.Keys(e)) {
		if i > 0 {
			text.WriteByte(',')
		}
		text.WriteString(strconv.Quote(name))
		text.WriteByte(':')
		text.Write(e[name])
		if text.Len() > wire.MostShown {
			break
		}
	}
	text.WriteByte('}')
	return wire.Printable(text.String(), wire.MostShown)
}

// LogValue logs what String returns.
func (e Extra) LogValue() slog.Value { return slog.StringValue(e.String()) }
