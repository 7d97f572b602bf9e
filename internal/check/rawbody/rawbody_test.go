package rawbody

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/testing/jsontext"
)

func TestValues(t *testing.T) {
	b, fault := Parse("/orders/swarm", []byte(` {"symbol":"B\u0054C","size":1e2,"leverage":null,"reduceOnly":true,"totalOrders":3.0,"aggression":"x","note":[1]} `), "note")
	require.Nil(t, fault)
	assert.Equal(t, "BTC", b.Text("symbol"))
	assert.Equal(t, "100", b.Decimal("size").String())
	assert.True(t, b.Number("leverage").IsNull())
	assert.True(t, b.Number("limitPrice").IsAbsent())
	assert.True(t, b.Bool("reduceOnly"))
	assert.Equal(t, "3", b.Decimal("totalOrders").String())
	aggression, ok := b.values["aggression"].(json.RawMessage)
	assert.True(t, ok)
	assert.Equal(t, `"x"`, string(aggression))
	assert.Contains(t, b.values, "note")
	assert.NotContains(t, b.values, "side")
	assert.Empty(t, b.Text("side"))
	for _, body := range []string{`{"totalOrders":1.5}`, `{"totalOrders":99999999999999999}`, `{"aggression":{}}`, `{"size":1e65}`, `{"size":.5}`, `{"symbol":1}`, `{"reduceOnly":1}`, `{"x`, `{"` + strings.Repeat("\x01", 50) + `":1}`} {
		_, fault = Parse("/orders/swarm", []byte(body))
		require.NotNil(t, fault, body)
		assert.NotContains(t, fault.Text, "\x01")
	}
	_, fault = Parse("/sandbox/reset", nil)
	assert.Nil(t, fault)
	_, fault = Parse("/sandbox/reset", []byte(`{}`))
	assert.Nil(t, fault)
}

// What is read is what every other reader of JSON finds in the same bytes.
func FuzzParse(f *testing.F) {
	jsontext.Add[[]byte](f, 300, jsontext.Spoiled(2, jsontext.Of(
		`{"accountId":"acc_1","symbol":"BTC","side":"long","size":1.0e-2,"leverage":2,"reduceOnly":false}`,
		`{"size":1,"s\u0069ze":2}`, `{"size":"1"}`, `{"symbol":"\ud800"}`, `{"size":null} x`,
	)))
	jsontext.Add[[]byte](f, 300, jsontext.Value(1, "size", "symbol", "side", "leverage", "reduceOnly", "limitPrice"))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, fault := Parse("/orders", data)
		if fault != nil {
			assert.NotEmpty(t, fault.Code)
			assert.Less(t, len(fault.Text), 300)
			return
		}
		var other map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(data, &other))
		require.Len(t, b.values, len(other))
		for name, raw := range other {
			require.Contains(t, b.values, name)
			if b.of.kindOf(name) == number && string(raw) != "null" {
				want, ok := new(big.Rat).SetString(string(raw))
				require.True(t, ok && want.Cmp(b.Decimal(name).Rat()) == 0, "%s: %s", name, raw)
			}
		}
	})
}
