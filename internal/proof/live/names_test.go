package live

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
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
)

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
				rig.LiveTest(t, nil, nil, func(r rig.Rig) {
					d := rig.NewDisk()
					restart := func(r rig.Rig) rig.Rig {
						if journaled {
							return r.Restart(d)
						}
						return rig.Join(r.T, r.Sim)
					}
					r = restart(r)
					_ = r.Doubtful(row.fault, rig.Buy("0.05"), rig.Breakout)
					for take := range 5 {
						if take == 2 {
							r = restart(r)
						}
						_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), rig.Breakout, trading.WithResolveTimeout(10*time.Second))
						outcome, keys := trading.OutcomeOf(err), r.KeysOf(trading.OpOrder)
						assert.LessOrEqual(r.T, r.Ran(trading.OpOrder), 1)
						switch outcome {
						case trading.Applied:
							assert.Equal(r.T, 1, r.Ran(trading.OpOrder), "%v", err)
							return
						case trading.NotApplied:
							assert.Zero(r.T, r.Ran(trading.OpOrder), "%v", err)
							return // and the next take may have the next key
						}
						for _, key := range keys {
							assert.Equal(r.T, keys[0], key)
						}
					}
				})
			})
		}
	}
}

// T18: a named order that the journal has the answer of is answered from there, for
// days.
func TestANamedOrderIsAnsweredByTheJournal(t *testing.T) {
	rig.DiskTest(t, nil, func(r rig.Rig, d *rig.Disk) {
		first := r.Open(rig.Buy("0.05"), rig.Breakout)
		time.Sleep(7 * 24 * time.Hour) // the service has forgotten the key
		r = r.Restart(d)
		again := r.Open(rig.Buy("0.05"), rig.Breakout)
		assert.True(r.T, again.Meta.Replayed)
		assert.Zero(r.T, again.Meta.Attempts)
		assert.Equal(r.T, first.Fill, again.Fill)
		assert.Equal(r.T, 1, r.Ran(trading.OpOrder))
	})
}

// A try that was never sent is not dead: the named order goes on under its key.
func TestATryThatWasNeverSentIsNotDead(t *testing.T) {
	rig.DiskTest(t, nil, func(r rig.Rig, d *rig.Disk) {
		r.Sim.Fault("POST /orders", tradingsim.Fail(409, "STALE_PRICE"))
		d.Slow = func(record journal.Record) {
			if rig.IsOf(record, "key") {
				time.Sleep(time.Minute) // longer than its send TTL
			}
		}
		_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), rig.Breakout)
		require.ErrorIs(r.T, err, trading.ErrExpired)
		assert.Equal(r.T, trading.NotApplied, trading.OutcomeOf(err))
		d.Slow = nil
		var made struct{ Key struct{ Key string } }
		require.Len(r.T, d.Appended("key"), 1)
		require.NoError(r.T, json.Unmarshal(d.Appended("key")[0], &made))

		r = r.Restart(d)
		result := r.Open(rig.Buy("0.05"), rig.Breakout)
		assert.Equal(r.T, 1, result.Meta.Attempts)
		assert.Equal(r.T, made.Key.Key, string(result.Meta.Key), "under the key that was made and not sent")
		fresh := rig.Join(r.T, r.Sim) // whoever decides it again without the journal
		_, err = fresh.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), rig.Breakout)
		assert.Equal(r.T, trading.Unknown, trading.OutcomeOf(err), "the first try's refusal is not the order's")
		assert.Equal(r.T, 1, r.Ran(trading.OpOrder))
	})
}

