package tradingsim_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

// everyWrite is one of each live write, in an order in which all of them do something.
var everyWrite = []struct{ path, body string }{
	{"/orders", liveBTC},
	{"/orders/limit", with(liveBTC, `"limitPrice":60000`)},
	{"/orders/cancel", `{"accountId":"acc_1","orderId":"ord_1"}`},
	{"/positions/tpsl", `{"accountId":"acc_1","symbol":"BTC","stopLossPrice":60000}`},
	{"/orders/conditional", with(liveBTC, `"triggerPrice":70000`)},
	{"/orders/ladder", with(liveBTC, `"startPrice":60000,"endPrice":61000,"totalOrders":2`)},
	{"/orders/twap", with(liveBTC, `"durationMs":600000`)},
	{"/orders/chase", liveBTC},
	{"/orders/chase-twap", with(liveBTC, `"durationMs":600000`)},
	{"/orders/swarm", with(liveBTC, `"totalOrders":2`)},
	{"/runs/edit", `{"accountId":"acc_1","runId":"run_3","totalSize":2}`},
	{"/runs/cancel", `{"accountId":"acc_1","runId":"run_3"}`},
	{"/positions/close", `{"accountId":"acc_1","symbol":"BTC"}`},
}

// Executed tells of every kind of write what was executed under a key, and how often.
func TestExecutedCoversEveryWrite(t *testing.T) {
	sim, b := liveSim(t, tradingsim.WithManualClock(time.Unix(1_700_000_000, 0)))
	require.Len(t, everyWrite, len(livePaths))
	for _, w := range everyWrite {
		sim.Fault("POST "+w.path, tradingsim.DropResponse())
		_, err := b.try("POST", w.path, w.body, "Idempotency-Key", w.path)
		require.Error(t, err)
		b.post(w.path, w.body, "Idempotency-Key", w.path).ok() // replayed
		done := sim.Executed(w.path)
		require.Len(t, done, 1, w.path)
		e := done[0]
		require.Equal(t, "POST "+w.path, e.Operation)
		require.Equal(t, "acc_1", e.Account)
		require.Equal(t, "BTC", e.Symbol)
		require.Equal(t, w.body, string(e.Body))
		require.Equal(t, sim.Now(), e.At)
	}

	sim.Fault("POST /orders", tradingsim.FailAfter(500, "internal_error"))
	keyed(b, "twice", smallBTC).refused(500, "internal_error")
	keyed(b, "twice", smallBTC).ok()
	require.Len(t, sim.Executed("twice"), 2)
	b.post("/orders/limit", with(smallBTC, `"limitPrice":64000`), "Idempotency-Key", "filled").ok()
	require.Len(t, sim.Executed("filled"), 1, "its fill is the service's")
	keyed(b, "refused", `{}`).refused(400, "missing_fields")
	require.Empty(t, sim.Executed("refused"))
}

// Somebody in the terminal can do what the API can, by the same rules, and none of it
// is the client's.
func TestTheTerminalDoesEveryWrite(t *testing.T) {
	sim, b := liveSim(t)
	sim.Fault("*", tradingsim.DropRequest()) // which a person does not meet
	before := sim.Report()
	for _, w := range everyWrite {
		answer, err := sim.Terminal("POST "+w.path, w.body)
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(answer, `{"success":true`), answer)
	}
	_, err := sim.Terminal("POST /orders", instead(liveBTC, `"size":1`, `"size":9`))
	require.ErrorContains(t, err, "POST /orders: 400 PER_POSITION_CAP")
	_, err = sim.Terminal("POST /positions/close", `{}`)
	require.ErrorContains(t, err, "missing_fields")

	ledger := sim.Ledger()
	require.Len(t, ledger, len(everyWrite))
	for i, e := range ledger {
		require.Equal(t, "terminal", e.Actor)
		require.Equal(t, "POST "+everyWrite[i].path, e.Operation)
		require.Empty(t, e.Key)
	}
	require.Empty(t, sim.Requests())
	require.Equal(t, before.Requests, sim.Report().Requests)
	require.Empty(t, sim.Executed(""))

	sim.ClearFaults()
	for range 148 { // beside the two closes above
		_, _ = sim.Terminal("POST /positions/close", `{}`)
	}
	b.post("/positions/close", `{"accountId":"acc_1","symbol":"BTC"}`).refused(429, "rate_limited")
	require.Panics(t, func() { _, _ = sim.Terminal("GET /positions", "") })
}
