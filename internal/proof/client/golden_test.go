package client

import (
	"context"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/proof/rig"
)

// Every request, byte for byte: what is absent is not sent, null is null, numbers
// are plain, and nothing is sent that was not asked for.
func TestRequestsOnTheWire(t *testing.T) {
	const (
		noBody    = ""
		closeBody = `{"ok":true,"closed":{"symbol":"BTC","pct":100,"exitPrice":1,"realizedPnL":0,"fee":0},"position":null,"account":` + rig.AccountBody + `}`
		tpslBody  = `{"ok":true,"position":` + rig.PositionBody + `}`
		resetBody = `{"ok":true,"account":` + rig.AccountBody + `}`
	)
	order := func(change func(*trading.Order)) func(context.Context, *trading.Client) error {
		return func(ctx context.Context, c *trading.Client) error {
			o := trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.01")}
			if change != nil {
				change(&o)
			}
			_, err := c.Sandbox.PlaceOrder(ctx, o)
			return err
		}
	}
	triggers := func(tr trading.TPSL) func(context.Context, *trading.Client) error {
		return func(ctx context.Context, c *trading.Client) error {
			_, err := c.Sandbox.SetTPSL(ctx, "BTC", tr)
			return err
		}
	}
	for _, row := range []struct {
		name    string
		call    func(context.Context, *trading.Client) error
		answer  string
		request trading.Operation
		body    string
	}{
		{"Me", func(ctx context.Context, c *trading.Client) error {
			_, err := c.Me(ctx, trading.EnvSandbox)
			return err
		}, `{"userId":"u","environment":"sandbox","keyId":"k"}`, "GET /me", noBody},
		{"OpenAPI", func(ctx context.Context, c *trading.Client) error {
			_, err := c.OpenAPI(ctx)
			return err
		}, `{"openapi":"3.0.3","paths":{}}`, "GET /openapi.json", noBody},
		{"State", func(ctx context.Context, c *trading.Client) error {
			_, err := c.Sandbox.State(ctx)
			return err
		}, `{"account":` + rig.AccountBody + `}`, "GET /sandbox/account", noBody},
		{"Positions", func(ctx context.Context, c *trading.Client) error {
			_, err := c.Sandbox.Positions(ctx)
			return err
		}, `{"positions":[` + rig.PositionBody + `]}`, "GET /sandbox/positions", noBody},
		{"Trades", func(ctx context.Context, c *trading.Client) error {
			_, err := c.Sandbox.Trades(ctx)
			return err
		}, `{"trades":[]}`, "GET /sandbox/trades", noBody},
		{"Markets", func(ctx context.Context, c *trading.Client) error {
			_, err := c.Sandbox.Markets(ctx)
			return err
		}, `{"markets":[]}`, "GET /sandbox/markets", noBody},
		{"Prices", func(ctx context.Context, c *trading.Client) error {
			_, err := c.Sandbox.Prices(ctx)
			return err
		}, `{"prices":{}}`, "GET /sandbox/prices", noBody},
		{"Price", func(ctx context.Context, c *trading.Client) error {
			_, err := c.Sandbox.Price(ctx, "A&B=C D/..")
			return err
		}, `{"symbol":"A&B=C D/..","price":1}`, "GET /sandbox/prices?symbol=A%26B%3DC+D%2F..", noBody},
		{"Reset", func(ctx context.Context, c *trading.Client) error {
			_, err := c.Sandbox.Reset(ctx)
			return err
		}, resetBody, "POST /sandbox/reset", noBody},

		{"an order with what is required", order(nil), rig.OrderBody, trading.OpSandboxOrder,
			`{"side":"long","size":0.01,"symbol":"BTC"}`},
		{"an order with everything", order(func(o *trading.Order) {
			o.Side, o.Leverage, o.Type = trading.Short, trading.Dec("2.5"), trading.LimitOrder
			o.LimitPrice, o.ExpectedPrice = trading.At(trading.Dec("64000.10")), trading.At(trading.Dec("64001"))
			o.TakeProfit, o.StopLoss, o.MaxSlippagePct = trading.At(trading.Dec("60000")), trading.At(trading.Dec("66000")), trading.Some(trading.Dec("0.5"))
		}), rig.OrderBody, trading.OpSandboxOrder,
			`{"expectedPrice":64001,"leverage":2.5,"limitPrice":64000.1,"maxSlippagePct":0.5,"orderType":"limit",` +
				`"side":"short","size":0.01,"stopLossPrice":66000,"symbol":"BTC","takeProfitPrice":60000}`},
		{"T100 a tiny size", order(func(o *trading.Order) { o.Size = trading.Dec("1e-7") }), rig.OrderBody, trading.OpSandboxOrder,
			`{"side":"long","size":0.0000001,"symbol":"BTC"}`},
		{"T100 a large size", order(func(o *trading.Order) { o.Size = trading.Dec("1e9") }), rig.OrderBody, trading.OpSandboxOrder,
			`{"side":"long","size":1000000000,"symbol":"BTC"}`},
		{"a symbol with quotes", order(func(o *trading.Order) { o.Symbol = `"\` + "\n" }), rig.OrderBody, trading.OpSandboxOrder,
			`{"side":"long","size":0.01,"symbol":"\"\\\u000a"}`},

		{"T59 all, always named", func(ctx context.Context, c *trading.Client) error {
			_, err := c.Sandbox.ClosePosition(ctx, "BTC", trading.All)
			return err
		}, closeBody, trading.OpSandboxClose, `{"pct":100,"symbol":"BTC"}`},
		{"a part", func(ctx context.Context, c *trading.Client) error {
			_, err := c.Sandbox.ClosePosition(ctx, "BTC", trading.Percent(trading.Dec("12.5")))
			return err
		}, closeBody, trading.OpSandboxClose, `{"pct":12.5,"symbol":"BTC"}`},

		{"T67 set one, leave the other", triggers(trading.TPSL{StopLoss: trading.At(trading.Dec("63000"))}), tpslBody, trading.OpSandboxTPSL,
			`{"stopLossPrice":63000,"symbol":"BTC"}`},
		{"T67 clear one, set the other", triggers(trading.TPSL{TakeProfit: trading.Clear, StopLoss: trading.At(trading.Dec("63000"))}), tpslBody, trading.OpSandboxTPSL,
			`{"stopLossPrice":63000,"symbol":"BTC","takeProfitPrice":null}`},
		{"T67 all three", triggers(trading.TPSL{TakeProfit: trading.At(trading.Dec("70000")), StopLoss: trading.Clear, ClosePct: trading.Some(trading.Dec("50"))}), tpslBody, trading.OpSandboxTPSL,
			`{"closePct":50,"stopLossPrice":null,"symbol":"BTC","takeProfitPrice":70000}`},
		{"D 29 the share cleared", triggers(trading.TPSL{ClearClosePct: true}), tpslBody, trading.OpSandboxTPSL, `{"closePct":null,"symbol":"BTC"}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			script := rig.NewScript(t, rig.Answered(200, row.answer))
			client := rig.ScriptedClient(t, script)
			require.NoError(t, row.call(context.Background(), client))
			script.Done()
			got := script.Received()[0]
			assert.Equal(t, string(row.request), got.Operation)
			assert.Equal(t, row.body, got.Body)
			want := []string{"Accept", "User-Agent"}
			if row.request != trading.OpOpenAPI {
				want = append(want, "X-Api-Key")
			}
			if row.body != noBody {
				want = append(want, "Content-Type")
				assert.Equal(t, "application/json", got.Header.Get("Content-Type"))
			} else if row.request != trading.OpOpenAPI && row.request != trading.OpHealth && strings.HasPrefix(string(row.request), "GET ") {
				want = append(want, "Cache-Control")
				assert.Equal(t, "no-cache", got.Header.Get("Cache-Control"))
			}
			assert.ElementsMatch(t, want, rig.HeaderNames(got.Header))
		})
	}
}

func TestTheClientsMaxSlippageGoesWithMarketOrdersAlone(t *testing.T) {
	script := rig.NewScript(t, rig.Answered(200, rig.OrderBody), rig.Answered(200, rig.OrderBody), rig.Answered(200, rig.OrderBody))
	client := rig.ScriptedClient(t, script, trading.WithMaxSlippagePct(trading.Dec("0.5")))
	ctx := context.Background()
	o := trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("1")}
	_, err := client.Sandbox.PlaceOrder(ctx, o)
	require.NoError(t, err)
	o.MaxSlippagePct = trading.Some(trading.Dec("3"))
	_, err = client.Sandbox.PlaceOrder(ctx, o)
	require.NoError(t, err)
	o.MaxSlippagePct, o.Type, o.LimitPrice = trading.Opt[decimal.Decimal]{}, trading.LimitOrder, trading.At(trading.Dec("1"))
	_, err = client.Sandbox.PlaceOrder(ctx, o)
	require.NoError(t, err)
	got := script.Received()
	assert.Contains(t, got[0].Body, `"maxSlippagePct":0.5`)
	assert.Contains(t, got[1].Body, `"maxSlippagePct":3`)
	assert.NotContains(t, got[2].Body, "maxSlippagePct")
}

