package tradingsim_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

// fills lists what the service filled: "0.25@64000 after 30s".
func fills(sim *tradingsim.Sim, start time.Time) (list []string) {
	for _, e := range sim.Ledger() {
		if e.Actor == "service" {
			list = append(list, e.Size.String()+"@"+e.Price.String()+" after "+e.At.Sub(start).String())
		}
	}
	return list
}

// TestRuns plays each kind of Pro run while the mark goes 64000, 63000 (after a
// minute), 65000 (after two).
func TestRuns(t *testing.T) {
	for _, c := range []struct {
		name, path, more string
		opts             []tradingsim.Option
		want             []string
		left             int // still running after three minutes
	}{
		{name: "conditional below", path: "conditional", more: `"triggerPrice":63500`, want: []string{"1@63000 after 1m0s"}},
		{name: "conditional above", path: "conditional", more: `"triggerPrice":64500,"execKind":"stop-market"`, want: []string{"1@65000 after 2m0s"}},
		{name: "conditional never", path: "conditional", more: `"triggerPrice":70000`, left: 1},
		{name: "stop-limit rests", path: "conditional", more: `"triggerPrice":64500,"execKind":"stop-limit","limitPrice":64800`},
		{name: "ladder", path: "ladder", more: `"startPrice":63800,"endPrice":62200,"totalOrders":3`, left: 1,
			want: []string{"0.33333333@63800 after 1m0s", "0.33333333@63000 after 1m0s"}},
		{name: "twap", path: "twap", more: `"durationMs":120000,"randomizeSize":true,"randomizeTime":"a bit"`,
			want: []string{"0.25@64000 after 30s", "0.25@63000 after 1m0s", "0.25@63000 after 1m30s", "0.25@65000 after 2m0s"}},
		{name: "twap at once under the other interpretation", path: "twap", more: `"durationMs":60000`, opts: []tradingsim.Option{tradingsim.WithInterpretation(46)},
			want: []string{"0.5@64000 after 0s", "0.5@64000 after 30s"}},
		{name: "chase", path: "chase", more: `"aggression":1`, want: []string{"1@64000 after 5s"}},
		{name: "chase with a bound", path: "chase", more: `"chaseTo":63500`, want: []string{"1@63000 after 1m0s"}},
		{name: "chase-twap", path: "chase-twap", more: `"durationMs":60000,"chaseTo":63000`,
			want: []string{"0.5@63000 after 1m0s", "0.5@63000 after 1m0s"}},
		{name: "swarm", path: "swarm", more: `"totalOrders":2,"slippageBps":5,"irregular":true`,
			want: []string{"0.5@64000 after 1s", "0.5@64000 after 2s"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			start := time.Unix(1_700_000_000, 0)
			sim, b := liveSim(t, append(c.opts, tradingsim.WithManualClock(start))...)
			run := b.post("/orders/"+c.path, with(liveBTC, c.more), "Idempotency-Key", "k").ok().text("runId")
			for _, mark := range []string{"63000", "65000", "65000"} {
				sim.Advance(59*time.Second + 999*time.Millisecond)
				sim.SetMark("BTC", mark)
				sim.Advance(time.Millisecond)
			}
			want := c.want
			got := fills(sim, start)
			for i := range got {
				got[i] = instead(got[i], "59.999s", "1m0s", "1m59.999s", "2m0s")
			}
			require.Equal(t, want, got)

			orders := b.get("/accounts/acc_1/orders").ok()
			history := b.get("/accounts/acc_1/runs").ok()
			require.Equal(t, c.left, orders.len("runs"))
			require.Equal(t, 1-c.left, history.len("history"))
			if c.left == 1 {
				require.Equal(t, run, orders.text("runs.0.runId"))
				require.Equal(t, "running", orders.text("runs.0.status"))
			} else {
				require.Equal(t, run, history.text("history.0.runId"))
				require.Equal(t, "completed", history.text("history.0.status"))
			}
			if c.name == "stop-limit rests" {
				require.Equal(t, "64800", orders.text("orders.0.limitPrice"))
			}
			require.Equal(t, "k", sim.Ledger()[0].Key)
		})
	}
}

