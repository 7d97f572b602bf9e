package watch_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/watch"
)

// The list of closed trades, which can be long, is read when something has changed, and
// seldom otherwise; and no closed trade is missed for that.
func TestTheListOfTradesIsReadWhenSomethingChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		var closed []time.Time
		done := make(chan struct{})
		go func() {
			defer close(done)
			for ev, err := range watch.Events(ctx, watch.Account(r.Sandbox).WithInterval(2*time.Second)) {
				assert.NoError(t, err)
				if _, is := ev.(watch.TradeClosed); is {
					closed = append(closed, time.Now())
				}
			}
		}()
		reads := func(d time.Duration, act func()) (trades int, looks int) {
			trades, looks = r.sent(trading.OpSandboxTrades), r.sent(trading.OpSandboxState)
			if act != nil {
				act()
			}
			time.Sleep(d)
			synctest.Wait() // closed is read after it
			return r.sent(trading.OpSandboxTrades) - trades, r.sent(trading.OpSandboxState) - looks
		}

		trades, _ := reads(time.Minute, nil)
		assert.Positive(t, trades, "at the first look")
		trades, looks := reads(10*time.Minute, nil)
		assert.LessOrEqual(t, trades, looks/15+1, "nothing happens")
		assert.GreaterOrEqual(t, trades, 10, "the safety net")
		trades, looks = reads(10*time.Minute, func() { r.sim.SetMark("BTC", "64100") })
		assert.LessOrEqual(t, trades, looks/15+1, "a price is no change")

		trades, _ = reads(12*time.Second, func() { r.buy("0.1") })
		assert.GreaterOrEqual(t, trades, 4, "a position was opened")
		trades, _ = reads(10*time.Minute, func() { r.sim.SetMark("BTC", "64200") })
		assert.LessOrEqual(t, trades, looks/15+1, "marks move the equity and not the balance")
		trades, _ = reads(12*time.Second, func() { r.close("100") })
		assert.GreaterOrEqual(t, trades, 4, "a position was closed")
		at := time.Now()
		reads(time.Second, func() { r.buy("0.1"); r.close("100") }) // between two looks
		reads(5*time.Second, nil)
		require.Len(t, closed, 2)
		assert.Less(t, closed[1].Sub(at), 4*time.Second, "what is open and closed between two looks moves the balance")
		cancel()
		<-done
	})
}
