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

// What is about the sidecar is read, and nothing is written there.
func TestReportsAreRead(t *testing.T) {
	inTime(t, nil, func(r *rig) {
		w := httptest.NewRecorder()
		r.server.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "http://localhost/sidecar/ready", http.NoBody))
		assert.Equal(r.t, 404, w.Code)
		assert.Contains(r.t, w.Body.String(), "no such path or method")
	})
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
		r.server.tidy(r.t.Context(), time.Now().Add(25*time.Hour))
		assert.Empty(r.t, list(r.live, ""), "what is older than a day is forgotten")
	})
}

// Whatever watches the sidecar sees whether entries are taken, and how many.
func TestReadyAndMetrics(t *testing.T) {
	inTime(t, nil, func(r *rig) {
		assert.Equal(r.t, 200, r.report("", "ready").Code)
		assert.JSONEq(r.t, `{"ready":true}`, r.report("", "ready").Body.String(), "how many are pending is not said, and is not 0")
		assert.JSONEq(r.t, `{"ready":true,"pending":0}`, r.report(r.live, "ready").Body.String())
		r.by(new(deaf), r.live, "POST /orders", buy)
		r.do(r.live, "POST /orders", buyMore)
		r.server.client.Halt("news")
		ready := r.report(r.live, "ready")
		assert.Equal(r.t, 503, ready.Code)
		assert.Contains(r.t, ready.Body.String(), "news")
		text := r.report(r.live, "metrics").Body.String()
		for _, line := range []string{
			"trading_sidecar_ready 0\n", "trading_sidecar_unheard 1\n", `trading_sidecar_held_total{bot="grid"} 1`,
			`trading_sidecar_writes_total{bot="grid",outcome="applied"} 1`,
		} {
			assert.Contains(r.t, text, line)
		}
		assert.Equal(r.t, 404, r.report("", "nothing").Code)
	})
}

// A stranger learns whether entries are taken, and neither why not nor what bots do.
func TestFound21_WithoutAKey(t *testing.T) {
	inTime(t, nil, func(r *rig) {
		r.by(new(deaf), r.live, "POST /orders", buy)
		r.server.client.Halt("the desk is under water")
		for _, key := range []string{"", "pk_live_local_wrong", r.sim.LiveKey()} {
			ready := r.report(key, "ready")
			assert.Equal(r.t, 503, ready.Code)
			assert.NotContains(r.t, ready.Body.String(), "water")
			assert.Equal(r.t, 401, r.report(key, "metrics").Code)
			assert.NotContains(r.t, r.report(key, "metrics").Body.String(), "grid")
		}
	})
}

// A page is refused by whichever of several headers names it.
func TestFound21_SeveralOrigins(t *testing.T) {
	inTime(t, nil, func(r *rig) {
		for name, handler := range map[string]http.Handler{"/v1/orders": r.server, "/sidecar/ready": r.server, "/status": r.server.Operator()} {
			for header, values := range map[string][]string{
				"Origin": {"", "https://evil.example"}, "Sec-Fetch-Site": {"none", "cross-site"},
			} {
				request := httptest.NewRequest(http.MethodGet, "http://localhost"+name, http.NoBody)
				request.Header["X-Api-Key"], request.Header[header] = []string{r.live}, values
				w := httptest.NewRecorder()
				handler.ServeHTTP(w, request)
				assert.Equal(r.t, http.StatusForbidden, w.Code, name+" "+header)
			}
		}
	})
}
