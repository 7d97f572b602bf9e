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
	liveOrderBody = `{"success":true,"action":"opened","fill":{"price":64000,"size":0.01,"fee":0.288},"position":null,"newBalance":99999.712}`
	liveLimitBody = `{"success":true,"order":{"id":"ord_1"}}`
	liveCloseBody = `{"success":true,"pnl":"1.50","fee":"0.58","newBalance":"100000.92","status":"ACTIVE"}`
	runBody       = `{"success":true,"runId":"run_1"}`
	doneBody      = `{"success":true}`
)

// aCall is a call of a client, whose live calls are on the account acc_1.
type aCall func(context.Context, *trading.Client) error

func onAccount(c *trading.Client) *trading.Account { return c.Live.Account("acc_1") }

// orderCall is a call with an order, of which only what is required is set.
func orderCall(place func(context.Context, *trading.Client, trading.Order) error, change func(*trading.Order)) aCall {
	return func(ctx context.Context, c *trading.Client) error {
		o := trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.01"), Leverage: trading.Dec("2")}
		if change != nil {
			change(&o)
		}
		return place(ctx, c, o)
	}
}

func paperOrder(ctx context.Context, c *trading.Client, o trading.Order) error {
	_, err := c.Sandbox.PlaceOrder(ctx, o)
	return err
}

func placeOrder(ctx context.Context, c *trading.Client, o trading.Order) error {
	_, err := onAccount(c).PlaceOrder(ctx, o)
	return err
}

func placeLimit(ctx context.Context, c *trading.Client, o trading.Order) error {
	_, err := onAccount(c).PlaceLimit(ctx, o)
	return err
}

// overTime places an order that is carried out over time, by the method for how.
func overTime[H any](method func(*trading.Account, context.Context, trading.Order, H, ...trading.CallOption) (*trading.RunResult, error), how H) func(context.Context, *trading.Client, trading.Order) error {
	return func(ctx context.Context, c *trading.Client, o trading.Order) error {
		_, err := method(onAccount(c), ctx, o, how)
		return err
	}
}

func paperTPSL(tr trading.TPSL) aCall {
	return func(ctx context.Context, c *trading.Client) error {
		_, err := c.Sandbox.SetTPSL(ctx, "BTC", tr)
		return err
	}
}

func limited(o *trading.Order) {
	o.Type, o.LimitPrice = trading.LimitOrder, trading.At(trading.Dec("63000"))
}

