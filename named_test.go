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

// breakout names an order in these tests.
var breakout = trading.WithClientOrderID("breakout 2026-11-20T10:15")

// tiny is below the least notional at $64000, and above it at twice that.
const tiny = "0.0001"

func TestANamedOrderIsPlacedOnce(t *testing.T) {
	liveTest(t, nil, []trading.Option{trading.WithJournal(newDisk().open())}, func(r rig) {
		result := r.open(buy("0.05"), breakout)
		assert.False(r.t, result.Meta.Replayed)

		// The same order, decided again: the journal answers, and nothing is sent.
		again := r.open(buy("0.05"), breakout)
		assert.True(r.t, again.Meta.Replayed)
		assert.Zero(r.t, again.Meta.Attempts)
		assert.Equal(r.t, result.Fill.Price, again.Fill.Price)

		// In other bytes it is refused here.
		_, err := r.account().PlaceOrder(r.t.Context(), buy("0.06"), breakout)
		require.ErrorIs(r.t, err, trading.CodeIdempotencyKeyReused)
		assert.True(r.t, refusalOf(r.t, err).Local)
		assert.Equal(r.t, trading.NotApplied, trading.OutcomeOf(err))
		assert.Equal(r.t, trading.AdviseRead, trading.AdviceOf(err), "the decision was executed: a new id would execute it again")
		require.ErrorContains(r.t, err, "(applied)")
		require.ErrorContains(r.t, err, "do not take a new client order id")

		// After a restart without a journal the service answers.
		other := join(r.t, r.sim)
		again = other.open(buy("0.05"), breakout)
		assert.True(r.t, again.Meta.Replayed)
		assert.Equal(r.t, 1, r.ran(trading.OpOrder))

		// In other bytes, it is not known to have been refused.
		other = join(r.t, r.sim)
		_, err = other.account().PlaceOrder(r.t.Context(), buy("0.06"), breakout)
		require.ErrorIs(r.t, err, trading.CodeIdempotencyKeyReused)
		assert.False(r.t, refusalOf(r.t, err).Local)
		assert.Equal(r.t, trading.Unknown, trading.OutcomeOf(err))
		assert.Equal(r.t, 1, r.ran(trading.OpOrder))
	})
}

// A refusal is stored under the key of its try, so the next take has the next key:
// in the same process, and in the next.
func TestANamedOrderGoesOnBehindADeadTry(t *testing.T) {
	for _, restart := range []bool{false, true} {
		liveTest(t, nil, nil, func(r rig) {
			d := newDisk()
			r = r.restart(d)
			_, err := r.account().PlaceOrder(r.t.Context(), buy(tiny), breakout)
			require.ErrorIs(r.t, err, trading.CodeMinNotional)
			assert.Equal(r.t, trading.NotApplied, trading.OutcomeOf(err))
			r.sim.SetMark("BTC", "128000")
			if restart {
				r = r.restart(d)
			}
			result := r.open(buy(tiny), breakout)
			assert.Equal(r.t, 1, result.Meta.Attempts)
			assert.False(r.t, result.Meta.Replayed)
			keys := r.keysOf(trading.OpOrder)
			require.Len(r.t, keys, 2)
			assert.NotEqual(r.t, keys[0], keys[1])
			assert.Equal(r.t, 1, r.ran(trading.OpOrder))
		})
	}
}

// Without a journal that outlives the process, an earlier run may have sent the
// order: a refusal, fresh or repeated, does not say that it was not executed. It
// leaves nothing to find out, and a later take sends the same key.
func TestANamedOrderWithoutAJournalBeginsInDoubt(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		for range 2 { // fresh, and repeated after a restart
			r = join(r.t, r.sim)
			_, err := r.account().PlaceOrder(r.t.Context(), buy(tiny), breakout)
			require.ErrorIs(r.t, err, trading.CodeMinNotional)
			assert.Equal(r.t, trading.Unknown, trading.OutcomeOf(err))
			pending, err := r.Pending(r.t.Context())
			require.NoError(r.t, err)
			assert.Empty(r.t, pending)
		}
		r.open(buy("0.05")) // its market is not closed to others
		keys := r.keysOf(trading.OpOrder)
		assert.Equal(r.t, keys[0], keys[1])
		assert.Zero(r.t, r.sent(trading.OpCancelOrder), "and no fence")
	})
}

