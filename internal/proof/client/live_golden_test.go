package client

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/proof/rig"
)

const (
	livePositionBody = `{"symbol":"BTC","side":"long","size":0.01,"leverage":2,"entryPrice":64000}`
	liveOrderBody    = `{"success":true,"action":"opened","fill":{"price":64000,"size":0.01,"fee":0.288},"position":` + livePositionBody + `,"newBalance":99999.712}`
	liveLimitBody    = `{"success":true,"order":{"id":"ord_1"}}`
	liveCloseBody    = `{"success":true,"pnl":"1.50","fee":"0.58","newBalance":"100000.92","status":"ACTIVE"}`
	runBody          = `{"success":true,"runId":"run_1"}`
	doneBody         = `{"success":true}`
)

// liveCall is a call on the account acc_1.
type liveCall func(context.Context, *trading.Account) error

// orderCall is a liveCall with an order, of which only what is required is set.
func orderCall(place func(context.Context, *trading.Account, trading.Order) error, change func(*trading.Order)) liveCall {
	return func(ctx context.Context, a *trading.Account) error {
		o := trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.01"), Leverage: trading.Dec("2")}
		if change != nil {
			change(&o)
		}
		return place(ctx, a, o)
	}
}

func placeOrder(ctx context.Context, a *trading.Account, o trading.Order) error {
	_, err := a.PlaceOrder(ctx, o)
	return err
}

func placeLimit(ctx context.Context, a *trading.Account, o trading.Order) error {
	_, err := a.PlaceLimit(ctx, o)
	return err
}

// overTime places an order that is carried out over time, by the method for how.
func overTime[H any](method func(*trading.Account, context.Context, trading.Order, H, ...trading.CallOption) (*trading.RunResult, error), how H) func(context.Context, *trading.Account, trading.Order) error {
	return func(ctx context.Context, a *trading.Account, o trading.Order) error {
		_, err := method(a, ctx, o, how)
		return err
	}
}

func closing(symbol string, part trading.Part) liveCall {
	return func(ctx context.Context, a *trading.Account) error {
		_, err := a.ClosePosition(ctx, symbol, part)
		return err
	}
}

func liveTPSL(symbol string, tr trading.TPSL) liveCall {
	return func(ctx context.Context, a *trading.Account) error {
		_, err := a.SetTPSL(ctx, symbol, tr)
		return err
	}
}

// everything sets all that a market order can carry.
func everything(o *trading.Order) {
	o.Side, o.Size, o.Leverage = trading.Short, trading.Dec("1e-7"), trading.Dec("2.50")
	o.TakeProfit, o.StopLoss = trading.At(trading.Dec("60000")), trading.At(trading.Dec("66000.10"))
	o.ExpectedPrice, o.MaxSlippagePct = trading.At(trading.Dec("64001")), trading.Some(trading.Dec("0.5"))
}

func limited(o *trading.Order) {
	o.Type, o.LimitPrice = trading.LimitOrder, trading.At(trading.Dec("63000"))
}

