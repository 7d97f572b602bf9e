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

// leave places an order whose caller leaves after a while.
func (r rig) leave(after time.Duration, o trading.Order, opts ...trading.CallOption) error {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), after)
	defer cancel()
	began := time.Now()
	result, err := r.account().PlaceOrder(ctx, o, opts...)
	if err == nil {
		return nil
	}
	require.Nil(r.t, result)
	assert.Equal(r.t, after, time.Since(began), "the caller is not kept")
	return err
}

// T103: a caller who leaves in mid-flight is told Unknown at once; the answer that
// comes within the grace settles the intent all the same, in the journal, for the
// unsettled guard and for Resolve, which waits for it.
func TestTrap_T103_AnAnswerWithinTheGrace(t *testing.T) {
	for name, row := range map[string]struct {
		fault   tradingsim.Fault
		outcome trading.Outcome
		basis   trading.Basis
		code    trading.Code
	}{
		"executed":     {tradingsim.DelayResponse(3 * time.Second), trading.Applied, trading.BasisAnswer, ""},
		"refused":      {tradingsim.Together(tradingsim.DelayResponse(3*time.Second), tradingsim.Fail(400, "MIN_NOTIONAL")), trading.NotApplied, trading.BasisAnswer, "MIN_NOTIONAL"},
		"worked on":    {tradingsim.Delay(3 * time.Second), trading.Applied, trading.BasisAnswer, ""},
		"rate limited": {tradingsim.Together(tradingsim.DelayResponse(3*time.Second), tradingsim.RateLimit(time.Second)), trading.NotApplied, trading.BasisAnswer, "rate_limited"},
	} {
		t.Run(name, func(t *testing.T) {
			intents := newSharedJournal()
			liveTest(t, nil, []trading.Option{trading.WithJournal(intents)}, func(r rig) {
				t := r.t
				r.sim.Fault("POST /orders", row.fault)
				err := r.leave(time.Second, buy("0.05"))
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.Equal(t, trading.Unknown, trading.OutcomeOf(err))
				_, blocked := r.account().PlaceOrder(t.Context(), buy("0.05"))
				require.ErrorIs(t, blocked, trading.ErrUnsettled)

				began := time.Now()
				verdict, verdictErr := r.verdict(err)
				require.NoError(t, verdictErr)
				assert.Equal(t, 2*time.Second, time.Since(began), "Resolve waits for the answer and for no more")
				assert.Equal(t, row.outcome, verdict.Outcome)
				assert.Equal(t, row.basis, verdict.Basis)
				if row.code != "" {
					require.ErrorIs(t, verdict.Err, row.code)
				} else {
					require.NoError(t, verdict.Err)
					var result trading.OrderResult
					require.NoError(t, verdict.Into(&result), "the answer is there for the caller who had left")
					equalDec(t, "64000", result.Fill.Price)
				}
				entries := intents.all()
				require.Len(t, entries, 1)
				settlement, settled := entries[0].Settlement.Get()
				require.True(t, settled)
				assert.Equal(t, row.outcome, settlement.Outcome)
				assert.Equal(t, row.code, settlement.Code)
				assert.Equal(t, 1, r.sent(trading.OpOrder), "nothing is sent again without its caller")

				again, againErr := r.verdict(err)
				require.NoError(t, againErr, "asked twice, answered twice")
				assert.Equal(t, verdict, again)
				if row.code != "rate_limited" {
					r.open(buy("0.05"))
				}
			})
		})
	}
}

// An answer that does not come within the grace leaves the intent open, and
// Resolve finds out as for any other.
func TestNoAnswerWithinTheGrace(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		r.readAll()
		r.sim.Fault("POST /orders", tradingsim.Together(tradingsim.DropRequest(), tradingsim.DelayResponse(time.Hour)))
		err := r.leave(time.Second, buy("0.05"), trading.WithGrace(2*time.Second), trading.WithAttemptTimeout(time.Minute))
		require.Equal(r.t, trading.Unknown, trading.OutcomeOf(err))
		began := time.Now()
		verdict, verdictErr := r.verdict(err)
		require.NoError(r.t, verdictErr)
		assert.Equal(r.t, trading.NotApplied, verdict.Outcome)
		assert.Equal(r.t, trading.BasisFence, verdict.Basis)
		assert.Equal(r.t, 12*time.Second, time.Since(began), "the grace, and two looks")
		assert.Zero(r.t, r.ran(trading.OpOrder))
	})
}

