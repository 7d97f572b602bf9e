package tradingsim_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

const smallBTC = `{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.01,"leverage":5}`

// keyed sends a live order under a key.
func keyed(b bot, key, body string) got {
	b.t.Helper()
	return b.post("/orders", body, "Idempotency-Key", key)
}

func replayed(g got) bool { return g.Header.Get("Idempotent-Replayed") == "true" }

func TestSameKeyReplaysTheFirstAnswer(t *testing.T) {
	sim, b := liveSim(t)
	first := keyed(b, "k1", smallBTC).ok()
	require.False(t, replayed(first))
	sim.SetMark("BTC", "65000")
	b.key = sim.NewLiveKey() // the scope is the holder
	again := keyed(b, "k1", smallBTC).ok()
	require.True(t, replayed(again))
	require.Equal(t, first.Text, again.Text)
	require.Len(t, sim.Ledger(), 1)
	require.Equal(t, "k1", sim.Ledger()[0].Key)
}

func TestRefusalsAreStoredToo(t *testing.T) {
	for _, c := range []struct {
		name, body, code string
		status           int
	}{
		{"a guard", with(smallBTC, `"expectedPrice":60000`), "GUARD_BAND", 409},
		{"missing fields", `{}`, "missing_fields", 400},
		{"no JSON", `{`, "invalid_json", 400},
		{"not found", instead(smallBTC, "acc_1", "acc_9"), "account_not_found", 404},
	} {
		t.Run(c.name, func(t *testing.T) {
			sim, b := liveSim(t)
			require.False(t, replayed(keyed(b, "k", c.body).refused(c.status, c.code)))
			sim.SetMark("BTC", "60000")
			require.True(t, replayed(keyed(b, "k", c.body).refused(c.status, c.code)), "even though conditions changed")
		})
	}
}

func TestUnstoredAnswers(t *testing.T) {
	for _, c := range []struct {
		name     string
		fault    tradingsim.Fault
		executed int // in the end
		replayed bool
		opts     []tradingsim.Option
	}{
		{name: "a 5xx before the work", fault: tradingsim.Fail(500, "internal_error"), executed: 1},
		{name: "a 5xx after the work runs again and does it twice", fault: tradingsim.FailAfter(500, "internal_error"), executed: 2},
		{name: "something in front after the work", fault: tradingsim.GatewayErrorAfter(502), executed: 1, replayed: true},
		{name: "a gateway that answers in JSON of its own, after the work", fault: tradingsim.GatewayJSONAfter(499, "request_timeout"), executed: 1, replayed: true},
		{name: "something in front before the work", fault: tradingsim.GatewayError(502), executed: 1},
		{name: "the limit of the user", fault: tradingsim.RateLimit(time.Second), executed: 1},
		{name: "the limit of the user, stored under the other interpretation", fault: tradingsim.RateLimit(time.Second), executed: 0, replayed: true,
			opts: []tradingsim.Option{tradingsim.WithInterpretation(6)}},
		{name: "the key could not be checked", fault: tradingsim.Fail(503, "idempotency_unavailable"), executed: 1},
		{name: "a stored refusal", fault: tradingsim.Fail(409, "GUARD_BAND"), executed: 0, replayed: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			sim, b := liveSim(t, c.opts...)
			sim.Fault("POST /orders", c.fault)
			require.NotEqual(t, 200, keyed(b, "k", smallBTC).Status)
			require.Equal(t, c.replayed, replayed(keyed(b, "k", smallBTC)))
			require.Len(t, sim.Ledger(), c.executed)
		})
	}
}

func TestCrashLeavesTheResultUnknown(t *testing.T) {
	for _, c := range []struct {
		name     string
		fault    tradingsim.Fault
		executed int
		opts     []tradingsim.Option
		whole    bool // an answer comes back
	}{
		{name: "before the work", fault: tradingsim.Crash()},
		{name: "after the work", fault: tradingsim.CrashAfter(), executed: 1},
		{name: "a 5xx after the work under the other interpretation", fault: tradingsim.FailAfter(500, "internal_error"), executed: 1, whole: true,
			opts: []tradingsim.Option{tradingsim.WithInterpretation(12)}},
	} {
		bubble(t, liveSim, func(t *testing.T, sim *tradingsim.Sim, b bot) {
			sim.Fault("POST /orders", c.fault)
			_, err := b.try("POST", "/orders", smallBTC, "Idempotency-Key", "k")
			require.Equal(t, c.whole, err == nil, c.name)
			keyed(b, "k", smallBTC).refused(409, "idempotency_result_unknown")
			keyed(b, "k", `{}`).refused(422, "idempotency_key_reused")
			require.Len(t, sim.Ledger(), c.executed, c.name)
			time.Sleep(24 * time.Hour)
			keyed(b, "k", smallBTC).ok()
		}, c.opts...)
	}
}