// Two base URLs can lead to one service: an order that was placed by one is not
// placed again by the other.
func TestANamedOrderIsPlacedOnceWhateverTheBaseURL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim, d := newSim(), newDisk()
		for _, base := range []string{"https://one.test/v1", "https://two.test/v1"} {
			client, err := trading.New(base, trading.WithJournal(d.open()),
				trading.WithLiveKey(sim.LiveKey()), trading.WithTransport(sim.Transport()))
			require.NoError(t, err)
			result, err := client.Live.Account("acc_1").PlaceOrder(t.Context(), order, breakout)
			require.NoError(t, err)
			assert.Equal(t, base != "https://one.test/v1", result.Meta.Replayed)
			require.NoError(t, client.Close())
		}
		assert.Equal(t, 1, executed(sim))
	})
}

// Who takes a pending order again joins it: nothing is sent for the second, and both
// get what became of the first.
func TestAPendingNamedOrderIsJoined(t *testing.T) {
	for name, row := range map[string]struct {
		fault tradingsim.Fault
		want  trading.Outcome
	}{
		"executed":      {tradingsim.CrashAfter(), trading.Applied},
		"never arrived": {tradingsim.DropRequest(), trading.NotApplied},
	} {
		for _, restart := range []bool{false, true} {
			liveTest(t, nil, nil, func(r rig) {
				d := newDisk()
				r = r.restart(d, sole)
				r.readAll()
				r.sim.Fault("POST /orders", row.fault)
				_, err := r.account().PlaceOrder(r.t.Context(), buy("0.05"), breakout,
					trading.WithRetry(trading.Retry{Attempts: 1}), trading.WithResolveTimeout(0))
				require.Equal(r.t, trading.Unknown, trading.OutcomeOf(err), name)
				if restart {
					r = r.restart(d, sole)
				}
				_, err = r.account().PlaceOrder(r.t.Context(), buy("0.06"), breakout)
				require.ErrorIs(r.t, err, trading.CodeIdempotencyKeyReused, "other bytes under its id")
				assert.True(r.t, refusalOf(r.t, err).Local)

				result, err := r.account().PlaceOrder(r.t.Context(), buy("0.05"), breakout)
				require.Equal(r.t, row.want, trading.OutcomeOf(err), "%s, restart %t: %v", name, restart, err)
				if row.want == trading.Applied {
					assert.Equal(r.t, result == nil, err != nil)
					assert.Equal(r.t, 1, r.ran(trading.OpOrder))
					return
				}
				assert.Zero(r.t, r.ran(trading.OpOrder))
				before := r.keysOf(trading.OpOrder)
				result = r.open(buy("0.05"), breakout) // the next take has the next key
				assert.False(r.t, result.Meta.Replayed)
				assert.NotContains(r.t, before, string(result.Meta.Key), "the fenced key is dead")
				assert.Equal(r.t, 1, r.ran(trading.OpOrder))
			})
		}
	}
}

// A given key is looked up like one that is derived from an id, and is never replaced.
func TestAGivenKeyInTheJournal(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		d := newDisk()
		r = r.restart(d)
		mine, second := trading.WithIdempotencyKey("mine"), trading.WithIdempotencyKey("second")
		r.open(buy("0.05"), mine)
		r = r.restart(d)
		again := r.open(buy("0.05"), mine)
		assert.True(r.t, again.Meta.Replayed)
		assert.Zero(r.t, again.Meta.Attempts)
		_, err := r.account().PlaceOrder(r.t.Context(), buy("0.06"), mine)
		require.ErrorIs(r.t, err, trading.CodeIdempotencyKeyReused)
		assert.True(r.t, refusalOf(r.t, err).Local)

		// After a refusal the key is dead, and what goes on needs another.
		_, err = r.account().PlaceOrder(r.t.Context(), buy(tiny), second)
		require.ErrorIs(r.t, err, trading.CodeMinNotional)
		r = r.restart(d)
		_, err = r.account().PlaceOrder(r.t.Context(), buy(tiny), second)
		require.ErrorIs(r.t, err, trading.CodeIdempotencyKeyReused)
		assert.True(r.t, refusalOf(r.t, err).Local)
		require.ErrorContains(r.t, err, "another order must have another key")
		assert.Equal(r.t, 2, r.sent(trading.OpOrder))
	})
}

