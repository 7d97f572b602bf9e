package doubt

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

// A bot goes on closing a part of its position each 14 seconds while an order is in doubt, whose market
// takes no entries. Between two closes there are two equal looks that show the one before: the market
// is open again, however many looks came too soon after a close. The sizes have so many places that
// trades do not say what became of the order.
func TestFound11_ABotThatGoesOnClosing(t *testing.T) {
	for name, fault := range map[string]tradingsim.Fault{
		"the request is lost": tradingsim.DropRequest(), "the service dies over it": tradingsim.Crash(), "the service dies after work": tradingsim.CrashAfter(),
	} {
		for _, lost := range []int{1, 2} {
			for _, restarted := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, of %d, restarted %t", name, lost, restarted), func(t *testing.T) {
					rig.LiveTest(t, nil, nil, func(r rig.Rig) {
						disk := rig.NewDisk()
						r = r.Restart(disk, rig.Sole)
						half := func() {
							_, _ = r.Account().ClosePosition(r.T.Context(), "BTC", trading.Percent(trading.Dec("50")))
						}
						for range 30 {
							r.Open(rig.Buy("1"))
							half()
							time.Sleep(time.Second)
						}
						r.Open(rig.Buy("1"))
						time.Sleep(20 * time.Second)
						r.ReadAll()
						for range lost {
							_ = r.Lost(fault, rig.Buy("0.05"), trading.AllowPending())
						}
						if restarted {
							r = r.Restart(disk, rig.Sole)
						}
						began := time.Now()
						for shut := true; shut && time.Since(began) < time.Hour; {
							for range 14 {
								time.Sleep(time.Second)
								pending, err := r.Pending(r.T.Context())
								require.NoError(r.T, err)
								shut = false
								for _, w := range pending {
									shut = shut || !w.MarketOpen
								}
							}
							if shut {
								half()
							}
						}
						assert.LessOrEqual(r.T, time.Since(began), 2*time.Minute)
					})
				})
			}
		}
	}
}
