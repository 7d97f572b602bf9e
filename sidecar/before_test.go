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
