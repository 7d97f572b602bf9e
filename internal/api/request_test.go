package api

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/wire"
)

// body is what every generated request is.
type body interface {
	AppendWire(dst []byte) []byte
}

// fill sets the fields of a request, with those that can be absent if all is true, and returns
// what each is on the wire, by its name in lower case.
func fill(t *testing.T, request reflect.Value, all bool) map[string]string {
	t.Helper()
	wants := map[string]string{}
	for i := range request.NumField() {
		field, name := request.Field(i), strings.ToLower(request.Type().Field(i).Name)
		if request.Type().Field(i).Anonymous {
			maps.Copy(wants, fill(t, field, all))
			continue
		}
		n := decimal.New(int64(len(name)), -7)
		switch v := field.Addr().Interface().(type) {
		case *decimal.Decimal:
			*v, wants[name] = n, n.String()
		case *int64:
			*v, wants[name] = int64(len(name)), strconv.Itoa(len(name))
		case *wire.Nullable[decimal.Decimal]:
			setIf(all, v, n, wants, name, n.String())
		case *wire.Nullable[bool]:
			setIf(all, v, true, wants, name, "true")
		case *wire.Nullable[json.RawMessage]:
			setIf(all, v, json.RawMessage(`[`+name+`]`), wants, name, `[`+name+`]`)
		case *wire.Nullable[string]:
			setIf(all, v, name, wants, name, `"`+name+`"`)
		case *wire.Nullable[OrderType]:
			setIf(all, v, OrderType(name), wants, name, `"`+name+`"`)
		case *wire.Nullable[ExecKind]:
			setIf(all, v, ExecKind(name), wants, name, `"`+name+`"`)
		default:
			require.Equal(t, reflect.String, field.Kind(), "a %T has no value here: give it one in request_test.go", v)
			field.SetString(name + `"`)
			wants[name] = `"` + name + `\""`
		}
	}
	return wants
}

func setIf[T any](is bool, field *wire.Nullable[T], value T, wants map[string]string, name, want string) {
	if is {
		*field, wants[name] = wire.Some(value), want
	}
}

// T12, T59, T67, T100: the bytes of every request are the members of its schema, in their order,
// each time: all of them, or those only that the contract requires.
func TestRequests(t *testing.T) {
	c, all := readContract(t), requests()
	for name, s := range c.Components.Schemas {
		if !s.isRequest() {
			continue
		}
		require.Contains(t, all, name, "run go generate ./...")
		for _, members := range [][]string{s.members(), slices.Sorted(slices.Values(s.Required))} {
			request := reflect.New(reflect.TypeOf(all[name]).Elem())
			wants := fill(t, request.Elem(), len(members) == len(s.members()))
			var list []member
			for _, m := range members {
				list = append(list, member{m, wants[strings.ToLower(m)]})
			}
			assert.Len(t, wants, len(list), name)
			want := strings.ReplaceAll(strings.ReplaceAll(object(list), `, "`, `,"`), `": `, `":`)
			assert.Equal(t, "prefix"+want, string(request.Interface().(body).AppendWire([]byte("prefix"))), name)
		}
	}
}

// A setting of levels tells null from what is left out, and a number is written in full.
func TestRequests_Values(t *testing.T) {
	r := TPSLRequest{AccountID: "a", Symbol: "BTC", TakeProfitPrice: wire.Null[decimal.Decimal](), StopLossPrice: wire.Some(decimal.RequireFromString("64e3"))}
	assert.Equal(t, `{"accountId":"a","stopLossPrice":64000,"symbol":"BTC","takeProfitPrice":null}`, string(r.AppendWire(nil)))
	r = TPSLRequest{StopLossPrice: wire.Some(decimal.RequireFromString("64100.50"))}
	assert.Equal(t, `{"accountId":"","stopLossPrice":64100.5,"symbol":""}`, string(r.AppendWire(nil)))
}

func fullOrder() body {
	price := wire.Some(decimal.RequireFromString("64100.50"))
	return &OrderRequest{
		AccountID: "acc_2", Symbol: "BTC", Side: SideLong, Size: decimal.New(1, -7), Leverage: decimal.New(3, 0),
		OrderType: wire.Some(OrderTypeLimit), LimitPrice: price, ReduceOnly: wire.Some(true),
		TakeProfitPrice: price, StopLossPrice: price, ExpectedPrice: price, MaxSlippagePct: price,
	}
}

func TestRequests_Allocations(t *testing.T) {
	order := fullOrder()
	buf := make([]byte, 0, 512)
	assert.Zero(t, testing.AllocsPerRun(100, func() { order.AppendWire(buf) }))
}