// liveRows are the live requests, byte for byte.
var liveRows = []struct {
	name    string
	call    liveCall
	answer  string
	request string
	body    string
}{
	{"State", func(ctx context.Context, a *trading.Account) error { _, err := a.State(ctx); return err },
		`{"account":{"id":"acc_1","status":"ACTIVE","balance":1,"equity":1}}`, "GET /accounts/acc_1", ""},
	{"Positions", func(ctx context.Context, a *trading.Account) error { _, err := a.Positions(ctx); return err },
		`{"positions":[]}`, "GET /positions?accountId=acc_1", ""},
	{"Trades", func(ctx context.Context, a *trading.Account) error { _, err := a.Trades(ctx); return err },
		`{"trades":[]}`, "GET /trades?accountId=acc_1", ""},
	{"OpenOrders", func(ctx context.Context, a *trading.Account) error { _, err := a.OpenOrders(ctx); return err },
		`{"orders":[],"runs":[]}`, "GET /accounts/acc_1/orders", ""},
	{"FinishedRuns", func(ctx context.Context, a *trading.Account) error { _, err := a.FinishedRuns(ctx); return err },
		`{"history":[]}`, "GET /accounts/acc_1/runs", ""},
	{"Funding", func(ctx context.Context, a *trading.Account) error { _, err := a.Funding(ctx); return err },
		`{"funding":[]}`, "GET /accounts/acc_1/funding", ""},

	{"an order with what is required", orderCall(placeOrder, nil), liveOrderBody, "POST /orders",
		`{"accountId":"acc_1","leverage":2,"side":"long","size":0.01,"symbol":"BTC"}`},
	{"an order with everything", orderCall(placeOrder, everything), liveOrderBody, "POST /orders",
		`{"accountId":"acc_1","expectedPrice":64001,"leverage":2.5,"maxSlippagePct":0.5,"side":"short",` +
			`"size":0.0000001,"stopLossPrice":66000.1,"symbol":"BTC","takeProfitPrice":60000}`},
	{"a reduce-only order", orderCall(placeOrder, func(o *trading.Order) { o.ReduceOnly = true }), liveOrderBody, "POST /orders",
		`{"accountId":"acc_1","leverage":2,"reduceOnly":true,"side":"long","size":0.01,"symbol":"BTC"}`},
	{"a marketable limit", orderCall(placeOrder, limited), liveOrderBody, "POST /orders",
		`{"accountId":"acc_1","leverage":2,"limitPrice":63000,"orderType":"limit","side":"long","size":0.01,"symbol":"BTC"}`},
	{"T100 a large size", orderCall(placeOrder, func(o *trading.Order) { o.Size = trading.Dec("1e9") }), liveOrderBody, "POST /orders",
		`{"accountId":"acc_1","leverage":2,"side":"long","size":1000000000,"symbol":"BTC"}`},
	{"a resting limit", orderCall(placeLimit, limited), liveLimitBody, "POST /orders/limit",
		`{"accountId":"acc_1","leverage":2,"limitPrice":63000,"side":"long","size":0.01,"symbol":"BTC"}`},
	{"a resting limit with everything", orderCall(placeLimit, func(o *trading.Order) {
		everything(o)
		o.LimitPrice, o.ReduceOnly = trading.At(trading.Dec("65000")), true
	}),
		liveLimitBody, "POST /orders/limit",
		`{"accountId":"acc_1","expectedPrice":64001,"leverage":2.5,"limitPrice":65000,"maxSlippagePct":0.5,"reduceOnly":true,` +
			`"side":"short","size":0.0000001,"stopLossPrice":66000.1,"symbol":"BTC","takeProfitPrice":60000}`},
	{"a cancel", func(ctx context.Context, a *trading.Account) error { _, err := a.CancelOrder(ctx, `o/"1`); return err },
		doneBody, "POST /orders/cancel", `{"accountId":"acc_1","orderId":"o/\"1"}`},
	{"T59 all, always named", closing("BTC", trading.All), liveCloseBody, "POST /positions/close",
		`{"accountId":"acc_1","closePercent":100,"symbol":"BTC"}`},
	{"less than the sandbox's least part", closing("BTC", trading.Percent(trading.Dec("0.5"))), liveCloseBody, "POST /positions/close",
		`{"accountId":"acc_1","closePercent":0.5,"symbol":"BTC"}`},
	{"a part", closing("BTC", trading.Percent(trading.Dec("12.50"))), liveCloseBody, "POST /positions/close",
		`{"accountId":"acc_1","closePercent":12.5,"symbol":"BTC"}`},
	{"T68 both levels, one cleared", liveTPSL("BTC", trading.TPSL{TakeProfit: trading.Clear, StopLoss: trading.At(trading.Dec("63000"))}), doneBody, "POST /positions/tpsl",
		`{"accountId":"acc_1","stopLossPrice":63000,"symbol":"BTC","takeProfitPrice":null}`},
	{"both levels cleared", liveTPSL("BTC", trading.TPSL{TakeProfit: trading.Clear, StopLoss: trading.Clear}), doneBody, "POST /positions/tpsl",
		`{"accountId":"acc_1","stopLossPrice":null,"symbol":"BTC","takeProfitPrice":null}`},

	{"a stop-market", orderCall(overTime((*trading.Account).PlaceConditional, trading.Conditional{Trigger: trading.Dec("65000")}), nil), runBody, "POST /orders/conditional",
		`{"accountId":"acc_1","execKind":"stop-market","leverage":2,"side":"long","size":0.01,"symbol":"BTC","triggerPrice":65000}`},
	{"a stop-limit with everything", orderCall(overTime((*trading.Account).PlaceConditional, trading.Conditional{Trigger: trading.Dec("62000"), Exec: trading.StopLimit}),
		func(o *trading.Order) {
			everything(o)
			o.LimitPrice, o.ReduceOnly = trading.At(trading.Dec("61000")), true
		}), runBody, "POST /orders/conditional",
		`{"accountId":"acc_1","execKind":"stop-limit","expectedPrice":64001,"leverage":2.5,"limitPrice":61000,"maxSlippagePct":0.5,"reduceOnly":true,` +
			`"side":"short","size":0.0000001,"stopLossPrice":66000.1,"symbol":"BTC","takeProfitPrice":60000,"triggerPrice":62000}`},
	{"a ladder", orderCall(overTime((*trading.Account).PlaceLadder, trading.Ladder{From: trading.Dec("64000"), To: trading.Dec("63000"), Rungs: 5}), nil), runBody, "POST /orders/ladder",
		`{"accountId":"acc_1","endPrice":63000,"leverage":2,"side":"long","size":0.01,"startPrice":64000,"symbol":"BTC","totalOrders":5}`},
	{"a skewed ladder", orderCall(overTime((*trading.Account).PlaceLadder, trading.Ladder{From: trading.Dec("64000"), To: trading.Dec("63000"), Rungs: 2, SizeSkew: trading.Some(trading.Dec("1.50"))}), nil), runBody, "POST /orders/ladder",
		`{"accountId":"acc_1","endPrice":63000,"leverage":2,"side":"long","size":0.01,"sizeSkew":1.5,"startPrice":64000,"symbol":"BTC","totalOrders":2}`},
	{"a TWAP", orderCall(overTime((*trading.Account).PlaceTWAP, trading.TWAP{Duration: 90 * time.Second}), nil), runBody, "POST /orders/twap",
		`{"accountId":"acc_1","durationMs":90000,"leverage":2,"side":"long","size":0.01,"symbol":"BTC"}`},
	{"a randomized TWAP", orderCall(overTime((*trading.Account).PlaceTWAP, trading.TWAP{Duration: time.Millisecond, RandomizeSize: trading.Some(true), RandomizeTime: trading.Some(false)}), nil), runBody, "POST /orders/twap",
		`{"accountId":"acc_1","durationMs":1,"leverage":2,"randomizeSize":true,"randomizeTime":false,"side":"long","size":0.01,"symbol":"BTC"}`},
	{"a chase", orderCall(overTime((*trading.Account).PlaceChase, trading.Chase{}), nil), runBody, "POST /orders/chase",
		`{"accountId":"acc_1","leverage":2,"side":"long","size":0.01,"symbol":"BTC"}`},
	{"a bounded chase", orderCall(overTime((*trading.Account).PlaceChase, trading.Chase{To: trading.At(trading.Dec("64500"))}), nil), runBody, "POST /orders/chase",
		`{"accountId":"acc_1","chaseTo":64500,"leverage":2,"side":"long","size":0.01,"symbol":"BTC"}`},
	{"a chased TWAP", orderCall(overTime((*trading.Account).PlaceChaseTWAP, trading.ChaseTWAP{Duration: time.Hour, To: trading.At(trading.Dec("64500"))}), nil), runBody, "POST /orders/chase-twap",
		`{"accountId":"acc_1","chaseTo":64500,"durationMs":3600000,"leverage":2,"side":"long","size":0.01,"symbol":"BTC"}`},
	{"a swarm", orderCall(overTime((*trading.Account).PlaceSwarm, trading.Swarm{Orders: 7}), nil), runBody, "POST /orders/swarm",
		`{"accountId":"acc_1","leverage":2,"side":"long","size":0.01,"symbol":"BTC","totalOrders":7}`},
	{"T97 a swarm with settings", orderCall(overTime((*trading.Account).PlaceSwarm, trading.Swarm{Orders: 7, Aggression: trading.Some(json.RawMessage(`"high"`)), SlippageBps: trading.Some(trading.Dec("25")), Irregular: trading.Some(true)}), nil), runBody, "POST /orders/swarm",
		`{"accountId":"acc_1","aggression":"high","irregular":true,"leverage":2,"side":"long","size":0.01,"slippageBps":25,"symbol":"BTC","totalOrders":7}`},
	{"an edit", func(ctx context.Context, a *trading.Account) error {
		_, err := a.EditRun(ctx, "run_1", trading.RunEdit{TotalSize: trading.Dec("2.0")})
		return err
	}, doneBody, "POST /runs/edit", `{"accountId":"acc_1","runId":"run_1","totalSize":2}`},
	{"a cancelled run", func(ctx context.Context, a *trading.Account) error { _, err := a.CancelRun(ctx, "run_1"); return err },
		doneBody, "POST /runs/cancel", `{"accountId":"acc_1","runId":"run_1"}`},
}

