package sidecar

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

// directly sends a request as the bot did before it had a sidecar.
func (r *rig) directly(operation, body string, header ...string) answer {
	return (&twins{rig: r}).directly(r.sim, called{operation: operation, body: body, header: header})
}

// Keys used directly before: while the service may know a key that the sidecar does not, nothing
// that the sidecar refuses says that the order was not executed.
func TestKeysUsedDirectlyBefore(t *testing.T) {
	key := []string{"Idempotency-Key", "one"}
	for name, hold := range map[string]func(*rig){
		"halted":            func(r *rig) { r.server.client.Halt("news") },
		"not safe to trade": func(r *rig) { r.sim.SetHealth("degraded", "stale") },
		"stopping":          func(r *rig) { r.server.stopping.Store(true) },
		"not reached":       func(r *rig) { r.faulty(tradingsim.RefuseConnection(), "GET /health") },
		"share used up": func(r *rig) {
			for range perKey {
				r.do(r.live, "GET /accounts", "")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			inTime(t, nil, func(r *rig) {
				r.live = r.fresh()
				require.Equal(r.t, 200, r.directly("POST /orders", buy, key...).status) // and the bot does not hear
				hold(r)
				for range 2 {
					refused := r.do(r.live, "POST /orders", buy, key...)
					assert.Equal(r.t, "unknown", refused.outcome, refused.body)
					assert.NotEmpty(r.t, refused.header.Get("Retry-After"), refused.body)
				}
				r.server.client.Resume()
				r.server.stopping.Store(false)
				r.sim.SetHealth("healthy", "live")
				r.sim.FaultEach(nil)
				time.Sleep(2 * time.Minute)
				again := r.do(r.live, "POST /orders", buy, key...)
				assert.Equal(r.t, []any{200, "applied", "true"}, []any{again.status, again.outcome, again.header.Get("Idempotent-Replayed")}, again.body)
				assert.Len(r.t, r.sim.Ledger(), 1)
			})
		})
	}
}

// The service's own answers pass as ever, and hold no market; another request under the key was
// not executed.
func TestKeysUsedDirectlyBeforeAreAnswered(t *testing.T) {
	inTime(t, nil, func(r *rig) {
		r.live = r.fresh()
		key := []string{"Idempotency-Key", "one"}
		require.Equal(r.t, 200, r.directly("POST /orders", buy, key...).status)
		other := r.do(r.live, "POST /orders", buyMore, key...)
		assert.Equal(r.t, []any{422, "idempotency_key_reused", ""}, []any{other.status, other.code, other.header.Get(headerOwn)}, other.body)
		r.sim.Fault("POST /orders", tradingsim.Fail(400, "ASSET_NOTIONAL_CAP"))
		refused := r.by(new(deaf), r.live, "POST /orders", buyMore, "Idempotency-Key", "two")
		assert.Equal(r.t, []any{400, "ASSET_NOTIONAL_CAP", ""}, []any{refused.status, refused.code, refused.header.Get(headerOwn)}, refused.body)
		assert.Equal(r.t, 200, r.do(r.live, "POST /orders", buyMore, "Idempotency-Key", "three").status)
		assert.Len(r.t, r.sim.Ledger(), 2)
	})
}

// A lost request under a key that was used before is not taken for its earlier use, and not sent
// as a new one.
func TestKeysUsedDirectlyBeforeThatAreLost(t *testing.T) {
	inTime(t, nil, func(r *rig) {
		r.live = r.fresh()
		key := []string{"Idempotency-Key", "one"}
		require.Equal(r.t, 200, r.directly("POST /orders", buy, key...).status)
		r.faulty(tradingsim.DropResponse(), "GET /health")
		assert.Equal(r.t, "unknown", r.do(r.live, "POST /orders", buy, key...).outcome)
		r.sim.FaultEach(nil)
		time.Sleep(time.Minute)
		r.restart()
		again := r.do(r.live, "POST /orders", buy, key...)
		assert.Equal(r.t, []any{200, "applied"}, []any{again.status, again.outcome}, again.body)
		assert.Len(r.t, r.sim.Ledger(), 1)
	})
}

// After a day, restarts included, the sidecar has seen all that the service knows.
func TestKeysAfterADay(t *testing.T) {
	inTime(t, nil, func(r *rig) {
		r.live = r.fresh()
		require.Equal(r.t, 200, r.do(r.live, "POST /orders", buy).status)
		halted := func(outcome string) {
			r.t.Helper()
			r.server.client.Halt("news")
			assert.Equal(r.t, outcome, r.do(r.live, "POST /orders", buyMore, "Idempotency-Key", "one").outcome)
			assert.Equal(r.t, "not-applied", r.do(r.live, "POST /orders", buyMore).outcome, "without a key there is nothing to know")
		}
		halted("unknown")
		time.Sleep(23 * time.Hour)
		r.restart()
		halted("unknown")
		time.Sleep(2 * time.Hour)
		r.restart()
		halted("not-applied")
	})
}

// A key is forgotten after a day, as the service forgets it: then it is that of another write.
func TestAKeyIsForgottenAfterADay(t *testing.T) {
	inTime(t, nil, func(r *rig) {
		require.Equal(r.t, 200, r.do(r.live, "POST /orders", buy, "Idempotency-Key", "one").status)
		time.Sleep(23 * time.Hour)
		r.server.tidy(r.t.Context(), time.Now())
		assert.Equal(r.t, 422, r.do(r.live, "POST /orders", buyMore, "Idempotency-Key", "one").status)
		time.Sleep(2 * time.Hour)
		r.server.tidy(r.t.Context(), time.Now())
		again := r.do(r.live, "POST /orders", buyMore, "Idempotency-Key", "one")
		assert.Equal(r.t, 200, again.status, again.body)
		assert.Len(r.t, r.sim.Ledger(), 2)
	})
}

