package wire

import (
	"encoding/json"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/testing/jsontext"
)

// T67: the three states of a level. Absent leaves it, null clears it.
func TestTrap_T67_AppendOpt(t *testing.T) {
	type level = Nullable[decimal.Decimal]
	for _, tt := range []struct {
		first, second level
		want          string
	}{
		{level{}, level{}, `{}`},
		{Null[decimal.Decimal](), level{}, `{"a":null}`},
		{level{}, Some(decimal.New(10, -2)), `{"b":0.1}`},
		{Some(decimal.New(1, 3)), Null[decimal.Decimal](), `{"a":1000,"b":null}`},
	} {
		dst := []byte("body ")
		start := len(dst)
		dst = AppendOpt(dst, `,"a":`, tt.first, AppendDecimal)
		dst = AppendOpt(dst, `,"b":`, tt.second, AppendDecimal)
		assert.Equal(t, "body "+tt.want, string(EndObject(dst, start)))
	}
}

func TestAppend(t *testing.T) {
	type side string
	assert.Equal(t, `true`, string(AppendBool(nil, true)))
	assert.Equal(t, `-5`, string(AppendInt64(nil, -5)))
	assert.Equal(t, `null`, string(AppendRaw(nil, nil)))
	assert.Equal(t, `{"a":1}`, string(AppendRaw(nil, json.RawMessage(`{"a":1}`))))
	assert.Equal(t, `"long"`, string(AppendString(nil, side("long"))))
	assert.Equal(t, `,"s":"x"`, string(AppendOpt(nil, `,"s":`, Some("x"), AppendString)))
}

func FuzzAppendString(f *testing.F) {
	jsontext.Add[string](f, 300, jsontext.Spoiled(2, jsontext.String))
	f.Fuzz(func(t *testing.T, s string) {
		text := AppendString(nil, s)
		std, err := json.Marshal(s)
		require.NoError(t, err)
		var got, want string
		require.NoError(t, json.Unmarshal(text, &got), "%q: %s", s, text)
		require.NoError(t, json.Unmarshal(std, &want))
		d := NewDecoder(text)
		require.Equal(t, want, d.Text(), "%q", s)
		require.NoError(t, d.Finish())
		require.Equal(t, want, got, "%q, by encoding/json", s)
	})
}
