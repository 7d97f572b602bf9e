package values

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/jsontext"
	"github.com/tradingapi/trading-go/internal/wire"
)

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
	assert.Equal(t, "true 1m0s", fmt.Sprintf("%v %v", trading.Some(true), trading.Some(time.Minute)))
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

// FuzzValueJSON reads marks, levels, parts, optional values, extra members and types of orders: what is read
// is what was written, and is written and read again as the same; what is refused leaves nothing.
func FuzzValueJSON(f *testing.F) {
	for _, seed := range []string{"null", "0", "7", "7.00", "-0", "1e-7", `"1"`, "", " 1", "01", "1.", "nul", "Null", "-1e64", "market", "limit"} {
		f.Add([]byte(seed))
	}
	jsontext.Add[[]byte](f, 500, jsontext.Spoiled(4, jsontext.Number))
	jsontext.Add[[]byte](f, 200, func(dice *rand.Rand) []byte { return fmt.Appendf(nil, "%q", jsontext.Number(dice)) })
	jsontext.Add[[]byte](f, 200, jsontext.Spoiled(4, jsontext.String))
	jsontext.Add[[]byte](f, 200, jsontext.Value(2, "A"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var part trading.Part
		var mark trading.Mark
		var level trading.Level
		var number trading.Opt[decimal.Decimal]
		readNumber(t, data, &part, func(null bool, n decimal.Decimal) bool { return part.Percent().Equal(n) }, "")
		readNumber(t, data, &mark, func(null bool, n decimal.Decimal) bool {
			price, ok := mark.Price()
			return ok == n.IsPositive() && (!ok || price.Equal(n)) && mark.IsZero() == !ok
		}, "unpriced")
		readNumber(t, data, &level, func(null bool, n decimal.Decimal) bool {
			at, ok := level.Value()
			return ok == !null && at.Equal(n) && level.IsClear() == null && !level.IsZero()
		}, "clear")
		readNumber(t, data, &number, func(null bool, n decimal.Decimal) bool {
			at, ok := number.Get()
			return ok == !null && at.Equal(n) && number.IsZero() == null
		}, "none")
		likeAPointer(t, data, 7)
		likeAPointer(t, data, "7")
		likeAPointer(t, data, big.NewInt(7))
		likeAPointer(t, data, []any{7})
		likeAPointer(t, data, struct{ A trading.Opt[int] }{trading.Some(7)})
		var kind trading.OrderType
		if known := kind.UnmarshalText(data) == nil; known != (string(data) == "market" || string(data) == "limit") || known && kind.String() != string(data) {
			t.Fatalf("order type %q: known is %v", data, known)
		}

		var want string
		text, isText := trading.Extra{"x": data}.Text("x")
		quoted := len(data) > 0 && data[0] == '"' && json.Unmarshal(data, &want) == nil
		if text != want || isText != quoted {
			t.Fatalf("%q: text %q, %v", data, text, isText)
		}
		if !quoted {
			want = string(data)
		}
		n, err := wire.ParseDecimal([]byte(want))
		if got, ok := (trading.Extra{"x": data}).Decimal("x"); ok != (err == nil) || !got.Equal(n) {
			t.Fatalf("%q: number %v, %v", data, got, ok)
		}
	})
}

type value[T any] interface {
	*T
	json.Unmarshaler
	json.Marshaler
	fmt.Stringer
}

// readNumber reads a value from null or from a number, and holds what it says of itself: is, and what it
// prints as where it is null in JSON.
func readNumber[T interface{ Equal(T) bool }, P value[T]](t *testing.T, data []byte, v P, is func(null bool, n decimal.Decimal) bool, none string) {
	t.Helper()
	require.NoError(t, v.UnmarshalJSON([]byte("7"))) // what was there before must not show
	var zero, again T
	seven, null := *v, string(data) == "null"
	n, err := wire.ParseDecimal(data)
	if v.UnmarshalJSON(data) != nil {
		require.True(t, zero.Equal(*v), "%T: refused %q and kept %v", v, data, v)
		require.True(t, !null && (err != nil || !wire.Writable(n)), "%T: refused %q", v, data)
		return
	}
	require.True(t, (null || err == nil) && is(null, n), "%T: %q was read as %v", v, data, v)
	text, err := v.MarshalJSON()
	require.NoError(t, err, "%T: %q was read but cannot be written", v, data)
	require.NoError(t, P(&again).UnmarshalJSON(text), "%T: %q became %q", v, data, text)
	require.True(t, again.Equal(*v) && (*v).Equal(again), "%T: %q became %v by %s", v, data, again, text)
	require.Equal(t, string(text) == "7", (*v).Equal(seven), "%T: %q", v, data)
	want, printed := wire.NumberText(n), strings.TrimSuffix(v.String(), "%")
	if printed == none {
		want, printed = "null", "null"
	}
	require.Equal(t, []string{want, want}, []string{string(text), printed}, "%T: %q", v, data)
}

// likeAPointer holds an optional value against a pointer, which is none in the same cases.
func likeAPointer[T any](t *testing.T, data []byte, before T) {
	t.Helper()
	if !json.Valid(data) {
		return
	}
	var p *T
	o, same := trading.Some(before), trading.Opt[T]{}
	refused := json.Unmarshal(data, &p)
	require.Equal(t, refused == nil, json.Unmarshal(data, &o) == nil, "%T: %q", p, data)
	if refused == nil && p != nil {
		same = trading.Some(*p)
	}
	v, ok := o.Get()
	require.Equal(t, refused == nil && p != nil, ok, "%T: %q", p, data)
	require.True(t, o.Equal(same) && same.Equal(o) && o.IsZero() == !ok, "%T: %q is %v", p, data, o)
	require.Equal(t, ok && reflect.DeepEqual(before, v), o.Equal(trading.Some(before)), "%T: %q", p, data)
	require.Equal(t, !ok, trading.Some(o).Equal(trading.Some(trading.Opt[T]{})), "%T: %q", p, data)
	if refused != nil {
		return
	}
	want, err := json.Marshal(p)
	require.NoError(t, err)
	text, err := json.Marshal(o)
	require.NoError(t, err)
	require.Equal(t, string(want), string(text))
}
