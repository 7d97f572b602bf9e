package tradingsim_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

// A worker hangs with the claim of its key, while its caller has lost the connection,
// and ends in one way or another. The same request on its way for as long holds no
// claim before it arrives.
func TestAWorkerThatHangs(t *testing.T) {
	const held = 10 * time.Minute
	type row struct {
		name     string
		end      tradingsim.Fault
		executed int    // when the worker has ended
		then     string // what the same request meets then; "" is its stored answer, "again" that it runs
	}
	rows := []row{
		{name: "executes", end: tradingsim.Pass(), executed: 1},
		{name: "fails part-way, before the work", end: tradingsim.Crash(), then: "idempotency_result_unknown"},
		{name: "fails part-way, after the work", end: tradingsim.CrashAfter(), executed: 1, then: "idempotency_result_unknown"},
		{name: "a 5xx before the work", end: tradingsim.Fail(500, "internal_error"), then: "again"},
		{name: "a 5xx after the work", end: tradingsim.FailAfter(500, "internal_error"), executed: 1, then: "again"},
		{name: "a refusal", end: tradingsim.Fail(409, "GUARD_BAND"), then: "GUARD_BAND"},
	}
	for _, way := range []string{"hangs", "arrives late", "arrives late and hangs"} {
		for _, c := range rows {
			t.Run(way+" "+c.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					sim, b := liveSim(t)
					start := time.Now()
					switch way {
					case "hangs":
						sim.Fault("POST /orders", tradingsim.Together(tradingsim.Hang(held), c.end))
					case "arrives late":
						sim.Fault("POST /orders", tradingsim.Together(tradingsim.ArriveLate(held), c.end))
					default:
						sim.Fault("POST /orders", tradingsim.Together(tradingsim.ArriveLate(held-time.Minute), tradingsim.Hang(time.Minute), c.end))
					}
					_, err := b.try("POST", "/orders", smallBTC, "Idempotency-Key", "k")
					require.Error(t, err)
					require.Zero(t, time.Since(start), "the connection breaks at once")
					require.Empty(t, sim.Executed("k"))

					fence := `{"accountId":"acc_1","orderId":"none"}`
					time.Sleep(held - time.Second)
					require.Empty(t, sim.Executed("k"))
					if way != "arrives late" {
						b.post("/orders/cancel", fence, "Idempotency-Key", "k").refused(422, "idempotency_key_reused")
						keyed(b, "k", smallBTC).refused(409, "idempotency_in_flight")
					}
					time.Sleep(time.Second)
					require.Len(t, sim.Executed("k"), c.executed)

					g := keyed(b, "k", smallBTC)
					switch c.then {
					case "":
						require.True(t, replayed(g.ok()))
					case "again":
						require.False(t, replayed(g.ok()))
						c.executed++
					default:
						g.refused(409, c.then)
					}
					require.Len(t, sim.Executed("k"), c.executed)
				})
			})
		}
	}
}