// What is refused before a byte is sent, with the service's own code.
func TestRefusedBeforeSending(t *testing.T) {
	order := func(change func(*trading.Order)) func(context.Context, *trading.Client) error {
		return func(ctx context.Context, c *trading.Client) error {
			o := trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.01"), Leverage: trading.Dec("2")}
			change(&o)
			result, err := c.Sandbox.PlaceOrder(ctx, o)
			if result != nil {
				t.Error("a result beside an error")
			}
			return err
		}
	}
	triggers := func(symbol string, tr trading.TPSL) func(context.Context, *trading.Client) error {
		return func(ctx context.Context, c *trading.Client) error {
			_, err := c.Sandbox.SetTPSL(ctx, symbol, tr)
			return err
		}
	}
	closing := func(symbol string, part trading.Part) func(context.Context, *trading.Client) error {
		return func(ctx context.Context, c *trading.Client) error {
			_, err := c.Sandbox.ClosePosition(ctx, symbol, part)
			return err
		}
	}
	for _, row := range []struct {
		name string
		code trading.Code
		call func(context.Context, *trading.Client) error
	}{
		{"no symbol", trading.CodeBadSymbol, order(func(o *trading.Order) { o.Symbol = "" })},
		{"no side", trading.CodeBadSide, order(func(o *trading.Order) { o.Side = "" })},
		{"side buy", trading.CodeBadSide, order(func(o *trading.Order) { o.Side = "buy" })},
		{"side LONG", trading.CodeBadSide, order(func(o *trading.Order) { o.Side = "LONG" })},
		{"size 0", trading.CodeBadSize, order(func(o *trading.Order) { o.Size = trading.Dec("0") })},
		{"a negative size", trading.CodeBadSize, order(func(o *trading.Order) { o.Size = trading.Dec("-1") })},
		{"an absurd size", trading.CodeBadSize, order(func(o *trading.Order) { o.Size = decimal.New(1, 60000000) })},
		{"an absurdly small size", trading.CodeBadSize, order(func(o *trading.Order) { o.Size = decimal.New(1, -60000000) })},
		{"a negative leverage", trading.CodeBadRequest, order(func(o *trading.Order) { o.Leverage = trading.Dec("-2") })},
		{"T56 an unknown type", trading.CodeBadRequest, order(func(o *trading.Order) { o.Type = 7 })},
		{"T63 limit without a price", trading.CodeBadLimitPrice, order(func(o *trading.Order) { o.Type = trading.LimitOrder })},
		{"T63 limit at 0", trading.CodeBadLimitPrice, order(func(o *trading.Order) { o.Type, o.LimitPrice = trading.LimitOrder, trading.At(trading.Dec("0")) })},
		{"T63 market with a price", trading.CodeBadLimitPrice, order(func(o *trading.Order) { o.LimitPrice = trading.At(trading.Dec("64000")) })},
		{"limit price cleared", trading.CodeBadLimitPrice, order(func(o *trading.Order) { o.Type, o.LimitPrice = trading.LimitOrder, trading.Clear })},
		{"a computed stop of 0", trading.CodeInvalidTPSL, order(func(o *trading.Order) { o.StopLoss = trading.At(trading.Dec("0")) })},
		{"a negative target", trading.CodeInvalidTPSL, order(func(o *trading.Order) { o.TakeProfit = trading.At(trading.Dec("-5")) })},
		{"a stop to clear", trading.CodeBadRequest, order(func(o *trading.Order) { o.StopLoss = trading.Clear })},
		{"a stop past the target", trading.CodeInvalidTPSL, order(func(o *trading.Order) {
			o.StopLoss, o.TakeProfit = trading.At(trading.Dec("2")), trading.At(trading.Dec("1"))
		})},
		{"expected price 0", trading.CodeBadRequest, order(func(o *trading.Order) { o.ExpectedPrice = trading.At(trading.Dec("0")) })},
		{"T64 slippage 0", trading.CodeBadMaxSlippage, order(func(o *trading.Order) { o.MaxSlippagePct = trading.Some(trading.Dec("0")) })},
		{"T64 slippage 0.05", trading.CodeBadMaxSlippage, order(func(o *trading.Order) { o.MaxSlippagePct = trading.Some(trading.Dec("0.05")) })},
		{"T64 slippage 0.25", trading.CodeBadMaxSlippage, order(func(o *trading.Order) { o.MaxSlippagePct = trading.Some(trading.Dec("0.25")) })},
		{"T64 slippage 30.1", trading.CodeBadMaxSlippage, order(func(o *trading.Order) { o.MaxSlippagePct = trading.Some(trading.Dec("30.1")) })},
		{"T57 reduce-only on the sandbox", trading.CodeBadRequest, order(func(o *trading.Order) { o.ReduceOnly = true })},
		{"close without a symbol", trading.CodeBadSymbol, closing("", trading.All)},
		{"close no part", trading.CodeBadPct, closing("BTC", trading.Part{})},
		{"close half a percent", trading.CodeBadPct, closing("BTC", trading.Percent(trading.Dec("0.5")))},
		{"close 101 percent", trading.CodeBadPct, closing("BTC", trading.Percent(trading.Dec("101")))},
		{"triggers without a symbol", trading.CodeBadSymbol, triggers("", trading.TPSL{StopLoss: trading.Clear})},
		{"no trigger", trading.CodeInvalidTPSL, triggers("BTC", trading.TPSL{})},
		{"a trigger at 0", trading.CodeInvalidTPSL, triggers("BTC", trading.TPSL{StopLoss: trading.At(trading.Dec("0"))})},
		{"a trigger of 0 percent", trading.CodeBadPct, triggers("BTC", trading.TPSL{ClosePct: trading.Some(trading.Dec("0"))})},
		{"a price of no symbol", trading.CodeBadSymbol, func(ctx context.Context, c *trading.Client) error {
			_, err := c.Sandbox.Price(ctx, "")
			return err
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			script := rig.NewScript(t) // any request fails the test
			err := row.call(context.Background(), rig.ScriptedClient(t, script))
			require.ErrorIs(t, err, row.code)
			assert.Equal(t, trading.NotApplied, trading.OutcomeOf(err))
			var refusal *trading.Error
			require.ErrorAs(t, err, &refusal)
			assert.True(t, refusal.Local)
			assert.Zero(t, refusal.Status)
			assert.NotEmpty(t, refusal.Message)
		})
	}
}
