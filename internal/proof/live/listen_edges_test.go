package live

import (
	"context"
	"errors"
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

// Nobody finds out about a cancel: its call listens for as long as it would wait for that.
func TestACancelListensToTheEnd(t *testing.T) {
	for name, c := range map[string]struct {
		works   time.Duration
		leaves  time.Duration // its caller
		took    time.Duration
		outcome trading.Outcome
	}{
		"while the call waits":      {22 * time.Second, time.Minute, 22 * time.Second, trading.Applied},
		"no longer than that":       {30 * time.Second, time.Minute, 23 * time.Second, trading.Unknown},
		"no longer than its caller": {30 * time.Second, 20 * time.Second, 20 * time.Second, trading.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			overPipes(t, nil, func(r rig.Rig, _ *rig.Pipes) {
				limit, err := r.Account().PlaceLimit(r.T.Context(), rig.Buy("0.05", func(o *trading.Order) { o.Type, o.LimitPrice = trading.LimitOrder, rig.At("60000") }))
				require.NoError(r.T, err)
				r.Sim.Fault(string(trading.OpCancelOrder), tradingsim.Delay(c.works))
				ctx, cancel := context.WithTimeout(r.T.Context(), c.leaves)
				defer cancel()
				began := time.Now()
				_, err = r.Account().CancelOrder(ctx, limit.Order.ID)
				assert.InDelta(r.T, c.took.Seconds(), time.Since(began).Seconds(), 0.3)
				outcome := trading.Applied
				if err != nil {
					outcome = trading.OutcomeOf(err)
				}
				assert.Equal(r.T, c.outcome, outcome, "%v", err)
			})
		})
	}
}

// closedAt closes a position, on which the service works for so long, and returns how long that took and how
// often it was sent by then.
func closedAt(r rig.Rig, works time.Duration, part trading.Part) (took time.Duration, sent int) {
	r.T.Helper()
	r.Sim.Fault(string(trading.OpClose), tradingsim.Delay(works))
	began := time.Now()
	_, err := r.Account().ClosePosition(r.T.Context(), "BTC", part)
	require.NoError(r.T, err)
	return time.Since(began), r.Sent(trading.OpClose)
}

// Without a place in the limits a close is not sent a second time, and waits for its first answer.
func TestASecondCloseHasAPlaceOrIsLeftOut(t *testing.T) {
	overPipes(t, []trading.Option{trading.WithRateLimits(trading.RateLimits{PerClass: 1})}, func(r rig.Rig, _ *rig.Pipes) {
		r.Open(rig.Buy("0.05"))
		took, sent := closedAt(r, 3*time.Second, trading.All)
		assert.Equal(r.T, 3*time.Second, took)
		assert.Equal(r.T, 1, sent)
	})
}

// A send that waits for its place goes no more once an earlier one has its answer.
func TestALateAnswerEndsTheWaitForAPlace(t *testing.T) {
	overPipes(t, []trading.Option{trading.WithRateLimits(trading.RateLimits{PerClass: 1})}, func(r rig.Rig, _ *rig.Pipes) {
		r.Open(rig.Buy("0.05"))
		took, sent := closedAt(r, 8*time.Second, trading.Percent(rig.Dec("50")))
		assert.Equal(r.T, 8*time.Second, took)
		assert.Equal(r.T, 1, sent)
	})
}

// failing takes nothing from some moment on.
type failing struct {
	journal.Store
	fails atomic.Bool
}

func (j *failing) Append(ctx context.Context, durable bool, records ...journal.Record) error {
	if j.fails.Load() {
		return errors.New("the disk is full")
	}
	return j.Store.Append(ctx, durable, records...)
}

// What is not noted before its first byte is not sent a second time.
func TestASecondCloseIsDurableOrLeftOut(t *testing.T) {
	j := &failing{Store: journal.NewMemory()}
	overPipes(t, []trading.Option{trading.WithJournal(j)}, func(r rig.Rig, _ *rig.Pipes) {
		r.Open(rig.Buy("0.05"))
		time.AfterFunc(500*time.Millisecond, func() { j.fails.Store(true) })
		took, sent := closedAt(r, 3*time.Second, trading.All)
		assert.Equal(r.T, 3*time.Second, took)
		assert.Equal(r.T, 1, sent)
	})
}

// The caller has gone: nothing is sent a second time.
func TestNobodyAsksTwiceForACallerThatHasGone(t *testing.T) {
	overPipes(t, nil, func(r rig.Rig, _ *rig.Pipes) {
		r.Open(rig.Buy("0.05"))
		r.Sim.Fault(string(trading.OpClose), tradingsim.Delay(3*time.Second))
		ctx, cancel := context.WithTimeout(r.T.Context(), 500*time.Millisecond)
		defer cancel()
		_, err := r.Account().ClosePosition(ctx, "BTC", trading.All)
		require.Equal(r.T, trading.Unknown, trading.OutcomeOf(err))
		time.Sleep(4 * time.Second)
		assert.Equal(r.T, 1, r.Sent(trading.OpClose))
		left, err := r.Pending(r.T.Context())
		require.NoError(r.T, err)
		assert.Empty(r.T, left)
	})
}
