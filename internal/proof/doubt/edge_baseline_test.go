package doubt

import (
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/journal"
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
		assert.Less(r.T, time.Since(began), 6*time.Second, "what an earlier run left resting is read a lag before")
		assert.Positive(r.T, placed.Load())
		assert.LessOrEqual(r.T, r.Reads(), 6, "that, and one look at the account")
		pending, err := r.Pending(r.T.Context())
		require.NoError(r.T, err)
		assert.Empty(r.T, pending)
		assert.Equal(r.T, int(placed.Load()), r.Ran(trading.OpOrder))
	})
}

// After a run that left nothing pending the first order waits for no more than a look, once the
// service's clock says that the last write is long ago; what is lost of it is found by the account.
func TestEdgeC6_AQuietJournal(t *testing.T) {
	for _, row := range []struct{ pause, longest time.Duration }{
		{time.Hour, time.Second},
		{20 * time.Second, time.Second},
		{time.Second, 6 * time.Second},
	} {
		rig.LiveTest(t, nil, nil, func(r rig.Rig) {
			path := filepath.Join(t.TempDir(), "bot.journal")
			next := func() (rig.Rig, func()) {
				file, err := journal.Open(path)
				require.NoError(t, err)
				r := rig.Join(r.T, r.Sim, trading.WithJournal(file), rig.Sole, trading.WithRecovery(trading.Recovery{WithoutProbe: true}))
				return r, func() {
					require.NoError(t, r.Close())
					require.NoError(t, file.Close())
				}
			}
			before, end := next()
			before.Open(rig.Buy("0.05"))
			end()
			time.Sleep(row.pause)

			after, end := next()
			defer end()
			began := time.Now()
			r.Sim.Fault("POST /orders", tradingsim.FailAfter(500, "internal_error"))
			_, lost := after.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), trading.WithResolveTimeout(0))
			took := time.Since(began)
			assert.LessOrEqual(r.T, took, row.longest)
			assert.GreaterOrEqual(r.T, took, row.longest-time.Second)
			resolution, err := after.Within(time.Hour, lost)
			require.NoError(r.T, err)
			assert.Equal(r.T, trading.Applied, resolution.Outcome)
		})
	}
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

// A run that was placed since what waits was read trades between the read of the position and that
// of the closed trades. The two are no baseline: by that one of its trades would have to be the lost
// close's, or the close's its own, and a close that ran was not applied.
func TestARunTradesBetweenTheReadsOfABaseline(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		r = r.Restart(rig.NewDisk(), rig.Sole)
		r.Open(rig.Buy("0.2"))
		_, err := r.Account().ClosePosition(r.T.Context(), "BTC", trading.Percent(rig.Dec("50")))
		require.NoError(r.T, err)
		r.ReadAll()
		_, err = r.Account().PlacePro(r.T.Context(), rig.Sell("1"), trading.TWAP{Duration: 10 * time.Minute})
		require.NoError(r.T, err)
		time.Sleep(6 * time.Second)
		_, err = r.Account().Positions(r.T.Context())
		require.NoError(r.T, err)
		time.Sleep(44 * time.Second)
		closed, err := r.Account().Trades(r.T.Context())
		require.NoError(r.T, err)
		require.Len(r.T, closed, 2, "the run has traded")
		r.Sim.Fault("POST /positions/close", tradingsim.FailAfter(500, "internal_error"))
		_, lost := r.Account().ClosePosition(r.T.Context(), "BTC", trading.Percent(rig.Dec("50")), trading.WithResolveTimeout(0))
		resolution, _ := r.Resolved(lost)
		assert.NotEqual(r.T, trading.NotApplied, resolution.Outcome)
	})
}
