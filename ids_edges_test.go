package trading_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
)

// Takes of one id that come at once, or behind a journal that lost something, and a
// person's word beside the service's.

// errSecond is why a guard holds the second take back.
var errSecond = errors.New("the second take is not wanted")

// Of two takes of one id at once the second waits for the first: while the first has not
// ended, its guard and its connection say nothing.
func TestEdge04_TwoTakesOfOneIDAtOnce(t *testing.T) {
	for name, refuses := range map[string]bool{"its guard refuses": true, "its dial fails": false} {
		t.Run(name, func(t *testing.T) {
			liveTest(t, nil, nil, func(r rig) {
				d := newDisk()
				r = r.restart(d, trading.WithGuard(func(_ context.Context, w trading.Write) error {
					if w.Tag != "B" {
						return nil
					}
					time.Sleep(3 * time.Second) // meanwhile A comes
					if refuses {
						return errSecond
					}
					r.sim.Fault("POST /orders", tradingsim.RefuseConnection())
					return nil
				}))
				var both sync.WaitGroup
				both.Go(func() {
					_, err := r.account().PlaceOrder(r.t.Context(), buy("0.05"), breakout, trading.WithTag("B"), trading.WithRetry(trading.Retry{Attempts: 1}))
					ran := r.ran(trading.OpOrder)
					assert.False(r.t, trading.OutcomeOf(err) == trading.NotApplied && ran > 0, "it says NotApplied, and the id has run %d times", ran)
				})
				both.Go(func() {
					time.Sleep(time.Second)
					r.open(buy("0.05"), breakout)
				})
				both.Wait()
				time.Sleep(25 * time.Hour)
				assert.True(r.t, r.open(buy("0.05"), breakout).Meta.Replayed)
				assert.Equal(r.t, 1, r.ran(trading.OpOrder))
			})
		})
	}
}

// onceFinal fails a journal at the next final record; with and after all, from there on.
func onceFinal(d *disk, andAfter bool) {
	var failed atomic.Bool // the driver writes too
	d.failOn(func(rec journal.Record) error {
		first := rec.Final && failed.CompareAndSwap(false, true)
		if first || failed.Load() && andAfter {
			return errors.New("the disk is full")
		}
		return nil
	})
}

// What a run has carried out it knows as long as it lasts, whatever its journal lost.
func TestEdge05_TheJournalLosesTheEnd(t *testing.T) {
	for name, andAfter := range map[string]bool{"D 5: one record": false, "D 33: all from there on": true} {
		for _, by := range []trading.CallOption{breakout, trading.WithIdempotencyKey("mine")} {
			t.Run(name, func(t *testing.T) {
				liveTest(t, nil, nil, func(r rig) {
					d := newDisk()
					r = r.restart(d)
					onceFinal(d, andAfter)
					r.open(buy("0.05"), by)
					for _, later := range []time.Duration{0, time.Hour, 25 * time.Hour} {
						time.Sleep(later)
						again, err := r.account().PlaceOrder(r.t.Context(), buy("0.05"), by)
						require.NoError(r.t, err)
						assert.True(r.t, again.Meta.Replayed)
						assert.Zero(r.t, again.Meta.Attempts)
					}
					_, err := r.account().PlaceOrder(r.t.Context(), buy("0.06"), by)
					require.ErrorIs(r.t, err, trading.CodeIdempotencyKeyReused)
					assert.True(r.t, refusalOf(r.t, err).Local)
					assert.Equal(r.t, 1, r.ran(trading.OpOrder))
				})
			})
		}
	}
}

// An exit whose id the journal never had is not run again either.
func TestEdge05_AnExitThatTheJournalDidNotTake(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		d := newDisk()
		r = r.restart(d)
		r.open(buy("0.1"))
		d.failOn(func(journal.Record) error { return errors.New("the disk is full") })
		for _, later := range []time.Duration{0, 25 * time.Hour} {
			time.Sleep(later)
			_, err := r.account().ClosePosition(r.t.Context(), "BTC", trading.Percent(dec("50")), trading.WithClientOrderID("exit"))
			require.NoError(r.t, err)
		}
		assert.Equal(r.t, 1, r.ran(trading.OpClose))
		equalDec(r.t, "0.05", r.sim.Position("acc_1", "BTC"))
	})
}

