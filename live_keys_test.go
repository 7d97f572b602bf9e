package trading_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
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
	d := newDisk()
	liveTest(t, nil, []trading.Option{trading.WithJournal(d.open())}, func(r rig) {
		r.sim.SetFillError("BTC", "STALE_PRICE")
		var meta trading.Meta
		_, err := r.account().PlaceOrder(r.t.Context(), buy("0.05"), trading.ResponseInto(&meta))
		require.ErrorIs(r.t, err, trading.CodeStalePrice)
		keys := r.keysOf(trading.OpOrder)
		require.Len(r.t, keys, 3)
		assert.Equal(r.t, keys[2], string(meta.Key))
		assert.Equal(r.t, keys[2], string(refusalOf(r.t, err).Meta.Key))
		require.Len(r.t, d.appended("begin"), 1, "one intent, under three keys")
		var last struct {
			Key struct {
				Key string
				Try int
			}
		}
		later := d.appended("key")
		require.Len(r.t, later, 2)
		require.NoError(r.t, json.Unmarshal(later[1], &last))
		assert.Equal(r.t, keys[2], last.Key.Key)
		assert.Equal(r.t, 3, last.Key.Try)
		assert.Empty(r.t, d.pending())
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
				assert.True(r.t, refusalOf(r.t, err).Meta.Replayed)
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

// The account, the operation and the id make a named order another one; account and id
// do not run together.
func TestNamedOrdersAreDistinct(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New(tradingsim.WithAccount(tradingsim.Account{ID: "acc_1"}), tradingsim.WithAccount(tradingsim.Account{ID: "acc_14"}))
		r := join(t, sim)
		place := func(id trading.AccountID, opts ...trading.CallOption) {
			_, err := r.Live.Account(id).PlaceOrder(t.Context(), buy("0.01"), opts...)
			require.NoError(t, err)
		}
		place("acc_1", trading.WithClientOrderID("bot 42"))
		place("acc_1", trading.WithClientOrderID("bot 42 "))
		place("acc_1", trading.WithClientOrderID("Bot 42"))
		place("acc_1", trading.WithClientOrderID("42"))
		place("acc_14", trading.WithClientOrderID("2"))
		_, err := r.account().PlaceTWAP(t.Context(), buy("0.05"), trading.TWAP{Duration: time.Minute}, trading.WithClientOrderID("bot 42"))
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

// A named order whose answer was lost is never sent under another key while it is in
// doubt: not by the same call, not by a second one, not after a restart, with a journal
// or without.
func TestANamedOrderInDoubtKeepsItsKey(t *testing.T) {
	for _, journaled := range []bool{true, false} {
		for name, row := range map[string]struct {
			fault tradingsim.Fault
			ran   int
		}{
			"never arrived": {tradingsim.DropRequest(), 0},
			"executed":      {tradingsim.DropResponse(), 1},
			"5xx before":    {tradingsim.Fail(500, "internal_error"), 0},
			"5xx after":     {tradingsim.FailAfter(500, "internal_error"), 1},
		} {
			t.Run(fmt.Sprintf("%s, journal %t", name, journaled), func(t *testing.T) {
				liveTest(t, nil, nil, func(r rig) {
					d := newDisk()
					restart := func(r rig) rig {
						if journaled {
							return r.restart(d)
						}
						return join(r.t, r.sim)
					}
					r = restart(r)
					_ = r.doubtful(row.fault, buy("0.05"), breakout)
					for take := range 5 {
						if take == 2 {
							r = restart(r)
						}
						_, err := r.account().PlaceOrder(r.t.Context(), buy("0.05"), breakout, trading.WithResolveTimeout(10*time.Second))
						outcome, keys := trading.OutcomeOf(err), r.keysOf(trading.OpOrder)
						assert.LessOrEqual(r.t, r.ran(trading.OpOrder), 1)
						switch outcome {
						case trading.Applied:
							assert.Equal(r.t, 1, r.ran(trading.OpOrder), "%v", err)
							return
						case trading.NotApplied:
							assert.Zero(r.t, r.ran(trading.OpOrder), "%v", err)
							return // and the next take may have the next key
						}
						for _, key := range keys {
							assert.Equal(r.t, keys[0], key)
						}
					}
				})
			})
		}
	}
}

// After a restart a pending exit is in doubt: whoever takes it again joins it, and
// nothing is sent for them. Here the first ran and ended in a 5xx.
func TestAPendingExitIsNotSentAgain(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		closing := func(r rig) error {
			_, err := r.account().ClosePosition(context.Background(), "BTC", trading.Percent(dec("50")), trading.WithClientOrderID("exit 7"))
			return err
		}
		d := newDisk()
		r = r.restart(d)
		r.open(buy("0.1"))
		r.sim.Fault("POST /positions/close", tradingsim.FailAfter(500, "internal_error"))
		require.Equal(r.t, trading.Unknown, trading.OutcomeOf(closing(r)))
		require.Equal(r.t, 1, r.ran(trading.OpClose))

		r = r.restart(d)
		r.sim.SetFillError("BTC", "STALE_PRICE")
		err := closing(r)
		assert.Equal(r.t, trading.Unknown, trading.OutcomeOf(err), "the position was halved by the run before: %v", err)
		assert.Equal(r.t, 1, r.sent(trading.OpClose))
		assert.Equal(r.t, 1, r.ran(trading.OpClose))
	})
}

// T18: a named order that the journal has the answer of is answered from there, for
// days.
func TestANamedOrderIsAnsweredByTheJournal(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		d := newDisk()
		r = r.restart(d)
		first := r.open(buy("0.05"), breakout)
		time.Sleep(7 * 24 * time.Hour) // the service has forgotten the key
		r = r.restart(d)
		again := r.open(buy("0.05"), breakout)
		assert.True(r.t, again.Meta.Replayed)
		assert.Zero(r.t, again.Meta.Attempts)
		assert.Equal(r.t, first.Fill, again.Fill)
		assert.Equal(r.t, 1, r.ran(trading.OpOrder))
	})
}

