package sidecar

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go/sidecar/internal/localkey"
	"github.com/tradingapi/trading-go/tradingsim"
)

// A key with 32 calls under way gets no further one, but may close.
func TestCallsAtOnce(t *testing.T) {
	inTime(t, nil, func(r *rig) {
		r.sim.FaultEach(tradingsim.Always("GET /accounts", tradingsim.Delay(time.Second)))
		over := make(chan answer)
		for range mostAtOnce {
			go func() { over <- r.do(r.live, "GET /accounts", "") }()
		}
		synctest.Wait()
		full := r.do(r.live, "POST /orders", buy)
		assert.Equal(r.t, []any{429, "rate_limited", "not-applied"}, []any{full.status, full.code, full.outcome})
		assert.NotEmpty(r.t, full.header.Get("Retry-After"))
		assert.Equal(r.t, 404, r.do(r.live, "POST /positions/close", closeBTC).status)
		for range mostAtOnce {
			assert.Equal(r.t, 200, (<-over).status)
		}
		assert.Equal(r.t, 200, r.do(r.live, "POST /orders", buy).status)
	})
}

// Ten refused entries in a second are enough, whoever refused them.
func TestRefusedEntries(t *testing.T) {
	inTime(t, nil, func(r *rig) {
		const tiny = `{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.00001,"leverage":2}`
		for range mostRefused {
			assert.Equal(r.t, "MIN_NOTIONAL", r.do(r.live, "POST /orders", tiny).code)
		}
		assert.Equal(r.t, 429, r.do(r.live, "POST /orders", buy).status)
		time.Sleep(time.Second)
		assert.Equal(r.t, 200, r.do(r.live, "POST /orders", buy).status)
	})
}

// A greedy bot uses up its own share and half of what another does not use; exits keep a part of it.
func TestShares(t *testing.T) {
	inTime(t, nil, func(r *rig) {
		other := r.key(localkey.Key{Name: "other", Live: true, Accounts: []string{"acc_1"}, May: localkey.Trade})
		full := 0
		for range perKey {
			if a := r.do(r.live, "GET /accounts", ""); a.status == 429 {
				assert.Contains(r.t, a.reason, "grid/live requests")
				full++
			}
		}
		const kept, asks = perKey * keptForExits / 100, perKey * keptForClient / 100
		assert.Equal(r.t, kept+asks+(perKey-kept)/2/2, full)
		assert.Equal(r.t, 200, r.do(other, "GET /accounts", "").status)
		assert.Equal(r.t, 429, r.do(r.live, "POST /orders", buy).status)
		assert.Equal(r.t, 404, r.do(r.live, "POST /positions/close", closeBTC).status)
		time.Sleep(time.Minute + time.Second)
		const most = perPro - perPro*keptForExits/100 - 7/2 // the other's part is 7
		for i := range most + 1 {
			a := r.do(r.live, "POST /orders/chase", fmt.Sprintf(`{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.0%d,"leverage":2}`, i+10))
			assert.Equal(r.t, i >= most, a.status == 429, a.body)
			time.Sleep(time.Second)
		}
		for _, request := range r.sim.Requests() {
			assert.NotEqual(r.t, 429, request.Status)
		}
	})
}

// What is lent leaves half of its part to a bot that wakes up, and its exits.
func TestLentShares(t *testing.T) {
	inTime(t, nil, func(r *rig) {
		other := r.key(localkey.Key{Name: "other", Live: true, Accounts: []string{"acc_1"}, May: localkey.Trade})
		for range perKey {
			r.do(r.live, "GET /accounts", "")
		}
		passed := 0
		const own = (perKey - perKey*keptForExits/100) / 2
		for range own {
			if r.do(other, "GET /accounts", "").status == 200 {
				passed++
			}
		}
		assert.GreaterOrEqual(r.t, passed, own/2)
		for _, key := range []string{other, r.live} {
			assert.Equal(r.t, 404, r.do(key, "POST /positions/close", closeBTC).status)
		}
	})
}

// Of what a bot keeps for its exits the closes have the rest to themselves.
func TestClosesComeFirstInAShare(t *testing.T) {
	inTime(t, nil, func(r *rig) {
		for range perKey {
			r.do(r.live, "GET /accounts", "")
		}
		const kept = perKey * (keptForExits - keptForCloses) / 100
		for i := range kept + 1 {
			a := r.do(r.live, "POST /orders/cancel", `{"accountId":"acc_1","orderId":"x"}`)
			assert.Equal(r.t, i == kept, a.status == 429, a.body)
		}
		reduce := r.do(r.live, "POST /orders", `{"accountId":"acc_1","symbol":"BTC","side":"short","size":0.01,"leverage":2,"reduceOnly":true}`)
		assert.NotEqual(r.t, 429, reduce.status, reduce.body)
		assert.Equal(r.t, 404, r.do(r.live, "POST /positions/close", closeBTC).status)
	})
}

// However much the program around the sidecar asks by its client, 120 exits a minute of the bots have room at once.
func TestTheClientLeavesRoomForExits(t *testing.T) {
	inTime(t, nil, func(r *rig) {
		read := 0
		for range perKey {
			ctx, cancel := context.WithTimeout(r.t.Context(), time.Millisecond)
			if _, err := r.server.Client().Live.Accounts(ctx); err == nil {
				read++
			}
			cancel()
		}
		assert.Equal(r.t, perKey-perKey*keptForExits/100, read)
		began := time.Now()
		for range perKey * (keptForExits - keptForCloses) / 100 {
			a := r.do(r.live, "POST /orders/cancel", `{"accountId":"acc_1","orderId":"x"}`)
			assert.Equal(r.t, 404, a.status, a.body)
		}
		assert.Less(r.t, time.Since(began), time.Second)
	})
}

// Of requests without a key, which anybody can make, a few are carried out at once.
func TestRequestsWithoutAKey(t *testing.T) {
	inTime(t, nil, func(r *rig) {
		r.sim.FaultEach(func(string) tradingsim.Fault { return tradingsim.DelayResponse(time.Second) })
		over := make(chan int)
		for range mostKeyless + 1 {
			go func() { over <- r.do("", "GET /openapi.json", "").status }()
		}
		assert.Equal(r.t, 429, <-over)
		for range mostKeyless {
			assert.Equal(r.t, 200, <-over)
		}
	})
}
