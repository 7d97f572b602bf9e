package protect

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

// TestWhatItReads: the marks every two seconds while something is open, the account as
// often as the room asks for; on the paper account nothing.
func TestWhatItReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		requests := func(d time.Duration) map[string]int {
			before := r.sim.Report().Requests
			r.wait(d)
			more := map[string]int{}
			for op, n := range r.sim.Report().Requests {
				more[op] = n - before[op]
			}
			return more
		}
		r.wait(time.Minute)
		flat := requests(5 * time.Minute)
		require.Equal(t, 10, flat["GET /accounts/{accountId}"], "each 30 s")
		require.Equal(t, 10, flat["GET /sandbox/prices"])
		require.NoError(t, r.buy("1"))
		r.wait(time.Minute)
		open := requests(5 * time.Minute)
		require.Equal(t, 150, open["GET /sandbox/prices"], "each 2 s")
		require.InDelta(t, 20, open["GET /accounts/{accountId}"], 2, "each 15 s, at the next step")
		require.NoError(t, r.p.Flatten(acc, "a test"))
		r.wait(time.Minute)
		require.True(t, r.flat())
		for op := range r.sim.Report().Requests {
			if strings.Contains(op, "/sandbox/") {
				require.Contains(t, []string{"GET /sandbox/prices", "GET /sandbox/markets"}, op)
			}
		}
	})
}

// TestManyAccounts: however many accounts there are, and however near their floors, looks
// take at most half of the key's 600 requests a minute.
func TestManyAccounts(t *testing.T) {
	for accounts, want := range map[int]time.Duration{1: 2 * time.Second, 10: 6 * time.Second, 50: 30 * time.Second} {
		p := &Protection{watchers: map[trading.AccountID]*watcher{}}
		for i := range accounts {
			p.watchers[trading.AccountID(itoa(i))] = nil
		}
		w := &watcher{p: p, interval: shortest}
		require.Equal(t, want, w.pace())
	}
}

// TestBlind: a dead service blinds; entries are refused, nothing is sent on a guess, and
// sight comes back.
func TestBlind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		require.NoError(t, r.buy("4"))
		r.wait(5 * time.Second)
		r.sim.FaultEach(func(string) tradingsim.Fault { return tradingsim.GatewayError(502) })
		r.wait(40 * time.Second)
		require.True(t, r.state().Blind)
		require.False(t, r.state().Entries)
		require.ErrorContains(t, r.buy("0.1"), "not safe to trade") // which the health gate says first
		r.sim.FaultEach(func(string) tradingsim.Fault { return nil })
		r.wait(5 * time.Second)
		require.False(t, r.state().Blind)
		require.False(t, r.flat())
		require.Len(t, r.kinds(BlindBegan), 1)
		require.Len(t, r.kinds(BlindEnded), 1)
	})
}

// TestFlattenBlind closes what cannot be watched, where that is asked for.
func TestFlattenBlind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(o *Options) { o.FlattenBlind = 50 * time.Second })
		require.NoError(t, r.buy("4"))
		r.wait(5 * time.Second)
		r.sim.FaultEach(func(op string) tradingsim.Fault {
			if op == "GET /accounts/{accountId}" {
				return tradingsim.Fail(500, "internal_error")
			}
			return nil
		})
		r.wait(40 * time.Second)
		require.False(t, r.flat())
		r.wait(40 * time.Second)
		require.True(t, r.flat())
	})
}

// TestDeadFeed: marks that stand still for a minute are no sight.
func TestDeadFeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		require.NoError(t, r.buy("1"))
		r.set("50000")
		r.wait(100 * time.Second)
		require.True(t, r.state().Blind)
		r.set("50001")
		r.wait(5 * time.Second)
		require.False(t, r.state().Blind)
	})
}

// TestUnhealthyIsNoSight: what the service calls degraded is not taken for a good look.
func TestUnhealthyIsNoSight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.sim.SetHealth("degraded", "stale")
		r.wait(100 * time.Second)
		require.True(t, r.state().Blind)
	})
}
