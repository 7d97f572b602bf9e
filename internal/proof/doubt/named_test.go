package doubt

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

// tiny is below the least notional at $64000, and above it at twice that.
const tiny = "0.0001"

func TestANamedOrderIsPlacedOnce(t *testing.T) {
	rig.LiveTest(t, nil, []trading.Option{trading.WithJournal(rig.NewDisk().Open())}, func(r rig.Rig) {
		result := r.Open(rig.Buy("0.05"), rig.Breakout)
		assert.False(r.T, result.Meta.Replayed)

		// The same order, decided again: the journal answers, and nothing is sent.
		again := r.Open(rig.Buy("0.05"), rig.Breakout)
		assert.True(r.T, again.Meta.Replayed)
		assert.Zero(r.T, again.Meta.Attempts)
		assert.Equal(r.T, result.Fill.Price, again.Fill.Price)

		// In other bytes it is refused here.
		_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.06"), rig.Breakout)
		require.ErrorIs(r.T, err, trading.CodeIdempotencyKeyReused)
		assert.True(r.T, rig.RefusalOf(r.T, err).Local)
		assert.Equal(r.T, trading.NotApplied, trading.OutcomeOf(err))
		assert.Equal(r.T, trading.AdviseNever, trading.AdviceOf(err), "the decision was executed: a new id would execute it again")
		require.ErrorContains(r.T, err, "(applied)")
		require.ErrorContains(r.T, err, "do not take a new client order id")

		// After a restart without a journal the service answers.
		other := rig.Join(r.T, r.Sim)
		again = other.Open(rig.Buy("0.05"), rig.Breakout)
		assert.True(r.T, again.Meta.Replayed)
		assert.Equal(r.T, 1, r.Ran(trading.OpOrder))

		// In other bytes, it is not known to have been refused.
		other = rig.Join(r.T, r.Sim)
		_, err = other.Account().PlaceOrder(r.T.Context(), rig.Buy("0.06"), rig.Breakout)
		require.ErrorIs(r.T, err, trading.CodeIdempotencyKeyReused)
		assert.False(r.T, rig.RefusalOf(r.T, err).Local)
		assert.Equal(r.T, trading.Unknown, trading.OutcomeOf(err))
		assert.Equal(r.T, 1, r.Ran(trading.OpOrder))
	})
}

// A refusal is stored under the key of its try, so the next take has the next key:
// in the same process, and in the next.
func TestANamedOrderGoesOnBehindADeadTry(t *testing.T) {
	for _, restart := range []bool{false, true} {
		rig.DiskTest(t, nil, func(r rig.Rig, d *rig.Disk) {
			for range 2 {
				_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy(tiny), rig.Breakout)
				require.ErrorIs(r.T, err, trading.CodeMinNotional)
				assert.Equal(r.T, trading.NotApplied, trading.OutcomeOf(err))
				if restart {
					r = r.Restart(d)
				}
			}
			r.Sim.SetMark("BTC", "128000")
			result := r.Open(rig.Buy(tiny), rig.Breakout)
			assert.Equal(r.T, 1, result.Meta.Attempts)
			assert.False(r.T, result.Meta.Replayed)
			keys := r.KeysOf(trading.OpOrder)
			slices.Sort(keys)
			assert.Len(r.T, slices.Compact(keys), 3)
			assert.Equal(r.T, 1, r.Ran(trading.OpOrder))
		})
	}
}

// Without a journal that outlives the process, an earlier run may have sent the
// order: a refusal, fresh or repeated, does not say that it was not executed. It
// leaves nothing to find out, and a later take sends the same key.
func TestANamedOrderWithoutAJournalBeginsInDoubt(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		for range 2 { // fresh, and repeated after a restart
			r = rig.Join(r.T, r.Sim)
			_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy(tiny), rig.Breakout)
			require.ErrorIs(r.T, err, trading.CodeMinNotional)
			assert.Equal(r.T, trading.Unknown, trading.OutcomeOf(err))
			pending, err := r.Pending(r.T.Context())
			require.NoError(r.T, err)
			assert.Empty(r.T, pending)
		}
		r.Open(rig.Buy("0.05")) // its market is not closed to others
		keys := r.KeysOf(trading.OpOrder)
		assert.Equal(r.T, keys[0], keys[1])
		assert.Zero(r.T, r.Sent(trading.OpCancelOrder), "and no fence")
	})
}

