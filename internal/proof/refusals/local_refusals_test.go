package refusals

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

// deviation is one thing about an order that is out of the ordinary: in Go, and
// on the wire as a program without this client would send it.
type deviation struct {
	name   string
	change func(*trading.Order)
	wire   map[string]string // members; "" leaves one out
	// stricter is why the client refuses what the service would take; empty
	// where the two must agree.
	stricter string
}

var deviations = []deviation{
	{"no symbol", func(o *trading.Order) { o.Symbol = "" }, map[string]string{"symbol": ""}, ""},
	{"an unknown symbol", func(o *trading.Order) { o.Symbol = "NOPE" }, map[string]string{"symbol": `"NOPE"`}, ""},
	{"a symbol in lower case", func(o *trading.Order) { o.Symbol = "btc" }, map[string]string{"symbol": `"btc"`}, ""},
	{"no side", func(o *trading.Order) { o.Side = "" }, map[string]string{"side": ""}, ""},
	{"side buy", func(o *trading.Order) { o.Side = "buy" }, map[string]string{"side": `"buy"`}, ""},
	{"side LONG", func(o *trading.Order) { o.Side = "LONG" }, map[string]string{"side": `"LONG"`}, ""},
	{"short", func(o *trading.Order) { o.Side = trading.Short }, map[string]string{"side": `"short"`}, ""},
	{"size 0", func(o *trading.Order) { o.Size = rig.Dec("0") }, map[string]string{"size": "0"}, ""},
	{"size below 0", func(o *trading.Order) { o.Size = rig.Dec("-1") }, map[string]string{"size": "-1"}, ""},
	{"a size below the minimum", func(o *trading.Order) { o.Size = rig.Dec("1e-7") }, map[string]string{"size": "0.0000001"}, ""},
	{"a size above the caps", func(o *trading.Order) { o.Size = rig.Dec("1e9") }, map[string]string{"size": "1e9"}, ""},
	{"no leverage", func(o *trading.Order) { o.Leverage = decimal.Decimal{} }, map[string]string{"leverage": ""}, ""},
	{"leverage below 1", func(o *trading.Order) { o.Leverage = rig.Dec("0.5") }, map[string]string{"leverage": "0.5"}, ""},
	{"leverage above the cap", func(o *trading.Order) { o.Leverage = rig.Dec("1000") }, map[string]string{"leverage": "1000"}, ""},
	{"leverage below 0", func(o *trading.Order) { o.Leverage = rig.Dec("-2") }, map[string]string{"leverage": "-2"},
		"a sign that nobody can mean; the contract does not say that it is clamped"},
	{"an unknown type", func(o *trading.Order) { o.Type = 7 }, map[string]string{"orderType": `"stop"`},
		"T56: the sandbox places it as a market order"},
	{"limit without a price", func(o *trading.Order) { o.Type = trading.LimitOrder }, map[string]string{"orderType": `"limit"`}, ""},
	{"limit at 0", func(o *trading.Order) { o.Type, o.LimitPrice = trading.LimitOrder, rig.At("0") },
		map[string]string{"orderType": `"limit"`, "limitPrice": "0"}, ""},
	{"limit at null", func(o *trading.Order) { o.Type, o.LimitPrice = trading.LimitOrder, trading.Clear },
		map[string]string{"orderType": `"limit"`, "limitPrice": "null"}, ""},
	{"a marketable limit", func(o *trading.Order) { o.Type, o.LimitPrice = trading.LimitOrder, rig.At("64000") },
		map[string]string{"orderType": `"limit"`, "limitPrice": "64000"}, ""},
	{"a limit not reached", func(o *trading.Order) { o.Type, o.LimitPrice = trading.LimitOrder, rig.At("63000") },
		map[string]string{"orderType": `"limit"`, "limitPrice": "63000"}, ""},
	{"market with a limit price", func(o *trading.Order) { o.LimitPrice = rig.At("64000") }, map[string]string{"limitPrice": "64000"},
		"T63: an order type that was forgotten would trade at any price"},
	{"reduce-only", func(o *trading.Order) { o.ReduceOnly = true }, map[string]string{"reduceOnly": "true"},
		"T57: the sandbox does not know it and would open a position"},
	{"target 0", func(o *trading.Order) { o.TakeProfit = rig.At("0") }, map[string]string{"takeProfitPrice": "0"}, ""},
	{"a target below the price", func(o *trading.Order) { o.TakeProfit = rig.At("63000") }, map[string]string{"takeProfitPrice": "63000"}, ""},
	{"a target above the price", func(o *trading.Order) { o.TakeProfit = rig.At("65000") }, map[string]string{"takeProfitPrice": "65000"}, ""},
	{"target null", func(o *trading.Order) { o.TakeProfit = trading.Clear }, map[string]string{"takeProfitPrice": "null"}, ""},
	{"stop below 0", func(o *trading.Order) { o.StopLoss = rig.At("-1") }, map[string]string{"stopLossPrice": "-1"}, ""},
	{"a stop below the price", func(o *trading.Order) { o.StopLoss = rig.At("63000") }, map[string]string{"stopLossPrice": "63000"}, ""},
	{"a stop at the price", func(o *trading.Order) { o.StopLoss = rig.At("64000") }, map[string]string{"stopLossPrice": "64000"}, ""},
	{"a stop past the target", func(o *trading.Order) { o.StopLoss, o.TakeProfit = rig.At("66000"), rig.At("65000") },
		map[string]string{"stopLossPrice": "66000", "takeProfitPrice": "65000"}, ""},
	{"stop null", func(o *trading.Order) { o.StopLoss = trading.Clear }, map[string]string{"stopLossPrice": "null"}, ""},
	{"expected price 0", func(o *trading.Order) { o.ExpectedPrice = rig.At("0") }, map[string]string{"expectedPrice": "0"}, ""},
	{"expected price null", func(o *trading.Order) { o.ExpectedPrice = trading.Clear }, map[string]string{"expectedPrice": "null"}, ""},
	{"an expected price", func(o *trading.Order) { o.ExpectedPrice = rig.At("64100") }, map[string]string{"expectedPrice": "64100"}, ""},
	{"another expected price", func(o *trading.Order) { o.ExpectedPrice = rig.At("70000") }, map[string]string{"expectedPrice": "70000"}, ""},
	{"T64 slippage 0", func(o *trading.Order) { o.MaxSlippagePct = trading.Some(rig.Dec("0")) }, map[string]string{"maxSlippagePct": "0"}, ""},
	{"slippage 0.05", func(o *trading.Order) { o.MaxSlippagePct = trading.Some(rig.Dec("0.05")) }, map[string]string{"maxSlippagePct": "0.05"}, ""},
	{"slippage 0.1", func(o *trading.Order) { o.MaxSlippagePct = trading.Some(rig.Dec("0.1")) }, map[string]string{"maxSlippagePct": "0.1"}, ""},
	{"slippage 0.25", func(o *trading.Order) { o.MaxSlippagePct = trading.Some(rig.Dec("0.25")) }, map[string]string{"maxSlippagePct": "0.25"}, ""},
	{"slippage 8.00", func(o *trading.Order) { o.MaxSlippagePct = trading.Some(rig.Dec("8.00")) }, map[string]string{"maxSlippagePct": "8.00"}, ""},
	{"slippage 30", func(o *trading.Order) { o.MaxSlippagePct = trading.Some(rig.Dec("30")) }, map[string]string{"maxSlippagePct": "30"}, ""},
	{"slippage 30.1", func(o *trading.Order) { o.MaxSlippagePct = trading.Some(rig.Dec("30.1")) }, map[string]string{"maxSlippagePct": "30.1"}, ""},
}

