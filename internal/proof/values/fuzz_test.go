package values

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

// FuzzValueJSON reads parts, optional numbers, sides of orders and ways to
// carry them out: what is read can be written, and read again as the same.
func FuzzValueJSON(f *testing.F) {
	type value interface {
		json.Unmarshaler
		json.Marshaler
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for name, pair := range map[string][2]value{
			"part":   {new(trading.Part), new(trading.Part)},
			"number": {new(trading.Opt[decimal.Decimal]), new(trading.Opt[decimal.Decimal])},
			"text":   {new(trading.Opt[string]), new(trading.Opt[string])},
		} {
			v, again := pair[0], pair[1]
			zero := fmt.Sprint(v)
			_ = v.UnmarshalJSON([]byte("7")) // what was there before must not show
			if v.UnmarshalJSON(data) != nil {
				if fmt.Sprint(v) != zero {
					t.Fatalf("%s: refused %q and kept %v", name, data, v)
				}
				continue
			}
			if !json.Valid(data) {
				t.Fatalf("%s: %q was read as %v", name, data, v)
			}
			text, err := v.MarshalJSON()
			if err != nil {
				t.Fatalf("%s: %q was read but cannot be written: %v", name, data, err)
			}
			if err := again.UnmarshalJSON(text); err != nil || fmt.Sprint(again) != fmt.Sprint(v) {
				t.Fatalf("%s: %q became %q, and that %v (%v)", name, data, text, again, err)
			}
			if !json.Valid(text) || len(text) > 6*len(data)+64 {
				t.Fatalf("%s: %q became %q", name, data, text)
			}
		}
		var kind trading.OrderType
		if known := kind.UnmarshalText(data) == nil; known != (string(data) == "market" || string(data) == "limit") {
			t.Fatalf("order type %q: known is %v", data, known)
		}
	})
}
