package sidecar

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

// operate sends a command as an operator does.
func (r *rig) operate(method, path, body string, into any) int {
	w := httptest.NewRecorder()
	r.server.Operator().ServeHTTP(w, httptest.NewRequest(method, "http://localhost"+path, strings.NewReader(body)))
	if into != nil {
		require.NoError(r.t, json.Unmarshal(w.Body.Bytes(), into), w.Body.String())
	}
	return w.Code
}

// A halt refuses entries and no exit, until somebody resumes.
func TestHaltAndResume(t *testing.T) {
	inTime(t, nil, func(r *rig) {
		require.Equal(r.t, 200, r.do(r.live, "POST /orders", buy).status)
		assert.Equal(r.t, 409, r.operate("POST", "/halt", `{}`, nil))
		assert.Equal(r.t, 400, r.operate("POST", "/halt", `{"why":"x"}`, nil))
		var status Status
		require.Equal(r.t, 200, r.operate("POST", "/halt", `{"reason":"news"}`, &status))
		assert.False(r.t, status.Ready)
		held := r.do(r.live, "POST /orders", buy)
		assert.Equal(r.t, []any{403, "forbidden", "not-applied"}, []any{held.status, held.code, held.outcome})
		assert.Contains(r.t, held.reason, "news")
		assert.Equal(r.t, 200, r.do(r.live, "POST /positions/close", closeBTC).status)
		require.Equal(r.t, 200, r.operate("POST", "/resume", `{}`, &status))
		assert.True(r.t, status.Ready)
		assert.Equal(r.t, 200, r.do(r.live, "POST /orders", buy).status)
	})
}

// What is pending is listed under its bot, and found out when somebody asks.
func TestPendingForAnOperator(t *testing.T) {
	inTime(t, nil, func(r *rig) {
		r.sim.FaultEach(func(operation string) tradingsim.Fault {
			if operation == "GET /health" {
				return nil
			}
			return tradingsim.DropResponse()
		})
		lost := r.do(r.live, "POST /orders", buy)
		assert.Equal(r.t, []any{409, "idempotency_result_unknown", "unknown"}, []any{lost.status, lost.code, lost.outcome})
		var pending []Pending
		require.Equal(r.t, 200, r.operate("GET", "/pending", "", &pending))
		require.Len(r.t, pending, 1)
		assert.Equal(r.t, []string{"grid", lost.write, "BTC"}, []string{pending[0].Bot, pending[0].Write, pending[0].Symbol})
		refused := func() []string {
			var st Status
			require.Equal(r.t, 200, r.operate("GET", "/status", "", &st))
			return st.Refused
		}
		assert.Equal(r.t, []string{"acc_1 BTC"}, refused())
		r.sim.FaultEach(nil)
		var found Resolved
		require.Equal(r.t, 200, r.operate("POST", "/resolve", `{"id":"`+string(pending[0].ID)+`"}`, &found))
		assert.Equal(r.t, "applied", found.Outcome)
		// Its bot has not heard so.
		held := r.do(r.live, "POST /orders", buyMore)
		assert.Equal(r.t, 409, held.status)
		assert.Equal(r.t, []string{"acc_1 BTC (grid)"}, refused())
		time.Sleep(5 * time.Second)
		r.do(r.live, "GET /positions?accountId=acc_1", "")
		assert.Equal(r.t, 200, r.do(r.live, "POST /orders", buyMore).status)
		assert.Empty(r.t, refused())
	})
}

// A flatten closes everything, and keeps bots out.
func TestFlatten(t *testing.T) {
	inTime(t, nil, func(r *rig) {
		require.Equal(r.t, 200, r.do(r.live, "POST /orders", buy).status)
		assert.Equal(r.t, 409, r.operate("POST", "/flatten", `{"reason":"night"}`, nil))
		var done []Flattened
		require.Equal(r.t, 200, r.operate("POST", "/flatten", `{"reason":"night","accounts":["acc_1"]}`, &done))
		require.Len(r.t, done, 1)
		assert.True(r.t, done[0].Flat, done[0].Report)
		assert.Equal(r.t, "0", r.sim.Position("acc_1", "BTC").String())
		assert.Equal(r.t, 403, r.do(r.live, "POST /orders", buy).status)
	})
}