// environment is one of the two, as a program with this client and one without it reach it.
type environment struct {
	name    trading.Environment
	op      trading.Operation // that places an order
	members map[string]string // of a plain order
	place   func(rig.Rig, trading.Order) (*trading.OrderResult, error)
	raw     func(rig.Rig, trading.Operation, string) rig.RawAnswer
	unknown trading.Code // for an unknown symbol
}

var environments = []environment{
	{trading.EnvSandbox, trading.OpSandboxOrder, map[string]string{"symbol": `"BTC"`, "side": `"long"`, "size": "0.05", "leverage": "2"},
		func(r rig.Rig, o trading.Order) (*trading.OrderResult, error) {
			return r.Sandbox.PlaceOrder(r.T.Context(), o)
		},
		rig.Rig.Raw, trading.CodeBadSymbol},
	{trading.EnvLive, trading.OpOrder, map[string]string{"accountId": `"acc_1"`, "symbol": `"BTC"`, "side": `"long"`, "size": "0.05", "leverage": "2"},
		func(r rig.Rig, o trading.Order) (*trading.OrderResult, error) {
			return r.Account().PlaceOrder(r.T.Context(), o)
		},
		rig.Rig.RawLive, trading.CodeAssetDisabled},
}

// onLive are the deviations that mean something else on a live account, and no stricter one.
var onLive = map[string]map[string]string{
	// Order.Side has no way to be left out: the empty text is what it would send.
	"no side":         {"side": `""`},
	"an unknown type": {"orderType": `"stop"`},
	"reduce-only":     {"reduceOnly": "true"},
}

