package client

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/proof/exchange"
	"github.com/tradingapi/trading-go/internal/spec"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
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
	return rig.Only(c.Sandbox.PlaceOrder(ctx, o))
}

func placeOrder(ctx context.Context, c *trading.Client, o trading.Order) error {
	return rig.Only(onAccount(c).PlaceOrder(ctx, o))
}

func placeLimit(ctx context.Context, c *trading.Client, o trading.Order) error {
	return rig.Only(onAccount(c).PlaceLimit(ctx, o))
}

// overTime places an order that is carried out over time, by the method for how.
func overTime(how trading.Pro) func(context.Context, *trading.Client, trading.Order) error {
	return func(ctx context.Context, c *trading.Client, o trading.Order) error {
		return rig.Only(onAccount(c).PlacePro(ctx, o, how))
	}
}

func paperTPSL(tr trading.TPSL) aCall {
	return func(ctx context.Context, c *trading.Client) error { return rig.Only(c.Sandbox.SetTPSL(ctx, "BTC", tr)) }
}

func limited(o *trading.Order) {
	o.Type, o.LimitPrice = trading.LimitOrder, trading.At(trading.Dec("63000"))
}

// Requests byte for byte, beside those on record: what is absent is not sent, null is null,
// numbers are plain.
func TestRequestsOnTheWire(t *testing.T) {
	const tpslBody = `{"ok":true,"position":` + rig.PositionBody + `}`
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
			return rig.Only(c.Sandbox.Price(ctx, "A&B=C D/.."))
		}, `{"symbol":"A&B=C D/..","price":1}`, "GET /sandbox/prices?symbol=A%26B%3DC+D%2F..", ""},
		{"a symbol with quotes", orderCall(paperOrder, func(o *trading.Order) { o.Symbol = `"\` + "\n" }), rig.OrderBody, trading.OpSandboxOrder,
			`{"leverage":2,"side":"long","size":0.01,"symbol":"\"\\\u000a"}`},
		{"an id with quotes", func(ctx context.Context, c *trading.Client) error {
			return rig.Only(onAccount(c).CancelOrder(ctx, `o/"1`))
		}, doneBody, trading.OpCancelOrder, `{"accountId":"acc_1","orderId":"o/\"1"}`},
		{"no leverage, on paper", orderCall(paperOrder, func(o *trading.Order) { o.Leverage = decimal.Decimal{} }), rig.OrderBody, trading.OpSandboxOrder,
			`{"side":"long","size":0.01,"symbol":"BTC"}`},
		{"T100 a tiny size, and zeros at the end", orderCall(placeOrder, func(o *trading.Order) {
			o.Size, o.Leverage, o.StopLoss = trading.Dec("1e-7"), trading.Dec("2.50"), trading.At(trading.Dec("60000.10"))
		}), liveOrderBody, trading.OpOrder,
			`{"accountId":"acc_1","leverage":2.5,"side":"long","size":0.0000001,"stopLossPrice":60000.1,"symbol":"BTC"}`},

		{"less than the sandbox's least part", func(ctx context.Context, c *trading.Client) error {
			return rig.Only(onAccount(c).ClosePosition(ctx, "BTC", trading.Percent(trading.Dec("0.50"))))
		}, liveCloseBody, trading.OpClose, `{"accountId":"acc_1","closePercent":0.5,"symbol":"BTC"}`},
		{"T67 set one, leave the other", paperTPSL(trading.TPSL{StopLoss: trading.At(trading.Dec("63000"))}), tpslBody, trading.OpSandboxTPSL,
			`{"stopLossPrice":63000,"symbol":"BTC"}`},
		{"T67 clear one, set the other", paperTPSL(trading.TPSL{TakeProfit: trading.Clear, StopLoss: trading.At(trading.Dec("63000"))}), tpslBody, trading.OpSandboxTPSL,
			`{"stopLossPrice":63000,"symbol":"BTC","takeProfitPrice":null}`},
		{"T68 both levels, one cleared", func(ctx context.Context, c *trading.Client) error {
			return rig.Only(onAccount(c).SetTPSL(ctx, "BTC", trading.TPSL{TakeProfit: trading.Clear, StopLoss: trading.At(trading.Dec("63000"))}))
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
		"a TWAP":                      {nil, overTime(trading.TWAP{Duration: time.Hour}), runBody, "0.7"},
		"a stop-limit":                {limited, overTime(trading.Conditional{Trigger: trading.Dec("1")}), runBody, ""},
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

func keyed(k trading.Key) aCall {
	return func(ctx context.Context, c *trading.Client) error {
		return rig.Only(onAccount(c).PlaceOrder(ctx, rig.Buy("0.01"), trading.WithIdempotencyKey(k)))
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

const tpslPath = "POST /positions/tpsl"

// A caller who names one level of a live position keeps the other, without a read of
// its own: the client reads it, and sends both.
func TestTrap_T68_OneLevelAloneKeepsTheOther(t *testing.T) {
	position := func(levels string) string {
		return `{"positions":[{"symbol":"ETH","side":"long","size":1,"entryPrice":3000,"takeProfitPrice":1},` +
			`{"symbol":"BTC","side":"long","size":1,"entryPrice":64000` + levels + `}]}`
	}
	for name, row := range map[string]struct {
		change trading.TPSL
		found  string // of the levels in the position
		body   string
	}{
		"a stop beside a target": {trading.TPSL{StopLoss: trading.At(trading.Dec("63000"))}, `,"takeProfitPrice":70000.5,"stopLossPrice":null`,
			`"stopLossPrice":63000,"symbol":"BTC","takeProfitPrice":70000.5`},
		"a target beside a stop": {trading.TPSL{TakeProfit: trading.At(trading.Dec("70000"))}, `,"takeProfitPrice":null,"stopLossPrice":61000`,
			`"stopLossPrice":61000,"symbol":"BTC","takeProfitPrice":70000`},
		"clear one of two": {trading.TPSL{TakeProfit: trading.Clear}, `,"takeProfitPrice":70000,"stopLossPrice":61000`,
			`"stopLossPrice":61000,"symbol":"BTC","takeProfitPrice":null`},
		"no other level": {trading.TPSL{StopLoss: trading.At(trading.Dec("63000"))}, `,"takeProfitPrice":null,"stopLossPrice":null`,
			`"stopLossPrice":63000,"symbol":"BTC","takeProfitPrice":null`},
		"a position without the member": {trading.TPSL{StopLoss: trading.At(trading.Dec("63000"))}, ``,
			`"stopLossPrice":63000,"symbol":"BTC","takeProfitPrice":null`},
	} {
		t.Run(name, func(t *testing.T) {
			script := rig.NewScript(t, rig.Answered(200, position(row.found)), rig.Answered(200, doneBody))
			_, err := rig.ScriptedClient(t, script).Live.Account("acc_1").SetTPSL(context.Background(), "BTC", row.change)
			require.NoError(t, err)
			got := script.Received()
			require.Len(t, got, 2)
			assert.Equal(t, "GET /positions?accountId=acc_1", got[0].Operation)
			assert.Equal(t, tpslPath, got[1].Operation)
			assert.Equal(t, `{"accountId":"acc_1",`+row.body+`}`, got[1].Body)
		})
	}
}

// Where the other level cannot be learned, nothing is sent and the error says why.
func TestTrap_T68_OneLevelAloneIsNotGuessed(t *testing.T) {
	stop := trading.TPSL{StopLoss: trading.At(trading.Dec("63000"))}
	for name, row := range map[string]struct {
		steps []rig.Step
		opts  []trading.CallOption
		is    error
		says  string
	}{
		"the read is refused": {[]rig.Step{rig.Answered(404, rig.RefusalBody(trading.CodeAccountNotFound))}, nil, trading.CodeAccountNotFound,
			"Price is missing, and the position to read it from cannot be read"},
		"no position in the read": {[]rig.Step{rig.Answered(200, `{"positions":[]}`)}, nil, trading.CodeNoPosition, "shows no position in BTC to read it from: name both levels"},
		"a level that is no price": {[]rig.Step{rig.Answered(200,
			`{"positions":[{"symbol":"BTC","side":"long","size":1,"entryPrice":64000,"takeProfitPrice":0}]}`)}, nil, trading.CodeInvalidTPSL,
			"takeProfitPrice is 0: it must be greater than 0"},
		"a key of the caller's": {nil, []trading.CallOption{trading.WithIdempotencyKey("k")}, trading.CodeMissingFields, "both levels must be named"},
		"a client order id":     {nil, []trading.CallOption{trading.WithClientOrderID("p d")}, trading.CodeMissingFields, "both levels must be named"},
	} {
		t.Run(name, func(t *testing.T) {
			script := rig.NewScript(t, row.steps...)
			_, err := rig.ScriptedClient(t, script).Live.Account("acc_1").SetTPSL(context.Background(), "BTC", stop, row.opts...)
			require.ErrorIs(t, err, row.is)
			require.ErrorContains(t, err, row.says)
			assert.Equal(t, trading.NotApplied, trading.OutcomeOf(err))
			script.Done()
			for _, request := range script.Received() {
				assert.NotEqual(t, tpslPath, request.Operation)
			}
		})
	}
}

// rawOrder has spaces, an order of members and a spelling of numbers that the client would not
// write.
const rawOrder = `"symbol" : "BTC", "side":"long", "size":1.0e-2, "leverage":2.00, "stopLossPrice":60000.0`

const rawBuy = `{"accountId":"acc_1",` + rawOrder + `}`

var wholeNumber = regexp.MustCompile(`(: [0-9]+)([,\n])`)

// recordedBodies are the bodies of the writes that the exchanges have on record, in a layout that the
// client would not write.
func recordedBodies(t *testing.T) map[trading.Operation]string {
	t.Helper()
	bodies := map[trading.Operation]string{}
	files, err := exchange.Load("testdata/exchanges")
	require.NoError(t, err)
	for _, f := range files {
		var laidOut bytes.Buffer
		if f.Expect.Result != nil && json.Indent(&laidOut, f.Request.JSON, " ", "\t") == nil {
			bodies[trading.Operation(f.Request.Method+" "+f.Request.Path)] = wholeNumber.ReplaceAllString(laidOut.String(), "$1.0$2")
		}
	}
	return bodies
}

// Do carries out every operation of the contract: a write byte for byte.
func TestDoSendsWhatItIsGiven(t *testing.T) {
	bodies := recordedBodies(t)
	for _, o := range spec.Endpoints() {
		op := o.Name
		t.Run(string(op), func(t *testing.T) {
			r := rig.New(t, []tradingsim.Option{tradingsim.WithMark("BTC", "64000"), tradingsim.WithAccount(tradingsim.Account{ID: "account_1"})})
			body := bodies[op]
			request := trading.Raw{Body: []byte(body), Environment: trading.EnvLive}
			if !o.Write {
				request.Account = "account_1"
			}
			meta, err := r.Do(t.Context(), op, request, rig.Once)
			require.NotErrorAs(t, err, new(*trading.OptionError), "raw.go carries out a read of live.go or sandbox.go")
			if err != nil { // there is no position, no order and no run
				assert.False(t, rig.RefusalOf(t, err).Local, "%v", err)
			}
			assert.True(t, meta.Settled)
			assert.NotEmpty(t, meta.Body)
			assert.Equal(t, op, meta.Operation)
			sent := r.BodiesOf(op)
			require.Len(t, sent, 1)
			assert.Equal(t, body, sent[0])
			assert.Equal(t, o.Write && op != trading.OpSandboxReset, body != "")
			if o.Write && o.Env == "live" && o.Asks != spec.AsksNothing {
				assert.NotEmpty(t, meta.Intent)
			}
		})
	}
}

// A refused key says of each write that it was not carried out, once a second question has the
// same answer. Where the second has another one, something in front may have written the first.
func TestFound07_ARefusedKeyDecidesEachWrite(t *testing.T) {
	bodies := recordedBodies(t)
	for _, o := range spec.Endpoints() {
		for second, want := range map[string]trading.Outcome{"the same": trading.NotApplied, "another": trading.Unknown} {
			op := o.Name
			if !o.Write || want == trading.Unknown && o.Asks != spec.AsksNothing {
				continue // what can be found out is found out
			}
			t.Run(string(op)+", "+second, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := rig.New(t, []tradingsim.Option{tradingsim.WithMark("BTC", "64000"), tradingsim.WithAccount(tradingsim.Account{ID: "account_1"})})
					time.Sleep(6 * time.Second) // until health shows
					asked := 0
					r.Sim.FaultEach(func(operation string) tradingsim.Fault {
						if operation == string(trading.OpHealth) {
							return nil
						}
						if asked++; asked > 1 && want == trading.Unknown {
							return nil
						}
						return tradingsim.Raw(401, nil, rig.RefusalBody(trading.CodeRevokedAPIKey))
					})
					_, err := r.Do(t.Context(), op, trading.Raw{Body: []byte(bodies[op])}, rig.Once)
					require.ErrorIs(t, err, trading.ErrKeyRefused)
					assert.Equal(t, want, trading.OutcomeOf(err), "%v", err)
					assert.Equal(t, 2, asked)
				})
			})
		}
	}
}

// What could be read in two ways is refused before it is sent.
func TestDoReadsStrictly(t *testing.T) {
	r := rig.New(t, []tradingsim.Option{tradingsim.WithMark("BTC", "64000")})
	for body, code := range map[string]trading.Code{
		`{"accountId":"acc_1",` + rawOrder + `,"size":2}`:      trading.CodeInvalidJSON,
		`{"accountId":"acc_1",` + rawOrder + `,"s\u0069ze":2}`: trading.CodeInvalidJSON,
		`{"accountId":"acc_1",` + rawOrder + `,"Size":2}`:      trading.CodeBadRequest,
		`{"accountId":"acc_1",` + rawOrder + `,"note":2}`:      trading.CodeBadRequest,
		`{"accountId":"acc_1",` + rawOrder + `} {}`:            trading.CodeInvalidJSON,
		`{"accountId":"acc_1",` + rawOrder + `,}`:              trading.CodeInvalidJSON,
		`[]`:   trading.CodeInvalidJSON,
		``:     trading.CodeInvalidJSON,
		`null`: trading.CodeInvalidJSON,
		`{"accountId":"acc_1","symbol":"BTC","side":"long","size":"1"}`: trading.CodeBadSize,
		`{"accountId":"acc_1","symbol":"BTC","side":1}`:                 trading.CodeBadSide,
		`{"accountId":7}`: trading.CodeBadRequest,
		`{"accountId":"acc_1",` + rawOrder + `,"reduceOnly":"false"}`:        trading.CodeBadRequest,
		`{"accountId":"acc_1",` + rawOrder + `,"orderType":"Market"}`:        trading.CodeBadRequest,
		`{"accountId":"acc_2",` + rawOrder + `}`:                             trading.CodeBadRequest,
		`{"accountId":"acc_1",` + rawOrder + `,"expectedPrice":1e999}`:       trading.CodeBadRequest,
		`{"accountId":"acc_1",` + rawOrder + `,"limitPrice":60000}`:          trading.CodeBadLimitPrice,
		`{"accountId":"acc_1","symbol":"BTC","side":"long","leverage":null}`: trading.CodeMissingFields,
	} {
		meta, err := r.Do(t.Context(), trading.OpOrder, trading.Raw{Account: rig.Acc, Body: []byte(body)})
		require.ErrorIs(t, err, code, body)
		assert.Equal(t, trading.NotApplied, trading.OutcomeOf(err))
		assert.True(t, rig.RefusalOf(t, err).Local)
		assert.False(t, meta.Settled)
	}
	assert.Zero(t, r.Sent(trading.OpOrder))

	meta, err := r.Do(t.Context(), trading.OpOrder, trading.Raw{Body: []byte(`{"accountId":"acc_1",` + rawOrder + `,"note":{"x":[]}}`), Ignored: []string{"note"}})
	require.NoError(t, err)
	assert.True(t, meta.Settled)
}

// Nothing is added: neither the client's slippage, nor a part, nor the level that is left out.
func TestDoAddsNothing(t *testing.T) {
	var judged []trading.Write
	guard := func(_ context.Context, w trading.Write) error { judged = append(judged, w); return nil }
	r := rig.New(t, []tradingsim.Option{tradingsim.WithMark("BTC", "64000")}, trading.WithMaxSlippagePct(trading.Dec("1")), trading.WithGuard(guard))
	for _, w := range []struct {
		op   trading.Operation
		body string
	}{{trading.OpOrder, rawBuy}, {trading.OpTPSL, `{"symbol":"BTC","accountId":"acc_1","stopLossPrice":60000}`}, {trading.OpClose, `{"symbol":"BTC","accountId":"acc_1"}`}} {
		_, err := r.Do(t.Context(), w.op, trading.Raw{Body: []byte(w.body)})
		require.NoError(t, err)
		assert.Equal(t, []string{w.body}, r.BodiesOf(w.op))
	}
	assert.Zero(t, r.Sent(trading.OpPositions), "no level is read")
	require.Len(t, judged, 3)
	assert.Equal(t, "0.01", judged[0].Order.Size.String())
	assert.True(t, judged[0].Order.MaxSlippagePct.IsZero())
	assert.True(t, judged[0].Entry)
	assert.Equal(t, []any{rig.Acc, "BTC", false}, []any{judged[2].Account, judged[2].Symbol, judged[2].Entry})
}

// An order that only shrinks is an exit, however it is sent.
func TestDoKnowsAnExit(t *testing.T) {
	r := rig.New(t, []tradingsim.Option{tradingsim.WithMark("BTC", "64000")})
	r.Halt("test")
	_, err := r.Do(t.Context(), trading.OpOrder, trading.Raw{Body: []byte(rawBuy)})
	require.ErrorIs(t, err, trading.ErrHalted)
	_, err = r.Do(t.Context(), trading.OpOrder, trading.Raw{Body: []byte(`{"accountId":"acc_1",` + rawOrder + `,"reduceOnly":true}`)})
	require.ErrorIs(t, err, trading.CodeNoPosition)
}

// A decision that waited elsewhere has less time.
func TestAnOldDecisionIsNotSent(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		ask := func(age time.Duration) error {
			return rig.Only(r.Do(r.T.Context(), trading.OpOrder, trading.Raw{Body: []byte(rawBuy), Age: age}))
		}
		require.ErrorIs(r.T, ask(11*time.Second), trading.ErrExpired)
		assert.Zero(r.T, r.Sent(trading.OpOrder))
		require.NoError(r.T, ask(9*time.Second))
		require.ErrorContains(r.T, ask(-1), "must not be negative")
	})
}

