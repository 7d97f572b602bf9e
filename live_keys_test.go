package trading_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

// T3: a refusal is stored under its key, so going on takes a new one; T11: one that
// is not stored keeps the key. What is reported is the key that was sent last.
func TestTrap_T3_NewKeysAndTheSameKey(t *testing.T) {
	for _, row := range []struct {
		name  string
		fault tradingsim.Fault
		newly bool
	}{
		{"T11 NO_PRICE", tradingsim.Fail(409, "NO_PRICE"), true},
		{"STALE_PRICE", tradingsim.Fail(409, "STALE_PRICE"), true},
		{"T11 no_price 400", tradingsim.Fail(400, "no_price"), true},
		{"T11 no_price 503", tradingsim.Fail(503, "no_price"), false},
		{"idempotency_unavailable", tradingsim.Fail(503, "idempotency_unavailable"), false},
		{"idempotency_in_flight", tradingsim.Fail(409, "idempotency_in_flight"), false},
		{"a lost reply", tradingsim.DropResponse(), false},
		{"a lost request", tradingsim.DropRequest(), false},
		{"no connection", tradingsim.RefuseConnection(), false},
		{"T4 rate_limited", tradingsim.RateLimit(time.Second), false},
	} {
		t.Run(row.name, func(t *testing.T) {
			liveTest(t, nil, nil, func(r rig) {
				r.sim.Fault("POST /orders", row.fault)
				result := r.open(buy("0.05"))
				keys, bodies := r.keysOf(trading.OpOrder), r.bodiesOf(trading.OpOrder)
				if len(keys) == 1 { // the other never arrived
					keys, bodies = append(keys, keys...), append(bodies, bodies...)
				}
				require.Len(r.t, keys, 2)
				assert.Equal(r.t, row.newly, keys[0] != keys[1])
				assert.Equal(r.t, bodies[0], bodies[1], "T12: the same bytes")
				assert.Equal(r.t, keys[1], string(result.Meta.Key))
				assert.Equal(r.t, 1, r.ran(trading.OpOrder))
			})
		})
	}
}

// The last refusal of a call is of the key that it was sent under, and not of one
// that never left.
func TestTheKeyOfARefusalWasSent(t *testing.T) {
	intents := newSharedJournal()
	liveTest(t, nil, []trading.Option{trading.WithJournal(intents)}, func(r rig) {
		r.sim.SetFillError("BTC", "STALE_PRICE")
		var meta trading.Meta
		_, err := r.account().PlaceOrder(r.t.Context(), buy("0.05"), trading.ResponseInto(&meta))
		require.ErrorIs(r.t, err, trading.CodeStalePrice)
		keys := r.keysOf(trading.OpOrder)
		require.Len(r.t, keys, 3)
		assert.Equal(r.t, keys[2], string(meta.Key))
		assert.Equal(r.t, keys[2], string(refusalOf(r.t, err).Meta.Key))
		entries := intents.all()
		require.Len(r.t, entries, 1, "one intent, under three keys")
		assert.Equal(r.t, keys[2], string(entries[0].Intent.Key))
		assert.Equal(r.t, 3, entries[0].Intent.Try)
	})
}

// T4: whether a 429 is stored or not, a call that waits for it is executed once.
func TestTrap_T4_A429StoredOrNot(t *testing.T) {
	for _, reading := range []int{0, 6} {
		var options []tradingsim.Option
		if reading > 0 {
			options = append(options, tradingsim.WithInterpretation(reading))
		}
		liveTest(t, options, nil, func(r rig) {
			r.sim.Fault("POST /orders", tradingsim.RateLimit(2*time.Second))
			result := r.open(buy("0.05"))
			assert.Equal(r.t, 1, r.ran(trading.OpOrder))
			keys := r.keysOf(trading.OpOrder)
			assert.Equal(r.t, keys[0], keys[1], "first under the same key: a late copy beside a new one would be a second order")
			if reading > 0 {
				require.Len(r.t, keys, 3)
				assert.NotEqual(r.t, keys[1], keys[2], "a 429 that is repeated is stored, and its key dead")
			}
			assert.False(r.t, result.Meta.Replayed)
		})
	}
}