// of is a deviation as the environment sees it.
func (e environment) of(d deviation) deviation {
	if wire, ok := onLive[d.name]; ok && e.name == trading.EnvLive {
		d.wire, d.stricter = wire, ""
	}
	return d
}

// json is an order with deviations as a program without this client sends it.
func (e environment) json(with ...deviation) string {
	members := maps.Clone(e.members)
	for _, d := range with {
		maps.Copy(members, d.wire)
	}
	var fields []string
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if members[name] != "" {
			fields = append(fields, fmt.Sprintf("%q:%s", name, members[name]))
		}
	}
	return "{" + strings.Join(fields, ",") + "}"
}

// The client and the plain request must come to the same: the same refusal, with
// the same code, or the same fill. So what is refused before it is sent is refused
// with the service's own code, and nothing that the service takes is refused,
// but for what is stricter on purpose: T57, T63. Among them T64: the range of the slippage;
// T32: for an unknown symbol live has no bad_symbol. What Check refuses is not sent.
func TestLocalRefusalsAreTheServicesOwn(t *testing.T) {
	for _, env := range environments {
		for _, d := range deviations {
			d := env.of(d)
			t.Run(string(env.name)+", "+d.name, func(t *testing.T) {
				through, plain := rig.New(t, nil), rig.New(t, nil)
				answer := env.raw(plain, env.op, env.json(d))
				o := rig.Buy("0.05", d.change)
				result, err := env.place(through, o)
				agree(t, answer, err, d.stricter, "")
				if checked := o.Check(env.name); checked != nil {
					assert.Equal(t, rig.RefusalOf(t, checked), rig.RefusalOf(t, err))
					assert.True(t, rig.RefusalOf(t, err).Local)
					assert.Empty(t, through.Sim.Requests())
				}
				if d.name == "an unknown symbol" {
					require.ErrorIs(t, err, env.unknown)
				}
				if d.stricter != "" {
					return
				}
				if err == nil {
					rig.EqualDec(t, "64000", result.Fill.Price)
				}
				assert.Len(t, through.Fills(), len(plain.Fills()))
			})
		}
	}
}

// agree holds the client's error against the service's answer. code is the client's, where the
// contract names none; else they are the same.
func agree(t *testing.T, answer rig.RawAnswer, err error, stricter string, code trading.Code) {
	t.Helper()
	switch {
	case stricter != "":
		assert.True(t, rig.RefusalOf(t, err).Local, stricter)
		assert.Equal(t, 200, answer.Status, "then it is not stricter: %s", answer.Message)
	case answer.Status == 200:
		require.NoError(t, err)
	case code != "":
		assert.Equal(t, code, rig.RefusalOf(t, err).Code)
	default:
		assert.Equal(t, answer.Code, rig.RefusalOf(t, err).Code, "%v\n%s", err, answer.Message)
		assert.Equal(t, trading.NotApplied, trading.OutcomeOf(err))
	}
}

// With two deviations at once, which of two refusals comes first is not in the
// contract; but both refuse, or both take it.
func TestLocalRefusalsTwoAtOnce(t *testing.T) {
	for _, env := range environments {
		pairs := 0
		for i, a := range deviations {
			for _, b := range deviations[i+1:] {
				a, b := env.of(a), env.of(b)
				if shareMember(a, b) || a.stricter != "" || b.stricter != "" {
					continue
				}
				pairs++
				through, plain := rig.New(t, nil), rig.New(t, nil)
				answer := env.raw(plain, env.op, env.json(a, b))
				_, err := env.place(through, rig.Buy("0.05", a.change, b.change))
				if (answer.Status == 200) != (err == nil) {
					t.Errorf("%s, %s, %s: the service says %d %s, the client says %v", env.name, a.name, b.name, answer.Status, answer.Code, err)
				}
				assert.Len(t, through.Fills(), len(plain.Fills()), "%s, %s, %s", env.name, a.name, b.name)
			}
		}
		assert.Greater(t, pairs, 500, env.name)
	}
}

