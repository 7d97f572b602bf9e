package flatten_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/flatten"
	"github.com/tradingapi/trading-go/tradingsim"
)

func TestSomeSymbols(t *testing.T) {
	inBubble(t, func(t *testing.T, r rig) {
		r.open(trading.Long, "0.1", "BTC")
		r.open(trading.Long, "1", "ETH")
		r.rest(trading.Long, "0.1", "BTC", "63000")
		other := r.rest(trading.Long, "1", "ETH", "3000")
		r.slice("10", "SOL")
		_, err := r.flatten(time.Minute, flatten.Options{Symbols: []string{"BTC", "SOL"}})
		require.NoError(t, err)
		r.holdsNothing("acc_1", "BTC", "SOL")
		assert.Equal(t, "1", r.sim.Position("acc_1", "ETH").String())
		left, err := r.account.OpenOrders(t.Context())
		require.NoError(t, err)
		assert.Empty(t, left.Runs)
		require.Len(t, left.Limits, 1)
		assert.Equal(t, other, left.Limits[0].ID)
	})
}

// The contract shows ids alone. What may be in a named market is cancelled, or
// nothing is proven.
func TestLimitsThatDoNotTellTheirSymbol(t *testing.T) {
	for _, leave := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			sim := tradingsim.New()
			r := join(t, sim, trading.WithTransport(idsAlone(sim.Transport())))
			r.open(trading.Long, "0.1", "BTC")
			r.open(trading.Long, "1", "ETH")
			r.rest(trading.Long, "1", "ETH", "3000")
			r.slice("10", "SOL")
			report, err := r.flatten(time.Hour, flatten.Options{Symbols: []string{"BTC"}, LeaveUnnamed: leave})
			r.holdsNothing("acc_1", "BTC")
			assert.Equal(t, "1", r.sim.Position("acc_1", "ETH").String())
			waiting, rerr := r.account.OpenOrders(t.Context())
			require.NoError(t, rerr)
			if !leave {
				require.NoError(t, err)
				assert.Empty(t, waiting.Limits)
				assert.Empty(t, waiting.Runs)
				return
			}
			require.ErrorIs(t, err, flatten.ErrStuck)
			assert.ErrorContains(t, err, "has no symbol in its record")
			assert.Len(t, waiting.Limits, 1)
			assert.Len(t, waiting.Runs, 1)
			left, _ := report.Left()
			assert.Empty(t, left.Positions)
			assert.Zero(t, r.wrote(trading.OpCancelOrder))

			// Without symbols nothing is left alone.
			_, err = r.flatten(time.Hour, flatten.Options{LeaveUnnamed: true})
			require.NoError(t, err)
			r.holdsNothing("acc_1", "BTC", "ETH", "SOL")
		})
	}
}
