package doubt

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

// What accounting shows not to have been executed may be sent again under a new key,
// whatever the request met, in the process that sent it and in the next.
func TestWhatWasNotExecutedIsSentAgainUnderANewKey(t *testing.T) {
	for name, restart := range map[string]bool{"in its process": false, "after a restart": true} {
		t.Run(name, func(t *testing.T) {
			rig.DiskTest(t, []trading.Option{trading.WithExclusiveAccounts("acc_1")}, func(r rig.Rig, d *rig.Disk) {
				var opts []trading.CallOption
				if restart {
					opts = append(opts, trading.WithResolveTimeout(0))
				}
				r.Sim.Fault("POST /orders", tradingsim.DropRequest())
				_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), append(opts, rig.Breakout, rig.Once)...)
				if restart {
					require.Equal(r.T, trading.Unknown, trading.OutcomeOf(err))
					r = r.Restart(d, trading.WithExclusiveAccounts("acc_1"))
					_, err = r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), rig.Breakout)
				}
				require.Equal(r.T, trading.NotApplied, trading.OutcomeOf(err), "%v", err)
				require.ErrorContains(r.T, err, "not executed (accounting")
				assert.Equal(r.T, trading.AdviseNewKey, trading.AdviceOf(err))
				r.Open(rig.Buy("0.05"), rig.Breakout)
				assert.Equal(r.T, 1, r.Ran(trading.OpOrder))
			})
		})
	}
}
