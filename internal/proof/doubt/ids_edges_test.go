package doubt

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
	"github.com/tradingapi/trading-go/internal/testing/rig"
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
			rig.LiveTest(t, nil, nil, func(r rig.Rig) {
				d := rig.NewDisk()
				r = r.Restart(d, trading.WithGuard(func(_ context.Context, w trading.Write) error {
					if w.Tag != "B" {
						return nil
					}
					time.Sleep(3 * time.Second) // meanwhile A comes
					assert.Zero(r.T, r.Ran(trading.OpOrder), "B will say NotApplied of an id that has run")
					if refuses {
						return errSecond
					}
					r.Sim.Fault("POST /orders", tradingsim.RefuseConnection())
					return nil
				}))
				var both sync.WaitGroup
				both.Go(func() {
					_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), rig.Breakout, trading.WithTag("B"), trading.WithRetry(trading.Retry{Attempts: 1}))
					assert.Equal(r.T, trading.NotApplied, trading.OutcomeOf(err), "%v", err)
				})
				both.Go(func() {
					time.Sleep(time.Second)
					r.Open(rig.Buy("0.05"), rig.Breakout)
				})
				both.Wait()
				time.Sleep(25 * time.Hour)
				assert.True(r.T, r.Open(rig.Buy("0.05"), rig.Breakout).Meta.Replayed)
				assert.Equal(r.T, 1, r.Ran(trading.OpOrder))
			})
		})
	}
}

// onceFinal fails a journal at the next final record; with and after all, from there on.
func onceFinal(d *rig.Disk, andAfter bool) {
	var failed atomic.Bool // the driver writes too
	d.FailOn(func(rec journal.Record) error {
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
		for _, by := range []trading.CallOption{rig.Breakout, trading.WithIdempotencyKey("mine")} {
			t.Run(name, func(t *testing.T) {
				rig.DiskTest(t, nil, func(r rig.Rig, d *rig.Disk) {
					onceFinal(d, andAfter)
					r.Open(rig.Buy("0.05"), by)
					for _, later := range []time.Duration{0, time.Hour, 25 * time.Hour} {
						time.Sleep(later)
						again, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), by)
						require.NoError(r.T, err)
						assert.True(r.T, again.Meta.Replayed)
						assert.Zero(r.T, again.Meta.Attempts)
					}
					_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.06"), by)
					require.ErrorIs(r.T, err, trading.CodeIdempotencyKeyReused)
					assert.True(r.T, rig.RefusalOf(r.T, err).Local)
					assert.Equal(r.T, 1, r.Ran(trading.OpOrder))
				})
			})
		}
	}
}

// An exit whose id the journal never had is not run again either.
func TestEdge05_AnExitThatTheJournalDidNotTake(t *testing.T) {
	rig.DiskTest(t, nil, func(r rig.Rig, d *rig.Disk) {
		r.Open(rig.Buy("0.1"))
		d.FailOn(func(journal.Record) error { return errors.New("the disk is full") })
		for _, later := range []time.Duration{0, 25 * time.Hour} {
			time.Sleep(later)
			_, err := r.Account().ClosePosition(r.T.Context(), "BTC", trading.Percent(rig.Dec("50")), trading.WithClientOrderID("exit"))
			require.NoError(r.T, err)
		}
		assert.Equal(r.T, 1, r.Ran(trading.OpClose))
		rig.EqualDec(r.T, "0.05", r.Sim.Position("acc_1", "BTC"))
	})
}