// A given key is of one operation, account and request: with equal bytes on another route
// nothing is taken for what ran.
func TestEdge06_AGivenKeyOnAnotherRoute(t *testing.T) {
	mine := trading.WithIdempotencyKey("mine")
	twap := func(r rig, id trading.AccountID) error {
		_, err := r.Live.Account(id).PlaceTWAP(r.t.Context(), buy("0.2"), trading.TWAP{Duration: time.Hour}, mine)
		return err
	}
	chase := func(r rig) error {
		_, err := r.account().PlaceChaseTWAP(r.t.Context(), buy("0.2"), trading.ChaseTWAP{Duration: time.Hour}, mine)
		return err
	}
	for name, journaled := range map[string]bool{"with a journal": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			liveTest(t, nil, nil, func(r rig) {
				if journaled {
					r = r.restart(newDisk())
				}
				require.NoError(r.t, twap(r, acc))
				require.NoError(r.t, twap(r, acc), "the same again")
				for _, err := range []error{chase(r), twap(r, "acc_2")} {
					require.ErrorIs(r.t, err, trading.CodeIdempotencyKeyReused)
					assert.True(r.t, refusalOf(r.t, err).Local)
					require.ErrorContains(r.t, err, "the idempotency key was used")
				}
				bodies := append(r.bodiesOf(trading.OpTWAP), r.bodiesOf(trading.OpChaseTWAP)...)
				require.Len(r.t, bodies, 1)
			})
		})
	}
}

// A key is dead for a day. After that the service has forgotten it, and another program may
// have run it since: it is asked again before the next one.
func TestADeadKeyIsAskedAgainAfterADay(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		d, other := newDisk(), newDisk()
		shared := trading.WithSharedOrderIDs()
		r = r.restart(d, shared)
		r.sim.Fault("POST /orders", tradingsim.DropRequest())
		_, err := r.account().PlaceOrder(r.t.Context(), buy("0.05"), breakout, trading.WithSendTTL(0))
		write := (*trading.WriteError)(nil)
		require.ErrorAs(r.t, err, &write)
		if write.Outcome == trading.Unknown {
			require.NoError(r.t, r.Acknowledge(r.t.Context(), write.Intent, trading.NotApplied, "nothing there"))
		}
		time.Sleep(25 * time.Hour)
		join(r.t, r.sim, shared, trading.WithJournal(other.open())).open(buy("0.05"), breakout)
		time.Sleep(time.Hour)
		assert.True(r.t, r.open(buy("0.05"), breakout).Meta.Replayed)
		assert.Equal(r.t, 1, r.ran(trading.OpOrder))
	})
}

// A baseline younger than the first use of an id shows what the id itself has left: that is
// nobody's own.
func TestEdge30_TheOrdersOwnTraceIsNotKnown(t *testing.T) {
	limit := buy("0.05")
	limit.LimitPrice = at("60000")
	for name, place := range map[string]struct {
		op    trading.Operation
		place func(ctx context.Context, a *trading.Account, by trading.CallOption) error
	}{
		"limit": {trading.OpLimit, func(ctx context.Context, a *trading.Account, by trading.CallOption) error {
			_, err := a.PlaceLimit(ctx, limit, by)
			return err
		}},
		"TWAP": {trading.OpTWAP, func(ctx context.Context, a *trading.Account, by trading.CallOption) error {
			_, err := a.PlaceTWAP(ctx, buy("0.2"), trading.TWAP{Duration: 3 * time.Hour}, by)
			return err
		}},
		"ladder": {trading.OpLadder, func(ctx context.Context, a *trading.Account, by trading.CallOption) error {
			_, err := a.PlaceLadder(ctx, buy("0.2"), trading.Ladder{From: dec("60000"), To: dec("61000"), Rungs: 4}, by)
			return err
		}},
		"conditional": {trading.OpConditional, func(ctx context.Context, a *trading.Account, by trading.CallOption) error {
			_, err := a.PlaceConditional(ctx, buy("0.05"), trading.Conditional{Trigger: dec("70000")}, by)
			return err
		}},
	} {
		for how, row := range map[string]struct {
			by   trading.CallOption
			opts []trading.Option
		}{
			"a time before it": {trading.WithClientOrderID("1", trading.Since(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC))), nil},
			"shared ids":       {breakout, []trading.Option{trading.WithSharedOrderIDs()}},
			"a given key":      {trading.WithIdempotencyKey("mine"), []trading.Option{trading.WithSharedOrderIDs()}},
		} {
			t.Run(name+", "+how, func(t *testing.T) {
				liveTest(t, nil, nil, func(r rig) {
					first := r.restart(newDisk(), append(row.opts, trading.WithoutBackground())...)
					first.sim.Fault(string(place.op), tradingsim.CrashAfter())
					once := []trading.CallOption{trading.WithSendTTL(0), trading.WithResolveTimeout(0)}
					account := first.account(once...)
					require.Equal(r.t, trading.Unknown, trading.OutcomeOf(place.place(r.t.Context(), account, row.by)))
					require.Equal(r.t, 1, first.ran(place.op))
					closeClient(r.t, first.Client)

					second := join(r.t, r.sim, append(row.opts, trading.WithJournal(newDisk().open()), sole)...)
					second.readAll()
					second.readAll()
					for range 3 {
						err := place.place(r.t.Context(), second.account(trading.WithResolveTimeout(time.Hour)), row.by)
						assert.NotEqual(r.t, trading.NotApplied, trading.OutcomeOf(err), "%v", err)
						time.Sleep(time.Minute)
					}
					assert.Equal(r.t, 1, second.ran(place.op))
				})
			})
		}
	}
}

