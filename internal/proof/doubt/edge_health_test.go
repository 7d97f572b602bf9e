package doubt

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

// After some seconds of degraded health, a bot of one market and one pending order asks
// for the health again: the question for the stored answer goes, and the market opens.
func TestEdge14_HealthThatRecoversOpensTheMarketAgain(t *testing.T) {
	for _, warm := range []bool{false, true} {
		gate := trading.WithHealthGate(trading.HealthGate{KeepWarm: warm})
		rig.LiveTest(t, nil, []trading.Option{gate}, func(r rig.Rig) {
			ctx := r.T.Context()
			r.Open(rig.Buy("0.05"))
			r.Sim.SetHealth("degraded", "stale")
			_ = r.LeaveBehind()
			time.Sleep(5 * time.Second)
			_, err := r.Account().PlaceOrder(ctx, rig.Buy("0.01", func(o *trading.Order) { o.Symbol = "ETH" }))
			require.ErrorIs(r.T, err, trading.ErrUnhealthy)
			time.Sleep(3 * time.Second)
			r.Sim.SetHealth("healthy", "live")
			recovered := time.Now()
			for err != nil && time.Since(recovered) < time.Hour {
				time.Sleep(time.Second)
				_, err = r.Account().PlaceOrder(ctx, rig.Buy("0.01"))
			}
			require.NoError(r.T, err)
			assert.Less(r.T, time.Since(recovered), 30*time.Second)
		})
	}
}

// The same without any further entry: the probe has the health read by itself, and waits
// while it is not safe to trade.
func TestEdge14_AProbeHasTheHealthRead(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		left := r.LeaveBehind()
		r.Sim.SetHealth("degraded", "stale")
		time.Sleep(2 * time.Minute)
		assert.Equal(r.T, 1, r.Sent(trading.OpOrder), "no probe")
		r.Sim.SetHealth("healthy", "live")
		ctx, cancel := context.WithTimeout(r.T.Context(), 20*time.Second)
		defer cancel()
		resolution, err := r.Account().Resolve(ctx, left)
		require.NoError(r.T, err)
		assert.Equal(r.T, trading.Applied, resolution.Outcome)
		assert.Equal(r.T, trading.EvidenceReplay, resolution.Evidence)
	})
}

// While a pending order holds the entries of its market back, they have the health read all
// the same: else nothing would.
func TestEdge14_AnEntryThatIsRefusedHasTheHealthRead(t *testing.T) {
	rig.LiveTest(t, nil, []trading.Option{trading.WithRecovery(trading.Recovery{WithoutBackground: true})}, func(r rig.Rig) {
		_ = r.LeaveBehind()
		time.Sleep(time.Minute)
		asked := r.Sent(trading.OpHealth)
		_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.01"))
		require.ErrorIs(r.T, err, trading.ErrPendingWrite)
		synctest.Wait()
		assert.Equal(r.T, asked+1, r.Sent(trading.OpHealth))
	})
}

// Whenever an entry comes, the service made the assessment that it passes on at most five
// seconds before, by its own clock, however long it says that it reuses one.
func TestEdge22_NoEntryPassesOnAnOlderAssessment(t *testing.T) {
	for _, seconds := range []int{5, 60} {
		rig.LiveTest(t, nil, nil, func(r rig.Rig) {
			var made time.Time // the assessment that the service shows
			r.Sim.FaultEach(func(operation string) tradingsim.Fault {
				if operation != string(trading.OpHealth) {
					return nil
				}
				if r.Sim.Now().Sub(made) >= 5*time.Second {
					made = r.Sim.Now()
				}
				return tradingsim.Raw(200, nil, fmt.Sprintf(
					`{"ok":true,"status":"healthy","feed":"live","service":"x","version":"v1","asOf":%d,"cacheSeconds":%d}`, made.UnixMilli(), seconds))
			})
			_, err := r.Account().State(r.T.Context())
			require.NoError(r.T, err)
			_, err = r.Health(r.T.Context())
			require.NoError(r.T, err)
			for range 100 {
				time.Sleep(1130 * time.Millisecond)
				r.Open(rig.Buy("0.001"))
				require.LessOrEqual(r.T, r.Sim.Now().Sub(made), 5*time.Second)
			}
		})
	}
}

// A Date that is an hour ahead of asOf cannot be told from an assessment that is an hour old, as a
// cache or a service that has stopped assessing shows it. So no entry passes, and the error names
// the age. Exits pass, and entries do once the two agree.
func TestAnAssessmentThatIsAnHourBehindItsDate(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		r.Open(rig.Buy("0.1"))
		behind := time.Hour
		r.Sim.FaultEach(func(operation string) tradingsim.Fault {
			if operation != string(trading.OpHealth) {
				return nil
			}
			return tradingsim.Raw(200, nil, fmt.Sprintf(
				`{"ok":true,"status":"healthy","feed":"live","service":"x","version":"v1","asOf":%d,"cacheSeconds":5}`, r.Sim.Now().Add(-behind).UnixMilli()))
		})
		time.Sleep(time.Minute)
		for range 3 {
			_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.01"))
			require.ErrorIs(r.T, err, trading.ErrUnhealthy)
			require.ErrorContains(r.T, err, "up to 1h0m")
			assert.Equal(r.T, trading.NotApplied, trading.OutcomeOf(err))
			time.Sleep(10 * time.Second)
		}
		assert.Equal(r.T, 1, r.Ran(trading.OpOrder))
		began := time.Now()
		require.NoError(r.T, rig.ExitCall(r))
		assert.Zero(r.T, time.Since(began))
		behind = 0
		r.Open(rig.Buy("0.01"))
	})
}