func TestProRefusals(t *testing.T) {
	refuses(t, liveSim, "/orders/", []refusal{
		{name: "no fields", path: "twap", body: `{}`, status: 400, code: "missing_fields"},
		{name: "duration left out", path: "twap", body: with(liveBTC, `"x":1`), status: 400, code: "BAD_DURATION"},
		{name: "duration in parts of a millisecond", path: "twap", body: with(liveBTC, `"durationMs":60000.5`), status: 400, code: "BAD_DURATION"},
		{name: "duration too short", path: "chase-twap", body: with(liveBTC, `"durationMs":59999`), status: 400, code: "BAD_DURATION"},
		{name: "duration too long", path: "twap", body: with(liveBTC, `"durationMs":86400001`), status: 400, code: "BAD_DURATION"},
		{name: "duration under the other interpretation", path: "twap", body: with(liveBTC, `"durationMs":1.5`), status: 422, code: "BAD_DURATION", opts: other(45)},
		{name: "count left out", path: "swarm", body: with(liveBTC, `"x":1`), status: 400, code: "BAD_ORDER_COUNT"},
		{name: "one order", path: "swarm", body: with(liveBTC, `"totalOrders":1`), status: 400, code: "BAD_ORDER_COUNT"},
		{name: "too many orders", path: "ladder", body: with(liveBTC, `"startPrice":1,"endPrice":2,"totalOrders":51`), status: 400, code: "BAD_ORDER_COUNT"},
		{name: "no start", path: "ladder", body: with(liveBTC, `"endPrice":2,"totalOrders":5`), status: 400, code: "BAD_PRICE"},
		{name: "end of zero", path: "ladder", body: with(liveBTC, `"startPrice":1,"endPrice":0,"totalOrders":5`), status: 400, code: "BAD_PRICE"},
		{name: "chase to nothing", path: "chase", body: with(liveBTC, `"chaseTo":0`), status: 400, code: "BAD_PRICE"},
		{name: "stop-limit without a limit", path: "conditional", body: with(liveBTC, `"triggerPrice":1,"execKind":"stop-limit"`), status: 400, code: "BAD_PRICE"},
		{name: "unknown execKind", path: "conditional", body: with(liveBTC, `"triggerPrice":1,"execKind":"stop"`), status: 400, code: "bad_request"},
		{name: "no trigger", path: "conditional", body: with(liveBTC, `"x":1`), status: 400, code: "BAD_TRIGGER"},
		{name: "trigger at the mark", path: "conditional", body: with(liveBTC, `"triggerPrice":64000`), status: 400, code: "BAD_TRIGGER"},
		{name: "account", path: "chase", body: instead(liveBTC, "acc_1", "x"), status: 404, code: "account_not_found"},
		{name: "nothing to reduce", path: "chase", body: with(liveBTC, `"reduceOnly":true`), status: 400, code: "no_position"},
		{name: "levels", path: "chase", body: with(liveBTC, `"stopLossPrice":64001`), status: 400, code: "invalid_tpsl"},
		{name: "cap", path: "chase", body: instead(liveBTC, `"size":1`, `"size":9`), status: 400, code: "PER_POSITION_CAP"},
	})
}

func TestMinimumOfAClipNamesWhatWouldWork(t *testing.T) {
	sim, b := liveSim(t)
	body := with(instead(liveBTC, `"size":1`, `"size":0.001`), `"durationMs":600000`)
	g := b.post("/orders/twap", body).refused(400, "MIN_NOTIONAL")
	require.Contains(t, g.text("message"), "0.00005 BTC", "the size of a clip")
	require.Contains(t, g.text("message"), "a total of 0.003125", "the size that would work")
	b.post("/orders/twap", instead(body, "0.001", "0.003125")).ok()

	sim.SetMark("BTC", "63999") // no round number of clips: rounded up
	require.Contains(t, b.post("/orders/twap", body).text("message"), "a total of 0.0031252")
	b.post("/orders/twap", instead(body, "0.001", "0.0031252")).ok()
}

// The minimum is of one clip or rung. What the whole run opens beyond an opposite position
// may be less.
func TestARunMayOpenLessThanTheMinimum(t *testing.T) {
	for kind, more := range map[string]string{
		"twap": `"durationMs":600000`, "ladder": `"startPrice":65000,"endPrice":66000,"totalOrders":3`,
		"conditional": `"triggerPrice":63000`, "chase": `"chaseTo":60000`, "swarm": `"totalOrders":3`,
	} {
		_, b := liveSim(t)
		b.post("/orders", instead(liveBTC, `"size":1`, `"size":0.0101715`)).ok()
		sell := instead(liveBTC, `"size":1`, `"size":0.0102`)
		b.post("/orders/"+kind, with(instead(sell, `"long"`, `"short"`), more)).ok()
	}
}

// An order that nets is worth more than what it opens: the refusal has both.
func TestMinimumOfWhatNettingLeaves(t *testing.T) {
	_, b := liveSim(t)
	b.post("/orders", instead(liveBTC, `"size":1`, `"size":0.01`)).ok()
	sell := instead(instead(liveBTC, `"size":1`, `"size":0.0101`), `"long"`, `"short"`)
	g := b.post("/orders", sell).refused(400, "MIN_NOTIONAL")
	require.Equal(t, "Of the order's $646.40, $640.00 close the opposite position and $6.40 would open a new one; the minimum is $10.00. With reduceOnly it would only close.", g.text("message"))
}

