package trading

import (
	"encoding/json"
	"fmt"

	"github.com/shopspring/decimal"
)

// Setting is a JSON scalar: true, false, a number or a text. It is for the fields
// whose name the contract shows but not their type, such as sizeSkew and
// aggression, so that a program stays correct whatever the type turns out to be.
// The zero value is not sent.
//
// Settings can be compared with ==.
type Setting struct {
	json string // canonical; empty if not sent
}

// On and Off are the JSON values true and false. They are variables only because
// Go has no constants of a struct type: do not assign to them. The package itself
// never reads them.
var (
	On  = Setting{json: "true"}
	Off = Setting{json: "false"}
)

// Number is a JSON number, in plain notation.
func Number(n decimal.Decimal) Setting { return Setting{json: numberText(n)} }

// Text is a JSON string. Bytes that are not UTF-8 become the replacement
// character, as everywhere in encoding/json.
func Text(s string) Setting {
	quoted, err := json.Marshal(s)
	if err != nil {
		panic("trading: a string always has a JSON form: " + err.Error())
	}
	return Setting{json: string(quoted)}
}

// IsZero reports whether s is not sent, for the JSON option omitzero.
func (s Setting) IsZero() bool { return s.json == "" }

// valid reports whether s can be sent, which a number that is too long for the
// wire cannot.
func (s Setting) valid() bool {
	if s.json == "" || s.json[0] == 't' || s.json[0] == 'f' || s.json[0] == '"' {
		return true
	}
	_, err := parseNumber([]byte(s.json), "setting")
	return err == nil
}

// String returns the JSON of s, or "absent".
func (s Setting) String() string {
	if s.IsZero() {
		return "absent"
	}
	return s.json
}

// MarshalJSON returns the scalar, or null for the zero value.
func (s Setting) MarshalJSON() ([]byte, error) {
	switch {
	case s.IsZero():
		return []byte("null"), nil
	case !s.valid():
		return nil, fmt.Errorf("trading: setting: %w", errUnwritable)
	default:
		return []byte(s.json), nil
	}
}

// UnmarshalJSON reads a scalar, or null as the zero value.
func (s *Setting) UnmarshalJSON(data []byte) error {
	*s = Setting{}
	switch string(data) {
	case "null":
		return nil
	case "true", "false":
		s.json = string(data)
		return nil
	}
	if len(data) > 0 && data[0] == '"' {
		var text string
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
		*s = Text(text)
		return nil
	}
	n, err := parseNumber(data, "setting")
	if err != nil {
		return err
	}
	*s = Number(n)
	return nil
}
