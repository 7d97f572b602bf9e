package api

import (
	"encoding/json"
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

func number(text string) decimal.Decimal            { return decimal.RequireFromString(text) }
func some(text string) wire.Opt[decimal.Decimal]    { return wire.Some(number(text)) }
func setting(text string) wire.Opt[json.RawMessage] { return wire.Some(json.RawMessage(text)) }

const (
	orderStart = `"accountId":"acc_2",`
	orderRest  = `"expectedPrice":64000,"leverage":3,"limitPrice":64100.5,"maxSlippagePct":0.5,"orderType":"limit","reduceOnly":true,"side":"long","size":0.0000001,`
	orderEnd   = `"stopLossPrice":63000,"symbol":"BTC","takeProfitPrice":66000`
)

// The members that Pro orders share: all of them, and those that are required.
var (
	everyField = ProOrderRequest{
		AccountID: "acc_2", Symbol: "BTC", Side: SideLong, Size: number("1e-7"), Leverage: number("3"),
		OrderType: wire.Some(OrderTypeLimit), LimitPrice: some("64100.50"), ReduceOnly: wire.Some(true),
		TakeProfitPrice: some("66000"), StopLossPrice: some("63000"), ExpectedPrice: some("64e3"), MaxSlippagePct: some("0.5"),
	}
	requiredFields = ProOrderRequest{AccountID: "a", Symbol: "BTC", Side: SideShort, Size: number("1"), Leverage: number("1")}
)

// requests holds every request twice: with all members, and with those only
// that the contract requires.
var requests = map[string][]struct {
	body body
	want string
}{
	"OrderRequest": {
		{&OrderRequest{
			AccountID: "acc_2", Symbol: "BTC", Side: SideLong, Size: number("1e-7"), Leverage: number("3"),
			OrderType: wire.Some(OrderTypeLimit), LimitPrice: some("64100.50"), ReduceOnly: wire.Some(true),
			TakeProfitPrice: some("66000"), StopLossPrice: some("63000"), ExpectedPrice: some("64e3"), MaxSlippagePct: some("0.5"),
		}, `{` + orderStart + orderRest + orderEnd + `}`},
		{&OrderRequest{AccountID: "a", Symbol: "BTC", Side: SideShort, Size: number("1"), Leverage: number("1")},
			`{"accountId":"a","leverage":1,"side":"short","size":1,"symbol":"BTC"}`},
	},
	"LimitOrderRequest": {
		{&LimitOrderRequest{
			AccountID: "acc_2", Symbol: "BTC", Side: SideLong, Size: number("1e-7"), Leverage: number("3"),
			OrderType: wire.Some(OrderTypeLimit), LimitPrice: number("64100.50"), ReduceOnly: wire.Some(true),
			TakeProfitPrice: some("66000"), StopLossPrice: some("63000"), ExpectedPrice: some("64e3"), MaxSlippagePct: some("0.5"),
		}, `{` + orderStart + orderRest + orderEnd + `}`},
		{&LimitOrderRequest{AccountID: "a", Symbol: "BTC", Side: SideShort, Size: number("1"), Leverage: number("1"), LimitPrice: number("2")},
			`{"accountId":"a","leverage":1,"limitPrice":2,"side":"short","size":1,"symbol":"BTC"}`},
	},
	"ProOrderRequest": {
		{&everyField, `{` + orderStart + orderRest + orderEnd + `}`},
		{&requiredFields, `{"accountId":"a","leverage":1,"side":"short","size":1,"symbol":"BTC"}`},
	},
	"ConditionalOrderRequest": {
		{&ConditionalOrderRequest{
			ProOrderRequest: everyField,
			TriggerPrice:    number("65000"), ExecKind: wire.Some(ExecKindStopLimit),
		}, `{"accountId":"acc_2","execKind":"stop-limit",` + orderRest + orderEnd + `,"triggerPrice":65000}`},
		{&ConditionalOrderRequest{ProOrderRequest: requiredFields, TriggerPrice: number("2")},
			`{"accountId":"a","leverage":1,"side":"short","size":1,"symbol":"BTC","triggerPrice":2}`},
	},
	"LadderOrderRequest": {
		{&LadderOrderRequest{
			ProOrderRequest: everyField,
			StartPrice:      number("60000"), EndPrice: number("61000"), TotalOrders: 5, SizeSkew: setting(`1.5`),
		}, `{"accountId":"acc_2","endPrice":61000,` + orderRest + `"sizeSkew":1.5,"startPrice":60000,` + orderEnd + `,"totalOrders":5}`},
		{&LadderOrderRequest{
			ProOrderRequest: requiredFields,
			StartPrice:      number("2"), EndPrice: number("3"), TotalOrders: 4,
		}, `{"accountId":"a","endPrice":3,"leverage":1,"side":"short","size":1,"startPrice":2,"symbol":"BTC","totalOrders":4}`},
	},
	"TwapOrderRequest": {
		{&TWAPOrderRequest{
			ProOrderRequest: everyField,
			DurationMs:      60000, RandomizeSize: setting(`true`), RandomizeTime: setting(`"some"`),
		}, `{"accountId":"acc_2","durationMs":60000,"expectedPrice":64000,"leverage":3,"limitPrice":64100.5,"maxSlippagePct":0.5,` +
			`"orderType":"limit","randomizeSize":true,"randomizeTime":"some","reduceOnly":true,"side":"long","size":0.0000001,` + orderEnd + `}`},
		{&TWAPOrderRequest{ProOrderRequest: requiredFields, DurationMs: 1},
			`{"accountId":"a","durationMs":1,"leverage":1,"side":"short","size":1,"symbol":"BTC"}`},
	},
	"ChaseOrderRequest": {
		{&ChaseOrderRequest{
			ProOrderRequest: everyField,
			ChaseTo:         some("64500"),
		}, `{` + orderStart + `"chaseTo":64500,` + orderRest + orderEnd + `}`},
		{&ChaseOrderRequest{ProOrderRequest: requiredFields},
			`{"accountId":"a","leverage":1,"side":"short","size":1,"symbol":"BTC"}`},
	},
	"ChaseTwapOrderRequest": {
		{&ChaseTWAPOrderRequest{
			ProOrderRequest: everyField,
			DurationMs:      60000, ChaseTo: some("64500"),
		}, `{` + orderStart + `"chaseTo":64500,"durationMs":60000,` + orderRest + orderEnd + `}`},
		{&ChaseTWAPOrderRequest{ProOrderRequest: requiredFields, DurationMs: 1},
			`{"accountId":"a","durationMs":1,"leverage":1,"side":"short","size":1,"symbol":"BTC"}`},
	},
	"SwarmOrderRequest": {
		{&SwarmOrderRequest{
			ProOrderRequest: everyField,
			TotalOrders:     9, Aggression: setting(`"high"`), SlippageBps: setting(`25`), Irregular: setting(`false`),
		}, `{"accountId":"acc_2","aggression":"high","expectedPrice":64000,"irregular":false,"leverage":3,"limitPrice":64100.5,"maxSlippagePct":0.5,` +
			`"orderType":"limit","reduceOnly":true,"side":"long","size":0.0000001,"slippageBps":25,` + orderEnd + `,"totalOrders":9}`},
		{&SwarmOrderRequest{ProOrderRequest: requiredFields, TotalOrders: 2},
			`{"accountId":"a","leverage":1,"side":"short","size":1,"symbol":"BTC","totalOrders":2}`},
	},
	"SandboxOrderRequest": {
		{&SandboxOrderRequest{
			Symbol: "BTC", Side: SideLong, Size: number("1e-7"), Leverage: some("3"), OrderType: wire.Some("limit"),
			LimitPrice: some("64100.50"), TakeProfitPrice: some("66000"), StopLossPrice: some("63000"),
			ExpectedPrice: some("64e3"), MaxSlippagePct: some("0.5"),
		}, `{"expectedPrice":64000,"leverage":3,"limitPrice":64100.5,"maxSlippagePct":0.5,"orderType":"limit","side":"long","size":0.0000001,` + orderEnd + `}`},
		{&SandboxOrderRequest{Symbol: "BTC", Side: SideShort, Size: number("1")}, `{"side":"short","size":1,"symbol":"BTC"}`},
	},
	"SandboxCloseRequest": {
		{&SandboxCloseRequest{Symbol: "BTC", Pct: some("12.5")}, `{"pct":12.5,"symbol":"BTC"}`},
		{&SandboxCloseRequest{Symbol: "BTC"}, `{"symbol":"BTC"}`},
	},
	"SandboxTPSLRequest": {
		{&SandboxTPSLRequest{Symbol: "BTC", TakeProfitPrice: some("66000"), StopLossPrice: wire.Null[decimal.Decimal](), ClosePct: some("50")},
			`{"closePct":50,"stopLossPrice":null,"symbol":"BTC","takeProfitPrice":66000}`},
		{&SandboxTPSLRequest{Symbol: "BTC"}, `{"symbol":"BTC"}`},
	},
	"TPSLRequest": {
		{&TPSLRequest{AccountID: "a", Symbol: "BTC", TakeProfitPrice: wire.Null[decimal.Decimal](), StopLossPrice: some("63000")},
			`{"accountId":"a","stopLossPrice":63000,"symbol":"BTC","takeProfitPrice":null}`},
		{&TPSLRequest{AccountID: "a", Symbol: "BTC"}, `{"accountId":"a","symbol":"BTC"}`},
	},
	"ClosePositionRequest": {
		{&ClosePositionRequest{AccountID: "a", Symbol: "BTC", ClosePercent: some("100")}, `{"accountId":"a","closePercent":100,"symbol":"BTC"}`},
		{&ClosePositionRequest{AccountID: "a", Symbol: "BTC"}, `{"accountId":"a","symbol":"BTC"}`},
	},
	"CancelOrderRequest": {
		{&CancelOrderRequest{AccountID: "a\"b", OrderID: "o"}, `{"accountId":"a\"b","orderId":"o"}`},
		{&CancelOrderRequest{}, `{"accountId":"","orderId":""}`},
	},
	"CancelRunRequest": {
		{&CancelRunRequest{AccountID: "a", RunID: "r"}, `{"accountId":"a","runId":"r"}`},
		{&CancelRunRequest{}, `{"accountId":"","runId":""}`},
	},
	"EditRunRequest": {
		{&EditRunRequest{AccountID: "a", RunID: "r", TotalSize: number("0.25")}, `{"accountId":"a","runId":"r","totalSize":0.25}`},
		{&EditRunRequest{}, `{"accountId":"","runId":"","totalSize":0}`},
	},
}

// T12, T59, T67, T100: the bytes of every request are these, each time.
func TestRequests(t *testing.T) {
	c := readContract(t)
	for name, s := range c.Components.Schemas {
		if !s.isRequest() {
			continue
		}
		require.Len(t, requests[name], 2, name)
		for i, r := range requests[name] {
			got := r.body.AppendWire([]byte("prefix"))
			assert.Equal(t, "prefix"+r.want, string(got), name)

			var members map[string]json.RawMessage
			require.NoError(t, json.Unmarshal(got[len("prefix"):], &members), name)
			want := s.Required
			if i == 0 {
				want = s.members()
			}
			names := make([]string, 0, len(members))
			for name := range members {
				names = append(names, name)
			}
			assert.ElementsMatch(t, want, names, name)
		}
	}
	for name := range requests {
		assert.Contains(t, c.Components.Schemas, name)
	}
}

func TestRequests_Allocations(t *testing.T) {
	order := requests["OrderRequest"][0].body
	buf := make([]byte, 0, 512)
	assert.Zero(t, testing.AllocsPerRun(100, func() { order.AppendWire(buf) }))
}

func BenchmarkOrderRequest(b *testing.B) {
	order := requests["OrderRequest"][0].body
	buf := make([]byte, 0, 512)
	b.ReportAllocs()
	for b.Loop() {
		order.AppendWire(buf)
	}
}