// The account, the operation and the id make a named order another one; account and id
// do not run together.
func TestNamedOrdersAreDistinct(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New(tradingsim.WithAccount(tradingsim.Account{ID: "acc_1"}), tradingsim.WithAccount(tradingsim.Account{ID: "acc_14"}))
		r := rig.Join(t, sim)
		place := func(id trading.AccountID, opts ...trading.CallOption) {
			_, err := r.Live.Account(id).PlaceOrder(t.Context(), rig.Buy("0.01"), opts...)
			require.NoError(t, err)
		}
		place("acc_1", trading.WithClientOrderID("bot 42"))
		place("acc_1", trading.WithClientOrderID("bot 42 "))
		place("acc_1", trading.WithClientOrderID("Bot 42"))
		place("acc_1", trading.WithClientOrderID("42"))
		place("acc_14", trading.WithClientOrderID("2"))
		_, err := r.Account().PlacePro(t.Context(), rig.Buy("0.05"), trading.TWAP{Duration: time.Minute}, trading.WithClientOrderID("bot 42"))
		require.NoError(t, err)
		keys := map[string]bool{}
		for _, key := range append(r.KeysOf(trading.OpOrder), r.KeysOf(trading.OpTWAP)...) {
			assert.LessOrEqual(t, len(key), 255)
			keys[key] = true
		}
		assert.Len(t, keys, 6)
		assert.Equal(t, 5, r.Ran(trading.OpOrder))
	})
}

// The last refusal of a call is of the key that it was sent under, and not of one
// that never left.
func TestTheKeyOfARefusalWasSent(t *testing.T) {
	d := rig.NewDisk()
	rig.LiveTest(t, nil, []trading.Option{trading.WithJournal(d.Open())}, func(r rig.Rig) {
		r.Sim.SetFillError("BTC", "STALE_PRICE")
		var meta trading.Meta
		_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), trading.ResponseInto(&meta))
		require.ErrorIs(r.T, err, trading.CodeStalePrice)
		keys := r.KeysOf(trading.OpOrder)
		require.Len(r.T, keys, 3)
		assert.Equal(r.T, keys[2], string(meta.Key))
		assert.Equal(r.T, keys[2], string(rig.RefusalOf(r.T, err).Meta.Key))
		require.Len(r.T, d.Appended("begin"), 1, "one intent, under three keys")
		var last struct {
			Key struct {
				Key string
				Try int
			}
		}
		later := d.Appended("key")
		require.Len(r.T, later, 2)
		require.NoError(r.T, json.Unmarshal(later[1], &last))
		assert.Equal(r.T, keys[2], last.Key.Key)
		assert.Equal(r.T, 3, last.Key.Try)
		assert.Empty(r.T, d.Pending())
	})
}

// Who takes an id again while its first call sends waits for that, as long as they like.
func TestATakeThatLeavesBeforeTheFirstIsOver(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		r.Sim.Fault(string(trading.OpOrder), tradingsim.Delay(3*time.Second))
		first := make(chan error, 1)
		go func() { first <- rig.EntryCall(r, rig.Breakout) }()
		time.Sleep(time.Second)
		ctx, cancel := context.WithTimeout(r.T.Context(), time.Second)
		defer cancel()
		began := time.Now()
		_, err := r.Account().PlaceOrder(ctx, rig.Buy("0.05"), rig.Breakout)
		require.ErrorIs(r.T, err, context.DeadlineExceeded)
		assert.Equal(r.T, trading.Unknown, trading.OutcomeOf(err))
		assert.Equal(r.T, time.Second, time.Since(began))
		require.NoError(r.T, <-first)
		assert.Equal(r.T, 1, r.Sent(trading.OpOrder))
	})
}

// While the API key is refused little is done about an order in doubt; whoever takes its id again has that go on.
func TestATakeHasAnOrderFoundOutThatRests(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		r.ReadAll()
		require.Error(r.T, r.Lost(tradingsim.DropRequest(), rig.Buy("0.05"), rig.Breakout))
		r.Sim.SetAccess(false)
		time.Sleep(5*time.Minute + time.Second)
		r.Sim.SetAccess(true)
		_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), rig.Breakout)
		assert.Equal(r.T, trading.NotApplied, trading.OutcomeOf(err), "%v", err)
	})
}
