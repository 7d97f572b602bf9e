package check

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/api"
	"github.com/tradingapi/trading-go/internal/spec"
	"github.com/tradingapi/trading-go/internal/wire"
)

func dec(text string) decimal.Decimal { return decimal.RequireFromString(text) }

func at(text string) number { return wire.Some(dec(text)) }

// long is a number that is too long for the wire.
var long = decimal.New(1, 99)

func order(change func(*api.OrderRequest)) *api.OrderRequest {
	o := &api.OrderRequest{AccountID: "acc_1", Symbol: "BTC", Side: api.SideLong, Size: dec("1"), Leverage: dec("2")}
	change(o)
	return o
}

func pro(how func(*api.LadderOrderRequest)) *Fault {
	r := &api.LadderOrderRequest{
		ProOrderRequest: api.ProOrderRequest(*order(func(*api.OrderRequest) {})),
		StartPrice:      dec("60"), EndPrice: dec("70"), TotalOrders: 7,
	}
	how(r)
	return Ladder(r)
}

// Each fault has a code of the contract, and a text that names the member and its value.
func TestFaults(t *testing.T) {
	limit := wire.Some(api.OrderTypeLimit)
	of := func(env string, change func(*api.OrderRequest)) *Fault { return Order(env, order(change)) }
	for name, row := range map[string]struct {
		fault *Fault
		code  string // empty if nothing is wrong
		text  string
	}{
		"an order":                  {of(Live, func(*api.OrderRequest) {}), "", ""},
		"nothing":                   {Order(Live, &api.OrderRequest{}), "missing_fields", "missing: symbol, side, size, leverage"},
		"nothing, on paper":         {Order(Sandbox, &api.OrderRequest{}), "bad_symbol", "missing: symbol, side, size"},
		"no side":                   {of(Live, func(o *api.OrderRequest) { o.Side = "" }), "bad_side", "missing: side"},
		"no size and no price":      {of(Live, func(o *api.OrderRequest) { o.Size, o.OrderType = decimal.Zero, limit }), "bad_size", "missing: size, limitPrice"},
		"no leverage":               {of(Live, func(o *api.OrderRequest) { o.Leverage = decimal.Zero }), "missing_fields", "missing: leverage"},
		"no leverage, on paper":     {of(Sandbox, func(o *api.OrderRequest) { o.Leverage = decimal.Zero }), "", ""},
		"a leverage of 0":           {of(Live, func(o *api.OrderRequest) { o.Leverage = dec("0") }), "bad_request", "leverage is 0"},
		"a leverage of 0, on paper": {of(Sandbox, func(o *api.OrderRequest) { o.Leverage = dec("2").Sub(dec("2")) }), "bad_request", "leverage is 0"},
		"a size of 0":               {of(Live, func(o *api.OrderRequest) { o.Size = dec("0.00") }), "bad_size", "size is 0"},
		"a negative leverage":       {of(Sandbox, func(o *api.OrderRequest) { o.Leverage = dec("-2") }), "bad_request", "leverage is -2"},
		"a side of its own":         {of(Live, func(o *api.OrderRequest) { o.Side = "buy" }), "bad_side", `side is "buy"`},
		"a size that is too long":   {of(Live, func(o *api.OrderRequest) { o.Size = long }), "bad_size", "size is 1e99"},
		"a type of its own":         {of(Live, func(o *api.OrderRequest) { o.OrderType = wire.Some(api.OrderType("stop")) }), "bad_request", "Type (orderType) is stop"},
		"a limit without a price":   {of(Live, func(o *api.OrderRequest) { o.OrderType = limit }), "bad_limit_price", "missing: limitPrice"},
		"a limit at null":           {of(Live, func(o *api.OrderRequest) { o.OrderType, o.LimitPrice = limit, wire.Null[decimal.Decimal]() }), "bad_limit_price", "limitPrice is clear"},
		"a limit":                   {of(Live, func(o *api.OrderRequest) { o.OrderType, o.LimitPrice = limit, at("5") }), "", ""},
		"a market order at a price": {of(Live, func(o *api.OrderRequest) { o.LimitPrice = at("5") }), "bad_limit_price", "limitPrice is 5: a market order"},
		"a level to clear":          {of(Live, func(o *api.OrderRequest) { o.StopLossPrice = wire.Null[decimal.Decimal]() }), "bad_request", "stopLossPrice is Clear"},
		"a level of 0":              {of(Live, func(o *api.OrderRequest) { o.TakeProfitPrice = at("0") }), "invalid_tpsl", "takeProfitPrice is 0"},
		"an expected price of 0":    {of(Live, func(o *api.OrderRequest) { o.ExpectedPrice = at("0") }), "bad_request", "expectedPrice is 0"},
		"a stop past the target":    {of(Live, func(o *api.OrderRequest) { o.StopLossPrice, o.TakeProfitPrice = at("6"), at("5") }), "invalid_tpsl", "for a long it must not be past takeProfitPrice, which is 5"},
		"a stop above, of a short":  {of(Live, func(o *api.OrderRequest) { o.Side, o.StopLossPrice, o.TakeProfitPrice = "short", at("6"), at("5") }), "", ""},
		"no slippage":               {of(Live, func(o *api.OrderRequest) { o.MaxSlippagePct = at("0.05") }), "BAD_MAX_SLIPPAGE", "maxSlippagePct is 0.05: it must be between"},
		"two decimal places":        {of(Live, func(o *api.OrderRequest) { o.MaxSlippagePct = at("0.25") }), "BAD_MAX_SLIPPAGE", "maxSlippagePct is 0.25: it must have at most one"},
		"slippage":                  {of(Live, func(o *api.OrderRequest) { o.MaxSlippagePct = at("30.0") }), "", ""},
		"reduce-only":               {of(Live, func(o *api.OrderRequest) { o.ReduceOnly = wire.Some(true) }), "", ""},
		"reduce-only, on paper":     {of(Sandbox, func(o *api.OrderRequest) { o.ReduceOnly = wire.Some(true) }), "bad_request", "reduceOnly is true"},

		"no symbol":           {Symbol(Live, ""), "missing_fields", "symbol"},
		"no symbol, on paper": {Symbol(Sandbox, ""), "bad_symbol", "symbol"},
		"no part":             {Part(Live, decimal.Zero), "bad_request", "closePercent is 0%"},
		"a small part":        {Part(Live, dec("0.5")), "", ""},
		"paper, a small part": {Part(Sandbox, dec("0.5")), "bad_pct", "pct is 0.5%"},
		"more than all":       {Part(Sandbox, dec("100.1")), "bad_pct", "pct is 100.1%"},

		"no change":              {TPSL(Live, number{}, number{}, number{}, false), "missing_fields", "takeProfitPrice or stopLossPrice"},
		"paper, no change":       {TPSL(Sandbox, number{}, number{}, number{}, false), "invalid_tpsl", "takeProfitPrice, stopLossPrice or closePct"},
		"a part on live":         {TPSL(Live, at("5"), number{}, at("50"), false), "bad_request", "closePct is 50"},
		"a level to be gone":     {TPSL(Live, wire.Null[decimal.Decimal](), number{}, number{}, false), "", ""},
		"a negative target":      {TPSL(Live, at("-1"), number{}, number{}, false), "invalid_tpsl", "takeProfitPrice is -1"},
		"a stop of 0":            {TPSL(Sandbox, number{}, at("0"), number{}, false), "invalid_tpsl", "stopLossPrice is 0"},
		"paper, part of 101":     {TPSL(Sandbox, number{}, number{}, at("101"), false), "bad_pct", "closePct is 101"},
		"paper, a part and none": {TPSL(Sandbox, number{}, number{}, at("50"), true), "bad_pct", "only one"},
		"paper, part of half":    {TPSL(Sandbox, number{}, number{}, at("50"), false), "", ""},

		"a ladder":              {pro(func(*api.LadderOrderRequest) {}), "", ""},
		"a rung that is small":  {pro(func(r *api.LadderOrderRequest) { r.TotalOrders = 8 }), "MIN_NOTIONAL", "Rungs (totalOrders) is 8: of at most $70"},
		"no rungs":              {pro(func(r *api.LadderOrderRequest) { r.TotalOrders = 0 }), "BAD_ORDER_COUNT", "Rungs (totalOrders) is 0"},
		"a ladder to nowhere":   {pro(func(r *api.LadderOrderRequest) { r.EndPrice = decimal.Zero }), "BAD_PRICE", "and To (endPrice) 0"},
		"no time at all":        {Duration(0), "BAD_DURATION", "Duration (durationMs) is 0s"},
		"time that has passed":  {Duration(-time.Second), "BAD_DURATION", "Duration (durationMs) is -1s"},
		"a ladder from nowhere": {pro(func(r *api.LadderOrderRequest) { r.StartPrice = decimal.Zero }), "BAD_PRICE", "From (startPrice) is 0"},
		"no trigger":            {Conditional(&api.ConditionalOrderRequest{ExecKind: wire.Some(api.ExecKindStopLimit)}), "BAD_TRIGGER", "Trigger (triggerPrice) is 0"},
		"a kind of its own":     {Conditional(&api.ConditionalOrderRequest{ExecKind: wire.Some(api.ExecKind("x"))}), "bad_request", "execKind is x"},
		"half a millisecond":    {Duration(time.Millisecond / 2), "BAD_DURATION", "Duration (durationMs) is 500µs"},
		"a part of one":         {Duration(time.Millisecond * 3 / 2), "BAD_DURATION", "Duration (durationMs) is 1.5ms"},
		"a chase to null":       {ChaseTo(wire.Null[decimal.Decimal]()), "BAD_PRICE", "chaseTo is clear"},
		"a chase to a price":    {ChaseTo(at("5")), "", ""},
		"a swarm of none":       {Orders(0), "BAD_ORDER_COUNT", "Orders (totalOrders) is 0"},
		"an edit to nothing":    {TotalSize(decimal.Zero), "bad_size", "totalSize is 0"},
		"a skew too long":       {Number("sizeSkew", wire.Some(long)), "bad_request", "sizeSkew is 1e99"},
		"a word":                {Aggression(wire.Some(json.RawMessage(`high`))), "bad_request", "aggression is"},
		"an object":             {Aggression(wire.Some(json.RawMessage(` {}`))), "bad_request", "aggression is"},
		"no text":               {Aggression(wire.Some(json.RawMessage(``))), "bad_request", "aggression is"},
		"a text":                {Aggression(wire.Some(json.RawMessage(`"high"`))), "", ""},

		"no key":           {IdempotencyKey(""), "invalid_idempotency_key", "has 0 characters"},
		"a key of spaces":  {IdempotencyKey("a b"), "invalid_idempotency_key", "' ' at position 1"},
		"a key":            {IdempotencyKey("~!"), "", ""},
		"no API key":       {APIKey(Live, ""), "missing_api_key", "live key is empty"},
		"the other's":      {APIKey(Live, "pk_test_hidden"), "wrong_environment", "begins with pk_test_"},
		"a prefix alone":   {APIKey(Sandbox, "pk_test_"), "invalid_api_key", "must begin with pk_test_"},
		"a break in a key": {APIKey(Sandbox, "pk_test_a\n"), "invalid_api_key", "position 9"},
		"an API key":       {APIKey(Sandbox, "pk_test_a"), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if row.code == "" {
				require.Nil(t, row.fault)
				return
			}
			require.NotNil(t, row.fault)
			assert.Equal(t, row.code, row.fault.Code)
			assert.Contains(t, row.fault.Text, row.text)
			assert.True(t, slices.ContainsFunc(spec.Rules(), func(r spec.CodeRule) bool { return r.Code == row.fault.Code }))
			assert.NotContains(t, row.fault.Text, "hidden")
		})
	}
}

// Ids that would change the address, or that no service gives out.
func TestID(t *testing.T) {
	for _, id := range []string{"acc_1", "a/b", "...", "ä", "\x80", " ", "~"} {
		assert.Nil(t, ID("account", id), "%q", id)
	}
	for _, id := range []string{"", ".", "..", "a\n", "\x00", "a\x7f", "\x1f"} {
		assert.NotNil(t, ID("account", id), "%q", id)
	}
}