// Every live request, byte for byte: what is absent is not sent, null is null,
// numbers are plain, and nothing is sent that was not asked for. T17: every write
// goes under a key, no read does, and no two calls share one.
func TestLiveRequestsOnTheWire(t *testing.T) {
	keys := map[string]bool{}
	for _, row := range liveRows {
		t.Run(row.name, func(t *testing.T) {
			script := rig.NewScript(t, rig.Answered(200, row.answer), rig.Answered(200, row.answer))
			account := rig.ScriptedClient(t, script).Live.Account("acc_1")
			for range 2 {
				require.NoError(t, row.call(context.Background(), account))
			}
			script.Done()
			for _, got := range script.Received() {
				assert.Equal(t, row.request, got.Operation)
				assert.Equal(t, row.body, got.Body)
				want := []string{"Accept", "User-Agent", "X-Api-Key"}
				if row.body != "" {
					want = append(want, "Content-Type", "idempotency-key")
					key := got.Header[sentKeyHeader]
					require.Len(t, key, 1)
					assert.False(t, keys[key[0]], "a key is one intent's")
					keys[key[0]] = true
				} else {
					want = append(want, "Cache-Control")
				}
				assert.ElementsMatch(t, want, rig.HeaderNames(got.Header),
					"T2: not Idempotency-Key, by which net/http would send a POST again by itself")
			}
		})
	}
}