// A grace of 0 ends the attempt with its caller; it is no less in doubt.
func TestNoGrace(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		r.sim.Fault("POST /orders", tradingsim.DelayResponse(3*time.Second))
		err := r.leave(time.Second, buy("0.05"), trading.WithGrace(0))
		assert.Equal(r.t, trading.Unknown, trading.OutcomeOf(err))
		assert.Equal(r.t, 1, r.ran(trading.OpOrder))
	})
}

// The answer and the end of the caller's patience at the same moment: whichever
// is seen first, Resolve knows.
func TestAnAnswerAsTheCallerLeaves(t *testing.T) {
	late := 0
	for range 300 {
		liveTest(t, nil, nil, func(r rig) {
			r.sim.Fault("POST /orders", tradingsim.DelayResponse(time.Second))
			err := r.leave(time.Second, buy("0.05"))
			if err != nil {
				late++
				require.Equal(r.t, trading.Unknown, trading.OutcomeOf(err))
			}
			verdict, verdictErr := r.verdict(err)
			require.NoError(r.t, verdictErr)
			assert.Equal(r.t, trading.Applied, verdict.Outcome)
			r.open(buy("0.05"))
		})
	}
	t.Logf("%d callers had left", late)
}

// Resolve gives up with its own context, and the intent stays open.
func TestResolveEndsWithItsContext(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		r.sim.Fault("POST /orders", tradingsim.DelayResponse(4*time.Second))
		err := r.leave(time.Second, buy("0.05"))
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		verdict, verdictErr := r.account().Resolve(ctx, err)
		require.ErrorIs(r.t, verdictErr, trading.ErrUndetermined)
		require.ErrorIs(r.t, verdictErr, context.DeadlineExceeded)
		assert.Nil(r.t, verdict)
		verdict, verdictErr = r.verdict(err)
		require.NoError(r.t, verdictErr)
		assert.Equal(r.t, trading.Applied, verdict.Outcome)
	})
}

// Close ends waits and resends at once, waits for what is in flight, and leaves
// the rest pending in the journal for the next run.
func TestCloseWithLiveWritesInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New()
		intents := newSharedJournal()
		client, err := trading.New(sim.URL(), trading.WithLiveKey(sim.LiveKey()), trading.WithTransport(sim.Transport()), trading.WithJournal(intents))
		require.NoError(t, err)
		account := client.Live.Account(acc)
		place := func(symbol, size string) <-chan error {
			done := make(chan error, 1)
			go func() {
				o := buy(size)
				o.Symbol = symbol
				_, err := account.PlaceOrder(t.Context(), o)
				done <- err
			}()
			synctest.Wait()
			return done
		}
		sim.Fault("POST /orders", tradingsim.DelayResponse(2*time.Second))
		answered := place("BTC", "0.1")
		sim.Fault("POST /orders", tradingsim.DropResponse()) // then it waits to send again
		doubtful := place("ETH", "1")
		sim.Fault("POST /orders", tradingsim.RefuseConnection())
		unsent := place("SOL", "10")

		began := time.Now()
		require.NoError(t, client.Close())
		assert.Equal(t, 2*time.Second, time.Since(began), "the answer in flight is waited for")
		require.NoError(t, <-answered)
		err = <-doubtful
		require.ErrorIs(t, err, trading.ErrClosed)
		assert.Equal(t, trading.Unknown, trading.OutcomeOf(err))
		err = <-unsent
		require.ErrorIs(t, err, trading.ErrClosed)
		assert.Equal(t, trading.NotApplied, trading.OutcomeOf(err))
		_, err = account.PlaceOrder(t.Context(), buy("0.1"))
		require.ErrorIs(t, err, trading.ErrClosed)
		_, err = account.Resolve(t.Context(), err)
		require.NoError(t, err)

		var pending []string
		for in, err := range intents.Pending(t.Context()) {
			require.NoError(t, err)
			pending = append(pending, in.Symbol)
		}
		assert.Equal(t, []string{"ETH"}, pending, "what is in doubt stays for the next run, and nothing else does")
	})
}
