package sidecar

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

// After a start what was not heard holds its market, and its own key gets its answer.
func TestAfterAStart(t *testing.T) {
	inTime(t, nil, func(r *rig) {
		key := []string{"Idempotency-Key", "one"}
		first := r.by(new(deaf), r.live, "POST /orders", buy, key...)
		require.Equal(r.t, 200, first.status)
		r.restart()
		for _, header := range [][]string{nil, {"Idempotency-Key", "two"}} {
			assert.Equal(r.t, "idempotency_result_unknown", r.do(r.live, "POST /orders", buy, header...).code)
		}
		assert.Equal(r.t, 404, r.do(r.live, "POST /positions/close", strings.Replace(closeBTC, "BTC", "ETH", 1)).status, "exits pass")
		reused := r.do(r.live, "POST /orders", buyMore, key...)
		assert.Equal(r.t, []any{422, "idempotency_key_reused"}, []any{reused.status, reused.code})
		again := r.do(r.live, "POST /orders", buy, key...)
		assert.Equal(r.t, []string{first.body, first.write, "applied", "true"}, []string{again.body, again.write, again.outcome, again.header.Get("Idempotent-Replayed")})
		assert.Equal(r.t, first.header.Get("Date"), again.header.Get("Date"))
		assert.Len(r.t, r.sim.Ledger(), 1)
		assert.Equal(r.t, 200, r.do(r.live, "POST /orders", buy, "Idempotency-Key", "two").status, "now it was heard")
		assert.Len(r.t, r.sim.Ledger(), 2)
	})
}

// What was heard before the end holds nothing, nor what was refused.
func TestAfterAStartWhatWasHeardIsOver(t *testing.T) {
	inTime(t, nil, func(r *rig) {
		later := new(deaf)
		require.Equal(r.t, 200, r.by(later, r.live, "POST /orders", buy).status)
		later.hears.Store(true)
		r.sim.Fault("POST /orders", tradingsim.Fail(400, "ASSET_NOTIONAL_CAP"))
		require.Equal(r.t, 400, r.by(new(deaf), r.live, "POST /orders", buyMore, "Idempotency-Key", "one").status)
		r.restart()
		refused := r.do(r.live, "POST /orders", buyMore, "Idempotency-Key", "one")
		assert.Equal(r.t, []any{400, "ASSET_NOTIONAL_CAP"}, []any{refused.status, refused.code}, "a refusal is stored, too")
		assert.Equal(r.t, 200, r.do(r.live, "POST /orders", buy).status)
		assert.Len(r.t, r.sim.Ledger(), 2)
	})
}

// What was in doubt at the end is found out, and holds its market until its bot has read.
func TestAfterAStartWhatWasInDoubt(t *testing.T) {
	inTime(t, nil, func(r *rig) {
		r.sim.FaultEach(func(operation string) tradingsim.Fault {
			if operation == "GET /health" {
				return nil
			}
			return tradingsim.DropResponse()
		})
		require.Equal(r.t, "unknown", r.do(r.live, "POST /orders", buy).outcome)
		r.sim.FaultEach(nil)
		r.restart()
		held := r.do(r.live, "POST /orders", buy)
		assert.Equal(r.t, []any{409, "not-applied"}, []any{held.status, held.outcome})
		_, err := r.server.client.Recover(r.t.Context())
		require.NoError(r.t, err)
		assert.Equal(r.t, 409, r.do(r.live, "POST /orders", buy).status)
		time.Sleep(5 * time.Second)
		r.do(r.live, "GET /positions?accountId=acc_1", "")
		assert.Equal(r.t, 200, r.do(r.live, "POST /orders", buy).status)
		assert.Len(r.t, r.sim.Ledger(), 2)
	})
}

// A repeat under its key is the write that was in doubt at the end, and its answer ends that.
func TestAfterAStartARepeatIsTheSameWrite(t *testing.T) {
	inTime(t, nil, func(r *rig) {
		r.faulty(tradingsim.DropResponse(), "GET /health")
		one := []string{"Idempotency-Key", "one"}
		first := r.do(r.live, "POST /orders", buy, one...)
		require.Equal(r.t, "unknown", first.outcome)
		r.sim.FaultEach(nil)
		r.restart()
		again := r.do(r.live, "POST /orders", buy, one...)
		assert.Equal(r.t, []string{"applied", first.write}, []string{again.outcome, again.write}, again.body)
		next := r.do(r.live, "POST /orders", buyMore, "Idempotency-Key", "two")
		assert.Equal(r.t, 200, next.status, next.body)
		assert.Len(r.t, r.sim.Ledger(), 2)
	})
}