// Two base URLs can lead to one service: an order that was placed by one is not
// placed again by the other.
func TestANamedOrderIsPlacedOnceWhateverTheBaseURL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim, d := rig.NewSim(), rig.NewDisk()
		for _, base := range []string{"https://one.test/v1", "https://two.test/v1"} {
			client, err := trading.New(base, trading.WithJournal(d.Open()),
				trading.WithLiveKey(sim.LiveKey()), trading.WithTransport(sim.Transport()))
			require.NoError(t, err)
			result, err := client.Live.Account("acc_1").PlaceOrder(t.Context(), rig.Buy("0.05"), rig.Breakout)
			require.NoError(t, err)
			assert.Equal(t, base != "https://one.test/v1", result.Meta.Replayed)
			require.NoError(t, client.Close())
		}
		assert.Len(t, sim.Ledger(), 1)
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
			rig.DiskTest(t, []trading.Option{rig.Sole}, func(r rig.Rig, d *rig.Disk) {
				r.ReadAll()
				r.Sim.Fault("POST /orders", row.fault)
				_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), rig.Breakout,
					trading.WithRetry(trading.Retry{Attempts: 1}), trading.WithResolveTimeout(0))
				require.Equal(r.T, trading.Unknown, trading.OutcomeOf(err), name)
				if restart {
					r = r.Restart(d, rig.Sole)
				}
				_, err = r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.06"), rig.Breakout)
				require.ErrorIs(r.T, err, trading.CodeIdempotencyKeyReused, "other bytes under its id")
				assert.True(r.T, rig.RefusalOf(r.T, err).Local)

				_, err = r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), rig.Breakout, trading.WithResolveTimeout(0))
				require.Equal(r.T, trading.Unknown, trading.OutcomeOf(err), "nobody waits: %v", err)
				joined := (*trading.WriteError)(nil)
				require.ErrorAs(r.T, err, &joined)
				assert.False(r.T, joined.NotSent, "the write that it joins was sent")
				assert.NotEmpty(r.T, joined.Intent)

				result, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), rig.Breakout)
				require.Equal(r.T, row.want, trading.OutcomeOf(err), "%s, restart %t: %v", name, restart, err)
				if row.want == trading.Applied {
					assert.Equal(r.T, result == nil, err != nil)
					assert.Equal(r.T, 1, r.Ran(trading.OpOrder))
					return
				}
				assert.Zero(r.T, r.Ran(trading.OpOrder))
				before := r.KeysOf(trading.OpOrder)
				result = r.Open(rig.Buy("0.05"), rig.Breakout) // the next take has the next key
				assert.False(r.T, result.Meta.Replayed)
				assert.NotContains(r.T, before, string(result.Meta.Key), "the fenced key is dead")
				assert.Equal(r.T, 1, r.Ran(trading.OpOrder))
			})
		}
	}
}

