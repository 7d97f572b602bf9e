package values

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

// checkEqual proves that Equal of a record looks at every field: it takes a record
// without zero fields and changes one field after the other. A field that is added
// later and forgotten in Equal fails here.
func checkEqual[T interface{ Equal(T) bool }](t *testing.T, full T) {
	t.Helper()
	if !full.Equal(rescaled(full)) {
		t.Error("differs from itself with other digits behind the decimal point")
	}
	for i := range reflect.TypeFor[T]().NumField() {
		name := reflect.TypeFor[T]().Field(i).Name
		if reflect.ValueOf(full).Field(i).IsZero() {
			t.Errorf("%s is zero: give it a value in the test", name)
		}
		other := full
		field := reflect.ValueOf(&other).Elem().Field(i)
		field.SetZero()
		if full.Equal(other) || other.Equal(full) {
			t.Errorf("Equal does not look at %s", name)
		}
	}
}

// rescaled returns v with each number written with more digits, and each time in
// another zone: equal, and different under ==.
func rescaled[T any](v T) T {
	fields := reflect.ValueOf(&v).Elem()
	for i := range fields.NumField() {
		switch field := fields.Field(i).Addr().Interface().(type) {
		case *decimal.Decimal:
			*field = moreDigits(*field)
		case *trading.Opt[decimal.Decimal]:
			*field = trading.Some(moreDigits(known(field.Get())))
		case *trading.Mark:
			*field = trading.MarkAt(moreDigits(known(field.Price())))
		case *trading.Level:
			*field = trading.At(moreDigits(known(field.Value())))
		case *time.Time:
			*field = field.In(time.FixedZone("", 3600))
		case *trading.Extra:
			copied := trading.Extra{}
			for name, raw := range *field {
				copied[name] = append(json.RawMessage(nil), raw...)
			}
			*field = copied
		}
	}
	return v
}

func moreDigits(d decimal.Decimal) decimal.Decimal { return d.Add(decimal.New(0, -12)) }

// known is a number that is there, or zero.
func known(d decimal.Decimal, _ bool) decimal.Decimal { return d }