// A paper order, which no key protects, is found out by looks.
func TestAfterAStartOnPaper(t *testing.T) {
	inTime(t, nil, func(r *rig) {
		r.sim.Fault("POST /sandbox/orders", tradingsim.Hang(20*time.Second))
		over := make(chan answer, 1)
		go func() { over <- r.do(r.paper, "POST /sandbox/orders", buyPaper) }()
		time.Sleep(time.Second)
		r.restart()
		assert.Equal(r.t, "unknown", (<-over).outcome)
		time.Sleep(10 * time.Second)
		r.do(r.paper, "GET /sandbox/positions", "")
		assert.Equal(r.t, 409, r.do(r.paper, "POST /sandbox/orders", buyPaper).status)
		_, _ = r.server.client.Recover(r.t.Context()) // others trade the account, so looks do not prove it
		pending, err := r.server.pending(r.t.Context())
		require.NoError(r.t, err)
		for _, p := range pending {
			assert.Equal(r.t, 200, r.operate("POST", "/acknowledge", `{"id":"`+string(p.ID)+`","outcome":"applied","note":"seen"}`, nil))
		}
		time.Sleep(5 * time.Second)
		r.do(r.paper, "GET /sandbox/positions", "")
		again := r.do(r.paper, "POST /sandbox/orders", buyPaper)
		assert.Equal(r.t, 200, again.status, again.body)
	})
}

// A halt stands until somebody resumes, over restarts too; one that could not be written down
// stands until the next.
func TestAHaltOutlivesTheProcess(t *testing.T) {
	said := new(alerts)
	entry := func(r *rig) (int, string) {
		reply := r.do(r.live, "POST /orders", buy)
		return reply.status, reply.reason
	}
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil, func(c *Config) { c.Alert = said.say })
		file := filepath.Join(r.config.Dir, "halt")
		for what, halt := range map[string]func(){
			"news":          func() { r.operate("POST", "/halt", `{"reason":"news"}`, nil) },
			"flatten: news": func() { r.operate("POST", "/flatten", `{"accounts":["acc_1"],"reason":"news"}`, nil) },
			"the halt file is damaged": func() {
				require.NoError(r.t, os.WriteFile(file, []byte("\x00\xff"), 0o600))
			},
		} {
			halt()
			r.restart()
			status, why := entry(r)
			assert.Equal(r.t, 403, status, what)
			assert.Contains(r.t, why, "halted: "+what)
			assert.NotEmpty(r.t, said.with("halted: "+what))
			assert.Equal(r.t, 404, r.do(r.live, "POST /positions/close", closeBTC).status, "exits pass")
			require.Equal(r.t, 200, r.operate("POST", "/resume", `{}`, nil))
			r.restart()
			status, _ = entry(r)
			assert.Equal(r.t, 200, status, what)
			require.Equal(r.t, 200, r.do(r.live, "POST /positions/close", closeBTC).status)
		}

		var both sync.WaitGroup // of operators who halt at once each one's is written down
		for range 2 {
			both.Go(func() { assert.Equal(r.t, 200, r.operate("POST", "/halt", `{"reason":"news"}`, nil)) })
		}
		both.Wait()
		require.Equal(r.t, 200, r.operate("POST", "/resume", `{}`, nil))
		require.NoError(r.t, os.MkdirAll(filepath.Join(file+".tmp", "in the way"), 0o700))
		assert.Equal(r.t, 409, r.operate("POST", "/halt", `{"reason":"news"}`, nil), "it is not written down")
		status, _ := entry(r)
		assert.Equal(r.t, 403, status, "and stands")
		require.NoError(r.t, os.MkdirAll(filepath.Join(file, "in the way"), 0o700))
		assert.Equal(r.t, 409, r.operate("POST", "/resume", `{}`, nil), "it would come back")
		status, _ = entry(r)
		assert.Equal(r.t, 403, status)
	})
}
