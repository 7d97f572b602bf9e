package trading_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

// lose has so many orders lose their answers at once.
func (r rig) lose(n int) {
	r.t.Helper()
	r.sim.Fault("POST /orders", slices.Repeat([]tradingsim.Fault{tradingsim.DropResponse()}, n)...)
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			_, err := r.account().PlaceOrder(r.t.Context(), buy("0.01"), append(inDoubt, trading.AllowPending())...)
			assert.Equal(r.t, trading.Unknown, trading.OutcomeOf(err), "%v", err)
		})
	}
	all.Wait()
}

// askedOf is how many requests of the API named each of the writes in doubt, by key.
func (r rig) askedOf() map[string]int {
	asked := map[string]int{}
	for _, request := range r.sim.Requests() {
		if key := request.Header.Get("Idempotency-Key"); key != "" {
			asked[key]++
		}
	}
	return asked
}

// exitsPass closes a part of the position every ten seconds until the test's body ends, and wants
// each to go at once.
func (r rig) exitsPass(during func()) {
	r.t.Helper()
	done := make(chan struct{})
	var closes sync.WaitGroup
	closes.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(10 * time.Second):
			}
			began := time.Now()
			_, err := r.account().ClosePosition(r.t.Context(), "BTC", trading.Percent(dec("1")))
			assert.NoError(r.t, err)
			assert.Zero(r.t, time.Since(began), "an exit waits for nothing")
		}
	})
	during()
	close(done)
	closes.Wait()
}

// D 13: a hundred answers that are lost at once. Each write needs two fences, and recovery has
// a third of the 150 cancels a minute: 50 fences at once and 50 in each minute that follows, so
// that the last go after three, and a few seconds more where a wait is spread at random. Each probe follows its second fence at once. A fence that has no
// place in the limits is not begun, and takes nothing back.
func TestEdge13_AHundredAnswersLostAtOnce(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		r.open(buy("1"))
		time.Sleep(time.Minute)
		before := len(r.sim.Requests())
		began := time.Now()
		r.lose(100)
		r.exitsPass(func() {
			for len(r.pendingIDs()) > 0 && time.Since(began) < time.Hour {
				time.Sleep(time.Second)
			}
		})
		assert.LessOrEqual(r.t, time.Since(began), 3*time.Minute+10*time.Second)
		for key, n := range r.askedOf() {
			assert.LessOrEqual(r.t, n, 5, key)
		}
		t.Logf("%s, %d requests", time.Since(began), len(r.sim.Requests())-before)
	})
}