// A run trades its total to the last digit, so one that closes leaves nothing. Where it leaves
// what is below the eighth place (56), an order of the rest that is rounded up is new exposure,
// and refused, unless the service opens nothing of so little (57). What names no size, and
// reduceOnly, closes it in either case.
func TestWhatARunLeavesBelowTheEighthPlace(t *testing.T) {
	const held, rest = "0.0300000001", "0.0000000001"
	rounded := instead(liveBTC, `"size":1`, `"size":0.00000001`, `"long"`, `"short"`)
	paused := tradingsim.Market{Symbol: "BTC", Paused: true}
	for name, c := range map[string]struct {
		other []int
		close string // how the rest is closed
		code  string // what refuses that
		pause bool
		left  string // after the run
	}{
		"a run trades its total":             {left: "0"},
		"a close of what it leaves":          {other: []int{56}, left: rest, close: "/positions/close"},
		"reduceOnly":                         {other: []int{56}, left: rest, close: "reduceOnly"},
		"rounded up":                         {other: []int{56}, left: rest, close: "/orders", code: "MIN_NOTIONAL"},
		"rounded up in a paused market":      {other: []int{56}, left: rest, close: "/orders", code: "market_paused", pause: true},
		"rounded up, and it opens nothing":   {other: []int{56, 57}, left: rest, close: "/orders"},
		"so little opens nothing, if paused": {other: []int{56, 57}, left: rest, close: "/orders", pause: true},
	} {
		t.Run(name, func(t *testing.T) {
			opts := []tradingsim.Option{tradingsim.WithMark("BTC", "64000"), tradingsim.WithManualClock(time.Unix(1_700_000_000, 0))}
			for _, number := range c.other {
				opts = append(opts, tradingsim.WithInterpretation(number))
			}
			sim := tradingsim.New(opts...)
			b := liveBot(t, sim)
			b.post("/orders", instead(liveBTC, `"size":1`, `"size":`+held)).ok()
			sell := instead(liveBTC, `"size":1`, `"size":`+held, `"long"`, `"short"`)
			b.post("/orders/swarm", with(sell, `"totalOrders":3`)).ok()
			sim.Advance(10 * time.Second)
			require.Equal(t, c.left, sim.Position("acc_1", "BTC").String())
			if c.close == "" {
				return
			}
			if c.pause {
				sim.SetMarket(paused)
			}
			var g got
			switch c.close {
			case "/positions/close":
				g = b.post(c.close, `{"accountId":"acc_1","symbol":"BTC"}`)
			case "reduceOnly":
				g = b.post("/orders", with(rounded, `"reduceOnly":true`))
			default:
				g = b.post(c.close, rounded)
			}
			if c.code != "" {
				g.refused(g.Status, c.code)
				return
			}
			g.ok()
			require.Equal(t, "0", sim.Position("acc_1", "BTC").String())
		})
	}
}

// A fresh order of less than the eighth place is an entry, whatever the interpretation.
func TestALittleOrderWithoutAPositionOpens(t *testing.T) {
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"), tradingsim.WithInterpretation(57))
	liveBot(t, sim).post("/orders", instead(liveBTC, `"size":1`, `"size":0.000000001`)).refused(400, "MIN_NOTIONAL")
}

func TestRunLimits(t *testing.T) {
	for _, c := range []struct {
		status int
		opts   []tradingsim.Option
	}{
		{409, nil},
		{400, []tradingsim.Option{tradingsim.WithInterpretation(45)}},
	} {
		sim := tradingsim.New(append(c.opts, tradingsim.WithMark("BTC", "64000"), tradingsim.WithMark("ETH", "3200"),
			tradingsim.WithProLimits(tradingsim.ProLimits{MaxRuns: 2}))...)
		b := liveBot(t, sim)
		b.post("/orders/chase", with(liveBTC, `"chaseTo":1`)).ok()
		b.post("/orders/chase", with(liveBTC, `"chaseTo":1`)).refused(c.status, "CHASE_EXISTS")
		b.post("/orders/chase", with(instead(liveBTC, "BTC", "ETH"), `"chaseTo":1`)).ok()
		b.post("/orders/twap", with(liveBTC, `"durationMs":60000`)).refused(c.status, "TOO_MANY_RUNS")
	}
}