// A try that was never sent is not dead: the named order goes on under its key.
func TestATryThatWasNeverSentIsNotDead(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		d := newDisk()
		r = r.restart(d)
		r.sim.Fault("POST /orders", tradingsim.Fail(409, "STALE_PRICE"))
		d.slow = func(record journal.Record) {
			if isOf(record, "key") {
				time.Sleep(time.Minute) // longer than its send TTL
			}
		}
		_, err := r.account().PlaceOrder(r.t.Context(), buy("0.05"), breakout)
		require.ErrorIs(r.t, err, trading.ErrExpired)
		assert.Equal(r.t, trading.NotApplied, trading.OutcomeOf(err))
		d.slow = nil
		var made struct{ Key struct{ Key string } }
		require.Len(r.t, d.appended("key"), 1)
		require.NoError(r.t, json.Unmarshal(d.appended("key")[0], &made))

		r = r.restart(d)
		result := r.open(buy("0.05"), breakout)
		assert.Equal(r.t, 1, result.Meta.Attempts)
		assert.Equal(r.t, made.Key.Key, string(result.Meta.Key), "under the key that was made and not sent")
		fresh := join(r.t, r.sim) // whoever decides it again without the journal
		_, err = fresh.account().PlaceOrder(r.t.Context(), buy("0.05"), breakout)
		assert.Equal(r.t, trading.Unknown, trading.OutcomeOf(err), "the first try's refusal is not the order's")
		assert.Equal(r.t, 1, r.ran(trading.OpOrder))
	})
}

// T7: a named write that is pending since before a weekend is not sent under a key
// that the service has forgotten, exit or not.
func TestTrap_T7_APendingWriteGrowsOld(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		d := newDisk()
		r = r.restart(d)
		r.open(buy("0.1"))
		closing := func(opts ...trading.CallOption) error {
			opts = append(opts, trading.WithClientOrderID("exit 7"))
			_, err := r.account().ClosePosition(r.t.Context(), "BTC", trading.Percent(dec("50")), opts...)
			return err
		}
		r.sim.Fault("POST /positions/close", tradingsim.DropResponse())
		require.Equal(r.t, trading.Unknown, trading.OutcomeOf(closing(trading.WithSendTTL(0), trading.WithResolveTimeout(0))))
		require.Error(r.t, r.Close())
		time.Sleep(60 * time.Hour)
		r = r.restart(d)
		for _, opts := range [][]trading.CallOption{nil, {trading.WithSendTTL(0)}, {trading.WithSendTTL(12 * time.Minute)}} {
			assert.Equal(r.t, trading.Unknown, trading.OutcomeOf(closing(opts...)))
		}

		// Once its key is fenced, its bytes are not sent under it either.
		_, err := r.Recover(r.t.Context())
		require.ErrorIs(r.t, err, trading.ErrUndetermined)
		assert.Equal(r.t, trading.Unknown, trading.OutcomeOf(closing()))
		assert.Equal(r.t, 1, r.sent(trading.OpClose))
		assert.Equal(r.t, 1, r.ran(trading.OpClose))
	})
}