// A key that the caller gave is never replaced, and is used for every attempt.
func TestGivenKeysAreNeverReplaced(t *testing.T) {
	for name, fault := range map[string]tradingsim.Fault{
		"stored":     tradingsim.Fail(409, "STALE_PRICE"),
		"not stored": tradingsim.Fail(503, "no_price"),
		"lost":       tradingsim.DropRequest(),
	} {
		liveTest(t, nil, nil, func(r rig) {
			r.sim.Fault("POST /orders", fault)
			_, err := r.account().PlaceOrder(r.t.Context(), buy("0.05"), trading.WithIdempotencyKey("mine"))
			if name == "stored" {
				require.ErrorIs(r.t, err, trading.CodeStalePrice)
				_, err = r.account().PlaceOrder(r.t.Context(), buy("0.05"), trading.WithIdempotencyKey("mine"))
				require.ErrorIs(r.t, err, trading.CodeStalePrice, "although the price is back")
			} else {
				require.NoError(r.t, err)
			}
			for _, key := range r.keysOf(trading.OpOrder) {
				assert.Equal(r.t, "mine", key)
			}
		})
	}
}

// T13: two bots whose keys collide get no order of the other's.
// T14: the same key and the same bytes bring back the other's order, which is told.
func TestTrap_T14_AReplayOnTheFirstSendIsMarked(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		first := r.open(buy("0.05"), trading.WithIdempotencyKey("shared"))
		assert.False(r.t, first.Meta.Replayed)
		other := join(r.t, r.sim)
		second := other.open(buy("0.05"), trading.WithIdempotencyKey("shared"))
		assert.True(r.t, second.Meta.Replayed)
		assert.Equal(r.t, 1, second.Meta.Attempts)
		_, err := other.account().PlaceOrder(r.t.Context(), buy("0.06"), trading.WithIdempotencyKey("shared"))
		require.ErrorIs(r.t, err, trading.CodeIdempotencyKeyReused)
		assert.Equal(r.t, 1, r.ran(trading.OpOrder))
	})
}

// T13: keys of one's own never collide, whatever the number of clients.
func TestTrap_T13_KeysAreTheCallsOwn(t *testing.T) {
	seen := map[trading.Key]bool{}
	for range 100_000 {
		key := trading.NewKey()
		require.False(t, seen[key])
		seen[key] = true
	}
}

// The account, the operation and every part of its name make a decision another
// one; parts do not run together.
func TestDecisionsAreDistinct(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New(tradingsim.WithAccount(tradingsim.Account{ID: "acc_1"}), tradingsim.WithAccount(tradingsim.Account{ID: "acc_2"}))
		r := join(t, sim)
		place := func(id trading.AccountID, opts ...trading.CallOption) {
			_, err := r.Live.Account(id).PlaceOrder(t.Context(), buy("0.01"), opts...)
			require.NoError(t, err)
		}
		place("acc_1", trading.WithDecision("bot", "42"))
		place("acc_2", trading.WithDecision("bot", "42"))
		place("acc_1", trading.WithDecision("bot4", "2"))
		place("acc_1", trading.WithDecision("bot", "4", "2"))
		place("acc_1", trading.WithDecision("bot", "42", ""))
		_, err := r.account().PlaceTWAP(t.Context(), buy("0.05"), trading.TWAP{Duration: time.Minute}, trading.WithDecision("bot", "42"))
		require.NoError(t, err)
		keys := map[string]bool{}
		for _, key := range append(r.keysOf(trading.OpOrder), r.keysOf(trading.OpTWAP)...) {
			assert.LessOrEqual(t, len(key), 255)
			keys[key] = true
		}
		assert.Len(t, keys, 6)
		assert.Equal(t, 5, r.ran(trading.OpOrder))
	})
}

