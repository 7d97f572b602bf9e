package tradingsim

import (
	"encoding/json"
	"strconv"

	"github.com/shopspring/decimal"
)

// object is a JSON object whose members keep their order.
type object []member

type member struct {
	name  string
	value any
}

// MarshalJSON lets objects stand inside other values.
func (o object) MarshalJSON() ([]byte, error) { return appendJSON(nil, o), nil }

// mustJSON encodes values of this package, which all have a JSON form.
func mustJSON(v any) []byte { return appendJSON(make([]byte, 0, 256), v) }

// appendJSON encodes what nearly every answer consists of by itself: a month of
// polling is a million answers.
func appendJSON(b []byte, v any) []byte {
	switch v := v.(type) {
	case object:
		b = append(b, '{')
		for i, m := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendJSON(b, m.name)
			b = append(b, ':')
			b = appendJSON(b, m.value)
		}
		return append(b, '}')
	case num:
		return append(b, decimal.Decimal(v).String()...)
	case opt:
		if !v.set {
			return append(b, "null"...)
		}
		return append(b, v.value.String()...)
	case bool:
		return strconv.AppendBool(b, v)
	case int64:
		return strconv.AppendInt(b, v, 10)
	case string:
		if isPlain(v) {
			b = append(b, '"')
			b = append(b, v...)
			return append(b, '"')
		}
	}
	text, err := json.Marshal(v)
	if err != nil {
		panic("tradingsim: " + err.Error())
	}
	return append(b, text...)
}

// isPlain tells whether a text is its own JSON form.
func isPlain(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ', c > '~', c == '"', c == '\\', c == '<', c == '>', c == '&':
			return false
		}
	}
	return true
}
