package protect

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestDriftIsFlattened: a position without a stop drifts towards the floor, and is
// closed while there is room.
func TestDriftIsFlattened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		require.Equal(t, OK, r.state().State, r.state().Refusal)
		require.NoError(t, r.buy("4")) // $200,000
		r.wait(10 * time.Second)
		require.Equal(t, OK, r.state().State)
		for price := 50000; price > 48000 && !r.flat(); price -= 10 {
			r.set(itoa(price))
			r.wait(time.Second)
		}
		require.True(t, r.flat())
		r.wait(20 * time.Second)
		require.Equal(t, Held, r.state().State)
		report, _ := r.sim.Report().Account("acc_1")
		require.Equal(t, "ACTIVE", report.Status)
		require.True(t, report.Balance.GreaterThan(dec("95000")), report.Balance.String())
		require.True(t, report.Balance.LessThan(dec("97500")), report.Balance.String())
		require.ErrorIs(t, r.buy("0.1"), ErrHalted)
		require.NoError(t, r.p.Resume(acc))
		r.wait(2 * time.Second)
		require.Equal(t, OK, r.state().State, r.state().Refusal)
	})
}
