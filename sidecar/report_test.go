package sidecar

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// report reads what is about the sidecar itself.
func (r *rig) report(key, path string) *httptest.ResponseRecorder {
	request := httptest.NewRequest(http.MethodGet, "http://localhost/sidecar/"+path, http.NoBody)
	request.Header.Set("X-API-Key", key)
	w := httptest.NewRecorder()
	r.server.ServeHTTP(w, request)
	return w
}

// A bot reads what became of its own orders, those that it did not hear of too.
func TestWritesOfABot(t *testing.T) {
	inTime(t, nil, func(r *rig) {
		list := func(key, since string) (all []Written) {
			w := r.report(key, "writes"+since)
			require.Equal(r.t, 200, w.Code, w.Body.String())
			var body struct{ Writes []Written }
			require.NoError(r.t, json.Unmarshal(w.Body.Bytes(), &body))
			return body.Writes
		}
		first := r.by(new(deaf), r.live, "POST /orders", buy, "Idempotency-Key", "one")
		time.Sleep(time.Second)
		r.do(r.live, "POST /positions/close", closeBTC)
		all := list(r.live, "")
		require.Len(r.t, all, 2)
		assert.Equal(r.t, Written{
			ID: first.write, Operation: "POST /orders", Account: "acc_1", Symbol: "BTC", Key: "one", At: all[0].At, Outcome: "applied", Status: 200,
		}, all[0])
		assert.Len(r.t, list(r.live, "?since="+all[1].At.UTC().Format(time.RFC3339)), 1)
		assert.Empty(r.t, list(r.paper, ""))
		assert.Equal(r.t, 401, r.report("", "writes").Code)
		assert.Equal(r.t, 400, r.report(r.live, "writes?since=yesterday").Code)
	})
}

// Whatever watches the sidecar sees whether entries are taken, and how many.
func TestReadyAndMetrics(t *testing.T) {
	inTime(t, nil, func(r *rig) {
		assert.Equal(r.t, 200, r.report("", "ready").Code)
		r.by(new(deaf), r.live, "POST /orders", buy)
		r.do(r.live, "POST /orders", buyMore)
		r.server.client.Halt("news")
		ready := r.report("", "ready")
		assert.Equal(r.t, 503, ready.Code)
		assert.Contains(r.t, ready.Body.String(), "news")
		text := r.report("", "metrics").Body.String()
		for _, line := range []string{
			"trading_sidecar_ready 0\n", "trading_sidecar_unheard 1\n", `trading_sidecar_held_total{bot="grid"} 1`,
			`trading_sidecar_writes_total{bot="grid",outcome="applied"} 1`,
		} {
			assert.Contains(r.t, text, line)
		}
		assert.Equal(r.t, 404, r.report("", "nothing").Code)
	})
}
