package values

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
)

func TestOptGet(t *testing.T) {
	v, ok := trading.Some(0).Get()
	assert.True(t, ok)
	assert.Zero(t, v)
	_, ok = trading.Opt[int]{}.Get()
	assert.False(t, ok)
	assert.True(t, trading.Opt[int]{}.IsZero())
	assert.False(t, trading.Some(0).IsZero())
}

func TestOptEqual(t *testing.T) {
	assert.True(t, trading.Some(trading.Dec("1.0")).Equal(trading.Some(trading.Dec("1"))), "decimals are compared by their own Equal")
	assert.True(t, trading.Some(trading.MarkAt(trading.Dec("1.0"))).Equal(trading.Some(trading.MarkAt(trading.Dec("1")))))
	assert.True(t, trading.Some([]int{1}).Equal(trading.Some([]int{1})))
	assert.True(t, trading.Opt[int]{}.Equal(trading.Opt[int]{}))
	assert.False(t, trading.Some(0).Equal(trading.Opt[int]{}))
	assert.False(t, trading.Opt[int]{}.Equal(trading.Some(0)))
	assert.False(t, trading.Some(trading.Dec("1")).Equal(trading.Some(trading.Dec("2"))))
	assert.True(t, trading.Some(trading.Some(trading.Dec("1.0"))).Equal(trading.Some(trading.Some(trading.Dec("1")))))
}

func TestOptPrints(t *testing.T) {
	pnl := trading.Some(trading.Dec("-12.50"))
	assert.Equal(t, "-12.5 -12.5 -12.500", fmt.Sprintf("%v %s %.3f", pnl, pnl, pnl))
	assert.Equal(t, "[ -12.5] [-12.5 ]", fmt.Sprintf("[%6v] [%-6v]", pnl, pnl))
	assert.Equal(t, "-12.5", pnl.String())
	assert.Equal(t, "007", fmt.Sprintf("%03d", trading.Some(7)))
	assert.Equal(t, `"x"`, fmt.Sprintf("%q", trading.Some("x")))
	assert.Equal(t, "decimal.New(-1250, -2)", fmt.Sprintf("%#v", pnl))

	var none trading.Opt[decimal.Decimal]
	assert.Equal(t, "none none [  none] [none  ]", fmt.Sprintf("%v %.2f [%6v] [%-6v]", none, none, none, none))
	assert.Equal(t, "none", none.String())
}

// The slippage of a market whose book cannot fill the order is null, which is not
// a slippage of 0 percent.
func TestTrap_T34_NullIsNotZero(t *testing.T) {
	var refusal struct{ EstSlippagePct trading.Opt[decimal.Decimal] }
	require.NoError(t, json.Unmarshal([]byte(`{"EstSlippagePct": null}`), &refusal))
	_, ok := refusal.EstSlippagePct.Get()
	assert.False(t, ok)
	assert.False(t, refusal.EstSlippagePct.Equal(trading.Some(decimal.Zero)))
	assert.Equal(t, "none", refusal.EstSlippagePct.String())
}

func TestOptJSON(t *testing.T) {
	type inner struct{ A trading.Opt[int] }
	type record struct {
		D trading.Opt[decimal.Decimal]
		I trading.Opt[int]
		S trading.Opt[string] `json:",omitzero"`
		R trading.Opt[inner]
	}
	for _, text := range []string{
		`{"D":null,"I":null,"R":null}`,
		`{"D":0.0000001,"I":0,"S":"","R":{"A":null}}`,
		`{"D":-12345678901234567890.123,"I":2,"S":"x","R":{"A":1}}`,
	} {
		var r record
		require.NoError(t, json.Unmarshal([]byte(text), &r), text)
		got, err := json.Marshal(r)
		require.NoError(t, err)
		assert.Equal(t, text, string(got))
	}
}

func TestOptRefusesWhatDoesNotFit(t *testing.T) {
	d := trading.Some(trading.Dec("7"))
	assert.Error(t, json.Unmarshal([]byte(`"1.5"`), &d))
	assert.True(t, d.IsZero(), "the old value is gone")
	i := trading.Some(7)
	assert.Error(t, json.Unmarshal([]byte(`1.5`), &i))
	assert.True(t, i.IsZero())
}

// A huge integer of a caller's own type is no business of the decimal rules.
func TestOptLeavesOtherTypesAlone(t *testing.T) {
	text, err := json.Marshal(trading.Some(new(big.Int).Lsh(big.NewInt(1), 400)))
	require.NoError(t, err)
	assert.Len(t, text, 121)
}

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

// FuzzValueJSON reads marks, levels, parts, optional values and types of orders: what is read can be
// written, and read again as the same; what is refused leaves nothing.
func FuzzValueJSON(f *testing.F) {
	type value interface {
		json.Unmarshaler
		json.Marshaler
		IsZero() bool
	}
	for _, seed := range []string{"null", "0", "-0", "-1", "59000.10", "1e-7", "1e999999999", `"1"`, "", " 1", "01", "1.", "nul", "Null", "-1e64"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var mark trading.Mark
		var level trading.Level
		for name, pair := range map[string][2]value{
			"mark":   {&mark, new(trading.Mark)},
			"level":  {&level, new(trading.Level)},
			"number": {new(trading.Opt[decimal.Decimal]), new(trading.Opt[decimal.Decimal])},
			"text":   {new(trading.Opt[string]), new(trading.Opt[string])},
		} {
			v, again := pair[0], pair[1]
			_ = v.UnmarshalJSON([]byte("7")) // what was there before must not show
			if v.UnmarshalJSON(data) != nil {
				require.True(t, v.IsZero(), "%s: refused %q and kept %v", name, data, v)
				continue
			}
			require.True(t, json.Valid(data), "%s: %q was read as %v", name, data, v)
			text, err := v.MarshalJSON()
			require.NoError(t, err, "%s: %q was read but cannot be written", name, data)
			if err := again.UnmarshalJSON(text); err != nil || fmt.Sprint(again) != fmt.Sprint(v) {
				t.Fatalf("%s: %q became %q, and that %v (%v)", name, data, text, again, err)
			}
			if !json.Valid(text) || len(text) > 6*len(data)+64 || name != "text" && strings.ContainsAny(string(text), `eE"`) {
				t.Fatalf("%s: %q became %q", name, data, text)
			}
		}
		if price, ok := mark.Price(); ok != price.IsPositive() {
			t.Fatalf("%q: price %v, ok %v", data, price, ok)
		}
		if level.IsClear() != (string(data) == "null") {
			t.Fatalf("%q was read as %v", data, level)
		}
		var part trading.Part
		if part.UnmarshalJSON(data) != nil && !part.Equal(trading.Part{}) {
			t.Fatalf("refused %q and kept %v", data, part)
		}
		var kind trading.OrderType
		if known := kind.UnmarshalText(data) == nil; known != (string(data) == "market" || string(data) == "limit") {
			t.Fatalf("order type %q: known is %v", data, known)
		}
	})
}
