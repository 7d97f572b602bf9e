package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/wire"
)

// FuzzRecords decodes arbitrary input into each of the answers, chosen by its place in
// the alphabet: it must not panic, must accept nothing but well-formed
// JSON, and must keep what the contract does not know byte by byte.
func FuzzRecords(f *testing.F) {
	all := answers()
	names := slices.Sorted(maps.Keys(all))
	f.Fuzz(func(t *testing.T, which byte, data []byte) {
		name := names[int(which)%len(names)]
		valid := json.Valid(data)
		var members map[string]json.RawMessage
		if valid {
			_ = json.Unmarshal(data, &members) // nil for what is no object
		}
		v := all[name]()
		err := wire.Unmarshal(data, v)
		if err == nil {
			if !valid {
				t.Fatalf("%s: accepted %q", name, data)
			}
			for member, raw := range extraOf(v) {
				if !bytes.Equal(raw, members[member]) {
					t.Fatalf("%s: %q: member %q is %s, want %s", name, data, member, raw, members[member])
				}
			}
			return
		}
		var wireErr *wire.Error
		if !errors.As(err, &wireErr) {
			t.Fatalf("%s: %q: error of type %T", name, data, err)
		}
		if wireErr.Offset > len(data) || len(err.Error()) > 400 {
			t.Fatalf("%s: %q: error %v", name, data, err)
		}
		// What is well-formed can only be refused for what it says.
		if valid && (wireErr.Problem == wire.Syntax || wireErr.Problem == wire.Truncated || wireErr.Problem == wire.TrailingData) {
			t.Fatalf("%s: %q: error %v", name, data, err)
		}
	})
}

// FuzzOrderRequest writes arbitrary orders: always JSON, always readable.
func FuzzOrderRequest(f *testing.F) {
	f.Fuzz(func(t *testing.T, account, symbol, side string, size int64, exp int8, price int64, state uint8) {
		r := &OrderRequest{
			AccountID: account, Symbol: symbol, Side: Side(side),
			Size: decimal.New(size, int32(exp)), Leverage: decimal.New(price, 0),
		}
		switch state % 3 {
		case 1:
			r.StopLossPrice = wire.Null[decimal.Decimal]()
		case 2:
			r.StopLossPrice = wire.Some(decimal.New(price, -int32(exp/2)))
			r.ReduceOnly = wire.Some(price%2 == 0)
		}
		text := r.AppendWire(nil)
		var members map[string]json.RawMessage
		if err := json.Unmarshal(text, &members); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		var gotSymbol, wantSymbol string
		std, _ := json.Marshal(symbol)
		if json.Unmarshal(members["symbol"], &gotSymbol) != nil || json.Unmarshal(std, &wantSymbol) != nil || gotSymbol != wantSymbol {
			t.Fatalf("%s: symbol is not %q", text, symbol)
		}
		got, err := wire.ParseDecimal(members["size"])
		if len(members["size"]) <= 64 && (err != nil || !got.Equal(r.Size)) {
			t.Fatalf("%s: size is not %s: %v", text, r.Size, err)
		}
		stop, there := members["stopLossPrice"]
		if there == (state%3 == 0) || (string(stop) == "null") != (state%3 == 1) {
			t.Fatalf("%s: stop in state %d", text, state%3)
		}
	})
}