// A person's word and the service's do not contradict each other: what comes while the
// service is asked waits for its answer.
func TestEdge11_AcknowledgeBesideAProbe(t *testing.T) {
	for name, ran := range map[string]bool{"its answer is heard": true, "no answer": false} {
		t.Run(name, func(t *testing.T) {
			liveTest(t, nil, nil, func(r rig) {
				var ended []trading.Resolution
				var acked error
				var person sync.WaitGroup
				d := newDisk()
				r = r.restart(d, trading.WithHooks(trading.Hooks{
					Resolved: func(_ context.Context, v trading.Resolution) { ended = append(ended, v) },
					AttemptStart: func(ctx context.Context, c trading.Call, n int) context.Context {
						if c.Operation == trading.OpOrder && c.Intent == "" { // the probe's
							open, err := r.Pending(context.Background())
							require.NoError(r.t, err)
							person.Go(func() { acked = r.Acknowledge(context.Background(), open[0].ID, trading.NotApplied, "seen nothing") })
							time.Sleep(time.Second)
						}
						return ctx
					},
				}))
				faults := []tradingsim.Fault{tradingsim.DropResponse()}
				if !ran {
					faults = append(faults, tradingsim.DropResponse())
				}
				r.sim.Fault("POST /orders", faults...)
				_, err := r.account().PlaceOrder(r.t.Context(), buy("0.05"), breakout,
					trading.WithRetry(trading.Retry{Attempts: 1}), trading.WithResolveTimeout(time.Minute))
				person.Wait()
				require.Len(r.t, ended, 1)
				if !ran {
					require.NoError(r.t, acked)
					assert.Equal(r.t, trading.EvidenceAcknowledged, ended[0].Evidence)
					return
				}
				require.NoError(r.t, err)
				require.ErrorContains(r.t, acked, "is not pending")
				assert.Equal(r.t, trading.Applied, ended[0].Outcome)
				r = r.restart(d)
				assert.True(r.t, r.open(buy("0.05"), breakout).Meta.Replayed)
				assert.Equal(r.t, 1, r.ran(trading.OpOrder))
			})
		})
	}
}

// The paper account executes a repeated order again, so an id that promises that it is
// executed once is refused there.
func TestEdge26_AnIDOnThePaperAccount(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		_, err := r.Sandbox.PlaceOrder(r.t.Context(), buy("0.05"), breakout)
		for _, says := range []string{"nothing was sent", "the paper account executes a repeated order again", "leave the id out"} {
			require.ErrorContains(r.t, err, says)
		}
		assert.True(r.t, refusalOf(r.t, err).Local)
		assert.Equal(r.t, trading.NotApplied, trading.OutcomeOf(err))
		assert.Empty(r.t, r.fills())
		_, err = r.Sandbox.State(r.t.Context(), breakout)
		require.NoError(r.t, err, "to a read an id means nothing")
	})
}
