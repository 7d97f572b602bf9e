package sidecar

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

// unknownOf are a bot's writes of which /sidecar/writes says that nobody knows what became of them.
func unknownOf(r *rig, key string) (ids []string) {
	w, q := httptest.NewRecorder(), httptest.NewRequest("GET", "http://localhost/sidecar/writes", nil)
	q.Header.Set("X-API-Key", key)
	r.server.ServeHTTP(w, q)
	var said struct{ Writes []Written }
	require.NoError(r.t, json.Unmarshal(w.Body.Bytes(), &said), w.Body.String())
	for _, one := range said.Writes {
		if one.Outcome == "unknown" {
			ids = append(ids, one.ID)
		}
	}
	return ids
}

// What stays unknown of any kind of write, after faults and restarts, an operator sees, and settles.
func TestFound21_NoUnknownWriteThatNobodyCanSettle(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { settleAll(t, seed) })
	}
}

func settleAll(t *testing.T, seed uint64) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		fresh := r.fresh()
		random := rand.New(rand.NewPCG(seed, 2))
		faults := []tradingsim.Fault{
			tradingsim.DropRequest(), tradingsim.DropResponse(), tradingsim.GatewayError(502), tradingsim.GatewayErrorAfter(502), tradingsim.Fail(500, "internal_error"),
			tradingsim.FailAfter(500, "internal_error"), tradingsim.Hang(10 * time.Second), tradingsim.Raw(200, nil, "{}"), tradingsim.Delay(3 * time.Second),
		}
		var mu sync.Mutex
		draw := func(n int) int {
			mu.Lock()
			defer mu.Unlock()
			return random.IntN(n)
		}
		r.sim.FaultEach(func(string) tradingsim.Fault {
			if draw(3) > 0 {
				return nil
			}
			return faults[draw(len(faults))]
		})
		writes := []struct{ key, operation, body string }{
			{r.live, "POST /orders", buy},
			{r.live, "POST /orders/limit", `{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.01,"leverage":2,"limitPrice":60000}`},
			{r.live, "POST /positions/close", closeBTC},
			{r.live, "POST /positions/close", `{"accountId":"acc_1","symbol":"BTC","closePercent":50}`},
			{r.live, "POST /orders/cancel", `{"accountId":"acc_1","orderId":"ord_1"}`},
			{r.live, "POST /positions/tpsl", `{"accountId":"acc_1","symbol":"BTC","stopLossPrice":50000}`},
			{fresh, "POST /orders", `{"accountId":"acc_1","symbol":"ETH","side":"long","size":1,"leverage":2}`},
			{r.paper, "POST /sandbox/orders", buyPaper},
			{r.paper, "POST /sandbox/positions/close", `{"symbol":"BTC"}`},
			{r.paper, "POST /sandbox/positions/tpsl", `{"symbol":"BTC","stopLossPrice":50000}`},
			{r.paper, "POST /sandbox/reset", ``},
		}
		for i := range 300 {
			one, done := writes[draw(len(writes))], make(chan answer, 1)
			var header []string
			if one.key == fresh {
				header = []string{"Idempotency-Key", fmt.Sprint("entry-", i)}
			}
			go func() { done <- r.do(one.key, one.operation, one.body, header...) }()
			if i%40 == 39 {
				time.Sleep(time.Duration(draw(2000)) * time.Millisecond)
				r.restart()
			}
			<-done
			time.Sleep(time.Second)
		}
		r.sim.FaultEach(nil)
		_, _ = r.server.client.Recover(r.t.Context()) // some are not found out
		time.Sleep(time.Hour)
		bots := []string{r.live, fresh, r.paper}
		listed := map[string]bool{}
		var pending []Pending
		require.Equal(r.t, 200, r.operate("GET", "/pending", "", &pending))
		for _, p := range pending {
			listed[p.Write] = true
			assert.NotEmpty(r.t, p.Reason)
		}
		total := 0
		for _, bot := range bots {
			for _, id := range unknownOf(r, bot) {
				total++
				assert.True(r.t, listed[id], "write %s is unknown, and not listed", id)
			}
		}
		require.Greater(r.t, total, 20, "faults leave some")
		var status Status
		require.Equal(r.t, 200, r.operate("GET", "/status", "", &status))
		assert.Equal(r.t, len(pending), status.Pending)
		for i, p := range pending {
			require.Equal(r.t, 409, r.operate("POST", "/acknowledge", `{"id":"`+string(p.ID)+`","outcome":"perhaps"}`, nil))
			outcome := []string{"applied", "not-applied"}[i%2]
			require.Equal(r.t, 200, r.operate("POST", "/acknowledge", `{"id":"`+string(p.ID)+`","outcome":"`+outcome+`","note":"seen"}`, nil))
		}
		for range 2 {
			for _, bot := range bots {
				assert.Empty(r.t, unknownOf(r, bot))
			}
			pending = nil
			require.Equal(r.t, 200, r.operate("GET", "/pending", "", &pending))
			assert.Empty(r.t, pending)
			r.restart()
		}
	})
}

// What runs is not settled by a person, and is not listed as what nobody finds out.
func TestWhatRunsIsNotSettled(t *testing.T) {
	inTime(t, nil, func(r *rig) {
		r.sim.Fault("POST /orders/cancel", tradingsim.Delay(4*time.Second))
		done := make(chan answer, 1)
		go func() {
			done <- r.do(r.live, "POST /orders/cancel", `{"accountId":"acc_1","orderId":"ord_1"}`)
		}()
		time.Sleep(time.Second)
		ids := unknownOf(r, r.live)
		require.Len(r.t, ids, 1)
		var pending []Pending
		require.Equal(r.t, 200, r.operate("GET", "/pending", "", &pending))
		assert.Empty(r.t, pending)
		assert.Equal(r.t, 409, r.operate("POST", "/acknowledge", `{"id":"`+ids[0]+`","outcome":"applied","note":"seen"}`, nil))
		assert.Equal(r.t, "not-applied", (<-done).outcome)
	})
}
