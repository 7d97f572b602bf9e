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

// okObject is an object after its first member, which is ok: true.
type okObject object

// mustJSON encodes values of this package, which all have a JSON form.
func mustJSON(v any) []byte { return appendJSON(make([]byte, 0, 256), v) }

// appendJSON encodes what nearly every answer consists of by itself: a month of
// polling is a million answers.
func appendJSON(b []byte, v any) []byte {
	switch v := v.(type) {
	case object:
		return appendMembers(append(b, '{'), v)
	case okObject:
		return appendMembers(append(b, `{"ok":true`...), v)
	case num:
		return amountOf(decimal.Decimal(v)).append(b)
	case opt:
		return appendOpt(b, v)
	case bool:
		return strconv.AppendBool(b, v)
	case int64:
		return strconv.AppendInt(b, v, 10)
	case string:
		return appendText(b, v)
	case []marketView:
		return appendRows(b, v)
	case priceView:
		return v.appendWire(b)
	case positionViews:
		return v.appendWire(b)
	case sandboxPositions:
		return v.appendWire(b)
	case []tradeView:
		return appendRows(b, v)
	case accountView:
		return v.appendWire(b)
	case *positionView:
		if v == nil {
			return append(b, "null"...)
		}
		return v.appendWire(b)
	}
	text, err := json.Marshal(v)
	if err != nil {
		panic("tradingsim: " + err.Error())
	}
	return append(b, text...)
}

func appendOpt(b []byte, v opt) []byte {
	if !v.set {
		return append(b, "null"...)
	}
	return amountOf(v.value).append(b)
}

// appendMembers appends the members of an object that has been opened, and closes it.
func appendMembers(b []byte, members []member) []byte {
	for _, m := range members {
		if b[len(b)-1] != '{' {
			b = append(b, ',')
		}
		b = append(appendText(b, m.name), ':')
		b = appendJSON(b, m.value)
	}
	return append(b, '}')
}

func appendText(b []byte, v string) []byte {
	if !isPlain(v) {
		text, err := json.Marshal(v)
		if err != nil {
			panic("tradingsim: " + err.Error())
		}
		return append(b, text...)
	}
	b = append(b, '"')
	b = append(b, v...)
	return append(b, '"')
}

func appendRows[T interface{ appendWire([]byte) []byte }](b []byte, rows []T) []byte {
	b = append(b, '[')
	for i, row := range rows {
		if i > 0 {
			b = append(b, ',')
		}
		b = row.appendWire(b)
	}
	return append(b, ']')
}

// row is a JSON object that is being written, member by member.
type row struct {
	b      []byte
	hidden map[string]bool // members that are left out
}

func openRow(b []byte) *row { return &row{b: append(b, '{')} }

func (r *row) close() []byte { return append(r.b, '}') }

// name begins a member; ok is false if it is left out.
func (r *row) name(name string) (ok bool) {
	if r.hidden != nil && r.hidden[name] {
		return false
	}
	if r.b[len(r.b)-1] != '{' {
		r.b = append(r.b, ',')
	}
	r.b = append(r.b, '"')
	r.b = append(r.b, name...)
	r.b = append(r.b, '"', ':')
	return true
}

func (r *row) text(name, v string) {
	if r.name(name) {
		r.b = appendText(r.b, v)
	}
}

func (r *row) number(name string, v num) { r.amount(name, amountOf(decimal.Decimal(v))) }

func (r *row) amount(name string, v amount) {
	if r.name(name) {
		r.b = v.append(r.b)
	}
}

func (r *row) optional(name string, v opt) {
	if r.name(name) {
		r.b = appendOpt(r.b, v)
	}
}

func (r *row) flag(name string, v bool) {
	if r.name(name) {
		r.b = strconv.AppendBool(r.b, v)
	}
}

// isPlain reports whether a text is its own JSON form.
func isPlain(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ', c > '~', c == '"', c == '\\', c == '<', c == '>', c == '&':
			return false
		}
	}
	return true
}
