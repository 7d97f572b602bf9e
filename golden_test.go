package trading

import (
	"context"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every request, byte for byte: what is absent is not sent, null is null, numbers
// are plain, and nothing is sent that was not asked for.
func TestRequestsOnTheWire(t *testing.T) {
	const (
		noBody    = ""
		closeBody = `{"ok":true,"closed":{"symbol":"BTC","pct":100,"exitPrice":1,"realizedPnL":0,"fee":0},"position":null,"account":` + accountBody + `}`
		tpslBody  = `{"ok":true,"position":` + positionBody + `}`
		resetBody = `{"ok":true,"account":` + accountBody + `}`
	)
	order := func(change func(*Order)) func(context.Context, *Client) error {
		return func(ctx context.Context, c *Client) error {
			o := Order{Symbol: "BTC", Side: Long, Size: Dec("0.01")}
			if change != nil {
				change(&o)
			}
			_, err := c.Sandbox.PlaceOrder(ctx, o)
			return err
		}
	}
	triggers := func(tr TPSL) func(context.Context, *Client) error {
		return func(ctx context.Context, c *Client) error {
			_, err := c.Sandbox.SetTPSL(ctx, "BTC", tr)
			return err
		}
	}
	for _, row := range []struct {
		name    string
		call    func(context.Context, *Client) error
		answer  string
		request Operation
		body    string
	}{
		{"Me", func(ctx context.Context, c *Client) error {
			_, err := c.Me(ctx, EnvSandbox)
			return err
		}, `{"userId":"u","environment":"sandbox","keyId":"k"}`, "GET /me", noBody},
		{"OpenAPI", func(ctx context.Context, c *Client) error {
			_, err := c.OpenAPI(ctx)
			return err
		}, `{"openapi":"3.0.3","paths":{}}`, "GET /openapi.json", noBody},
		{"State", func(ctx context.Context, c *Client) error {
			_, err := c.Sandbox.State(ctx)
			return err
		}, `{"account":` + accountBody + `}`, "GET /sandbox/account", noBody},
		{"Positions", func(ctx context.Context, c *Client) error {
			_, err := c.Sandbox.Positions(ctx)
			return err
		}, `{"positions":[` + positionBody + `]}`, "GET /sandbox/positions", noBody},
		{"Trades", func(ctx context.Context, c *Client) error {
			_, err := c.Sandbox.Trades(ctx)
			return err
		}, `{"trades":[]}`, "GET /sandbox/trades", noBody},
		{"Markets", func(ctx context.Context, c *Client) error {
			_, err := c.Sandbox.Markets(ctx)
			return err
		}, `{"markets":[]}`, "GET /sandbox/markets", noBody},
		{"Prices", func(ctx context.Context, c *Client) error {
			_, err := c.Sandbox.Prices(ctx)
			return err
		}, `{"prices":{}}`, "GET /sandbox/prices", noBody},
		{"Price", func(ctx context.Context, c *Client) error {
			_, err := c.Sandbox.Price(ctx, "A&B=C D/..")
			return err
		}, `{"symbol":"A&B=C D/..","price":1}`, "GET /sandbox/prices?symbol=A%26B%3DC+D%2F..", noBody},
		{"Reset", func(ctx context.Context, c *Client) error {
			_, err := c.Sandbox.Reset(ctx)
			return err
		}, resetBody, "POST /sandbox/reset", noBody},

		{"an order with what is required", order(nil), orderBody, OpSandboxOrder,
			`{"side":"long","size":0.01,"symbol":"BTC"}`},
		{"an order with everything", order(func(o *Order) {
			o.Side, o.Leverage, o.Type = Short, Dec("2.5"), LimitOrder
			o.LimitPrice, o.ExpectedPrice = At(Dec("64000.10")), At(Dec("64001"))
			o.TakeProfit, o.StopLoss, o.MaxSlippagePct = At(Dec("60000")), At(Dec("66000")), Some(Dec("0.5"))
		}), orderBody, OpSandboxOrder,
			`{"expectedPrice":64001,"leverage":2.5,"limitPrice":64000.1,"maxSlippagePct":0.5,"orderType":"limit",` +
				`"side":"short","size":0.01,"stopLossPrice":66000,"symbol":"BTC","takeProfitPrice":60000}`},
		{"T100 a tiny size", order(func(o *Order) { o.Size = Dec("1e-7") }), orderBody, OpSandboxOrder,
			`{"side":"long","size":0.0000001,"symbol":"BTC"}`},
		{"T100 a large size", order(func(o *Order) { o.Size = Dec("1e9") }), orderBody, OpSandboxOrder,
			`{"side":"long","size":1000000000,"symbol":"BTC"}`},
		{"a symbol with quotes", order(func(o *Order) { o.Symbol = `"\` + "\n" }), orderBody, OpSandboxOrder,
			`{"side":"long","size":0.01,"symbol":"\"\\\u000a"}`},

		{"T59 all, always named", func(ctx context.Context, c *Client) error {
			_, err := c.Sandbox.ClosePosition(ctx, "BTC", All)
			return err
		}, closeBody, OpSandboxClose, `{"pct":100,"symbol":"BTC"}`},
		{"a part", func(ctx context.Context, c *Client) error {
			_, err := c.Sandbox.ClosePosition(ctx, "BTC", Percent(Dec("12.5")))
			return err
		}, closeBody, OpSandboxClose, `{"pct":12.5,"symbol":"BTC"}`},

		{"T67 set one, leave the other", triggers(TPSL{StopLoss: At(Dec("63000"))}), tpslBody, OpSandboxTPSL,
			`{"stopLossPrice":63000,"symbol":"BTC"}`},
		{"T67 clear one, set the other", triggers(TPSL{TakeProfit: Clear, StopLoss: At(Dec("63000"))}), tpslBody, OpSandboxTPSL,
			`{"stopLossPrice":63000,"symbol":"BTC","takeProfitPrice":null}`},
		{"T67 all three", triggers(TPSL{TakeProfit: At(Dec("70000")), StopLoss: Clear, ClosePct: Some(Dec("50"))}), tpslBody, OpSandboxTPSL,
			`{"closePct":50,"stopLossPrice":null,"symbol":"BTC","takeProfitPrice":70000}`},
		{"D 29 the share cleared", triggers(TPSL{ClearClosePct: true}), tpslBody, OpSandboxTPSL, `{"closePct":null,"symbol":"BTC"}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			script := newScript(t, answered(200, row.answer))
			client := newTestClient(t, script)
			require.NoError(t, row.call(context.Background(), client))
			script.done()
			got := script.received()[0]
			assert.Equal(t, string(row.request), got.operation)
			assert.Equal(t, row.body, got.body)
			want := []string{"Accept", "User-Agent"}
			if row.request != OpOpenAPI {
				want = append(want, "X-Api-Key")
			}
			if row.body != noBody {
				want = append(want, "Content-Type")
				assert.Equal(t, "application/json", got.header.Get("Content-Type"))
			} else if row.request != OpOpenAPI && row.request != OpHealth && strings.HasPrefix(string(row.request), "GET ") {
				want = append(want, "Cache-Control")
				assert.Equal(t, "no-cache", got.header.Get("Cache-Control"))
			}
			assert.ElementsMatch(t, want, headerNames(got.header))
		})
	}
}

func TestTheClientsMaxSlippageGoesWithMarketOrdersAlone(t *testing.T) {
	script := newScript(t, answered(200, orderBody), answered(200, orderBody), answered(200, orderBody))
	client := newTestClient(t, script, WithMaxSlippagePct(Dec("0.5")))
	ctx := context.Background()
	o := Order{Symbol: "BTC", Side: Long, Size: Dec("1")}
	_, err := client.Sandbox.PlaceOrder(ctx, o)
	require.NoError(t, err)
	o.MaxSlippagePct = Some(Dec("3"))
	_, err = client.Sandbox.PlaceOrder(ctx, o)
	require.NoError(t, err)
	o.MaxSlippagePct, o.Type, o.LimitPrice = Opt[decimal.Decimal]{}, LimitOrder, At(Dec("1"))
	_, err = client.Sandbox.PlaceOrder(ctx, o)
	require.NoError(t, err)
	got := script.received()
	assert.Contains(t, got[0].body, `"maxSlippagePct":0.5`)
	assert.Contains(t, got[1].body, `"maxSlippagePct":3`)
	assert.NotContains(t, got[2].body, "maxSlippagePct")
}

// What is refused before a byte is sent, with the service's own code.
func TestRefusedBeforeSending(t *testing.T) {
	order := func(change func(*Order)) func(context.Context, *Client) error {
		return func(ctx context.Context, c *Client) error {
			o := Order{Symbol: "BTC", Side: Long, Size: Dec("0.01"), Leverage: Dec("2")}
			change(&o)
			result, err := c.Sandbox.PlaceOrder(ctx, o)
			if result != nil {
				t.Error("a result beside an error")
			}
			return err
		}
	}
	triggers := func(symbol string, tr TPSL) func(context.Context, *Client) error {
		return func(ctx context.Context, c *Client) error {
			_, err := c.Sandbox.SetTPSL(ctx, symbol, tr)
			return err
		}
	}
	closing := func(symbol string, part Part) func(context.Context, *Client) error {
		return func(ctx context.Context, c *Client) error {
			_, err := c.Sandbox.ClosePosition(ctx, symbol, part)
			return err
		}
	}
	for _, row := range []struct {
		name string
		code Code
		call func(context.Context, *Client) error
	}{
		{"no symbol", CodeBadSymbol, order(func(o *Order) { o.Symbol = "" })},
		{"no side", CodeBadSide, order(func(o *Order) { o.Side = "" })},
		{"side buy", CodeBadSide, order(func(o *Order) { o.Side = "buy" })},
		{"side LONG", CodeBadSide, order(func(o *Order) { o.Side = "LONG" })},
		{"size 0", CodeBadSize, order(func(o *Order) { o.Size = Dec("0") })},
		{"a negative size", CodeBadSize, order(func(o *Order) { o.Size = Dec("-1") })},
		{"an absurd size", CodeBadSize, order(func(o *Order) { o.Size = decimal.New(1, 60000000) })},
		{"an absurdly small size", CodeBadSize, order(func(o *Order) { o.Size = decimal.New(1, -60000000) })},
		{"a negative leverage", CodeBadRequest, order(func(o *Order) { o.Leverage = Dec("-2") })},
		{"T56 an unknown type", CodeBadRequest, order(func(o *Order) { o.Type = 7 })},
		{"T63 limit without a price", CodeBadLimitPrice, order(func(o *Order) { o.Type = LimitOrder })},
		{"T63 limit at 0", CodeBadLimitPrice, order(func(o *Order) { o.Type, o.LimitPrice = LimitOrder, At(Dec("0")) })},
		{"T63 market with a price", CodeBadLimitPrice, order(func(o *Order) { o.LimitPrice = At(Dec("64000")) })},
		{"limit price cleared", CodeBadLimitPrice, order(func(o *Order) { o.Type, o.LimitPrice = LimitOrder, Clear })},
		{"a computed stop of 0", CodeInvalidTPSL, order(func(o *Order) { o.StopLoss = At(Dec("0")) })},
		{"a negative target", CodeInvalidTPSL, order(func(o *Order) { o.TakeProfit = At(Dec("-5")) })},
		{"a stop to clear", CodeBadRequest, order(func(o *Order) { o.StopLoss = Clear })},
		{"a stop past the target", CodeInvalidTPSL, order(func(o *Order) { o.StopLoss, o.TakeProfit = At(Dec("2")), At(Dec("1")) })},
		{"expected price 0", CodeBadRequest, order(func(o *Order) { o.ExpectedPrice = At(Dec("0")) })},
		{"T64 slippage 0", CodeBadMaxSlippage, order(func(o *Order) { o.MaxSlippagePct = Some(Dec("0")) })},
		{"T64 slippage 0.05", CodeBadMaxSlippage, order(func(o *Order) { o.MaxSlippagePct = Some(Dec("0.05")) })},
		{"T64 slippage 0.25", CodeBadMaxSlippage, order(func(o *Order) { o.MaxSlippagePct = Some(Dec("0.25")) })},
		{"T64 slippage 30.1", CodeBadMaxSlippage, order(func(o *Order) { o.MaxSlippagePct = Some(Dec("30.1")) })},
		{"T57 reduce-only on the sandbox", CodeBadRequest, order(func(o *Order) { o.ReduceOnly = true })},
		{"close without a symbol", CodeBadSymbol, closing("", All)},
		{"close no part", CodeBadPct, closing("BTC", Part{})},
		{"close half a percent", CodeBadPct, closing("BTC", Percent(Dec("0.5")))},
		{"close 101 percent", CodeBadPct, closing("BTC", Percent(Dec("101")))},
		{"triggers without a symbol", CodeBadSymbol, triggers("", TPSL{StopLoss: Clear})},
		{"no trigger", CodeInvalidTPSL, triggers("BTC", TPSL{})},
		{"a trigger at 0", CodeInvalidTPSL, triggers("BTC", TPSL{StopLoss: At(Dec("0"))})},
		{"a trigger of 0 percent", CodeBadPct, triggers("BTC", TPSL{ClosePct: Some(Dec("0"))})},
		{"a price of no symbol", CodeBadSymbol, func(ctx context.Context, c *Client) error {
			_, err := c.Sandbox.Price(ctx, "")
			return err
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			script := newScript(t) // any request fails the test
			err := row.call(context.Background(), newTestClient(t, script))
			require.ErrorIs(t, err, row.code)
			assert.Equal(t, NotApplied, OutcomeOf(err))
			var refusal *Error
			require.ErrorAs(t, err, &refusal)
			assert.True(t, refusal.Local)
			assert.Zero(t, refusal.Status)
			assert.NotEmpty(t, refusal.Message)
		})
	}
}
