package doubt

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/proof/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

// Two orders are lost, and the hook that hears of the first hangs. The second is found out about all
// the same, before the bot closes all, after which the account would show it no more.
func TestFound10_AHookThatHangs(t *testing.T) {
	for hang, name := range map[time.Duration]string{0: "it does not", 20 * time.Second: "for a while", 5 * time.Minute: "for long"} {
		t.Run(name, func(t *testing.T) {
			rig.LiveTest(t, nil, nil, func(r rig.Rig) {
				heard := new(atomic.Int32)
				r = r.Restart(rig.NewDisk(), rig.Sole, trading.WithHooks(trading.Hooks{Resolved: func(context.Context, trading.Resolution) {
					if heard.Add(1) == 1 {
						time.Sleep(hang)
					}
				}}))
				r.ReadAll()
				r.Sim.Fault("POST /orders", tradingsim.DropResponse(), tradingsim.Fail(500, "internal_error"))
				for _, size := range []string{"0.07", "0.05"} {
					_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy(size), append(rig.InDoubt, trading.AllowPending())...)
					require.Equal(r.T, trading.Unknown, trading.OutcomeOf(err), "%v", err)
				}
				time.Sleep(30 * time.Second)
				_, err := r.Account().ClosePosition(r.T.Context(), "BTC", trading.All)
				require.NoError(r.T, err)
				time.Sleep(8 * time.Minute)
				pending, err := r.Pending(r.T.Context())
				require.NoError(r.T, err)
				for _, w := range pending {
					assert.Fail(r.T, "it is still pending", w.Reason)
				}
				assert.EqualValues(r.T, 2, heard.Load())
			})
		})
	}
}