func TestAnotherRequestWithTheKey(t *testing.T) {
	_, b := liveSim(t)
	keyed(b, "k", smallBTC).ok()
	keyed(b, "k", with(smallBTC, `"stopLossPrice":1`)).refused(422, "idempotency_key_reused")
	keyed(b, "k", smallBTC+" ").refused(422, "idempotency_key_reused")
	b.post("/orders/cancel", `{"accountId":"acc_1","orderId":"x"}`, "Idempotency-Key", "k").refused(422, "idempotency_key_reused")

	b = liveBot(t, tradingsim.New(tradingsim.WithMark("BTC", "64000"), tradingsim.WithInterpretation(9), tradingsim.WithInterpretation(49)))
	keyed(b, "k", smallBTC).ok()
	require.True(t, replayed(keyed(b, "k", smallBTC+" ").ok()), "the same meaning")
	b.post("/orders/cancel", `{"accountId":"acc_1","orderId":"x"}`, "Idempotency-Key", "k").refused(404, "order_not_found")
}

func TestKeyInFlight(t *testing.T) {
	for _, c := range []struct {
		name    string
		opts    []tradingsim.Option
		other   string // what another request meets while the first runs
		status  int
		overdue string // and what one meets after a quarter of an hour; "" is success
	}{
		{name: "as read", other: "idempotency_key_reused", status: 422},
		{name: "the other interpretation 10", other: "idempotency_in_flight", status: 409, opts: []tradingsim.Option{tradingsim.WithInterpretation(10)}},
		{name: "the other interpretation 50", other: "idempotency_key_reused", status: 422, overdue: "idempotency_key_reused",
			opts: []tradingsim.Option{tradingsim.WithInterpretation(50)}},
	} {
		bubble(t, liveSim, func(t *testing.T, sim *tradingsim.Sim, b bot) {
			sim.Fault("POST /orders", tradingsim.Delay(time.Hour))
			done := make(chan got)
			go func() { done <- keyed(b, "k", smallBTC) }()
			synctest.Wait()
			time.Sleep(15*time.Minute - time.Second)
			keyed(b, "k", smallBTC).refused(409, "idempotency_in_flight")
			another := with(smallBTC, `"stopLossPrice":1`)
			keyed(b, "k", another).refused(c.status, c.other)
			time.Sleep(time.Second)
			if c.overdue != "" {
				keyed(b, "k", another).refused(422, c.overdue)
				another = smallBTC
			}
			second := keyed(b, "k", another).ok() // the claim is taken over
			(<-done).ok()                         // and the first still runs: twice in all
			require.Len(t, sim.Ledger(), 2, c.name)
			again := keyed(b, "k", another).ok()
			require.True(t, replayed(again))
			require.Equal(t, second.Text, again.Text, "the key is the second's")
		}, c.opts...)
	}
}

func TestAnswersReplayForADay(t *testing.T) {
	for interpretation, lasts := range map[int]time.Duration{0: 24 * time.Hour, 11: 24*time.Hour - time.Minute} {
		bubble(t, liveSim, func(t *testing.T, sim *tradingsim.Sim, b bot) {
			sim.Fault("POST /orders", tradingsim.Delay(time.Minute))
			keyed(b, "k", smallBTC).ok()
			time.Sleep(lasts - time.Second)
			require.True(t, replayed(keyed(b, "k", smallBTC).ok()))
			time.Sleep(time.Second)
			require.False(t, replayed(keyed(b, "k", smallBTC).ok()))
			require.Len(t, sim.Ledger(), 2)
		}, reading(interpretation)...)
	}
}

func TestKeysAreVisibleASCII(t *testing.T) {
	_, b := liveSim(t)
	for _, key := range []string{"", "a b", "é", "a\tb", "\x7f", strings.Repeat("k", 256)} {
		keyed(b, key, smallBTC).refused(400, "invalid_idempotency_key")
	}
	for _, key := range []string{"!", "~", strings.Repeat("k", 255)} {
		keyed(b, key, smallBTC).ok()
	}
	b.post("/orders", smallBTC, "Idempotency-Key", "a", "Idempotency-Key", "b").refused(400, "invalid_idempotency_key")
	b = liveBot(t, tradingsim.New(tradingsim.WithMark("BTC", "64000"), tradingsim.WithInterpretation(14)))
	b.post("/orders", smallBTC, "Idempotency-Key", "a", "Idempotency-Key", "b").ok()
}

func TestReadsAreNeverDeduplicated(t *testing.T) {
	b := liveBot(t, tradingsim.New())
	for range 2 {
		require.False(t, replayed(b.send("GET", "/accounts", "", "Idempotency-Key", "not valid").ok()))
	}
}

func TestValidationAndTheKey(t *testing.T) {
	for _, interpretation := range []int{13, 51} {
		_, b := liveSim(t, tradingsim.WithInterpretation(interpretation))
		keyed(b, "k", `{}`).refused(400, "missing_fields")
		require.False(t, replayed(keyed(b, "k", `{}`).refused(400, "missing_fields")))
		keyed(b, "k", smallBTC).ok()
		unknown := instead(smallBTC, "BTC", "NOPE")
		require.False(t, replayed(keyed(b, "x", unknown).refused(403, "asset_disabled")))
		require.Equal(t, interpretation == 13, replayed(keyed(b, "x", unknown).refused(403, "asset_disabled")))
		if interpretation == 51 {
			keyed(b, "k", `{}`).refused(400, "missing_fields")
		} else {
			keyed(b, "k", `{}`).refused(422, "idempotency_key_reused")
		}
	}
}

