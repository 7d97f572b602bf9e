package doubt

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

// A program is restarted again and again while an order is in doubt. What one run has waited for the
// next does not wait for anew, so that entries go once the waits add up. Beside another order that has ended, two
// looks a lag apart are of one process, and the first of them a lag behind its start: some more than 10 s.
func TestFound13_ARestartEach20s(t *testing.T) {
	for _, every := range []time.Duration{11 * time.Second, 20 * time.Second} {
		for name, fault := range map[string]tradingsim.Fault{
			"its answer is lost":          tradingsim.DropResponse(),
			"the request is lost":         tradingsim.DropRequest(),
			"500 after the work":          tradingsim.FailAfter(500, "internal_error"),
			"500 before the work":         tradingsim.Fail(500, "internal_error"),
			"the service dies over it":    tradingsim.Crash(),
			"the service dies after work": tradingsim.CrashAfter(),
		} {
			for _, lost := range []int{1, 2} {
				t.Run(fmt.Sprint(every, ", ", name, ", of ", lost), func(t *testing.T) {
					rig.LiveTest(t, nil, nil, func(r rig.Rig) {
						disk := rig.NewDisk()
						r = r.Restart(disk, rig.Sole)
						r.Open(rig.Buy("0.01"))
						time.Sleep(20 * time.Second)
						for range lost {
							_ = r.Lost(fault, rig.Buy("0.05"), trading.AllowPending())
						}
						began := time.Now()
						for time.Since(began) < time.Minute {
							r = r.Restart(disk, rig.Sole)
							for up := time.Now(); time.Since(up) < every; time.Sleep(time.Second) {
								if _, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.02"), trading.WithResolveTimeout(0)); err == nil {
									return
								}
							}
						}
						assert.Fail(r.T, "no entry within a minute")
					})
				})
			}
		}
	}
}