func TestEditAndCancelARun(t *testing.T) {
	bubble(t, liveSim, func(t *testing.T, sim *tradingsim.Sim, b bot) {
		id := b.post("/orders/twap", with(liveBTC, `"durationMs":120000`)).ok().text("runId")
		edit := func(total string) got {
			return b.post("/runs/edit", `{"accountId":"acc_1","runId":"`+id+`","totalSize":`+total+`}`)
		}
		time.Sleep(time.Minute) // 0.5 are filled
		edit("0.4").refused(400, "size_below_executed")
		edit("0").refused(400, "bad_size")
		g := edit("0.6").ok()
		require.Equal(t, id, g.text("runId"))
		require.Equal(t, "0.6", g.text("run.totalSize"))
		require.Equal(t, "0.5", g.text("run.executedSize"))
		time.Sleep(30 * time.Second)
		require.Equal(t, "0.55", b.get("/positions?accountId=acc_1").ok().text("positions.0.size"))

		sim.SetStatus("acc_1", "ACTIVE")
		cancel := `{"accountId":"acc_1","runId":"` + id + `"}`
		g = b.post("/runs/cancel", cancel).ok()
		require.Equal(t, "cancelled", g.text("run.status"))
		b.post("/runs/cancel", cancel).refused(404, "run_not_found")
		edit("1").refused(404, "run_not_found")
		time.Sleep(time.Hour)
		require.Equal(t, "0.55", b.get("/positions?accountId=acc_1").ok().text("positions.0.size"))
		g = b.get("/accounts/acc_1/runs").ok()
		require.Equal(t, 1, g.len("history"))
		require.Equal(t, "0.55", g.text("history.0.executedSize"))

		chase := b.post("/orders/chase", with(liveBTC, `"chaseTo":1`)).ok().text("runId")
		b.post("/runs/edit", `{"accountId":"acc_1","runId":"`+chase+`","totalSize":1}`).refused(400, "bad_request")
	})
}

func TestACancelledRunFillsNothingMore(t *testing.T) {
	bubble(t, liveSim, func(t *testing.T, sim *tradingsim.Sim, b bot) {
		time.Sleep(500 * time.Millisecond) // between two looks of the engine
		id := b.post("/orders/twap", with(liveBTC, `"durationMs":60000`)).ok().text("runId")
		time.Sleep(30*time.Second + 200*time.Millisecond) // a clip is due, and not filled yet
		b.post("/runs/cancel", `{"accountId":"acc_1","runId":"`+id+`"}`).ok()
		require.Empty(t, fills(sim, time.Now()))
	})
}

func TestEditToWhatIsFilledEndsTheRun(t *testing.T) {
	bubble(t, liveSim, func(t *testing.T, _ *tradingsim.Sim, b bot) {
		id := b.post("/orders/twap", with(liveBTC, `"durationMs":120000`)).ok().text("runId")
		time.Sleep(time.Minute)
		b.post("/runs/edit", `{"accountId":"acc_1","runId":"`+id+`","totalSize":0.5}`).ok()
		require.Equal(t, 0, b.get("/accounts/acc_1/orders").ok().len("runs"))
		require.Equal(t, "completed", b.get("/accounts/acc_1/runs").ok().text("history.0.status"))
	})
}

func TestPassedAccountEditsRunsDownwards(t *testing.T) {
	sim, b := liveSim(t)
	b.post("/orders", liveBTC).ok()
	id := b.post("/orders/twap", with(liveShort, `"durationMs":120000,"reduceOnly":true`)).ok().text("runId")
	sim.SetStatus("acc_1", "PASSED")
	b.post("/runs/edit", `{"accountId":"acc_1","runId":"`+id+`","totalSize":2}`).refused(403, "account_locked")
	b.post("/runs/edit", `{"accountId":"acc_1","runId":"`+id+`","totalSize":0.5}`).ok()
	b.post("/runs/cancel", `{"accountId":"acc_1","runId":"`+id+`"}`).ok()
}

func TestFailingAnAccountEndsWhatWaits(t *testing.T) {
	sim, b := liveSim(t)
	b.post("/orders", liveBTC).ok()
	b.post("/orders/limit", with(liveBTC, `"limitPrice":60000`)).ok()
	b.post("/orders/twap", with(liveBTC, `"durationMs":120000`)).ok()
	sim.SetMark("BTC", "60001")
	sim.SetMark("BTC", "58900")
	require.Equal(t, "FAILED", b.post("/positions/close", `{"accountId":"acc_1","symbol":"BTC"}`).ok().text("status"))
	g := b.get("/accounts/acc_1/orders").ok()
	require.Equal(t, 0, g.len("orders")+g.len("runs"))
	require.Equal(t, "stopped", b.get("/accounts/acc_1/runs").ok().text("history.0.status"))
}
