package trading

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/wire"
)

// Opt is a value that an answer may lack, such as the unrealized PnL of a
// position in an unpriced market. The zero value has none. Missing is never
// zero: [Opt.Get] is the only way to the value and reports whether there is one.
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
func (o Opt[T]) Format(f fmt.State, verb rune) { formatOpt(f, verb, o.value, o.ok) }

// formatOpt is apart from the type, or each of an Opt has a copy.
func formatOpt(f fmt.State, verb rune, v any, has bool) {
	if !has {
		if width, ok := f.Width(); ok && f.Flag('-') {
			fmt.Fprintf(f, "%-*s", width, "none")
		} else if ok {
			fmt.Fprintf(f, "%*s", width, "none")
		} else {
			fmt.Fprint(f, "none")
		}
		return
	}
	if d, ok := v.(decimal.Decimal); ok && (verb == 'v' || verb == 's') && !f.Flag('#') {
		v = wire.NumberText(d) // whatever the global settings of package decimal are
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

// equalFields reports whether every field of two records is equal, by its own method Equal
// if it has one. Both are structs of one type, with exported fields alone.
func equalFields(a, b any) bool {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	for i := range x.NumField() {
		v, w := x.Field(i), y.Field(i)
		if equal := v.MethodByName("Equal"); equal.IsValid() {
			if !equal.Call([]reflect.Value{w})[0].Bool() {
				return false
			}
		} else if !reflect.DeepEqual(v.Interface(), w.Interface()) {
			return false
		}
	}
	return true
}