// A decision whose answer was lost is never sent under another key: not by the
// same call, not by a second one, not after a restart, with a journal or without.
func TestADecisionInDoubtKeepsItsKey(t *testing.T) {
	decision := trading.WithDecision("breakout", "2026-11-20T10:15")
	for _, journaled := range []bool{true, false} {
		for name, row := range map[string]struct {
			fault tradingsim.Fault
			ran   int
		}{
			"never arrived": {tradingsim.DropRequest(), 0},
			"executed":      {tradingsim.DropResponse(), 1},
			"5xx before":    {tradingsim.Fail(500, "internal_error"), 0},
		} {
			t.Run(fmt.Sprintf("%s, journal %t", name, journaled), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx := context.Background()
					sim := tradingsim.New()
					intents := newSharedJournal()
					restart := func() rig {
						if journaled {
							return join(t, sim, trading.WithJournal(intents))
						}
						return join(t, sim)
					}
					r := restart()
					_ = r.doubtful(row.fault, buy("0.05"), decision)
					_, err := r.account().PlaceOrder(ctx, buy("0.05"), decision)
					require.ErrorIs(t, err, trading.ErrUnsettled)

					r = restart()
					result, err := r.account().PlaceOrder(ctx, buy("0.05"), decision)
					if journaled {
						require.ErrorIs(t, err, trading.ErrUnsettled, "after a restart it is in doubt")
						assert.Equal(t, row.ran, r.ran(trading.OpOrder))
						result, err = r.account().PlaceOrder(ctx, buy("0.05"), decision, trading.SkipUnsettled())
					}
					require.NoError(t, err, "the same bytes under the same key")
					assert.Equal(t, row.ran == 1, result.Meta.Replayed)
					assert.Equal(t, 1, r.ran(trading.OpOrder))
					for in, err := range intents.Pending(ctx) {
						t.Errorf("intent %s is settled by its own answer, and still pending (%v)", in.ID, err)
					}
					for _, key := range r.keysOf(trading.OpOrder) {
						assert.Equal(t, r.keysOf(trading.OpOrder)[0], key)
					}
				})
			})
		}
	}
}

// After a restart a pending decision is in doubt: a plain refusal of its next send
// speaks for that send alone. Here the first ran and ended in a 5xx.
func TestAPendingDecisionStaysInDoubt(t *testing.T) {
	decision := trading.WithDecision("exit", "7")
	closing := func(r rig, opts ...trading.CallOption) error {
		_, err := r.account().ClosePosition(context.Background(), "BTC", trading.Percent(dec("50")), append(opts, decision)...)
		return err
	}
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New()
		intents := newSharedJournal()
		r := join(t, sim, trading.WithJournal(intents))
		r.open(buy("0.1"))
		sim.Fault("POST /positions/close", tradingsim.FailAfter(500, "internal_error"))
		require.Equal(t, trading.Unknown, trading.OutcomeOf(closing(r)))
		require.Equal(t, 1, r.ran(trading.OpClose))

		r = join(t, sim, trading.WithJournal(intents))
		sim.SetFillError("BTC", "STALE_PRICE")
		err := closing(r)
		require.ErrorIs(t, err, trading.CodeStalePrice)
		assert.Equal(t, trading.Unknown, trading.OutcomeOf(err), "the position was halved by the run before")
		keys := r.keysOf(trading.OpClose)
		for _, key := range keys {
			assert.Equal(t, keys[0], key, "and beside it no new key")
		}
		assert.Equal(t, 1, r.ran(trading.OpClose))
	})
}

