package tradingsim_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

func TestRestingLimitFillsAtItsOwnPrice(t *testing.T) {
	for _, c := range []struct {
		name, price, fee string
		opts             []tradingsim.Option
	}{
		{name: "as a maker", price: "60000", fee: "9"},
		{name: "at the mark as a taker under the other interpretation", price: "59000", fee: "26.55", opts: []tradingsim.Option{tradingsim.WithInterpretation(39)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			sim, b := liveSim(t, c.opts...)
			g := b.post("/orders/limit", with(liveBTC, `"limitPrice":60000,"stopLossPrice":50000`), "Idempotency-Key", "k").ok()
			require.Equal(t, "true", g.text("success"))
			id := g.text("order.id")
			g = b.get("/accounts/acc_1/orders").ok()
			require.Equal(t, id, g.text("orders.0.id"))
			require.Equal(t, "60000", g.text("orders.0.limitPrice"))
			require.Equal(t, 0, b.get("/positions?accountId=acc_1").ok().len("positions"))

			sim.SetMark("BTC", "59000")
			require.Equal(t, 0, b.get("/accounts/acc_1/orders").ok().len("orders"))
			g = b.get("/positions?accountId=acc_1").ok()
			require.Equal(t, c.price, g.text("positions.0.entryPrice"))
			require.Equal(t, "50000", g.text("positions.0.stopLossPrice"))
			balance := b.get("/accounts/acc_1").ok().number("account.balance")
			require.Equal(t, c.fee, dec("100000").Sub(balance).String())

			ledger := sim.Ledger()
			require.Len(t, ledger, 2)
			require.False(t, ledger[0].Filled)
			require.True(t, ledger[1].Filled)
			require.Equal(t, "service", ledger[1].Actor)
			require.Equal(t, "k", ledger[1].Key)
			b.post("/orders/cancel", `{"accountId":"acc_1","orderId":"`+id+`"}`).refused(404, "order_not_found")
		})
	}
}

func TestRestingLimitThatIsReachedFillsAtOnce(t *testing.T) {
	_, b := liveSim(t)
	b.post("/orders/limit", with(liveBTC, `"limitPrice":65000`)).ok()
	require.Equal(t, "65000", b.get("/positions?accountId=acc_1").ok().text("positions.0.entryPrice"))
}

func TestRestingLimitMeetsAMarkBetweenReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		walk := tradingsim.RandomWalk(5, "64000", 20)
		sim := tradingsim.New(tradingsim.WithFeed("BTC", walk))
		b := liveBot(t, sim)
		b.post("/orders/limit", with(liveBTC, `"limitPrice":63900`)).ok()
		var reached time.Time
		for at := time.Now(); reached.IsZero(); at = at.Add(time.Second) {
			if p, _ := walk.At(at); p.LessThanOrEqual(dec("63900")) {
				reached = at
			}
		}
		time.Sleep(30 * 24 * time.Hour) // nobody looks
		filled := sim.Ledger()[1]
		require.True(t, filled.At.Equal(reached), "filled at %s, reached at %s", filled.At, reached)
	})
}

func TestRestingLimitWaitsForItsMarket(t *testing.T) {
	sim := tradingsim.New(tradingsim.WithFeed("BTC", tradingsim.RandomWalk(1, "64000", 0)))
	b := liveBot(t, sim)
	b.post("/orders/limit", with(liveBTC, `"limitPrice":60000`)).ok()
	sim.SetMarket(tradingsim.Market{Symbol: "BTC", Paused: true})
	sim.SetMark("BTC", "59000") // ends the feed
	sim.SetFillError("BTC", "STALE_PRICE")
	sim.SetMarket(tradingsim.Market{Symbol: "BTC"})
	require.Len(t, sim.Ledger(), 1)
	sim.SetFillError("BTC", "")
	require.Len(t, sim.Ledger(), 2)
}

func TestReduceOnlyThatFindsNothingToReduce(t *testing.T) {
	sim, b := liveSim(t)
	b.post("/orders", liveBTC).ok()
	b.post("/orders/limit", with(liveShort, `"limitPrice":65000,"reduceOnly":true`)).ok()
	b.post("/orders", instead(liveShort, `"size":1`, `"size":1.5`)).ok() // short by now
	sim.SetMark("BTC", "65000")
	require.Equal(t, "-0.5", sim.Position("acc_1", "BTC").String())
	require.Equal(t, 0, b.get("/accounts/acc_1/orders").ok().len("orders"))
}

