package api

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/testing/jsontext"
	"github.com/tradingapi/trading-go/internal/wire"
)

// FuzzRecords decodes arbitrary input into each of the answers, chosen by its place in
// the alphabet: it must not panic, must accept nothing but well-formed
// JSON, and must keep what the contract does not know byte by byte.
func FuzzRecords(f *testing.F) {
	all := answers()
	names := slices.Sorted(maps.Keys(all))
	contract := readContract(f)
	for dice := range jsontext.Dice(500) {
		which := dice.IntN(len(names))
		example := contract.example(contract.Components.Schemas[names[which]])
		f.Add(byte(which), jsontext.Spoiled(4, jsontext.Of(example))(dice))
	}
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
			require.True(t, valid, "%s: accepted %q", name, data)
			for member, raw := range extraOf(v) {
				require.Equal(t, string(members[member]), string(raw), "%s: %q: member %q", name, data, member)
			}
			return
		}
		var wireErr *wire.JSONError
		require.ErrorAs(t, err, &wireErr, "%s: %q", name, data)
		require.LessOrEqual(t, wireErr.Offset, len(data), "%s: %q", name, data)
		require.LessOrEqual(t, len(err.Error()), 400, "%s: %q", name, data)
		// What is well-formed can only be refused for what it says.
		if valid {
			require.NotContains(t, []wire.Problem{wire.Syntax, wire.Truncated, wire.TrailingData}, wireErr.Problem, "%s: %q", name, data)
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
		require.NoError(t, json.Unmarshal(text, &members), "%s", text)
		var gotSymbol, wantSymbol string
		std, _ := json.Marshal(symbol)
		require.NoError(t, json.Unmarshal(members["symbol"], &gotSymbol), "%s", text)
		require.NoError(t, json.Unmarshal(std, &wantSymbol))
		require.Equal(t, wantSymbol, gotSymbol, "%s", text)
		if len(members["size"]) <= 64 {
			got, err := wire.ParseDecimal(members["size"])
			require.NoError(t, err, "%s", text)
			require.True(t, got.Equal(r.Size), "%s: size is not %s", text, r.Size)
		}
		stop, there := members["stopLossPrice"]
		require.Equal(t, state%3 != 0, there, "%s", text)
		require.Equal(t, state%3 == 1, string(stop) == "null", "%s", text)
	})
}