// A given key has one answer, whoever asks: of a lost one too, and of a refusal after a restart.
func TestDoRepeatsTheAnswerOfAGivenKey(t *testing.T) {
	rig.DiskTest(t, nil, func(r rig.Rig, d *rig.Disk) {
		mine, tiny := trading.WithIdempotencyKey("mine"), trading.WithIdempotencyKey("tiny")
		request := trading.Raw{Body: []byte(rawBuy)}
		r.Sim.Fault("POST /orders", tradingsim.DropResponse())
		first, err := r.Do(r.T.Context(), trading.OpOrder, request, mine)
		require.NoError(r.T, err)
		assert.True(r.T, first.Settled)
		assert.True(r.T, first.Replayed)
		assert.Equal(r.T, "true", first.Header.Get("Idempotent-Replayed"))
		small := trading.Raw{Body: []byte(`{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.00001,"leverage":2}`)}
		refused, err := r.Do(r.T.Context(), trading.OpOrder, small, tiny)
		require.ErrorIs(r.T, err, trading.CodeMinNotional)
		assert.True(r.T, refused.Settled)
		sent := r.Sent(trading.OpOrder)
		r = r.Restart(d)
		again, err := r.Do(r.T.Context(), trading.OpOrder, request, mine)
		require.NoError(r.T, err)
		assert.JSONEq(r.T, string(first.Body), string(again.Body))
		assert.WithinDuration(r.T, first.Received, again.Received, time.Second)
		assert.True(r.T, again.Settled)
		repeated, err := r.Do(r.T.Context(), trading.OpOrder, small, tiny)
		require.ErrorIs(r.T, err, trading.CodeMinNotional)
		assert.Equal(r.T, refused.Status, repeated.Status)
		assert.JSONEq(r.T, string(refused.Body), string(repeated.Body))
		assert.True(r.T, repeated.Settled)
		assert.Equal(r.T, sent, r.Sent(trading.OpOrder), "nothing was sent")

		require.NoError(r.T, r.ForgetKey(r.T.Context(), "tiny"))
		_, err = r.Do(r.T.Context(), trading.OpOrder, small, tiny)
		require.ErrorIs(r.T, err, trading.CodeMinNotional)
		assert.Equal(r.T, sent+1, r.Sent(trading.OpOrder), "the service is asked again")
	})
}

