package tradingsim_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go/tradingsim"
)

// ticking is a simulation in which a limit waits on one account, and so many others have
// failed.
func ticking(t *testing.T, failed int) *tradingsim.Sim {
	opts := []tradingsim.Option{
		tradingsim.WithManualClock(time.Unix(0, 0)),
		tradingsim.WithFeed("BTC", tradingsim.RandomWalk(1, "64000", 2)),
		tradingsim.WithAccount(tradingsim.Account{ID: "acc_1"}),
	}
	for i := range failed {
		opts = append(opts, tradingsim.WithAccount(tradingsim.Account{ID: fmt.Sprintf("failed_%d", i), Status: "FAILED"}))
	}
	sim := tradingsim.New(opts...)
	liveBot(t, sim).post("/orders/limit", with(smallBTC, `"limitPrice":2000`)).ok()
	return sim
}

// An account that is closed costs a tick nothing: no refusal is made for it that nobody
// reads.
func TestClosedAccountsCostATickNothing(t *testing.T) {
	allocations := func(failed int) float64 {
		sim := ticking(t, failed)
		return testing.AllocsPerRun(3, func() { sim.Advance(10 * time.Minute) })
	}
	none, many := allocations(0), allocations(50)
	assert.Less(t, many-none, 50.0, "of %.0f in 10 minutes", none)
}