// What the service repeats under a key the sidecar repeats, and nothing else.
func TestWhatAKeyKeeps(t *testing.T) {
	for status, keeps := range map[int]bool{0: false, 200: true, 400: true, 409: true, 429: false, 499: true, 500: false, 503: false} {
		assert.Equal(t, keeps, keepsUnderKey(status), status)
	}
}

// A write that is held back since a read before it was refused is answered, although its key may
// have been used before.
func TestHeldBackByARefusedRead(t *testing.T) {
	inTime(t, nil, func(r *rig) {
		fresh := r.fresh()
		r.sim.Fault("GET /health", tradingsim.Fail(503, "no_price"))
		held := r.do(fresh, "POST /orders", buy, "Idempotency-Key", "one")
		assert.Equal(r.t, []any{503, "idempotency_unavailable", "unknown"}, []any{held.status, held.code, held.outcome}, held.body)
		assert.Empty(r.t, r.sim.Ledger())
		assert.Equal(r.t, 200, r.do(fresh, "POST /orders", buy, "Idempotency-Key", "one").status)
		assert.Len(r.t, r.sim.Ledger(), 1)
	})
}

// An entry of which nothing was sent, under a key that the bot may have used without the sidecar, holds no
// market, is listed once however often it is repeated, alerts nobody, and ends with the answer of its key.
func TestAKeyThatWasRefusedEndsWithItsAnswer(t *testing.T) {
	const eth = `{"accountId":"acc_1","symbol":"ETH","side":"long","size":1,"leverage":2}`
	listed := func(r *rig) (all []Pending) {
		require.Equal(r.t, 200, r.operate("GET", "/pending", "", &all))
		return all
	}
	refused := func(r *rig) {
		r.live = r.fresh()
		require.Equal(r.t, 200, r.operate("POST", "/halt", `{"reason":"test"}`, nil))
		for range 4 {
			no := r.do(r.live, "POST /orders", eth, "Idempotency-Key", "e-1")
			require.Equal(r.t, []any{503, "unknown"}, []any{no.status, no.outcome}, no.body)
			time.Sleep(2 * time.Second)
		}
		require.Equal(r.t, 200, r.operate("POST", "/resume", `{}`, nil))
	}
	for name, f := range map[string]func(*rig, *alerts){
		"listed": func(r *rig, _ *alerts) {
			all := listed(r)
			require.Len(r.t, all, 1)
			assert.True(r.t, all[0].MarketOpen)
			assert.Contains(r.t, all[0].Reason, "the same key finds out")
			assert.Equal(r.t, 200, r.do(r.live, "POST /orders", eth, "Idempotency-Key", "e-2").status, "entries go on in its market")
		},
		"alerts": func(r *rig, said *alerts) { assert.Empty(r.t, said.with("what became of")) },
		"its answer": func(r *rig, _ *alerts) {
			assert.Equal(r.t, 200, r.do(r.live, "POST /orders", eth, "Idempotency-Key", "e-1").status)
			assert.Empty(r.t, listed(r))
			assert.Empty(r.t, unknownOf(r, r.live), "a bot that asks about a try is answered for its key")
			r.restart()
			assert.Empty(r.t, listed(r))
			assert.Len(r.t, r.sim.Ledger(), 1)
		},
		"a restart": func(r *rig, _ *alerts) {
			r.restart()
			require.Len(r.t, listed(r), 1)
			assert.True(r.t, listed(r)[0].MarketOpen)
			assert.Equal(r.t, 200, r.do(r.live, "POST /orders", eth, "Idempotency-Key", "e-2").status, "entries go on in its market")
			assert.Equal(r.t, 200, r.do(r.live, "POST /orders", eth, "Idempotency-Key", "e-1").status)
			assert.Empty(r.t, listed(r))
		},
		"resolve": func(r *rig, _ *alerts) {
			var found Resolved
			require.Equal(r.t, 200, r.operate("POST", "/resolve", `{"id":"`+string(listed(r)[0].ID)+`"}`, &found))
			assert.Equal(r.t, "unknown", found.Outcome)
			assert.Contains(r.t, found.Error, "the same key finds out")
		},
		"acknowledged": func(r *rig, _ *alerts) {
			require.Equal(r.t, 200, r.operate("POST", "/acknowledge", `{"id":"`+string(listed(r)[0].ID)+`","outcome":"not-applied","note":"looked"}`, nil))
			assert.Empty(r.t, listed(r))
			assert.Empty(r.t, unknownOf(r, r.live))
		},
	} {
		t.Run(name, func(t *testing.T) {
			inTime(t, nil, func(r *rig) {
				said := new(alerts)
				r.config.Alert = said.say
				r.restart()
				refused(r)
				f(r, said)
			})
		})
	}
}

// What a kill came between holds its market only until its bot has read, and a cancel none at all.
func TestPendingSaysWhetherEntriesGoOn(t *testing.T) {
	inTime(t, nil, func(r *rig) {
		r.sim.FaultEach(tradingsim.Always("POST /orders/cancel", tradingsim.FailAfter(500, "internal_error")))
		require.Equal(r.t, "unknown", r.do(r.live, "POST /orders/cancel", `{"accountId":"acc_1","orderId":"ord_1"}`).outcome)
		var all []Pending
		require.Equal(r.t, 200, r.operate("GET", "/pending", "", &all))
		require.Len(r.t, all, 1)
		assert.True(r.t, all[0].MarketOpen, "a cancel holds no market")
	})
}
