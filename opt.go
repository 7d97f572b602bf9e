package trading

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/shopspring/decimal"
)

// Opt is a value that an answer may lack, such as the unrealized PnL of a
// position in an unpriced market. The zero value has none. Missing is never
// zero: [Opt.Get] is the only way to the value and tells whether there is one.
//
// An Opt prints as its value or "none" and marshals as its value or null.
// Compare with [Opt.Equal]; == does not compile.
type Opt[T any] struct {
	_     incomparable
	value T // zero if none
	ok    bool
}

// Some returns an Opt that has the value v.
func Some[T any](v T) Opt[T] { return Opt[T]{value: v, ok: true} }

// Get returns the value; ok is false, and v zero, if there is none.
func (o Opt[T]) Get() (v T, ok bool) { return o.value, o.ok }

// IsZero reports whether there is no value, for the JSON option omitzero.
func (o Opt[T]) IsZero() bool { return !o.ok }

// Equal reports whether both have none, or both have equal values: by T's own
// method Equal(T) bool if it has one, as decimals and the types of this package
// do, and by [reflect.DeepEqual] otherwise.
func (o Opt[T]) Equal(other Opt[T]) bool {
	if !o.ok || !other.ok {
		return o.ok == other.ok
	}
	if v, ok := any(o.value).(interface{ Equal(T) bool }); ok {
		return v.Equal(other.value)
	}
	return reflect.DeepEqual(o.value, other.value)
}

// String returns the value as fmt.Sprint prints it, or "none".
func (o Opt[T]) String() string { return fmt.Sprint(o) }

// Format implements [fmt.Formatter]: the value is printed with the verb, flags,
// width and precision given, or "none" with the width.
func (o Opt[T]) Format(f fmt.State, verb rune) {
	if !o.ok {
		if width, ok := f.Width(); ok && f.Flag('-') {
			fmt.Fprintf(f, "%-*s", width, "none")
		} else if ok {
			fmt.Fprintf(f, "%*s", width, "none")
		} else {
			fmt.Fprint(f, "none")
		}
		return
	}
	var v any = o.value
	if d, ok := v.(decimal.Decimal); ok && (verb == 'v' || verb == 's') && !f.Flag('#') {
		v = numberText(d) // whatever the global settings of package decimal are
	}
	fmt.Fprintf(f, fmt.FormatString(f, verb), v)
}

// MarshalJSON returns the JSON of the value, or null. A decimal is written as a
// JSON number in plain notation.
func (o Opt[T]) MarshalJSON() ([]byte, error) {
	if !o.ok {
		return []byte("null"), nil
	}
	if d, ok := any(o.value).(decimal.Decimal); ok {
		return numberJSON(d, "optional number")
	}
	return json.Marshal(o.value)
}

// UnmarshalJSON reads a value, or null as none. On an error o has none.
func (o *Opt[T]) UnmarshalJSON(data []byte) error {
	*o = Opt[T]{}
	if isNull(data) {
		return nil
	}
	var v T
	if d, ok := any(&v).(*decimal.Decimal); ok {
		n, err := parseNumber(data, "optional number")
		if err != nil {
			return err
		}
		*d = n
	} else if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	*o = Some(v)
	return nil
}

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