func shareMember(a, b deviation) bool {
	for member := range a.wire {
		if _, ok := b.wire[member]; ok {
			return true
		}
	}
	return false
}

// over places an order that is carried out over time, as long as CheckPro says
// the same.
func over(size string, how trading.Pro, change ...func(*trading.Order)) func(rig.Rig) error {
	return func(r rig.Rig) error {
		order := rig.Buy(size)
		for _, f := range change {
			f(&order)
		}
		_, err := r.Account().PlacePro(r.T.Context(), order, how)
		if checked := order.CheckPro(how); checked != nil {
			assert.Equal(r.T, rig.RefusalOf(r.T, checked), rig.RefusalOf(r.T, err))
		}
		return err
	}
}

func asLimit(o *trading.Order) { o.Type = trading.LimitOrder }

// The same for what is no plain order: on accounts that are long 1 BTC, the live one with a TWAP.
func TestLocalRefusalsOfTheRest(t *testing.T) {
	closing := func(symbol string, part trading.Part) func(rig.Rig) error {
		return func(r rig.Rig) error { return rig.Only(r.Sandbox.ClosePosition(r.T.Context(), symbol, part)) }
	}
	levels := func(symbol string, change trading.TPSL) func(rig.Rig) error {
		return func(r rig.Rig) error { return rig.Only(r.Sandbox.SetTPSL(r.T.Context(), symbol, change)) }
	}
	liveClosing := func(symbol string, part trading.Part) func(rig.Rig) error {
		return func(r rig.Rig) error { return rig.Only(r.Account().ClosePosition(r.T.Context(), symbol, part)) }
	}
	liveLevels := func(tp, sl trading.Level) func(rig.Rig) error {
		return func(r rig.Rig) error { return r.Levels(trading.TPSL{TakeProfit: tp, StopLoss: sl}) }
	}
	limit := func(change func(*trading.Order)) func(rig.Rig) error {
		return func(r rig.Rig) error { return rig.Only(r.Account().PlaceLimit(r.T.Context(), rig.Buy("0.05", change))) }
	}
	edit := func(id trading.RunID, total string) func(rig.Rig) error {
		return func(r rig.Rig) error { return rig.Only(r.Account().EditRun(r.T.Context(), id, rig.Dec(total))) }
	}
	pct := func(text string) trading.Part { return trading.Percent(rig.Dec(text)) }
	from := func(a, b string, n int) trading.Ladder {
		return trading.Ladder{From: rig.Dec(a), To: rig.Dec(b), Rungs: n}
	}
	const members = `"accountId":"acc_1","symbol":"BTC","side":"long","leverage":2,"size":0.05`
	for _, row := range []struct {
		name     string
		call     func(rig.Rig) error
		op       trading.Operation
		body     string
		stricter string
		code     trading.Code // the client's, where the contract names none; else they are the same
	}{
		{"paper, close all", closing("BTC", trading.All), trading.OpSandboxClose, `{"symbol":"BTC","pct":100}`, "", ""},
		{"paper, close 1 percent", closing("BTC", pct("1")), trading.OpSandboxClose, `{"symbol":"BTC","pct":1}`, "", ""},
		{"paper, close 12.5 percent", closing("BTC", pct("12.5")), trading.OpSandboxClose, `{"symbol":"BTC","pct":12.5}`, "", ""},
		{"paper, close 0.99 percent", closing("BTC", pct("0.99")), trading.OpSandboxClose, `{"symbol":"BTC","pct":0.99}`, "", ""},
		{"paper, close 100.1 percent", closing("BTC", pct("100.1")), trading.OpSandboxClose, `{"symbol":"BTC","pct":100.1}`, "", ""},
		{"paper, close 0 percent", closing("BTC", pct("0")), trading.OpSandboxClose, `{"symbol":"BTC","pct":0}`, "", ""},
		{"paper, close below 0", closing("BTC", pct("-5")), trading.OpSandboxClose, `{"symbol":"BTC","pct":-5}`, "", ""},
		{"paper, close without a symbol", closing("", trading.All), trading.OpSandboxClose, `{"pct":100}`, "", ""},
		{"paper, close elsewhere", closing("ETH", trading.All), trading.OpSandboxClose, `{"symbol":"ETH"}`, "", ""},
		{"paper, the zero part", closing("BTC", trading.Part{}), trading.OpSandboxClose, `{"symbol":"BTC"}`,
			"T59: what was not said is not the whole position", ""},
		{"paper, a stop", levels("BTC", trading.TPSL{StopLoss: rig.At("63000")}), trading.OpSandboxTPSL, `{"symbol":"BTC","stopLossPrice":63000}`, "", ""},
		{"paper, a stop of 0", levels("BTC", trading.TPSL{StopLoss: rig.At("0")}), trading.OpSandboxTPSL, `{"symbol":"BTC","stopLossPrice":0}`, "", ""},
		{"paper, a target below 0", levels("BTC", trading.TPSL{TakeProfit: rig.At("-1")}), trading.OpSandboxTPSL, `{"symbol":"BTC","takeProfitPrice":-1}`, "", ""},
		{"paper, a stop above the price", levels("BTC", trading.TPSL{StopLoss: rig.At("65000")}), trading.OpSandboxTPSL, `{"symbol":"BTC","stopLossPrice":65000}`, "", ""},
		{"paper, a stop past the target", levels("BTC", trading.TPSL{StopLoss: rig.At("63000"), TakeProfit: rig.At("62000")}), trading.OpSandboxTPSL,
			`{"symbol":"BTC","stopLossPrice":63000,"takeProfitPrice":62000}`, "", ""},
		{"paper, levels cleared", levels("BTC", trading.TPSL{StopLoss: trading.Clear, TakeProfit: trading.Clear}), trading.OpSandboxTPSL,
			`{"symbol":"BTC","stopLossPrice":null,"takeProfitPrice":null}`, "", ""},
		{"paper, a share of 0", levels("BTC", trading.TPSL{ClosePct: trading.Some(rig.Dec("0"))}), trading.OpSandboxTPSL, `{"symbol":"BTC","closePct":0}`, "", ""},
		{"paper, a share of 101", levels("BTC", trading.TPSL{ClosePct: trading.Some(rig.Dec("101"))}), trading.OpSandboxTPSL, `{"symbol":"BTC","closePct":101}`, "", ""},
		{"paper, a share", levels("BTC", trading.TPSL{ClosePct: trading.Some(rig.Dec("50"))}), trading.OpSandboxTPSL, `{"symbol":"BTC","closePct":50}`, "", ""},
		{"paper, triggers without a symbol", levels("", trading.TPSL{StopLoss: rig.At("63000")}), trading.OpSandboxTPSL, `{"stopLossPrice":63000}`, "", ""},
		{"paper, no trigger named", levels("BTC", trading.TPSL{}), trading.OpSandboxTPSL, `{"symbol":"BTC"}`,
			"a change of nothing is a level that was forgotten", ""},

		{"a limit", limit(func(o *trading.Order) { o.LimitPrice = rig.At("63000") }), trading.OpLimit, `{` + members + `,"limitPrice":63000}`, "", ""},
		{"a limit without a price", limit(func(*trading.Order) {}), trading.OpLimit, `{` + members + `}`, "", ""},
		{"a limit at 0", limit(func(o *trading.Order) { o.LimitPrice = rig.At("0") }), trading.OpLimit, `{` + members + `,"limitPrice":0}`, "", ""},
		{"a limit that only reduces nothing", limit(func(o *trading.Order) { o.LimitPrice, o.ReduceOnly = rig.At("63000"), true }), trading.OpLimit,
			`{` + members + `,"limitPrice":63000,"reduceOnly":true}`, "", ""},

		{"close all", liveClosing("BTC", trading.All), trading.OpClose, `{"accountId":"acc_1","symbol":"BTC","closePercent":100}`, "", ""},
		{"close 1 percent", liveClosing("BTC", pct("1")), trading.OpClose, `{"accountId":"acc_1","symbol":"BTC","closePercent":1}`, "", ""},
		{"close 0.99 percent", liveClosing("BTC", pct("0.99")), trading.OpClose, `{"accountId":"acc_1","symbol":"BTC","closePercent":0.99}`, "", ""},
		{"close 100.1 percent", liveClosing("BTC", pct("100.1")), trading.OpClose, `{"accountId":"acc_1","symbol":"BTC","closePercent":100.1}`, "", ""},
		{"close below 0", liveClosing("BTC", pct("-5")), trading.OpClose, `{"accountId":"acc_1","symbol":"BTC","closePercent":-5}`, "", ""},
		{"close without a symbol", liveClosing("", trading.All), trading.OpClose, `{"accountId":"acc_1","closePercent":100}`, "", ""},
		{"close elsewhere", liveClosing("ETH", trading.All), trading.OpClose, `{"accountId":"acc_1","symbol":"ETH"}`, "", ""},
		{"the zero part", liveClosing("BTC", trading.Part{}), trading.OpClose, `{"accountId":"acc_1","symbol":"BTC"}`,
			"T59: what was not said is not the whole position", ""},

		{"both levels", liveLevels(rig.At("65000"), rig.At("63000")), trading.OpTPSL, `{"accountId":"acc_1","symbol":"BTC","takeProfitPrice":65000,"stopLossPrice":63000}`, "", ""},
		{"levels cleared", liveLevels(trading.Clear, trading.Clear), trading.OpTPSL, `{"accountId":"acc_1","symbol":"BTC","takeProfitPrice":null,"stopLossPrice":null}`, "", ""},
		{"a stop of 0", liveLevels(trading.Clear, rig.At("0")), trading.OpTPSL, `{"accountId":"acc_1","symbol":"BTC","takeProfitPrice":null,"stopLossPrice":0}`, "", ""},
		{"a target below the price", liveLevels(rig.At("63000"), trading.Clear), trading.OpTPSL, `{"accountId":"acc_1","symbol":"BTC","takeProfitPrice":63000,"stopLossPrice":null}`, "", ""},
		{"one level alone", liveLevels(trading.Level{}, rig.At("63000")), trading.OpTPSL, `{"accountId":"acc_1","symbol":"BTC","stopLossPrice":63000}`, "", ""},

		{"a conditional", over("0.05", trading.Conditional{Trigger: rig.Dec("65000")}), trading.OpConditional, `{` + members + `,"triggerPrice":65000}`, "", ""},
		{"a conditional at 0", over("0.05", trading.Conditional{}), trading.OpConditional, `{` + members + `,"triggerPrice":0}`, "", ""},
		{"a stop-limit without a price", over("0.05", trading.Conditional{Trigger: rig.Dec("65000")}, asLimit), trading.OpConditional,
			`{` + members + `,"triggerPrice":65000,"execKind":"stop-limit"}`, "", trading.CodeBadLimitPrice},
		{"a ladder", over("0.05", from("64000", "60000", 5)), trading.OpLadder, `{` + members + `,"startPrice":64000,"endPrice":60000,"totalOrders":5}`, "", ""},
		{"a ladder from 0", over("0.05", from("0", "60000", 5)), trading.OpLadder, `{` + members + `,"startPrice":0,"endPrice":60000,"totalOrders":5}`, "", ""},
		{"a ladder of none", over("0.05", from("64000", "60000", 0)), trading.OpLadder, `{` + members + `,"startPrice":64000,"endPrice":60000,"totalOrders":0}`, "", ""},
		{"a ladder of thin rungs", over("0.005", from("64000", "60000", 50)), trading.OpLadder,
			`{` + strings.Replace(members, "0.05", "0.005", 1) + `,"startPrice":64000,"endPrice":60000,"totalOrders":50}`, "", ""},
		{"a ladder just thick enough", over("0.00016", from("64000", "62500", 1)), trading.OpLadder,
			`{` + strings.Replace(members, "0.05", "0.00016", 1) + `,"startPrice":64000,"endPrice":62500,"totalOrders":1}`, "", ""},
		{"a TWAP", over("0.05", trading.TWAP{Duration: time.Hour}), trading.OpTWAP, `{` + members + `,"durationMs":3600000}`, "", ""},
		{"a TWAP too short", over("0.05", trading.TWAP{Duration: time.Second}), trading.OpTWAP, `{` + members + `,"durationMs":1000}`, "", ""},
		{"a TWAP of no time", over("0.05", trading.TWAP{Duration: 0}), trading.OpTWAP, `{` + members + `,"durationMs":0}`, "", ""},
		{"a TWAP of part of a millisecond", over("0.05", trading.TWAP{Duration: time.Hour + time.Microsecond}), trading.OpTWAP, `{` + members + `,"durationMs":3600000.001}`, "", ""},
		{"a chase", over("0.05", trading.Chase{}), trading.OpChase, `{` + members + `}`, "", ""},
		{"a chase to 0", over("0.05", trading.Chase{To: rig.At("0")}), trading.OpChase, `{` + members + `,"chaseTo":0}`, "", ""},
		{"a chase to null", over("0.05", trading.Chase{To: trading.Clear}), trading.OpChase, `{` + members + `,"chaseTo":null}`, "", ""},
		{"a swarm", over("0.05", trading.Swarm{Orders: 5}), trading.OpSwarm, `{` + members + `,"totalOrders":5}`, "", ""},
		{"a swarm of none", over("0.05", trading.Swarm{Orders: 0}), trading.OpSwarm, `{` + members + `,"totalOrders":0}`, "", ""},
		{"a swarm of too many", over("0.05", trading.Swarm{Orders: 99}), trading.OpSwarm, `{` + members + `,"totalOrders":99}`, "", ""},
		{"an edit", edit("run_1", "0.6"), trading.OpEditRun, `{"accountId":"acc_1","runId":"run_1","totalSize":0.6}`, "", ""},
		{"an edit to 0", edit("run_1", "0"), trading.OpEditRun, `{"accountId":"acc_1","runId":"run_1","totalSize":0}`, "", ""},
		{"an edit of nothing", edit("run_9", "1"), trading.OpEditRun, `{"accountId":"acc_1","runId":"run_9","totalSize":1}`, "", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			through, plain := rig.New(t, nil), rig.New(t, nil)
			for _, r := range []rig.Rig{through, plain} {
				r.Place(rig.Buy("1"))
				r.Open(rig.Buy("1"))
				_, err := r.Account().PlacePro(t.Context(), rig.Buy("0.5"), trading.TWAP{Duration: time.Hour})
				require.NoError(t, err)
			}
			raw := plain.RawLive
			if strings.Contains(string(row.op), "/sandbox/") {
				raw = plain.Raw
			}
			answer, err := raw(row.op, row.body), row.call(through)
			agree(t, answer, err, row.stricter, row.code)
			if row.stricter == "" && err == nil {
				assert.Len(t, through.Sim.Ledger(), len(plain.Sim.Ledger()))
			}
		})
	}
}

