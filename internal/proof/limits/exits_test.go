package limits

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

// A burst of reads and entries uses up what is theirs at once, and nothing of it becomes free for a
// minute: a hundred exits of that minute do not wait.
func TestFound17_ExitsBesideABurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rig.New(t, nil, trading.WithRateLimits(trading.RateLimits{ReservePct: 25}))
		account := r.Account()
		var burst sync.WaitGroup
		for i := range 1000 {
			burst.Go(func() {
				if i%5 == 0 {
					_, _ = account.PlaceOrder(t.Context(), rig.Buy("0.001"), trading.FailFast())
					return
				}
				_, _ = account.Positions(t.Context(), trading.FailFast())
			})
		}
		burst.Wait()
		longest := time.Duration(0)
		for range 100 {
			began := time.Now()
			_, _ = account.ClosePosition(t.Context(), "BTC", trading.All) // most of them find nothing
			longest = max(longest, time.Since(began))
			time.Sleep(time.Minute / 100)
		}
		assert.LessOrEqual(t, longest, time.Second)
	})
}

// Who finds out about a write of the paper account holds no other up meanwhile.
func TestExitsOfThePaperAccountBesideADoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rig.New(t, nil)
		r.Sim.Fault("POST /sandbox/orders", tradingsim.DropResponse())
		inDoubt := make(chan time.Time, 1)
		go func() {
			_ = r.Refused(rig.Buy("1"))
			inDoubt <- time.Now()
		}()
		synctest.Wait()
		_, err := r.Sandbox.ClosePosition(t.Context(), "BTC", trading.All)
		closed := time.Now()
		require.NoError(t, err)
		assert.True(t, closed.Before(<-inDoubt))
	})
}

// The service takes one write of the paper account at a time: an exit is the next, whoever waits.
func TestFound17_ExitsOfThePaperAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rig.New(t, nil)
		r.Sim.FaultEach(tradingsim.Always("POST /sandbox/orders", tradingsim.Delay(time.Second)))
		var work sync.WaitGroup
		for range 8 {
			work.Go(func() { _, _ = r.Sandbox.PlaceOrder(t.Context(), rig.Buy("0.001")) })
		}
		synctest.Wait()
		began := time.Now()
		_, _ = r.Sandbox.ClosePosition(t.Context(), "BTC", trading.All)
		assert.LessOrEqual(t, time.Since(began), time.Second, "the one that is under way")
		work.Wait()
	})
}
