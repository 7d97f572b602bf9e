package risk_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/risk"
	"github.com/tradingapi/trading-go/tradingsim"
)

// What the client refuses before sending, the service would have refused too, with
// the same code: the same orders, sent past the client. Where it would have taken
// them, the client's reason is beside the row.
func TestWhatIsRefusedLocallyTheServiceRefuses(t *testing.T) {
	const takes = ""
	for name, c := range map[string]struct {
		spoil         func(o *trading.Order)
		live, sandbox trading.Code // what Preview says
		// What the service says where it differs: it would take the order.
		liveTakes, sandboxTakes bool
	}{
		"no symbol":    {spoil: func(o *trading.Order) { o.Symbol = "" }, live: "missing_fields", sandbox: "bad_symbol"},
		"no side":      {spoil: func(o *trading.Order) { o.Side = "buy" }, live: "bad_side", sandbox: "bad_side"},
		"no size":      {spoil: func(o *trading.Order) { o.Size = dec("0") }, live: "bad_size", sandbox: "bad_size"},
		"short size":   {spoil: func(o *trading.Order) { o.Size = dec("-1") }, live: "bad_size", sandbox: "bad_size"},
		"no leverage":  {spoil: func(o *trading.Order) { o.Leverage = dec("0") }, live: "missing_fields", sandbox: takes},
		"no limit":     {spoil: func(o *trading.Order) { o.Type = trading.LimitOrder }, live: "bad_limit_price", sandbox: "bad_limit_price"},
		"limit of 0":   {spoil: func(o *trading.Order) { o.Type, o.LimitPrice = trading.LimitOrder, trading.At(dec("0")) }, live: "bad_limit_price", sandbox: "bad_limit_price"},
		"target of 0":  {spoil: func(o *trading.Order) { o.TakeProfit = trading.At(dec("0")) }, live: "invalid_tpsl", sandbox: "invalid_tpsl"},
		"stop of 0":    {spoil: func(o *trading.Order) { o.StopLoss = trading.At(dec("0")) }, live: "invalid_tpsl", sandbox: "invalid_tpsl"},
		"crossed":      {spoil: func(o *trading.Order) { o.StopLoss, o.TakeProfit = trading.At(dec("70000")), trading.At(dec("60000")) }, live: "invalid_tpsl", sandbox: "invalid_tpsl"},
		"cleared stop": {spoil: func(o *trading.Order) { o.StopLoss = trading.Clear }, live: "bad_request", sandbox: "bad_request"},
		"expects 0":    {spoil: func(o *trading.Order) { o.ExpectedPrice = trading.At(dec("0")) }, live: "bad_request", sandbox: "bad_request"},
		"slippage":     {spoil: func(o *trading.Order) { o.MaxSlippagePct = trading.Some(dec("0.25")) }, live: "BAD_MAX_SLIPPAGE", sandbox: "BAD_MAX_SLIPPAGE"},
		"slippage 31":  {spoil: func(o *trading.Order) { o.MaxSlippagePct = trading.Some(dec("31")) }, live: "BAD_MAX_SLIPPAGE", sandbox: "BAD_MAX_SLIPPAGE"},
		"slippage 0":   {spoil: func(o *trading.Order) { o.MaxSlippagePct = trading.Some(dec("0")) }, live: "BAD_MAX_SLIPPAGE", sandbox: "BAD_MAX_SLIPPAGE"},
		// Nobody can mean it; the service clamps it up.
		"negative leverage": {spoil: func(o *trading.Order) { o.Leverage = dec("-2") }, live: "bad_request", liveTakes: true, sandbox: "bad_request", sandboxTakes: true},
		// A forgotten type must not turn a limit into a market order.
		"limit price of a market order": {spoil: func(o *trading.Order) { o.LimitPrice = trading.At(dec("1")) }, live: "bad_limit_price", liveTakes: true, sandbox: "bad_limit_price", sandboxTakes: true},
		// The sandbox ignores the field, and could open a position instead.
		"reduce-only on the sandbox": {spoil: func(o *trading.Order) { o.ReduceOnly = true }, live: "no_position", sandbox: "bad_request", sandboxTakes: true},
	} {
		t.Run(name, func(t *testing.T) {
			o := buy("0.1")
			c.spoil(&o)
			for _, env := range []trading.Environment{trading.EnvLive, trading.EnvSandbox} {
				want, taken := c.live, c.liveTakes
				if env == trading.EnvSandbox {
					want, taken = c.sandbox, c.sandboxTakes
				}
				r := newRig(t, []tradingsim.Option{tradingsim.WithMark("BTC", "64000")})
				f := risk.Inputs{Environment: env, Mark: trading.MarkAt(dec("64000")), Positions: trading.Some(trading.Positions{})}
				foreseen, _ := risk.Preview(o, f).Refused()
				require.Equal(t, want, foreseen, env)
				var err error
				if env == trading.EnvLive {
					_, err = r.live.PlaceOrder(t.Context(), o)
				} else {
					_, err = r.client.Sandbox.PlaceOrder(t.Context(), o)
				}
				require.Equal(t, want, codeOf(err), "the client, %s", env)
				if taken {
					want = takes
				}
				require.Equal(t, want, r.raw(env, o), "the service, %s", env)
			}
		})
	}
}

// raw sends an order past the client, and returns the code of the answer.
func (r *rig) raw(env trading.Environment, o trading.Order) trading.Code {
	r.t.Helper()
	body := map[string]any{"symbol": o.Symbol, "side": o.Side, "size": json.Number(o.Size.String())}
	path, key := "/sandbox/orders", r.sim.SandboxKey()
	if env == trading.EnvLive {
		path, key = "/orders", r.sim.LiveKey()
		body["accountId"] = "acc_1"
	}
	if o.Symbol == "" {
		delete(body, "symbol")
	}
	if !o.Leverage.IsZero() {
		body["leverage"] = json.Number(o.Leverage.String())
	}
	if o.Type == trading.LimitOrder {
		body["orderType"] = "limit"
	}
	if o.ReduceOnly {
		body["reduceOnly"] = true
	}
	for name, level := range map[string]trading.Level{
		"limitPrice": o.LimitPrice, "takeProfitPrice": o.TakeProfit, "stopLossPrice": o.StopLoss,
		"expectedPrice": o.ExpectedPrice,
	} {
		if !level.IsZero() {
			body[name] = level
		}
	}
	if !o.MaxSlippagePct.IsZero() {
		body["maxSlippagePct"] = o.MaxSlippagePct
	}
	text, err := json.Marshal(body)
	require.NoError(r.t, err)
	request, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, r.sim.URL()+path, strings.NewReader(string(text)))
	require.NoError(r.t, err)
	request.Header.Set("X-API-Key", key)
	request.Header.Set("Content-Type", "application/json")
	answer, err := r.sim.Transport().RoundTrip(request)
	require.NoError(r.t, err)
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	require.NoError(r.t, err)
	var refusal struct{ Error trading.Code }
	require.NoError(r.t, json.Unmarshal(raw, &refusal))
	return refusal.Error
}