// A key that is missing or of the wrong kind is refused without a request, with
// the code that the service gives to it.
func TestLocalRefusalsOfKeys(t *testing.T) {
	sim := tradingsim.New()
	r := rig.Join(t, sim)
	nobody, err := trading.New(sim.URL(), trading.WithTransport(sim.Transport()))
	require.NoError(t, err)
	before := len(sim.Requests())
	_, err = nobody.Sandbox.Trades(t.Context())
	local := rig.RefusalOf(t, err)
	assert.True(t, local.Local)
	assert.Len(t, sim.Requests(), before)
	assert.Equal(t, r.RawAs("", trading.OpSandboxTrades, "").Code, local.Code)

	_, err = trading.New(sim.URL(), trading.WithSandboxKey(sim.LiveKey()))
	assert.Equal(t, r.RawAs(sim.LiveKey(), trading.OpSandboxTrades, "").Code, rig.RefusalOf(t, err).Code)
	_, err = trading.New(sim.URL(), trading.WithSandboxKey("mistyped"))
	assert.Equal(t, r.RawAs("mistyped", trading.OpSandboxTrades, "").Code, rig.RefusalOf(t, err).Code)
}

// An account id that is missing is refused with the service's code for it.
func TestLiveLocalRefusalsOfAccounts(t *testing.T) {
	r := rig.New(t, nil)
	_, err := r.Live.Account("").PlaceOrder(t.Context(), rig.Buy("0.05"))
	refusal := rig.RefusalOf(t, err)
	assert.True(t, refusal.Local)
	assert.Equal(t, r.RawLive(trading.OpOrder, environments[1].json(deviation{wire: map[string]string{"accountId": ""}})).Code, refusal.Code)
}