// An acknowledgement is kept: who takes the order again is told what a person found.
func TestANamedOrderThatAPersonHasFound(t *testing.T) {
	for found, want := range map[trading.Outcome]error{trading.Applied: trading.ErrDecided, trading.NotApplied: nil} {
		liveTest(t, nil, nil, func(r rig) {
			d := newDisk()
			r = r.restart(d)
			err := r.doubtful(tradingsim.DropRequest(), buy("0.05"), breakout)
			write := (*trading.WriteError)(nil)
			require.ErrorAs(r.t, err, &write)
			require.NoError(r.t, r.Acknowledge(r.t.Context(), write.Intent, found, "seen"))
			r = r.restart(d)
			result, err := r.account().PlaceOrder(r.t.Context(), buy("0.05"), breakout)
			require.ErrorIs(r.t, err, want)
			if want == nil {
				assert.NotEqual(r.t, r.keysOf(trading.OpOrder)[0], string(result.Meta.Key), "a late copy may come")
			}
		})
	}
}

// What the journal keeps of an id stays until it is forgotten; then the id is a new
// order, whose key the service may still answer for.
func TestAnIDIsForgotten(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		require.ErrorContains(r.t, r.ForgetClientOrderID(r.t.Context(), acc, trading.OpOrder, "1"), "no journal")
		d := newDisk()
		r = r.restart(d)
		id := trading.WithClientOrderID("1")
		r.open(buy("0.05"), id)
		time.Sleep(25 * time.Hour) // the service has forgotten the key
		assert.True(r.t, r.open(buy("0.05"), id).Meta.Replayed)
		require.NoError(r.t, r.ForgetClientOrderID(r.t.Context(), acc, trading.OpOrder, "1"))
		assert.False(r.t, r.open(buy("0.05"), id).Meta.Replayed)
		assert.Equal(r.t, 2, r.ran(trading.OpOrder))
	})
}

// Since says that the id is not older; a refusal still settles nothing.
func TestSinceBeginsInDoubt(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		r = r.restart(newDisk())
		id := trading.WithClientOrderID("1", trading.Since(time.Now()))
		_, err := r.account().PlaceOrder(r.t.Context(), buy(tiny), id)
		require.ErrorIs(r.t, err, trading.CodeMinNotional)
		assert.NotEqual(r.t, trading.Applied, trading.OutcomeOf(err))
		assert.Zero(r.t, r.ran(trading.OpOrder))
		r.open(buy("0.05"), trading.WithClientOrderID("2", trading.Since(time.Now())))
	})
}

// With other programs' journals in play, one's own does not prove that an id is new.
func TestSharedOrderIDsBeginInDoubt(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		r = r.restart(newDisk(), trading.WithSharedOrderIDs())
		_, err := r.account().PlaceOrder(r.t.Context(), buy(tiny), breakout)
		require.ErrorIs(r.t, err, trading.CodeMinNotional)
		assert.Equal(r.t, trading.Unknown, trading.OutcomeOf(err))
	})
}

// An order whose journal cannot be read is not sent, and may have been sent before.
func TestANamedOrderWhoseJournalCannotBeRead(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		d := newDisk()
		r = r.restart(d)
		d.failRead = context.DeadlineExceeded
		_, err := r.account().PlaceOrder(r.t.Context(), buy("0.05"), breakout)
		require.ErrorIs(r.t, err, trading.ErrJournal)
		assert.Equal(r.t, trading.Unknown, trading.OutcomeOf(err))
		write := (*trading.WriteError)(nil)
		require.ErrorAs(r.t, err, &write)
		assert.True(r.t, write.NotSent)
		assert.Zero(r.t, r.sent(trading.OpOrder))
		d.failRead = nil
		r.open(buy("0.05"), breakout)
	})
}
