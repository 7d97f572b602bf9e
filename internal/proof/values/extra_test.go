package values

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go"
)

func TestExtra(t *testing.T) {
	e := trading.Extra{
		"number": json.RawMessage(`1.50`),
		"quoted": json.RawMessage(`"-12.30"`),
		"text":   json.RawMessage(`"caf\u00e9"`),
		"null":   json.RawMessage(`null`),
		"object": json.RawMessage(`{"a":1}`),
		"bool":   json.RawMessage(`true`),
		"huge":   json.RawMessage(`1e999999999`),
		"broken": json.RawMessage(`"1`),
		"empty":  nil,
	}
	for name, want := range map[string]string{"number": "1.5", "quoted": "-12.3"} {
		d, ok := e.Decimal(name)
		assert.True(t, ok && d.Equal(trading.Dec(want)), name)
	}
	for _, name := range []string{"text", "null", "object", "bool", "huge", "broken", "empty", "missing"} {
		_, ok := e.Decimal(name)
		assert.False(t, ok, name)
	}
	for name, want := range map[string]string{"quoted": "-12.30", "text": "café"} {
		s, ok := e.Text(name)
		assert.True(t, ok, name)
		assert.Equal(t, want, s)
	}
	for _, name := range []string{"number", "null", "object", "bool", "huge", "broken", "empty", "missing"} {
		_, ok := e.Text(name)
		assert.False(t, ok, name)
	}
	_, ok := trading.Extra(nil).Decimal("x")
	assert.False(t, ok)
}