var livePaths = []string{
	"/orders", "/orders/limit", "/orders/cancel", "/positions/close", "/positions/tpsl",
	"/orders/conditional", "/orders/ladder", "/orders/twap", "/orders/chase", "/orders/chase-twap", "/orders/swarm",
	"/runs/edit", "/runs/cancel",
}

func TestUserLimits(t *testing.T) {
	for _, path := range livePaths {
		synctest.Test(t, func(t *testing.T) {
			sim := tradingsim.New()
			b := liveBot(t, sim)
			limit := 150
			if strings.HasPrefix(path, "/orders/") && path != "/orders/limit" && path != "/orders/cancel" {
				limit = 20
			}
			for range limit {
				b.post(path, `{}`).refused(400, "missing_fields")
			}
			time.Sleep(20 * time.Second)
			b.key = sim.NewLiveKey() // the limit is the user's
			g := b.post(path, `{}`).refused(429, "rate_limited")
			require.Equal(t, "40", g.Header.Get("Retry-After"), path)
			require.Empty(t, g.Header.Get("X-RateLimit-Limit"))
			for _, other := range livePaths {
				if other != path && !(strings.HasPrefix(path, "/runs") && strings.HasPrefix(other, "/runs")) {
					b.post(other, `{}`).refused(400, "missing_fields")
				}
			}
			time.Sleep(40 * time.Second)
			b.post(path, `{}`).refused(400, "missing_fields")
		})
	}
}

func TestRunEditsShareTheLimitOfCancelsUnderTheOtherInterpretation(t *testing.T) {
	b := liveBot(t, tradingsim.New(tradingsim.WithUserLimits(1, 1), tradingsim.WithInterpretation(7)))
	b.post("/orders/cancel", `{}`).refused(400, "missing_fields")
	b.post("/runs/edit", `{}`).refused(429, "rate_limited")
}

func TestUserLimitAndTheKey(t *testing.T) {
	for _, interpretation := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			opts := []tradingsim.Option{tradingsim.WithMark("BTC", "64000"), tradingsim.WithUserLimits(2, 1)}
			if interpretation {
				opts = append(opts, tradingsim.WithInterpretation(6))
			}
			b := liveBot(t, tradingsim.New(opts...))
			keyed(b, "k", smallBTC).ok()
			keyed(b, "k", smallBTC).ok() // a replay consumes budget only in front of the check
			if interpretation {
				keyed(b, "l", smallBTC).ok()
			}
			keyed(b, "m", smallBTC).refused(429, "rate_limited")
			time.Sleep(time.Minute)
			if interpretation {
				require.True(t, replayed(keyed(b, "m", smallBTC).refused(429, "rate_limited")))
			} else {
				keyed(b, "m", smallBTC).ok()
			}
		})
	}
}

func TestProxyThatRepeats(t *testing.T) {
	sim, b := liveSim(t)
	sim.Fault("POST /orders", tradingsim.Repeat(), tradingsim.LateCopy(25*time.Hour))
	require.True(t, replayed(keyed(b, "k", smallBTC).ok()), "a replay on a first send")
	require.Len(t, sim.Ledger(), 1)
}

func TestProxyThatRepeatsWhileTheFirstIsAtWork(t *testing.T) {
	bubble(t, liveSim, func(t *testing.T, sim *tradingsim.Sim, b bot) {
		sim.Fault("POST /orders", tradingsim.Together(tradingsim.Repeat(), tradingsim.Delay(time.Second)))
		keyed(b, "k", smallBTC).refused(409, "idempotency_in_flight")
		require.Empty(t, sim.Ledger())
		time.Sleep(time.Second)
		require.Len(t, sim.Ledger(), 1)
	})
}

func TestACopyAfterADayIsANewOrder(t *testing.T) {
	bubble(t, liveSim, func(t *testing.T, sim *tradingsim.Sim, b bot) {
		sim.Fault("POST /orders", tradingsim.LateCopy(time.Minute), tradingsim.LateCopy(25*time.Hour))
		keyed(b, "k", smallBTC).ok()
		keyed(b, "l", smallBTC).ok()
		time.Sleep(24 * time.Hour)
		require.Len(t, sim.Ledger(), 2)
		time.Sleep(2 * time.Hour)
		require.Len(t, sim.Ledger(), 3)
	})
}

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
				bubble(t, liveSim, func(t *testing.T, sim *tradingsim.Sim, b bot) {
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
					sim.Fault("POST /orders", tradingsim.Hang(held)) // which finds its answer, and nothing to hang on
					_, err = b.try("POST", "/orders", smallBTC, "Idempotency-Key", "k")
					require.Error(t, err)
					time.Sleep(held)
					require.Len(t, sim.Executed("k"), c.executed)
				})
			})
		}
	}
}