func TestRestingLimitRefusals(t *testing.T) {
	refuses(t, liveSim, "/orders/limit", []refusal{
		{name: "no limit", body: liveBTC, status: 400, code: "bad_limit_price"},
		{name: "no limit under the other interpretation", body: liveBTC, status: 400, code: "missing_fields", opts: other(36)},
		{name: "zero", body: with(liveBTC, `"limitPrice":0`), status: 400, code: "bad_limit_price"},
		{name: "passed", body: with(liveBTC, `"limitPrice":1`), status: 403, code: "account_locked", opts: status("PASSED")},
		{name: "nothing to reduce", body: with(liveBTC, `"limitPrice":1,"reduceOnly":true`), status: 400, code: "no_position"},
		{name: "minimum", body: with(instead(liveBTC, `"size":1`, `"size":0.01`), `"limitPrice":999`), status: 400, code: "MIN_NOTIONAL"},
	})
}

func TestCancel(t *testing.T) {
	for _, interpretation := range []int{0, 44} {
		sim, b := liveSim(t, reading(interpretation)...)
		id := b.post("/orders/limit", with(liveBTC, `"limitPrice":60000`)).ok().text("order.id")
		body := `{"accountId":"acc_1","orderId":"` + id + `"}`
		b.post("/orders/cancel", instead(body, "acc_1", "acc_9")).refused(404, "account_not_found")
		b.post("/orders/cancel", instead(body, `"`+id+`"`, `7`)).refused(400, "bad_request")
		g := b.post("/orders/cancel", body).ok()
		if interpretation > 0 {
			require.Equal(t, `{"success":true}`, g.Text)
		} else {
			require.Equal(t, id, g.text("orderId"))
			require.Equal(t, id, g.text("order.id"))
		}
		b.post("/orders/cancel", body).refused(404, "order_not_found")
		sim.SetMark("BTC", "50000")
		require.Equal(t, 0, b.get("/positions?accountId=acc_1").ok().len("positions"))
	}
}

func TestStatusAndWhatWaits(t *testing.T) {
	for _, c := range []struct {
		status         string
		interpretation int
		cancel         int // status of a cancel
	}{
		{status: "PASSED", cancel: 200},
		{status: "PASSED", cancel: 403, interpretation: 37},
		{status: "FAILED", cancel: 403},
		{status: "EXPIRED", cancel: 403},
	} {
		sim, b := liveSim(t, reading(c.interpretation)...)
		b.post("/orders", liveBTC).ok()
		reduce := b.post("/orders/limit", with(liveShort, `"limitPrice":70000,"reduceOnly":true`)).ok().text("order.id")
		b.post("/orders/limit", with(liveBTC, `"limitPrice":60000`)).ok()
		b.post("/orders/twap", with(liveBTC, `"durationMs":60000`)).ok()
		sim.SetStatus("acc_1", c.status)

		g := b.get("/accounts/acc_1/orders").ok()
		require.Equal(t, 0, g.len("runs"), "what would add exposure is dropped")
		require.Equal(t, "stopped", b.get("/accounts/acc_1/runs").ok().text("history.0.status"))
		if c.status == "PASSED" {
			require.Equal(t, 1, g.len("orders"))
			require.Equal(t, reduce, g.text("orders.0.id"))
		} else {
			require.Equal(t, 0, g.len("orders"))
		}
		require.Equal(t, c.cancel, b.post("/orders/cancel", `{"accountId":"acc_1","orderId":"`+reduce+`"}`).Status)
	}
}

// ticking is a simulation in which a limit waits on one account, and so many others have
// failed.
func ticking(t *testing.T, failed int) *tradingsim.Sim {
	opts := []tradingsim.Option{
		tradingsim.WithManualClock(time.Unix(0, 0)),
		tradingsim.WithFeed("BTC", tradingsim.RandomWalk(1, "64000", 2)),
		tradingsim.WithAccount(tradingsim.Account{ID: "acc_1"}),
	}
	for i := range failed {
		opts = append(opts, tradingsim.WithAccount(tradingsim.Account{ID: fmt.Sprintf("failed_%d", i), Status: "FAILED"}))
	}
	sim := tradingsim.New(opts...)
	liveBot(t, sim).post("/orders/limit", with(smallBTC, `"limitPrice":2000`)).ok()
	return sim
}

// An account that is closed costs a tick nothing: no refusal is made for it that nobody
// reads.
func TestClosedAccountsCostATickNothing(t *testing.T) {
	allocations := func(failed int) float64 {
		sim := ticking(t, failed)
		return testing.AllocsPerRun(3, func() { sim.Advance(10 * time.Minute) })
	}
	none, many := allocations(0), allocations(50)
	assert.Less(t, many-none, 50.0, "of %.0f in 10 minutes", none)
}
