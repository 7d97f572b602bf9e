package live

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/proof/rig"
)

// One code stands for two states: a passed account takes exits, a failed one
// takes nothing. The status tells which it is, and once it was read an entry
// that it does not allow is not sent.
func TestTrap_T37_TheStatusTellsWhichLockItIs(t *testing.T) {
	for status, exits := range map[string]bool{"PASSED": true, "FAILED": false, "EXPIRED": false} {
		t.Run(status, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sim := rig.NewSim()
				_, account := live(t, sim)
				_, err := account.PlaceOrder(t.Context(), rig.Buy("0.1"))
				require.NoError(t, err)
				sim.SetStatus("acc_1", status)

				_, err = account.PlaceOrder(t.Context(), rig.Buy("0.1"))
				require.ErrorIs(t, err, trading.CodeAccountLocked)
				assert.False(t, rig.RefusalOf(t, err).Local, "the service said so")
				assert.Equal(t, trading.AdviseNever, trading.AdviceOf(err))

				state, err := account.State(t.Context())
				require.NoError(t, err)
				assert.Equal(t, trading.AccountStatus(status), state.Status)
				assert.False(t, state.Status.AllowsEntry())
				assert.Equal(t, exits, state.Status.AllowsExit())
				_, err = account.PlaceOrder(t.Context(), rig.Buy("0.1"))
				require.ErrorIs(t, err, trading.ErrAccountLocked)
				assert.True(t, rig.RefusalOf(t, err).Local, "it is known by now")

				_, err = account.ClosePosition(t.Context(), "BTC", trading.All)
				if exits {
					require.NoError(t, err)
				} else {
					require.ErrorIs(t, err, trading.CodeAccountLocked)
				}
				assert.Equal(t, 1, rig.Executed(sim))
			})
		})
	}
}