// A given key is looked up like one that is derived from an id, and is never replaced.
func TestAGivenKeyInTheJournal(t *testing.T) {
	rig.DiskTest(t, nil, func(r rig.Rig, d *rig.Disk) {
		mine, second := trading.WithIdempotencyKey("mine"), trading.WithIdempotencyKey("second")
		r.Open(rig.Buy("0.05"), mine)
		r = r.Restart(d)
		again := r.Open(rig.Buy("0.05"), mine)
		assert.True(r.T, again.Meta.Replayed)
		assert.Zero(r.T, again.Meta.Attempts)
		_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.06"), mine)
		require.ErrorIs(r.T, err, trading.CodeIdempotencyKeyReused)
		assert.True(r.T, rig.RefusalOf(r.T, err).Local)

		// A refusal is repeated from the journal: another order needs another key.
		_, err = r.Account().PlaceOrder(r.T.Context(), rig.Buy(tiny), second)
		require.ErrorIs(r.T, err, trading.CodeMinNotional)
		r = r.Restart(d)
		_, err = r.Account().PlaceOrder(r.T.Context(), rig.Buy(tiny), second)
		require.ErrorIs(r.T, err, trading.CodeMinNotional)
		assert.Equal(r.T, trading.NotApplied, trading.OutcomeOf(err))
		assert.Equal(r.T, 400, rig.RefusalOf(r.T, err).Status)
		assert.True(r.T, rig.RefusalOf(r.T, err).Meta.Replayed)
		_, err = r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), second)
		require.ErrorIs(r.T, err, trading.CodeIdempotencyKeyReused)

		// A key that a person has declared dead has no answer to repeat.
		third := trading.WithIdempotencyKey("third")
		write := (*trading.WriteError)(nil)
		require.ErrorAs(r.T, r.Doubtful(tradingsim.DropRequest(), rig.Buy("0.05"), third), &write)
		require.NoError(r.T, r.Acknowledge(r.T.Context(), write.Intent, trading.NotApplied, "seen"))
		r = r.Restart(d)
		_, err = r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), third)
		require.ErrorIs(r.T, err, trading.CodeIdempotencyKeyReused)
		require.ErrorContains(r.T, err, "another order must have another key")
	})
}

// Nor is the refusal of a given key repeated once the service has forgotten it: the service is asked.
func TestAGivenKeyIsAskedAgainAfterADay(t *testing.T) {
	rig.DiskTest(t, nil, func(r rig.Rig, _ *rig.Disk) {
		mine := trading.WithIdempotencyKey("mine")
		_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy(tiny), mine)
		require.ErrorIs(r.T, err, trading.CodeMinNotional)
		r.Sim.SetMark("BTC", "128000")
		_, err = r.Account().PlaceOrder(r.T.Context(), rig.Buy(tiny), mine)
		require.ErrorIs(r.T, err, trading.CodeMinNotional)
		assert.Equal(r.T, 1, r.Sent(trading.OpOrder), "the journal has it")
		time.Sleep(25 * time.Hour)
		assert.False(r.T, r.Open(rig.Buy(tiny), mine).Meta.Replayed)
	})
}

// An acknowledgement is kept: who takes the order again is told what a person found.
func TestANamedOrderThatAPersonHasFound(t *testing.T) {
	for found, want := range map[trading.Outcome]error{trading.Applied: trading.ErrDecided, trading.NotApplied: nil} {
		rig.DiskTest(t, nil, func(r rig.Rig, d *rig.Disk) {
			err := r.Doubtful(tradingsim.DropRequest(), rig.Buy("0.05"), rig.Breakout)
			write := (*trading.WriteError)(nil)
			require.ErrorAs(r.T, err, &write)
			require.NoError(r.T, r.Acknowledge(r.T.Context(), write.Intent, found, "seen"))
			r = r.Restart(d)
			result, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), rig.Breakout)
			require.ErrorIs(r.T, err, want)
			assert.Equal(r.T, trading.Applied, trading.OutcomeOf(err))
			if want == nil {
				assert.NotEqual(r.T, r.KeysOf(trading.OpOrder)[0], string(result.Meta.Key), "a late copy may come")
			}
		})
	}
}

// What the journal keeps of an id stays until it is forgotten; then the id is a new
// order, whose key the service may still answer for.
func TestAnIDIsForgotten(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		require.ErrorContains(r.T, r.ForgetClientOrderID(r.T.Context(), rig.Acc, trading.OpOrder, "1"), "no journal")
		d := rig.NewDisk()
		r = r.Restart(d)
		r.Excepts(rig.Forgotten)
		id := trading.WithClientOrderID("1")
		r.Open(rig.Buy("0.05"), id)
		time.Sleep(25 * time.Hour) // the service has forgotten the key
		assert.True(r.T, r.Open(rig.Buy("0.05"), id).Meta.Replayed)
		require.NoError(r.T, r.ForgetClientOrderID(r.T.Context(), rig.Acc, trading.OpOrder, "1"))
		assert.False(r.T, r.Open(rig.Buy("0.05"), id).Meta.Replayed)
		assert.Equal(r.T, 2, r.Ran(trading.OpOrder))
	})
}

