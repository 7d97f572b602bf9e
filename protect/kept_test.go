package protect

import (
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
)

// TestARunSurvivesAKill: the guard still counts what a run may do that it has let pass, and judges
// what comes beside it.
func TestARunSurvivesAKill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		_, err := r.acc.PlaceTWAP(t.Context(), order(trading.Long, "3", "BTC"), trading.TWAP{Duration: time.Hour})
		require.NoError(t, err)
		r.kill(nil)
		for range 2 { // before what was answered can be seen, and after
			require.ErrorIs(t, r.buy("3"), ErrRoom)
			r.wait(20 * time.Second)
		}
		require.NoError(t, r.buy("0.1"))
		require.Equal(t, 2, r.state().Reserved)
	})
}

// TestWhatWasAnsweredSurvivesAKill until a look must show it: a read may lag, and shows neither what
// was opened a moment ago nor what was closed.
func TestWhatWasAnsweredSurvivesAKill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil, tradingsim.WithLag(4*time.Second))
		require.NoError(t, r.buy("2"))
		r.kill(nil)
		require.ErrorIs(t, r.buy("3"), ErrRoom)
		r.wait(20 * time.Second)
		require.Equal(t, 0, r.state().Reserved)

		_, err := r.acc.ClosePosition(t.Context(), "BTC", trading.All)
		require.NoError(t, err)
		r.kill(nil)
		_, err = r.acc.PlaceOrder(t.Context(), order(trading.Short, "5", "BTC"))
		require.ErrorIs(t, err, ErrRoom, "it opens, and does not reduce")
		r.wait(20 * time.Second)
		require.NoError(t, r.buy("2"))
	})
}

// TestWhatWasInDoubtSurvivesAKill, once, whether or not it is adopted.
func TestWhatWasInDoubtSurvivesAKill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		writes := journal.NewMemory()
		carry := func() {
			r.bot = r.carry(trading.WithJournal(writes), trading.WithResolveTimeout(0), trading.WithSendTTL(0), trading.WithoutBackground(),
				trading.WithHealthGate(trading.HealthGate{Off: true}))
			r.acc = r.bot.Live.Account(acc)
		}
		carry()
		r.sim.Fault("POST /orders/limit", tradingsim.DropRequest())
		limit := order(trading.Long, "3", "BTC")
		limit.LimitPrice = trading.At(dec("49000"))
		_, err := r.acc.PlaceLimit(t.Context(), limit)
		require.Equal(t, trading.Unknown, trading.OutcomeOf(err))
		_ = r.bot.Close() // with a pending write
		r.kill(nil)
		carry()
		left, err := r.bot.Pending(t.Context())
		require.NoError(t, err)
		require.Len(t, left, 1)
		require.ErrorIs(t, other(r).buy("3"), ErrRoom)
		require.NoError(t, r.p.Adopt(left...))
		require.Equal(t, 1, r.state().Reserved)
		require.ErrorIs(t, other(r).buy("3"), ErrRoom)
		found, err := r.bot.ResolveID(t.Context(), left[0].ID)
		require.NoError(t, err)
		require.Equal(t, trading.NotApplied, found.Outcome)
		r.wait(time.Second)
		require.Equal(t, 0, r.state().Reserved)
		require.NoError(t, other(r).buy("3"))
	})
}

// other is a bot beside, which has no journal.
func other(r *rig) *rig { return &rig{t: r.t, sim: r.sim, acc: r.carry().Live.Account(acc)} }

// TestWhatIsNotPendingEnds: what an earlier run let pass, and no journal knows, was never sent.
func TestWhatIsNotPendingEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		w := r.p.watchers[acc]
		w.mu.Lock()
		w.reserved[may(trading.Long, "3", "BTC", "49000")] = struct{}{}
		require.NoError(t, w.keepReserved(true))
		w.mu.Unlock()
		r.kill(nil)
		require.Equal(t, 1, r.state().Reserved)
		require.ErrorIs(t, r.buy("3"), ErrRoom)
		r.wait(20 * time.Minute)
		require.ErrorIs(t, r.buy("3"), ErrRoom)
		require.NoError(t, r.p.Adopt())
		r.wait(10 * time.Second)
		require.Equal(t, 0, r.state().Reserved)
		require.NoError(t, r.buy("3"))
	})
}

// TestWhatIsNotKeptIsRefused: an entry that a start would not know of is not sent; exits pass.
func TestWhatIsNotKeptIsRefused(t *testing.T) {
	if os.Getuid() == 0 {
		t.Log("root writes to every folder: the folder is taken away instead")
	}
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		require.NoError(t, r.buy("0.1"))
		r.wait(10 * time.Second)
		require.NoError(t, os.Rename(r.dir, r.dir+".away"))
		require.ErrorIs(t, r.buy("0.1"), ErrNotJudged)
		_, err := r.acc.ClosePosition(t.Context(), "BTC", trading.All)
		require.NoError(t, err)
		require.NoError(t, os.Rename(r.dir+".away", r.dir))
		r.wait(30 * time.Second)
		require.NoError(t, r.buy("0.1"))
		require.Len(t, r.sim.Ledger(), 3)
	})
}
