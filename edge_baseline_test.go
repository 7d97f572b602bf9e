package trading_test

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
	"github.com/tradingapi/trading-go/tradingsim"
)

// reads counts the requests that read the account.
func (r rig) reads() (n int) {
	for _, request := range r.sim.Requests() {
		if strings.HasPrefix(request.Operation, "GET ") && request.Operation != string(trading.OpHealth) {
			n++
		}
	}
	return n
}

// Entries that come at once wait together for one look at the account, so that what is lost
// of them finds room in recovery's share of the rate limits.
func TestEdge16_EntriesShareTheReadOfABaseline(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		r = r.restart(newDisk(), sole)
		r.sim.FaultEach(func(operation string) tradingsim.Fault {
			if strings.HasPrefix(operation, "GET ") {
				return tradingsim.Delay(30 * time.Millisecond)
			}
			return nil
		})
		r.sim.Fault("POST /orders", tradingsim.DropResponse())
		time.Sleep(6 * time.Second) // reads before show an earlier run's writes late
		var all sync.WaitGroup
		var placed atomic.Int32
		began := time.Now()
		for range 60 {
			all.Go(func() {
				_, err := r.account().PlaceOrder(r.t.Context(), buy("0.001"))
				if err == nil {
					placed.Add(1)
				}
			})
		}
		all.Wait()
		assert.Less(r.t, time.Since(began), 5*time.Second)
		assert.Positive(r.t, placed.Load())
		assert.LessOrEqual(r.t, r.reads(), 5, "one look at the account")
		pending, err := r.Pending(r.t.Context())
		require.NoError(r.t, err)
		assert.Empty(r.t, pending)
		assert.Equal(r.t, int(placed.Load()), r.ran(trading.OpOrder))
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
	liveTest(t, accounts, nil, func(r rig) {
		r = r.restart(newDisk())
		for minute := range 2 {
			time.Sleep(time.Minute)
			before := r.reads()
			for range 20 {
				_, err := r.Live.Account(ids[0]).PlaceOrder(r.t.Context(), buy("0.001"))
				require.NoError(r.t, err, "without a baseline")
				ids = ids[1:]
			}
			assert.Equal(r.t, 65, r.reads()-before, "in minute %d", minute+1)
		}
	})
}

// A bot that reads its positions, trades and orders in each round, and never the state of
// its account, learns that a lost order ran all the same: its entries read what is missing.
func TestEdge34_AnEntryReadsTheStatusThatNobodyHasRead(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		r = r.restart(newDisk(), sole)
		for range 3 {
			time.Sleep(6 * time.Second)
			_, err := r.account().Positions(r.t.Context())
			require.NoError(r.t, err)
			_, err = r.account().Trades(r.t.Context())
			require.NoError(r.t, err)
			_, err = r.account().OpenOrders(r.t.Context())
			require.NoError(r.t, err)
		}
		before := r.sent(trading.OpState)
		resolution, err := r.resolve(r.doubtful(tradingsim.CrashAfter(), buy("0.05")))
		require.NoError(r.t, err)
		assert.Equal(r.t, trading.Applied, resolution.Outcome)
		assert.Equal(r.t, trading.EvidenceAccounting, resolution.Evidence)
		assert.Greater(r.t, r.sent(trading.OpState), before)
	})
}