// Since says that the id is not older; a refusal still settles nothing.
func TestSinceBeginsInDoubt(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		r = r.Restart(rig.NewDisk())
		id := trading.WithClientOrderID("1", trading.Since(time.Now()))
		_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy(tiny), id)
		require.ErrorIs(r.T, err, trading.CodeMinNotional)
		assert.Equal(r.T, trading.NotApplied, trading.OutcomeOf(err), "a fence says it")
		assert.Zero(r.T, r.Ran(trading.OpOrder))
		r.Open(rig.Buy("0.05"), trading.WithClientOrderID("2", trading.Since(time.Now())))
	})
}

// With other programs' journals in play, one's own does not prove that an id is new.
func TestSharedOrderIDsBeginInDoubt(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		r = r.Restart(rig.NewDisk())
		_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy(tiny), rig.SharedBreakout)
		require.ErrorIs(r.T, err, trading.CodeMinNotional)
		assert.Equal(r.T, trading.Unknown, trading.OutcomeOf(err))
	})
}

// What was not known of the first use of an id is not known of a later one.
func TestAnIDThatWasSharedStaysInDoubt(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		d := rig.NewDisk()
		r = r.Restart(d)
		for _, id := range []trading.CallOption{rig.SharedBreakout, rig.Breakout} {
			_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy(tiny), id)
			require.ErrorIs(r.T, err, trading.CodeMinNotional)
			assert.Equal(r.T, trading.Unknown, trading.OutcomeOf(err))
		}
	})
}

// An order whose journal cannot be read is not sent, and may have been sent before.
func TestANamedOrderWhoseJournalCannotBeRead(t *testing.T) {
	rig.DiskTest(t, nil, func(r rig.Rig, d *rig.Disk) {
		d.FailRead = context.DeadlineExceeded
		_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), rig.Breakout)
		require.ErrorIs(r.T, err, trading.ErrJournal)
		assert.Equal(r.T, trading.Unknown, trading.OutcomeOf(err))
		write := (*trading.WriteError)(nil)
		require.ErrorAs(r.T, err, &write)
		assert.True(r.T, write.NotSent)
		assert.Zero(r.T, r.Sent(trading.OpOrder))
		d.FailRead = nil
		r.Open(rig.Buy("0.05"), rig.Breakout)
	})
}

// An exit goes out beside such a journal. Its refusal does not say that an earlier run has not executed it.
func TestANamedExitWhoseJournalCannotBeRead(t *testing.T) {
	rig.DiskTest(t, nil, func(r rig.Rig, d *rig.Disk) {
		d.FailRead = context.DeadlineExceeded
		_, err := r.Account().ClosePosition(r.T.Context(), "BTC", trading.Percent(rig.Dec("50")), rig.Breakout)
		require.ErrorIs(r.T, err, trading.CodeNoPosition)
		assert.False(r.T, rig.RefusalOf(r.T, err).Local)
		assert.Equal(r.T, trading.Unknown, trading.OutcomeOf(err))
	})
}

// What is known of the first use of an id is not known of a later one that others share.
func TestAnIDThatIsSharedLaterIsInDoubt(t *testing.T) {
	rig.DiskTest(t, nil, func(r rig.Rig, _ *rig.Disk) {
		for _, take := range []struct {
			id   trading.CallOption
			want trading.Outcome
		}{{rig.Breakout, trading.NotApplied}, {rig.SharedBreakout, trading.Unknown}} {
			_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy(tiny), take.id)
			require.ErrorIs(r.T, err, trading.CodeMinNotional)
			assert.Equal(r.T, take.want, trading.OutcomeOf(err))
		}
	})
}

// A given key under which nothing was sent is not used up.
func TestAGivenKeyThatWasNotSent(t *testing.T) {
	rig.DiskTest(t, nil, func(r rig.Rig, _ *rig.Disk) {
		r.Sim.Fault(string(trading.OpOrder), tradingsim.RefuseConnection())
		mine := trading.WithIdempotencyKey("mine")
		_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), mine, trading.WithRetry(trading.Retry{Attempts: 1}))
		require.Error(r.T, err)
		r.Open(rig.Buy("0.05"), mine)
		assert.Equal(r.T, 1, r.Ran(trading.OpOrder))
	})
}