// Requests byte for byte, beside those on record: what is absent is not sent, null is null,
// numbers are plain.
func TestRequestsOnTheWire(t *testing.T) {
	const tpslBody = `{"ok":true,"position":` + rig.PositionBody + `}`
	size := func(text string) func(*trading.Order) {
		return func(o *trading.Order) { o.Size = trading.Dec(text) }
	}
	for _, row := range []struct {
		name    string
		call    aCall
		answer  string
		request trading.Operation
		body    string
	}{
		{"OpenAPI", func(ctx context.Context, c *trading.Client) error { _, err := c.OpenAPI(ctx); return err },
			`{"openapi":"3.0.3","paths":{}}`, trading.OpOpenAPI, ""},
		{"a symbol in a query", func(ctx context.Context, c *trading.Client) error {
			_, err := c.Sandbox.Price(ctx, "A&B=C D/..")
			return err
		}, `{"symbol":"A&B=C D/..","price":1}`, "GET /sandbox/prices?symbol=A%26B%3DC+D%2F..", ""},
		{"a symbol with quotes", orderCall(paperOrder, func(o *trading.Order) { o.Symbol = `"\` + "\n" }), rig.OrderBody, trading.OpSandboxOrder,
			`{"leverage":2,"side":"long","size":0.01,"symbol":"\"\\\u000a"}`},
		{"an id with quotes", func(ctx context.Context, c *trading.Client) error {
			_, err := onAccount(c).CancelOrder(ctx, `o/"1`)
			return err
		}, doneBody, trading.OpCancelOrder, `{"accountId":"acc_1","orderId":"o/\"1"}`},
		{"no leverage, on paper", orderCall(paperOrder, func(o *trading.Order) { o.Leverage = decimal.Decimal{} }), rig.OrderBody, trading.OpSandboxOrder,
			`{"side":"long","size":0.01,"symbol":"BTC"}`},
		{"T100 a tiny size, and zeros at the end", orderCall(placeOrder, func(o *trading.Order) {
			o.Size, o.Leverage, o.StopLoss = trading.Dec("1e-7"), trading.Dec("2.50"), trading.At(trading.Dec("60000.10"))
		}), liveOrderBody, trading.OpOrder,
			`{"accountId":"acc_1","leverage":2.5,"side":"long","size":0.0000001,"stopLossPrice":60000.1,"symbol":"BTC"}`},
		{"T100 a tiny size, on paper", orderCall(paperOrder, size("1e-7")), rig.OrderBody, trading.OpSandboxOrder,
			`{"leverage":2,"side":"long","size":0.0000001,"symbol":"BTC"}`},
		{"T100 a large size", orderCall(placeOrder, size("1e9")), liveOrderBody, trading.OpOrder,
			`{"accountId":"acc_1","leverage":2,"side":"long","size":1000000000,"symbol":"BTC"}`},
		{"T100 a large size, on paper", orderCall(paperOrder, size("1e9")), rig.OrderBody, trading.OpSandboxOrder,
			`{"leverage":2,"side":"long","size":1000000000,"symbol":"BTC"}`},
		{"reduce-only, over time", orderCall(overTime((*trading.Account).PlaceTWAP, trading.TWAP{Duration: time.Millisecond}), func(o *trading.Order) { o.ReduceOnly = true }),
			runBody, trading.OpTWAP, `{"accountId":"acc_1","durationMs":1,"leverage":2,"reduceOnly":true,"side":"long","size":0.01,"symbol":"BTC"}`},

		{"less than the sandbox's least part", func(ctx context.Context, c *trading.Client) error {
			_, err := onAccount(c).ClosePosition(ctx, "BTC", trading.Percent(trading.Dec("0.50")))
			return err
		}, liveCloseBody, trading.OpClose, `{"accountId":"acc_1","closePercent":0.5,"symbol":"BTC"}`},
		{"T67 set one, leave the other", paperTPSL(trading.TPSL{StopLoss: trading.At(trading.Dec("63000"))}), tpslBody, trading.OpSandboxTPSL,
			`{"stopLossPrice":63000,"symbol":"BTC"}`},
		{"T67 clear one, set the other", paperTPSL(trading.TPSL{TakeProfit: trading.Clear, StopLoss: trading.At(trading.Dec("63000"))}), tpslBody, trading.OpSandboxTPSL,
			`{"stopLossPrice":63000,"symbol":"BTC","takeProfitPrice":null}`},
		{"T68 both levels, one cleared", func(ctx context.Context, c *trading.Client) error {
			_, err := onAccount(c).SetTPSL(ctx, "BTC", trading.TPSL{TakeProfit: trading.Clear, StopLoss: trading.At(trading.Dec("63000"))})
			return err
		}, doneBody, trading.OpTPSL, `{"accountId":"acc_1","stopLossPrice":63000,"symbol":"BTC","takeProfitPrice":null}`},
		{"D 29 the share cleared", paperTPSL(trading.TPSL{ClearClosePct: true}), tpslBody, trading.OpSandboxTPSL, `{"closePct":null,"symbol":"BTC"}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			script := rig.NewScript(t, rig.Answered(200, row.answer))
			require.NoError(t, row.call(context.Background(), rig.ScriptedClient(t, script)))
			script.Done()
			got := script.Received()[0]
			assert.Equal(t, string(row.request), got.Operation)
			assert.Equal(t, row.body, got.Body)
		})
	}
}

// An account id is one segment of a path, one value of a query, and one string of
// a body, whatever its characters are.
func TestAccountIDsOnTheWire(t *testing.T) {
	var steps []rig.Step
	for range 7 {
		steps = append(steps, rig.Answered(404, rig.RefusalBody(trading.CodeAccountNotFound)))
	}
	script, ctx := rig.NewScript(t, steps...), context.Background()
	account := rig.ScriptedClient(t, script).Live.Account(`a/b?c=d&e#f%2F ü"..`)
	_, _ = account.State(ctx)
	_, _ = account.OpenOrders(ctx)
	_, _ = account.FinishedRuns(ctx)
	_, _ = account.Funding(ctx)
	_, _ = account.Positions(ctx)
	_, _ = account.Trades(ctx)
	_, _ = account.CancelRun(ctx, "r")
	script.Done()
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

// The client's slippage bound goes with market orders that open, and with no
// other: to a limit and to a reduce-only order it does not apply. An order's own is kept.
func TestTheClientsMaxSlippageGoesWithMarketOrdersAlone(t *testing.T) {
	own := func(o *trading.Order) { o.MaxSlippagePct = trading.Some(trading.Dec("3")) }
	for name, row := range map[string]struct {
		change func(*trading.Order)
		place  func(context.Context, *trading.Client, trading.Order) error
		answer string
		sent   string // "" for none
	}{
		"a paper market order":        {nil, paperOrder, rig.OrderBody, "0.7"},
		"a paper limit":               {limited, paperOrder, rig.OrderBody, ""},
		"one of the paper order's":    {own, paperOrder, rig.OrderBody, "3"},
		"a market order":              {nil, placeOrder, liveOrderBody, "0.7"},
		"a limit":                     {limited, placeOrder, liveOrderBody, ""},
		"reduce-only":                 {func(o *trading.Order) { o.ReduceOnly = true }, placeOrder, liveOrderBody, ""},
		"a resting limit":             {limited, placeLimit, liveLimitBody, ""},
		"a TWAP":                      {nil, overTime((*trading.Account).PlaceTWAP, trading.TWAP{Duration: time.Hour}), runBody, "0.7"},
		"a stop-limit":                {limited, overTime((*trading.Account).PlaceConditional, trading.Conditional{Trigger: trading.Dec("1"), Exec: trading.StopLimit}), runBody, ""},
		"one of the order's, on live": {own, placeOrder, liveOrderBody, "3"},
	} {
		script := rig.NewScript(t, rig.Answered(200, row.answer))
		client := rig.ScriptedClient(t, script, trading.WithMaxSlippagePct(trading.Dec("0.7")))
		require.NoError(t, orderCall(row.place, row.change)(context.Background(), client))
		var body struct{ MaxSlippagePct json.Number }
		require.NoError(t, json.Unmarshal([]byte(script.Received()[0].Body), &body))
		assert.Equal(t, row.sent, body.MaxSlippagePct.String(), name)
	}
}

// What is refused before a byte is sent, with the service's own code, beside what
// TestMistakesAreNamed and TestLocalRefusalsAreTheServicesOwn have.
func TestRefusedBeforeSending(t *testing.T) {
	sized := func(size decimal.Decimal) func(*trading.Order) {
		return func(o *trading.Order) { o.Size = size }
	}
	priced := func(o *trading.Order) { o.LimitPrice = trading.At(trading.Dec("1")) }
	for _, row := range []struct {
		name string
		code trading.Code
		call aCall
	}{
		{"an absurd size", trading.CodeBadSize, orderCall(paperOrder, sized(decimal.New(1, 60000000)))},
		{"an absurdly small size", trading.CodeBadSize, orderCall(placeOrder, sized(decimal.New(1, -60000000)))},
		{"a price of no symbol", trading.CodeBadSymbol, func(ctx context.Context, c *trading.Client) error {
			_, err := c.Sandbox.Price(ctx, "")
			return err
		}},
		{"close without a symbol", trading.CodeBadSymbol, func(ctx context.Context, c *trading.Client) error {
			_, err := c.Sandbox.ClosePosition(ctx, "", trading.All)
			return err
		}},
		{"levels without a symbol", trading.CodeMissingFields, func(ctx context.Context, c *trading.Client) error {
			_, err := onAccount(c).SetTPSL(ctx, "", trading.TPSL{TakeProfit: trading.Clear, StopLoss: trading.Clear})
			return err
		}},
		{"a resting limit without a price", trading.CodeBadLimitPrice, orderCall(placeLimit, nil)},
		{"a stop-limit without a price", trading.CodeBadLimitPrice, orderCall(overTime((*trading.Account).PlaceConditional, trading.Conditional{Trigger: trading.Dec("1"), Exec: trading.StopLimit}), nil)},
		{"a stop-market with a price", trading.CodeBadLimitPrice, orderCall(overTime((*trading.Account).PlaceConditional, trading.Conditional{Trigger: trading.Dec("1")}), priced)},
		{"a ladder to nowhere", trading.CodeBadPrice, orderCall(overTime((*trading.Account).PlaceLadder, trading.Ladder{From: trading.Dec("1"), Rungs: 2}), nil)},
		{"T97 rungs below $10", trading.CodeMinNotional, orderCall(overTime((*trading.Account).PlaceLadder, trading.Ladder{From: trading.Dec("64000"), To: trading.Dec("60000"), Rungs: 65}), nil)},
		{"a skew that is endless", trading.CodeBadRequest, orderCall(overTime((*trading.Account).PlaceLadder, trading.Ladder{From: trading.Dec("64000"), To: trading.Dec("60000"), Rungs: 2, SizeSkew: trading.Some(decimal.New(1, 60000000))}), nil)},
		{"a negative duration", trading.CodeBadDuration, orderCall(overTime((*trading.Account).PlaceChaseTWAP, trading.ChaseTWAP{Duration: -time.Hour}), nil)},
		{"a chased TWAP to 0", trading.CodeBadPrice, orderCall(overTime((*trading.Account).PlaceChaseTWAP, trading.ChaseTWAP{Duration: time.Hour, To: trading.At(trading.Dec("0"))}), nil)},
		{"a key of 256 characters", trading.CodeInvalidIdempotencyKey, keyed(trading.Key(strings.Repeat("k", 256)))},
		{"a key with a line break", trading.CodeInvalidIdempotencyKey, keyed("k\n")},
	} {
		t.Run(row.name, func(t *testing.T) {
			script := rig.NewScript(t) // any request fails the test
			err := row.call(context.Background(), rig.ScriptedClient(t, script))
			require.ErrorIs(t, err, row.code)
			assert.Equal(t, trading.NotApplied, trading.OutcomeOf(err))
			assert.True(t, rig.RefusalOf(t, err).Local)
			assert.Zero(t, rig.RefusalOf(t, err).Status)
		})
	}
}

func keyed(k trading.Key) aCall {
	return func(ctx context.Context, c *trading.Client) error {
		_, err := onAccount(c).PlaceOrder(ctx, rig.Buy("0.01"), trading.WithIdempotencyKey(k))
		return err
	}
}

// T16: what the service accepts as a key, the client accepts.
func TestTrap_T16_KeysThatAreValid(t *testing.T) {
	for _, key := range []trading.Key{"k", trading.Key(strings.Repeat("k", 255)), "!", "~", `"\/`} {
		script := rig.NewScript(t, rig.Answered(200, liveOrderBody))
		require.NoError(t, keyed(key)(context.Background(), rig.ScriptedClient(t, script)))
		assert.Equal(t, []string{string(key)}, rig.KeyOf(script.Received()[0].Header))
	}
}
