package trading_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

// Two who resolve the same write at once come to the same.
func TestTwoResolveAtOnce(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		r = join(r.t, r.sim, trading.WithJournal(newSharedJournal()))
		r.readAll()
		err := r.doubtful(tradingsim.DropRequest(), buy("0.05"))
		outcomes := make(chan trading.Outcome, 2)
		for i := range 2 {
			go func() {
				time.Sleep(time.Duration(i) * 11 * time.Second) // the second begins as the first ends
				verdict, verdictErr := r.verdict(err)
				assert.NoError(r.t, verdictErr)
				outcomes <- verdict.Outcome
			}()
		}
		assert.Equal(r.t, trading.NotApplied, <-outcomes)
		assert.Equal(r.t, trading.NotApplied, <-outcomes)
		for range 2 {
			go func() {
				verdict, verdictErr := r.verdict(err)
				assert.NoError(r.t, verdictErr)
				outcomes <- verdict.Outcome
			}()
		}
		assert.Equal(r.t, trading.NotApplied, <-outcomes)
		assert.Equal(r.t, trading.NotApplied, <-outcomes)
	})
}

// T20: one reading proves nothing, and an account that keeps changing under two
// readings is not judged.
func TestTrap_T20_ARestlessAccount(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		r.readAll()
		err := r.doubtful(tradingsim.DropRequest(), buy("0.05"))
		done := make(chan struct{})
		go func() { // somebody in the terminal
			for {
				select {
				case <-done:
					return
				case <-time.After(2 * time.Second):
					r.sim.Trade("acc_1", "long", "0.001", "BTC")
				}
			}
		}()
		verdict, verdictErr := r.verdict(err)
		close(done)
		require.ErrorIs(r.t, verdictErr, trading.ErrUndetermined)
		assert.Greater(r.t, len(verdict.Readings), 2)
		assert.Equal(r.t, trading.Unknown, verdict.Outcome)
	})
}

// Close ends a Resolve and a Recover, and what they were about stays open.
func TestCloseEndsFindingOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New()
		intents := newSharedJournal()
		r := join(t, sim, trading.WithJournal(intents))
		r.readAll()
		err := r.doubtful(tradingsim.DropRequest(), buy("0.05"))
		go func() {
			time.Sleep(3 * time.Second)
			assert.NoError(t, r.Close())
		}()
		began := time.Now()
		verdict, err := r.account().Resolve(context.Background(), err)
		require.ErrorIs(t, err, trading.ErrClosed)
		require.ErrorIs(t, err, trading.ErrUndetermined)
		assert.Equal(t, trading.Unknown, verdict.Outcome)
		assert.Equal(t, 3*time.Second, time.Since(began))

		r = join(t, sim, trading.WithJournal(intents))
		verdicts, err := r.Recover(t.Context())
		require.NoError(t, err)
		require.Len(t, verdicts, 1)
		assert.True(t, verdicts[0].Intent.Fenced)
		assert.Equal(t, trading.NotApplied, verdicts[0].Outcome)
	})
}

// Once the key has been fenced, the order is not sent under it again, wanted or
// not.
func TestAFencedOrderIsNotSentAgain(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		err := r.doubtful(tradingsim.DropRequest(), buy("0.05")) // no baseline
		_, verdictErr := r.verdict(err)
		require.ErrorIs(r.t, verdictErr, trading.ErrUndetermined)
		sent := r.sent(trading.OpOrder)
		_, verdictErr = r.verdict(err, trading.WithLifetime(12*time.Minute))
		require.ErrorIs(r.t, verdictErr, trading.ErrUndetermined)
		assert.Equal(r.t, sent, r.sent(trading.OpOrder))
		assert.Zero(r.t, r.ran(trading.OpOrder))
	})
}

// An order that flips a position closes the old one: the trade that leaves is part
// of what was there before the next order, and the next is not taken for it.
func TestTheBaselineAfterAFlip(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		r.open(sell("0.1"))
		r.readAll()
		r.open(buy("0.3")) // long 0.2
		err := r.doubtful(tradingsim.DropRequest(), buy("0.05"))
		verdict, verdictErr := r.verdict(err)
		if verdictErr == nil {
			assert.Equal(r.t, trading.NotApplied, verdict.Outcome)
		} else {
			_, known := verdict.Intent.Baseline.Get()
			assert.False(r.t, known, "a baseline that leaves out the trade is none")
		}
	})
}