// A given key is of one operation, account and request: with equal bytes on another route
// nothing is taken for what ran.
func TestEdge06_AGivenKeyOnAnotherRoute(t *testing.T) {
	mine := trading.WithIdempotencyKey("mine")
	twap := func(r rig.Rig, id trading.AccountID) error {
		return rig.Only(r.Live.Account(id).PlacePro(r.T.Context(), rig.Buy("0.2"), trading.TWAP{Duration: time.Hour}, mine))
	}
	chase := func(r rig.Rig) error {
		return rig.Only(r.Account().PlacePro(r.T.Context(), rig.Buy("0.2"), trading.ChaseTWAP{Duration: time.Hour}, mine))
	}
	for name, journaled := range map[string]bool{"with a journal": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			rig.LiveTest(t, nil, nil, func(r rig.Rig) {
				if journaled {
					r = r.Restart(rig.NewDisk())
				}
				require.NoError(r.T, twap(r, rig.Acc))
				require.NoError(r.T, twap(r, rig.Acc), "the same again")
				for _, err := range []error{chase(r), twap(r, "acc_2")} {
					require.ErrorIs(r.T, err, trading.CodeIdempotencyKeyReused)
					assert.True(r.T, rig.RefusalOf(r.T, err).Local)
					require.ErrorContains(r.T, err, "the idempotency key was used")
				}
				bodies := append(r.BodiesOf(trading.OpTWAP), r.BodiesOf(trading.OpChaseTWAP)...)
				require.Len(r.T, bodies, 1)
			})
		})
	}
}

// A key is dead for a day. After that the service has forgotten it, and another program may
// have run it since: it is asked again before the next one.
func TestADeadKeyIsAskedAgainAfterADay(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		d, other := rig.NewDisk(), rig.NewDisk()
		r = r.Restart(d)
		r.Sim.Fault("POST /orders", tradingsim.DropRequest())
		_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), rig.SharedBreakout, trading.WithSendTTL(0))
		write := (*trading.WriteError)(nil)
		require.ErrorAs(r.T, err, &write)
		if write.Outcome == trading.Unknown {
			require.NoError(r.T, r.Acknowledge(r.T.Context(), write.Intent, trading.NotApplied, "nothing there"))
		}
		time.Sleep(25 * time.Hour)
		rig.Join(r.T, r.Sim, trading.WithJournal(other.Open())).Open(rig.Buy("0.05"), rig.SharedBreakout)
		time.Sleep(time.Hour)
		assert.True(r.T, r.Open(rig.Buy("0.05"), rig.SharedBreakout).Meta.Replayed)
		assert.Equal(r.T, 1, r.Ran(trading.OpOrder))
	})
}