// An answer is not to be passed on where it is not what the call came to.
func TestAnAnswerThatSettlesNothing(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		r.Sim.Fault("POST /orders", tradingsim.FailAfter(500, "internal_error"))
		meta, err := r.Do(r.T.Context(), trading.OpOrder, trading.Raw{Body: []byte(rawBuy)},
			trading.WithSendTTL(0), trading.WithResolveTimeout(0))
		require.Error(r.T, err)
		assert.Equal(r.T, trading.Unknown, trading.OutcomeOf(err))
		assert.False(r.T, meta.Settled)
		assert.Equal(r.T, 500, meta.Status)
		assert.NotEmpty(r.T, meta.Intent)
	})
}

// The tries of a client order id have keys that any run of the program finds again; those of
// any other write are new each time.
func TestKeysOfTries(t *testing.T) {
	const stale = `{"error":"STALE_PRICE","message":"no"}`
	keys := func(t *testing.T, opts ...trading.CallOption) []string {
		t.Helper()
		var sent []string
		synctest.Test(t, func(t *testing.T) {
			script := rig.NewScript(t, rig.Answered(404, `{"error":"account_not_found","message":"no"}`), rig.Answered(409, stale), rig.Answered(409, stale), rig.Answered(409, stale))
			// A journal that outlives the program, or the first try would be in doubt. The first
			// entry reads the account, by which the service's time is known.
			_, err := rig.ScriptedClient(t, script, trading.WithJournal(journal.NewMemory())).Live.Account("acc_1").PlaceOrder(context.Background(), rig.Buy("0.01"), opts...)
			require.ErrorIs(t, err, trading.CodeStalePrice)
			script.Done()
			for _, request := range script.Received() {
				sent = append(sent, rig.KeyOf(request.Header)...)
			}
		})
		require.Len(t, sent, 3)
		return sent
	}
	named := trading.WithClientOrderID("breakout 2026-11-20T10:15")
	first := keys(t, named)
	assert.Equal(t, first, keys(t, named), "by another client")
	const want = "d-bEYKCCWzBn8VtVykqxT67a4i7M3IXwjzvgmPQ9blK-M-"
	assert.Equal(t, []string{want + "1", want + "2", want + "3"}, first, "in every version of the client")
	own, others := keys(t), keys(t)
	for i := range own {
		assert.NotEqual(t, own[i], others[i])
		assert.NoError(t, uuid.Validate(own[i]))
	}
}