// An account id is one segment of a path, one value of a query, and one string of
// a body, whatever its characters are.
func TestAccountIDsOnTheWire(t *testing.T) {
	const odd = trading.AccountID(`a/b?c=d&e#f%2F ü"..`)
	script := rig.NewScript(t,
		rig.Answered(200, `{"account":{"id":"a/b?c=d&e#f%2F ü\"..","status":"ACTIVE","balance":1,"equity":1}}`),
		rig.Answered(200, `{"orders":[],"runs":[]}`), rig.Answered(200, `{"history":[]}`), rig.Answered(200, `{"funding":[]}`),
		rig.Answered(200, `{"positions":[]}`), rig.Answered(200, `{"trades":[]}`), rig.Answered(200, doneBody))
	account := rig.ScriptedClient(t, script).Live.Account(odd)
	ctx := context.Background()
	_, err := account.State(ctx)
	require.NoError(t, err)
	_, err = account.OpenOrders(ctx)
	require.NoError(t, err)
	_, err = account.FinishedRuns(ctx)
	require.NoError(t, err)
	_, err = account.Funding(ctx)
	require.NoError(t, err)
	_, err = account.Positions(ctx)
	require.NoError(t, err)
	_, err = account.Trades(ctx)
	require.NoError(t, err)
	_, err = account.CancelRun(ctx, "r")
	require.NoError(t, err)
	var operations []string
	for _, got := range script.Received() {
		operations = append(operations, got.Operation)
	}
	const segment = "/accounts/a%2Fb%3Fc=d&e%23f%252F%20%C3%BC%22.."
	const query = "?accountId=a%2Fb%3Fc%3Dd%26e%23f%252F+%C3%BC%22.."
	assert.Equal(t, []string{
		"GET " + segment, "GET " + segment + "/orders", "GET " + segment + "/runs", "GET " + segment + "/funding",
		"GET /positions" + query, "GET /trades" + query, "POST /runs/cancel",
	}, operations)
	assert.Equal(t, `{"accountId":"a/b?c=d&e#f%2F ü\"..","runId":"r"}`, script.Received()[6].Body)
}

