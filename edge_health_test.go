package trading_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

// After some seconds of degraded health, a bot of one market and one pending order asks
// for the health again: the question for the stored answer goes, and the market opens.
func TestEdge14_HealthThatRecoversOpensTheMarketAgain(t *testing.T) {
	for _, warm := range []bool{false, true} {
		gate := trading.WithHealthGate(trading.HealthGate{KeepWarm: warm})
		liveTest(t, nil, []trading.Option{gate}, func(r rig) {
			ctx := r.t.Context()
			r.open(buy("0.05"))
			r.sim.SetHealth("degraded", "stale")
			_ = r.leaveBehind()
			time.Sleep(5 * time.Second)
			_, err := r.account().PlaceOrder(ctx, buy("0.01", func(o *trading.Order) { o.Symbol = "ETH" }))
			require.ErrorIs(r.t, err, trading.ErrUnhealthy)
			time.Sleep(3 * time.Second)
			r.sim.SetHealth("healthy", "live")
			recovered := time.Now()
			for err != nil && time.Since(recovered) < time.Hour {
				time.Sleep(time.Second)
				_, err = r.account().PlaceOrder(ctx, buy("0.01"))
			}
			require.NoError(r.t, err)
			assert.Less(r.t, time.Since(recovered), 30*time.Second)
		})
	}
}

// The same without any further entry: the probe has the health read by itself, and waits
// while it is not safe to trade.
func TestEdge14_AProbeHasTheHealthRead(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		left := r.leaveBehind()
		r.sim.SetHealth("degraded", "stale")
		time.Sleep(2 * time.Minute)
		assert.Equal(r.t, 1, r.sent(trading.OpOrder), "no probe")
		r.sim.SetHealth("healthy", "live")
		ctx, cancel := context.WithTimeout(r.t.Context(), 20*time.Second)
		defer cancel()
		resolution, err := r.account().Resolve(ctx, left)
		require.NoError(r.t, err)
		assert.Equal(r.t, trading.Applied, resolution.Outcome)
		assert.Equal(r.t, trading.EvidenceReplay, resolution.Evidence)
	})
}

// While a pending order holds the entries of its market back, they have the health read all
// the same: else nothing would.
func TestEdge14_AnEntryThatIsRefusedHasTheHealthRead(t *testing.T) {
	liveTest(t, nil, []trading.Option{trading.WithoutBackground()}, func(r rig) {
		_ = r.leaveBehind()
		time.Sleep(time.Minute)
		asked := r.sent(trading.OpHealth)
		_, err := r.account().PlaceOrder(r.t.Context(), buy("0.01"))
		require.ErrorIs(r.t, err, trading.ErrPendingWrite)
		synctest.Wait()
		assert.Equal(r.t, asked+1, r.sent(trading.OpHealth))
	})
}

// Whenever an entry comes, the service made the assessment that it passes on at most five
// seconds before, by its own clock, however long it says that it reuses one.
func TestEdge22_NoEntryPassesOnAnOlderAssessment(t *testing.T) {
	for _, seconds := range []int{5, 60} {
		liveTest(t, nil, nil, func(r rig) {
			var made time.Time // the assessment that the service shows
			r.sim.FaultEach(func(operation string) tradingsim.Fault {
				if operation != string(trading.OpHealth) {
					return nil
				}
				if r.sim.Now().Sub(made) >= 5*time.Second {
					made = r.sim.Now()
				}
				return tradingsim.Raw(200, nil, fmt.Sprintf(
					`{"ok":true,"status":"healthy","feed":"live","service":"x","version":"v1","asOf":%d,"cacheSeconds":%d}`, made.UnixMilli(), seconds))
			})
			_, err := r.account().State(r.t.Context())
			require.NoError(r.t, err)
			_, err = r.Health(r.t.Context())
			require.NoError(r.t, err)
			for range 100 {
				time.Sleep(1130 * time.Millisecond)
				r.open(buy("0.001"))
				require.LessOrEqual(r.t, r.sim.Now().Sub(made), 5*time.Second)
			}
		})
	}
}

// A Date that is an hour ahead of asOf cannot be told from an assessment that is an hour old, as a
// cache or a service that has stopped assessing shows it. So no entry passes, and the error names
// the age. Exits pass, and entries do once the two agree.
func TestAnAssessmentThatIsAnHourBehindItsDate(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		r.open(buy("0.1"))
		behind := time.Hour
		r.sim.FaultEach(func(operation string) tradingsim.Fault {
			if operation != string(trading.OpHealth) {
				return nil
			}
			return tradingsim.Raw(200, nil, fmt.Sprintf(
				`{"ok":true,"status":"healthy","feed":"live","service":"x","version":"v1","asOf":%d,"cacheSeconds":5}`, r.sim.Now().Add(-behind).UnixMilli()))
		})
		time.Sleep(time.Minute)
		for range 3 {
			_, err := r.account().PlaceOrder(r.t.Context(), buy("0.01"))
			require.ErrorIs(r.t, err, trading.ErrUnhealthy)
			require.ErrorContains(r.t, err, "up to 1h0m")
			assert.Equal(r.t, trading.NotApplied, trading.OutcomeOf(err))
			time.Sleep(10 * time.Second)
		}
		assert.Equal(r.t, 1, r.ran(trading.OpOrder))
		began := time.Now()
		require.NoError(r.t, exitCall(r))
		assert.Zero(r.t, time.Since(began))
		behind = 0
		r.open(buy("0.01"))
	})
}
