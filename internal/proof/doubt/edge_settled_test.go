package doubt

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

// Of two equal orders both answers are lost, and one of them ran: nobody can say which. The
// account shows what there is all the same, so their market opens again within a minute, after a
// restart too. What is lost from then on is found out about; the two stay unknown.
func TestAMarketOpensThoughNobodyFindsOut(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		disk := rig.NewDisk()
		r = r.Restart(disk, rig.Sole)
		r.Open(rig.Buy("0.01"))
		time.Sleep(20 * time.Second)
		for _, fault := range []tradingsim.Fault{tradingsim.Crash(), tradingsim.CrashAfter()} {
			r.Sim.Fault("POST /orders", fault)
			_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), trading.WithResolveTimeout(0), trading.AllowPending())
			require.Equal(r.T, trading.Unknown, trading.OutcomeOf(err), "%v", err)
		}
		opens := func(r rig.Rig) {
			began := time.Now()
			for {
				_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.02"), trading.WithResolveTimeout(0))
				if err == nil {
					return
				}
				require.ErrorIs(r.T, err, trading.ErrPendingWrite)
				require.Less(r.T, time.Since(began), time.Minute)
				time.Sleep(time.Second)
			}
		}
		opens(r)
		pending, err := r.Pending(r.T.Context())
		require.NoError(r.T, err)
		require.Len(r.T, pending, 2)
		for _, w := range pending {
			assert.True(r.T, w.MarketOpen, w.Reason)
		}
		time.Sleep(20 * time.Second)
		for fault, want := range map[tradingsim.Fault]trading.Outcome{tradingsim.CrashAfter(): trading.Applied, tradingsim.Crash(): trading.NotApplied} {
			resolution, err := r.Resolved(r.Doubtful(fault, rig.Buy("0.05")))
			require.NoError(r.T, err)
			assert.Equal(r.T, want, resolution.Outcome)
		}
		sent := r.Reads()
		time.Sleep(time.Hour)
		assert.Equal(r.T, sent, r.Reads(), "nothing more is asked")

		again := r.Restart(disk, rig.Sole)
		pending, err = again.Pending(r.T.Context())
		require.NoError(r.T, err)
		for _, w := range pending {
			assert.True(r.T, w.MarketOpen, "the journal says so: %s", w.Reason)
		}
		_, err = again.Account().PlaceOrder(r.T.Context(), rig.Buy("0.02"), trading.WithResolveTimeout(0))
		require.NoError(r.T, err)
		time.Sleep(time.Minute)
		pending, err = again.Pending(r.T.Context())
		require.NoError(r.T, err)
		require.Len(r.T, pending, 2, "no later trade is taken for theirs")
		require.NoError(r.T, again.Acknowledge(r.T.Context(), pending[0].ID, trading.Applied, "seen in the terminal"))
		require.NoError(r.T, again.Acknowledge(r.T.Context(), pending[1].ID, trading.NotApplied, "not seen"))
		opens(again)
	})
}