// An id that would make one endpoint into another is refused before it is sent, by
// every method; an account that is not found is no flat account.
func TestTrap_T83_IDsThatNameNothing(t *testing.T) {
	for _, id := range []string{"", ".", ".."} {
		for _, row := range liveRows {
			script := rig.NewScript(t) // any request fails the test
			err := row.call(context.Background(), rig.ScriptedClient(t, script).Live.Account(trading.AccountID(id)))
			var refusal *trading.Error
			require.ErrorAs(t, err, &refusal, "%s of account %q", row.name, id)
			assert.True(t, refusal.Local)
			assert.Equal(t, trading.NotApplied, trading.OutcomeOf(err))
		}
		script := rig.NewScript(t)
		account := rig.ScriptedClient(t, script).Live.Account("acc_1")
		_, err := account.CancelOrder(context.Background(), trading.OrderID(id))
		assert.Equal(t, trading.NotApplied, trading.OutcomeOf(err))
		require.Error(t, err)
		_, err = account.CancelRun(context.Background(), trading.RunID(id))
		require.Error(t, err)
		_, err = account.EditRun(context.Background(), trading.RunID(id), trading.RunEdit{TotalSize: trading.Dec("1")})
		require.Error(t, err)
	}
	script := rig.NewScript(t, rig.Answered(404, rig.RefusalBody(trading.CodeAccountNotFound)))
	positions, err := rig.ScriptedClient(t, script).Live.Account("acc_1").Positions(context.Background())
	require.ErrorIs(t, err, trading.CodeAccountNotFound)
	assert.Nil(t, positions)
}

// The client's slippage bound goes with market orders that open, and with no
// other: to a limit and to a reduce-only order it does not apply.
func TestTheClientsMaxSlippageOnALiveAccount(t *testing.T) {
	for name, row := range map[string]struct {
		change func(*trading.Order)
		place  func(context.Context, *trading.Account, trading.Order) error
		answer string
		sent   bool
	}{
		"a market order":     {nil, placeOrder, liveOrderBody, true},
		"a limit":            {limited, placeOrder, liveOrderBody, false},
		"reduce-only":        {func(o *trading.Order) { o.ReduceOnly = true }, placeOrder, liveOrderBody, false},
		"a resting limit":    {limited, placeLimit, liveLimitBody, false},
		"a TWAP":             {nil, overTime((*trading.Account).PlaceTWAP, trading.TWAP{Duration: time.Hour}), runBody, true},
		"a stop-limit":       {limited, overTime((*trading.Account).PlaceConditional, trading.Conditional{Trigger: trading.Dec("1"), Exec: trading.StopLimit}), runBody, false},
		"one of the order's": {func(o *trading.Order) { o.MaxSlippagePct = trading.Some(trading.Dec("0.7")) }, placeOrder, liveOrderBody, true},
	} {
		script := rig.NewScript(t, rig.Answered(200, row.answer))
		account := rig.ScriptedClient(t, script, trading.WithMaxSlippagePct(trading.Dec("0.7"))).Live.Account("acc_1")
		require.NoError(t, orderCall(row.place, row.change)(context.Background(), account))
		assert.Equal(t, row.sent, strings.Contains(script.Received()[0].Body, `"maxSlippagePct":0.7`), name)
	}
}

