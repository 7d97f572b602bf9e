package doubt

import (
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/proof/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

// Entries that come at once wait together for one look at the account, so that what is lost
// of them finds room in recovery's share of the rate limits.
func TestEdge16_EntriesShareTheReadOfABaseline(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		r = r.Restart(rig.NewDisk(), rig.Sole)
		r.Sim.FaultEach(func(operation string) tradingsim.Fault {
			if strings.HasPrefix(operation, "GET ") {
				return tradingsim.Delay(30 * time.Millisecond)
			}
			return nil
		})
		r.Sim.Fault("POST /orders", tradingsim.DropResponse())
		time.Sleep(6 * time.Second) // reads before show an earlier run's writes late
		var all sync.WaitGroup
		var placed atomic.Int32
		began := time.Now()
		for range 60 {
			all.Go(func() {
				_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.001"))
				if err == nil {
					placed.Add(1)
				}
			})
		}
		all.Wait()
		assert.Less(r.T, time.Since(began), 5*time.Second)
		assert.Positive(r.T, placed.Load())
		assert.LessOrEqual(r.T, r.Reads(), 5, "one look at the account")
		pending, err := r.Pending(r.T.Context())
		require.NoError(r.T, err)
		assert.Empty(r.T, pending)
		assert.Equal(r.T, int(placed.Load()), r.Ran(trading.OpOrder))
	})
}

// Whatever accounts entries are on, the reads of baselines have a third of recovery's third
// of the key's 600 a minute.
func TestEdge16_BaselinesHaveAThirdOfRecoverysShare(t *testing.T) {
	var accounts []tradingsim.Option
	var ids []trading.AccountID
	for n := range 40 {
		id := trading.AccountID("acc_" + strconv.Itoa(n))
		ids = append(ids, id)
		accounts = append(accounts, tradingsim.WithAccount(tradingsim.Account{ID: string(id)}))
	}
	rig.LiveTest(t, accounts, nil, func(r rig.Rig) {
		r = r.Restart(rig.NewDisk())
		for minute := range 2 {
			time.Sleep(time.Minute)
			before := r.Reads()
			for range 20 {
				_, err := r.Live.Account(ids[0]).PlaceOrder(r.T.Context(), rig.Buy("0.001"))
				require.NoError(r.T, err, "without a baseline")
				ids = ids[1:]
			}
			assert.Equal(r.T, 65, r.Reads()-before, "in minute %d", minute+1)
		}
	})
}

// A bot that reads its positions, trades and orders in each round, and never the state of
// its account, learns that a lost order ran all the same: its entries read what is missing.
func TestEdge34_AnEntryReadsTheStatusThatNobodyHasRead(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		r = r.Restart(rig.NewDisk(), rig.Sole)
		for range 3 {
			time.Sleep(6 * time.Second)
			_, err := r.Account().Positions(r.T.Context())
			require.NoError(r.T, err)
			_, err = r.Account().Trades(r.T.Context())
			require.NoError(r.T, err)
			_, err = r.Account().OpenOrders(r.T.Context())
			require.NoError(r.T, err)
		}
		before := r.Sent(trading.OpState)
		resolution, err := r.Resolved(r.Doubtful(tradingsim.CrashAfter(), rig.Buy("0.05")))
		require.NoError(r.T, err)
		assert.Equal(r.T, trading.Applied, resolution.Outcome)
		assert.Equal(r.T, trading.EvidenceAccounting, resolution.Evidence)
		assert.Greater(r.T, r.Sent(trading.OpState), before)
	})
}