// A baseline younger than the first use of an id shows what the id itself has left: that is
// nobody's own.
func TestEdge30_TheOrdersOwnTraceIsNotKnown(t *testing.T) {
	limit := rig.Buy("0.05")
	limit.LimitPrice = rig.At("60000")
	for name, place := range map[string]struct {
		op    trading.Operation
		place func(ctx context.Context, a *trading.Account, by trading.CallOption) error
	}{
		"limit": {trading.OpLimit, func(ctx context.Context, a *trading.Account, by trading.CallOption) error {
			return rig.Only(a.PlaceLimit(ctx, limit, by))
		}},
		"TWAP": {trading.OpTWAP, func(ctx context.Context, a *trading.Account, by trading.CallOption) error {
			return rig.Only(a.PlacePro(ctx, rig.Buy("0.2"), trading.TWAP{Duration: 3 * time.Hour}, by))
		}},
		"ladder": {trading.OpLadder, func(ctx context.Context, a *trading.Account, by trading.CallOption) error {
			return rig.Only(a.PlacePro(ctx, rig.Buy("0.2"), trading.Ladder{From: rig.Dec("60000"), To: rig.Dec("61000"), Rungs: 4}, by))
		}},
		"conditional": {trading.OpConditional, func(ctx context.Context, a *trading.Account, by trading.CallOption) error {
			return rig.Only(a.PlacePro(ctx, rig.Buy("0.05"), trading.Conditional{Trigger: rig.Dec("70000")}, by))
		}},
	} {
		for how, by := range map[string]trading.CallOption{
			"a time before it": trading.WithClientOrderID("1", trading.Since(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC))),
			"shared ids":       rig.SharedBreakout,
			"a given key":      trading.WithIdempotencyKey("mine", trading.Shared()),
		} {
			t.Run(name+", "+how, func(t *testing.T) {
				rig.LiveTest(t, nil, nil, func(r rig.Rig) {
					first := r.Restart(rig.NewDisk(), trading.WithRecovery(trading.Recovery{WithoutBackground: true}))
					first.Sim.Fault(string(place.op), tradingsim.CrashAfter())
					once := []trading.CallOption{trading.WithSendTTL(0), trading.WithResolveTimeout(0)}
					account := first.Account(once...)
					require.Equal(r.T, trading.Unknown, trading.OutcomeOf(place.place(r.T.Context(), account, by)))
					require.Equal(r.T, 1, first.Ran(place.op))
					rig.CloseClient(r.T, first.Client)

					second := rig.Join(r.T, r.Sim, trading.WithJournal(rig.NewDisk().Open()), rig.Sole)
					second.ReadAll()
					second.ReadAll()
					for range 3 {
						err := place.place(r.T.Context(), second.Account(trading.WithResolveTimeout(time.Hour)), by)
						assert.NotEqual(r.T, trading.NotApplied, trading.OutcomeOf(err), "%v", err)
						time.Sleep(time.Minute)
					}
					assert.Equal(r.T, 1, second.Ran(place.op))
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
			rig.LiveTest(t, nil, nil, func(r rig.Rig) {
				var ended []trading.Resolution
				var acked error
				var person sync.WaitGroup
				d := rig.NewDisk()
				r = r.Restart(d, trading.WithHooks(trading.Hooks{
					Resolved: func(_ context.Context, v trading.Resolution) { ended = append(ended, v) },
					AttemptStart: func(ctx context.Context, c trading.Call, n int) context.Context {
						if c.Operation == trading.OpOrder && c.Intent == "" { // the probe's
							open, err := r.Pending(context.Background())
							require.NoError(r.T, err)
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
				r.Sim.Fault("POST /orders", faults...)
				_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), rig.Breakout,
					trading.WithRetry(trading.Retry{Attempts: 1}), trading.WithResolveTimeout(time.Minute))
				person.Wait()
				require.Len(r.T, ended, 1)
				if !ran {
					require.NoError(r.T, acked)
					assert.Equal(r.T, trading.EvidenceAcknowledged, ended[0].Evidence)
					return
				}
				require.NoError(r.T, err)
				require.ErrorContains(r.T, acked, "is not pending")
				assert.Equal(r.T, trading.Applied, ended[0].Outcome)
				r = r.Restart(d)
				assert.True(r.T, r.Open(rig.Buy("0.05"), rig.Breakout).Meta.Replayed)
				assert.Equal(r.T, 1, r.Ran(trading.OpOrder))
			})
		})
	}
}

// The paper account executes a repeated order again, so an id or a key that promises that it is
// executed once is refused there.
func TestEdge26_AnIDOnThePaperAccount(t *testing.T) {
	for what, by := range map[string]trading.CallOption{"client order id": rig.Breakout, "idempotency key": trading.WithIdempotencyKey("mine")} {
		t.Run(what, func(t *testing.T) {
			rig.LiveTest(t, nil, nil, func(r rig.Rig) {
				_, err := r.Sandbox.PlaceOrder(r.T.Context(), rig.Buy("0.05"), by)
				for _, says := range []string{"nothing was sent", "the paper account executes a repeated order again", "leave the " + what + " out"} {
					require.ErrorContains(r.T, err, says)
				}
				assert.True(r.T, rig.RefusalOf(r.T, err).Local)
				assert.Equal(r.T, trading.NotApplied, trading.OutcomeOf(err))
				assert.Empty(r.T, r.Fills())
				_, err = r.Sandbox.State(r.T.Context(), by)
				require.NoError(r.T, err, "it means nothing to a read")
			})
		})
	}
}