// What is refused before a byte is sent, with the service's own code.
func TestLiveRefusedBeforeSending(t *testing.T) {
	order := func(change func(*trading.Order)) liveCall { return orderCall(placeOrder, change) }
	pro := func(place func(context.Context, *trading.Account, trading.Order) error) liveCall {
		return orderCall(place, nil)
	}
	endless := trading.Some(decimal.New(1, 60000000))
	for _, row := range []struct {
		name string
		code trading.Code
		call liveCall
	}{
		{"no symbol", trading.CodeMissingFields, order(func(o *trading.Order) { o.Symbol = "" })},
		{"no leverage", trading.CodeMissingFields, order(func(o *trading.Order) { o.Leverage = decimal.Decimal{} })},
		{"a negative leverage", trading.CodeBadRequest, order(func(o *trading.Order) { o.Leverage = trading.Dec("-2") })},
		{"no side", trading.CodeBadSide, order(func(o *trading.Order) { o.Side = "" })},
		{"side LONG", trading.CodeBadSide, order(func(o *trading.Order) { o.Side = "LONG" })},
		{"size 0", trading.CodeBadSize, order(func(o *trading.Order) { o.Size = trading.Dec("0") })},
		{"an absurd size", trading.CodeBadSize, order(func(o *trading.Order) { o.Size = decimal.New(1, 60000000) })},
		{"an unknown type", trading.CodeBadRequest, order(func(o *trading.Order) { o.Type = 7 })},
		{"limit without a price", trading.CodeBadLimitPrice, order(func(o *trading.Order) { o.Type = trading.LimitOrder })},
		{"market with a price", trading.CodeBadLimitPrice, order(func(o *trading.Order) { o.LimitPrice = trading.At(trading.Dec("1")) })},
		{"a stop of 0", trading.CodeInvalidTPSL, order(func(o *trading.Order) { o.StopLoss = trading.At(trading.Dec("0")) })},
		{"slippage 0.25", trading.CodeBadMaxSlippage, order(func(o *trading.Order) { o.MaxSlippagePct = trading.Some(trading.Dec("0.25")) })},
		{"a resting limit without a price", trading.CodeBadLimitPrice, orderCall(placeLimit, nil)},
		{"close without a symbol", trading.CodeMissingFields, closing("", trading.All)},
		{"close no part", trading.CodeBadRequest, closing("BTC", trading.Part{})},
		{"close above all", trading.CodeBadRequest, closing("BTC", trading.Percent(trading.Dec("100.5")))},
		{"triggers without a symbol", trading.CodeMissingFields, liveTPSL("", trading.TPSL{TakeProfit: trading.Clear, StopLoss: trading.Clear})},
		{"T68 no level", trading.CodeMissingFields, liveTPSL("BTC", trading.TPSL{})},
		{"a trigger at 0", trading.CodeInvalidTPSL, liveTPSL("BTC", trading.TPSL{TakeProfit: trading.Clear, StopLoss: trading.At(trading.Dec("0"))})},
		{"T108 a share", trading.CodeBadRequest, liveTPSL("BTC", trading.TPSL{TakeProfit: trading.Clear, StopLoss: trading.Clear, ClosePct: trading.Some(trading.Dec("50"))})},

		{"no trigger price", trading.CodeBadTrigger, pro(overTime((*trading.Account).PlaceConditional, trading.Conditional{}))},
		{"a negative trigger price", trading.CodeBadTrigger, pro(overTime((*trading.Account).PlaceConditional, trading.Conditional{Trigger: trading.Dec("-1")}))},
		{"an unknown exec kind", trading.CodeBadRequest, pro(overTime((*trading.Account).PlaceConditional, trading.Conditional{Trigger: trading.Dec("1"), Exec: 9}))},
		{"a stop-limit without a price", trading.CodeBadLimitPrice, pro(overTime((*trading.Account).PlaceConditional, trading.Conditional{Trigger: trading.Dec("1"), Exec: trading.StopLimit}))},
		{"a stop-market with a price", trading.CodeBadLimitPrice, orderCall(overTime((*trading.Account).PlaceConditional, trading.Conditional{Trigger: trading.Dec("1")}), func(o *trading.Order) { o.LimitPrice = trading.At(trading.Dec("1")) })},
		{"a ladder from nowhere", trading.CodeBadPrice, pro(overTime((*trading.Account).PlaceLadder, trading.Ladder{To: trading.Dec("1"), Rungs: 2}))},
		{"a ladder to nowhere", trading.CodeBadPrice, pro(overTime((*trading.Account).PlaceLadder, trading.Ladder{From: trading.Dec("1"), Rungs: 2}))},
		{"a ladder without rungs", trading.CodeBadOrderCount, pro(overTime((*trading.Account).PlaceLadder, trading.Ladder{From: trading.Dec("1"), To: trading.Dec("2")}))},
		{"T97 rungs below $10", trading.CodeMinNotional, pro(overTime((*trading.Account).PlaceLadder, trading.Ladder{From: trading.Dec("64000"), To: trading.Dec("60000"), Rungs: 65}))},
		{"a skew that is endless", trading.CodeBadRequest, pro(overTime((*trading.Account).PlaceLadder, trading.Ladder{From: trading.Dec("64000"), To: trading.Dec("60000"), Rungs: 2, SizeSkew: endless}))},
		{"no duration", trading.CodeBadDuration, pro(overTime((*trading.Account).PlaceTWAP, trading.TWAP{}))},
		{"less than a millisecond", trading.CodeBadDuration, pro(overTime((*trading.Account).PlaceTWAP, trading.TWAP{Duration: time.Microsecond}))},
		{"part of a millisecond", trading.CodeBadDuration, pro(overTime((*trading.Account).PlaceTWAP, trading.TWAP{Duration: time.Second + time.Microsecond}))},
		{"a negative duration", trading.CodeBadDuration, pro(overTime((*trading.Account).PlaceChaseTWAP, trading.ChaseTWAP{Duration: -time.Hour}))},
		{"a chase to 0", trading.CodeBadPrice, pro(overTime((*trading.Account).PlaceChase, trading.Chase{To: trading.At(trading.Dec("0"))}))},
		{"a chase to null", trading.CodeBadPrice, pro(overTime((*trading.Account).PlaceChase, trading.Chase{To: trading.Clear}))},
		{"a chased TWAP to 0", trading.CodeBadPrice, pro(overTime((*trading.Account).PlaceChaseTWAP, trading.ChaseTWAP{Duration: time.Hour, To: trading.At(trading.Dec("0"))}))},
		{"a swarm of none", trading.CodeBadOrderCount, pro(overTime((*trading.Account).PlaceSwarm, trading.Swarm{}))},
		{"a slippage that is endless", trading.CodeBadRequest, pro(overTime((*trading.Account).PlaceSwarm, trading.Swarm{Orders: 2, SlippageBps: endless}))},
		{"an aggression that is no JSON", trading.CodeBadRequest, pro(overTime((*trading.Account).PlaceSwarm, trading.Swarm{Orders: 2, Aggression: trading.Some(json.RawMessage("high"))}))},
		{"an aggression that is empty", trading.CodeBadRequest, pro(overTime((*trading.Account).PlaceSwarm, trading.Swarm{Orders: 2, Aggression: trading.Some(json.RawMessage{})}))},
		{"an aggression that is null", trading.CodeBadRequest, pro(overTime((*trading.Account).PlaceSwarm, trading.Swarm{Orders: 2, Aggression: trading.Some(json.RawMessage(" null"))}))},
		{"an aggression that is an object", trading.CodeBadRequest, pro(overTime((*trading.Account).PlaceSwarm, trading.Swarm{Orders: 2, Aggression: trading.Some(json.RawMessage(`{"a":1}`))}))},
		{"an edit to 0", trading.CodeBadSize, func(ctx context.Context, a *trading.Account) error {
			_, err := a.EditRun(ctx, "run_1", trading.RunEdit{})
			return err
		}},
		{"a key with a space", trading.CodeInvalidIdempotencyKey, keyed("a b")},
		{"a key of no characters", trading.CodeInvalidIdempotencyKey, keyed("")},
		{"a key beyond ASCII", trading.CodeInvalidIdempotencyKey, keyed("kéy")},
		{"a key of 256 characters", trading.CodeInvalidIdempotencyKey, keyed(trading.Key(strings.Repeat("k", 256)))},
		{"a key with a line break", trading.CodeInvalidIdempotencyKey, keyed("k\n")},
	} {
		t.Run(row.name, func(t *testing.T) {
			script := rig.NewScript(t) // any request fails the test
			err := row.call(context.Background(), rig.ScriptedClient(t, script).Live.Account("acc_1"))
			require.ErrorIs(t, err, row.code)
			assert.Equal(t, trading.NotApplied, trading.OutcomeOf(err))
			var refusal *trading.Error
			require.ErrorAs(t, err, &refusal)
			assert.True(t, refusal.Local)
			assert.Zero(t, refusal.Status)
		})
	}
}

// sentKeyHeader is the name of the header as the client writes it, which is not the
// canonical one on purpose.
var sentKeyHeader = strings.ToLower("Idempotency-Key")

func keyed(k trading.Key) liveCall {
	return func(ctx context.Context, a *trading.Account) error {
		_, err := a.PlaceOrder(ctx, rig.Buy("0.01"), trading.WithIdempotencyKey(k))
		return err
	}
}

// T16: what the service accepts as a key, the client accepts.
func TestTrap_T16_KeysThatAreValid(t *testing.T) {
	for _, key := range []trading.Key{"k", trading.Key(strings.Repeat("k", 255)), "!", "~", `"\/`} {
		script := rig.NewScript(t, rig.Answered(200, liveOrderBody))
		require.NoError(t, keyed(key)(context.Background(), rig.ScriptedClient(t, script).Live.Account("acc_1")))
		header := script.Received()[0].Header
		assert.Equal(t, []string{string(key)}, header[sentKeyHeader])
	}
}
