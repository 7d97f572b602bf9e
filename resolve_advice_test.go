package trading_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

// What accounting shows not to have been executed may be sent again under a new key,
// whatever the request met, in the process that sent it and in the next.
func TestWhatWasNotExecutedIsSentAgainUnderANewKey(t *testing.T) {
	for name, restart := range map[string]bool{"in its process": false, "after a restart": true} {
		t.Run(name, func(t *testing.T) {
			liveTest(t, nil, nil, func(r rig) {
				d := newDisk()
				r = r.restart(d, trading.WithExclusiveAccounts("acc_1"))
				var opts []trading.CallOption
				if restart {
					opts = append(opts, trading.WithResolveTimeout(0))
				}
				r.sim.Fault("POST /orders", tradingsim.DropRequest())
				_, err := r.account().PlaceOrder(r.t.Context(), buy("0.05"), append(opts, breakout, once)...)
				if restart {
					require.Equal(r.t, trading.Unknown, trading.OutcomeOf(err))
					r = r.restart(d, trading.WithExclusiveAccounts("acc_1"))
					_, err = r.account().PlaceOrder(r.t.Context(), buy("0.05"), breakout)
				}
				require.Equal(r.t, trading.NotApplied, trading.OutcomeOf(err), "%v", err)
				require.ErrorContains(r.t, err, "not executed (accounting")
				assert.Equal(r.t, trading.AdviseNewKey, trading.AdviceOf(err))
				r.open(buy("0.05"), breakout)
				assert.Equal(r.t, 1, r.ran(trading.OpOrder))
			})
		})
	}
}
