package refusals

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/proof/rig"
)

// The same for what is no plain order: on an account that is long 1 BTC, with a
// resting order and a TWAP.
func TestLiveLocalRefusalsOfTheRest(t *testing.T) {
	limit := func(change func(*trading.Order)) func(rig.Rig) error {
		return func(r rig.Rig) error {
			_, err := r.Account().PlaceLimit(r.T.Context(), rig.Buy("0.05", change))
			return err
		}
	}
	closing := func(symbol string, part trading.Part) func(rig.Rig) error {
		return func(r rig.Rig) error {
			_, err := r.Account().ClosePosition(r.T.Context(), symbol, part)
			return err
		}
	}
	triggers := func(tp, sl trading.Level) func(rig.Rig) error {
		return func(r rig.Rig) error {
			_, err := r.Account().SetTPSL(r.T.Context(), "BTC", trading.TPSL{TakeProfit: tp, StopLoss: sl})
			return err
		}
	}
	conditional := func(how trading.Conditional) func(rig.Rig) error {
		return func(r rig.Rig) error {
			_, err := r.Account().PlaceConditional(r.T.Context(), rig.Buy("0.05"), how)
			return err
		}
	}
	ladder := func(size string, how trading.Ladder) func(rig.Rig) error {
		return func(r rig.Rig) error {
			_, err := r.Account().PlaceLadder(r.T.Context(), rig.Buy(size), how)
			return err
		}
	}
	twap := func(d time.Duration) func(rig.Rig) error {
		return func(r rig.Rig) error {
			_, err := r.Account().PlaceTWAP(r.T.Context(), rig.Buy("0.05"), trading.TWAP{Duration: d})
			return err
		}
	}
	chase := func(how trading.Chase) func(rig.Rig) error {
		return func(r rig.Rig) error {
			_, err := r.Account().PlaceChase(r.T.Context(), rig.Buy("0.05"), how)
			return err
		}
	}
	swarm := func(n int) func(rig.Rig) error {
		return func(r rig.Rig) error {
			_, err := r.Account().PlaceSwarm(r.T.Context(), rig.Buy("0.05"), trading.Swarm{Orders: n})
			return err
		}
	}
	edit := func(id trading.RunID, total string) func(rig.Rig) error {
		return func(r rig.Rig) error {
			_, err := r.Account().EditRun(r.T.Context(), id, trading.RunEdit{TotalSize: rig.Dec(total)})
			return err
		}
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
		{"a limit", limit(func(o *trading.Order) { o.LimitPrice = rig.At("63000") }), trading.OpLimit, `{` + members + `,"limitPrice":63000}`, "", ""},
		{"a limit without a price", limit(func(*trading.Order) {}), trading.OpLimit, `{` + members + `}`, "", ""},
		{"a limit at 0", limit(func(o *trading.Order) { o.LimitPrice = rig.At("0") }), trading.OpLimit, `{` + members + `,"limitPrice":0}`, "", ""},
		{"a limit that only reduces nothing", limit(func(o *trading.Order) { o.LimitPrice, o.ReduceOnly = rig.At("63000"), true }), trading.OpLimit,
			`{` + members + `,"limitPrice":63000,"reduceOnly":true}`, "", ""},

		{"close all", closing("BTC", trading.All), trading.OpClose, `{"accountId":"acc_1","symbol":"BTC","closePercent":100}`, "", ""},
		{"close 1 percent", closing("BTC", pct("1")), trading.OpClose, `{"accountId":"acc_1","symbol":"BTC","closePercent":1}`, "", ""},
		{"close 0.99 percent", closing("BTC", pct("0.99")), trading.OpClose, `{"accountId":"acc_1","symbol":"BTC","closePercent":0.99}`, "", ""},
		{"close 100.1 percent", closing("BTC", pct("100.1")), trading.OpClose, `{"accountId":"acc_1","symbol":"BTC","closePercent":100.1}`, "", ""},
		{"close below 0", closing("BTC", pct("-5")), trading.OpClose, `{"accountId":"acc_1","symbol":"BTC","closePercent":-5}`, "", ""},
		{"close without a symbol", closing("", trading.All), trading.OpClose, `{"accountId":"acc_1","closePercent":100}`, "", ""},
		{"close elsewhere", closing("ETH", trading.All), trading.OpClose, `{"accountId":"acc_1","symbol":"ETH"}`, "", ""},
		{"the zero part", closing("BTC", trading.Part{}), trading.OpClose, `{"accountId":"acc_1","symbol":"BTC"}`,
			"T59: what was not said is not the whole position", ""},

		{"both levels", triggers(rig.At("65000"), rig.At("63000")), trading.OpTPSL, `{"accountId":"acc_1","symbol":"BTC","takeProfitPrice":65000,"stopLossPrice":63000}`, "", ""},
		{"levels cleared", triggers(trading.Clear, trading.Clear), trading.OpTPSL, `{"accountId":"acc_1","symbol":"BTC","takeProfitPrice":null,"stopLossPrice":null}`, "", ""},
		{"a stop of 0", triggers(trading.Clear, rig.At("0")), trading.OpTPSL, `{"accountId":"acc_1","symbol":"BTC","takeProfitPrice":null,"stopLossPrice":0}`, "", ""},
		{"a target below the price", triggers(rig.At("63000"), trading.Clear), trading.OpTPSL, `{"accountId":"acc_1","symbol":"BTC","takeProfitPrice":63000,"stopLossPrice":null}`, "", ""},
		{"one level alone", triggers(trading.Level{}, rig.At("63000")), trading.OpTPSL, `{"accountId":"acc_1","symbol":"BTC","stopLossPrice":63000}`, "", ""},

		{"a conditional", conditional(trading.Conditional{Trigger: rig.Dec("65000")}), trading.OpConditional, `{` + members + `,"triggerPrice":65000}`, "", ""},
		{"a conditional at 0", conditional(trading.Conditional{}), trading.OpConditional, `{` + members + `,"triggerPrice":0}`, "", ""},
		{"an unknown exec kind", conditional(trading.Conditional{Trigger: rig.Dec("65000"), Exec: 9}), trading.OpConditional,
			`{` + members + `,"triggerPrice":65000,"execKind":"stop"}`, "", ""},
		{"a stop-limit without a price", conditional(trading.Conditional{Trigger: rig.Dec("65000"), Exec: trading.StopLimit}), trading.OpConditional,
			`{` + members + `,"triggerPrice":65000,"execKind":"stop-limit"}`, "", trading.CodeBadLimitPrice},
		{"a ladder", ladder("0.05", from("64000", "60000", 5)), trading.OpLadder, `{` + members + `,"startPrice":64000,"endPrice":60000,"totalOrders":5}`, "", ""},
		{"a ladder from 0", ladder("0.05", from("0", "60000", 5)), trading.OpLadder, `{` + members + `,"startPrice":0,"endPrice":60000,"totalOrders":5}`, "", ""},
		{"a ladder of none", ladder("0.05", from("64000", "60000", 0)), trading.OpLadder, `{` + members + `,"startPrice":64000,"endPrice":60000,"totalOrders":0}`, "", ""},
		{"a ladder of thin rungs", ladder("0.005", from("64000", "60000", 50)), trading.OpLadder,
			`{` + strings.Replace(members, "0.05", "0.005", 1) + `,"startPrice":64000,"endPrice":60000,"totalOrders":50}`, "", ""},
		{"a ladder just thick enough", ladder("0.00016", from("64000", "62500", 1)), trading.OpLadder,
			`{` + strings.Replace(members, "0.05", "0.00016", 1) + `,"startPrice":64000,"endPrice":62500,"totalOrders":1}`, "", ""},
		{"a TWAP", twap(time.Hour), trading.OpTWAP, `{` + members + `,"durationMs":3600000}`, "", ""},
		{"a TWAP too short", twap(time.Second), trading.OpTWAP, `{` + members + `,"durationMs":1000}`, "", ""},
		{"a TWAP of no time", twap(0), trading.OpTWAP, `{` + members + `,"durationMs":0}`, "", ""},
		{"a TWAP of part of a millisecond", twap(time.Hour + time.Microsecond), trading.OpTWAP, `{` + members + `,"durationMs":3600000.001}`, "", ""},
		{"a chase", chase(trading.Chase{}), trading.OpChase, `{` + members + `}`, "", ""},
		{"a chase to 0", chase(trading.Chase{To: rig.At("0")}), trading.OpChase, `{` + members + `,"chaseTo":0}`, "", ""},
		{"a chase to null", chase(trading.Chase{To: trading.Clear}), trading.OpChase, `{` + members + `,"chaseTo":null}`, "", ""},
		{"a swarm", swarm(5), trading.OpSwarm, `{` + members + `,"totalOrders":5}`, "", ""},
		{"a swarm of none", swarm(0), trading.OpSwarm, `{` + members + `,"totalOrders":0}`, "", ""},
		{"a swarm of too many", swarm(99), trading.OpSwarm, `{` + members + `,"totalOrders":99}`, "", ""},
		{"an edit", edit("run_1", "0.6"), trading.OpEditRun, `{"accountId":"acc_1","runId":"run_1","totalSize":0.6}`, "", ""},
		{"an edit to 0", edit("run_1", "0"), trading.OpEditRun, `{"accountId":"acc_1","runId":"run_1","totalSize":0}`, "", ""},
		{"an edit of nothing", edit("run_9", "1"), trading.OpEditRun, `{"accountId":"acc_1","runId":"run_9","totalSize":1}`, "", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			through, plain := rig.New(t, nil), rig.New(t, nil)
			for _, r := range []rig.Rig{through, plain} {
				r.Open(rig.Buy("1"))
				_, err := r.Account().PlaceTWAP(t.Context(), rig.Buy("0.5"), trading.TWAP{Duration: time.Hour})
				require.NoError(t, err)
			}
			answer, err := plain.RawLive(row.op, row.body), row.call(through)
			agree(t, answer, err, row.stricter, row.code)
			if row.stricter == "" && err == nil {
				assert.Len(t, through.Sim.Ledger(), len(plain.Sim.Ledger()))
			}
		})
	}
}

// An account id that is missing is refused with the service's code for it.
func TestLiveLocalRefusalsOfAccounts(t *testing.T) {
	r := rig.New(t, nil)
	_, err := r.Live.Account("").PlaceOrder(t.Context(), rig.Buy("0.05"))
	refusal := rig.RefusalOf(t, err)
	assert.True(t, refusal.Local)
	assert.Equal(t, r.RawLive(trading.OpOrder, environments[1].json(deviation{wire: map[string]string{"accountId": ""}})).Code, refusal.Code)
}