// T18: a decision that the journal has settled is answered from there, for days.
func TestASettledDecisionIsAnsweredByTheJournal(t *testing.T) {
	decision := trading.WithDecision("breakout", "1")
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		sim := tradingsim.New()
		intents := newSharedJournal()
		r := join(t, sim, trading.WithJournal(intents))
		first := r.open(buy("0.05"), decision)
		time.Sleep(7 * 24 * time.Hour) // the service has forgotten the key
		r = join(t, sim, trading.WithJournal(intents))
		again := r.open(buy("0.05"), decision)
		assert.True(t, again.Meta.Replayed)
		assert.Zero(t, again.Meta.Attempts)
		assert.Equal(t, first.Fill, again.Fill)
		assert.Equal(t, 1, r.ran(trading.OpOrder))

		// What a person or the readings have settled has no answer to give.
		other := trading.WithDecision("breakout", "2")
		err := r.doubtful(tradingsim.DropResponse(), buy("0.05"), other)
		var write *trading.WriteError
		require.ErrorAs(t, err, &write)
		require.NoError(t, r.Acknowledge(ctx, write.Intent, trading.Applied, "seen"))
		r = join(t, sim, trading.WithJournal(intents))
		_, err = r.account().PlaceOrder(ctx, buy("0.05"), other)
		require.ErrorIs(t, err, trading.ErrDecided)
		assert.Equal(t, 2, r.ran(trading.OpOrder))

		// One that was found not to have run goes on, under the next key.
		third := trading.WithDecision("breakout", "3")
		r.readAll()
		err = r.doubtful(tradingsim.DropRequest(), buy("0.05"), third)
		verdict, err := r.verdict(err)
		require.NoError(t, err)
		require.Equal(t, trading.NotApplied, verdict.Outcome)
		before := len(r.keysOf(trading.OpOrder))
		r = join(t, sim, trading.WithJournal(intents))
		r.open(buy("0.05"), third)
		keys := r.keysOf(trading.OpOrder)
		assert.NotEqual(t, keys[before-1], keys[before], "the fenced key is dead")
		assert.Equal(t, 3, r.ran(trading.OpOrder))
	})
}

// A try that was never sent is not dead: the decision goes on under its key.
func TestATryThatWasNeverSentIsNotDead(t *testing.T) {
	decision := trading.WithDecision("breakout", "1")
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New()
		intents := newSharedJournal()
		r := join(t, sim, trading.WithJournal(intents))
		sim.Fault("POST /orders", tradingsim.Fail(409, "STALE_PRICE"))
		intents.slow = func(in trading.Intent) {
			if in.Try == 2 {
				time.Sleep(time.Minute) // longer than its lifetime
			}
		}
		_, err := r.account().PlaceOrder(t.Context(), buy("0.05"), decision)
		require.ErrorIs(t, err, trading.ErrExpired)
		assert.Equal(t, trading.NotApplied, trading.OutcomeOf(err))
		intents.slow = nil

		r = join(t, sim, trading.WithJournal(intents))
		result := r.open(buy("0.05"), decision)
		assert.Equal(t, 1, result.Meta.Attempts, "under the key that was made and not sent")
		fresh := join(t, sim) // whoever decides it again without the journal
		_, err = fresh.account().PlaceOrder(t.Context(), buy("0.05"), decision)
		assert.Equal(t, trading.Unknown, trading.OutcomeOf(err), "the first try's refusal is not the decision's")
		assert.Equal(t, 1, r.ran(trading.OpOrder))
	})
}

// T7: a decision that is pending since before a weekend is not sent under a key
// that the service has forgotten, exit or not.
func TestTrap_T7_APendingDecisionGrowsOld(t *testing.T) {
	decision := trading.WithDecision("exit", "7")
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New()
		intents := newSharedJournal()
		r := join(t, sim, trading.WithJournal(intents))
		r.open(buy("0.1"))
		closing := func(opts ...trading.CallOption) error {
			_, err := r.account().ClosePosition(t.Context(), "BTC", trading.Percent(dec("50")), append(opts, decision)...)
			return err
		}
		sim.Fault("POST /positions/close", tradingsim.DropResponse())
		require.Equal(t, trading.Unknown, trading.OutcomeOf(closing(trading.WithLifetime(0))))
		time.Sleep(60 * time.Hour)
		r = join(t, sim, trading.WithJournal(intents))
		for _, opts := range [][]trading.CallOption{nil, {trading.WithLifetime(0)}, {trading.WithLifetime(12 * time.Minute)}} {
			err := closing(opts...)
			require.ErrorIs(t, err, trading.ErrExpired)
			assert.Equal(t, trading.Unknown, trading.OutcomeOf(err))
		}
		assert.Equal(t, 1, r.ran(trading.OpClose))

		// Once its key is fenced, the decision's bytes are not sent under it.
		_, err := r.Recover(t.Context())
		require.ErrorIs(t, err, trading.ErrUndetermined)
		before := r.sent(trading.OpClose)
		require.ErrorIs(t, closing(), trading.ErrUnsettled)
		assert.Equal(t, before, r.sent(trading.OpClose))
	})
}
