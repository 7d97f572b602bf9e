package doubt

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

// Schedules in which the first version of the client doubled a write, or said of one
// what is not so. Others are in the files of their subjects.

// A baseline younger than the first use of a key proves no absence: here another
// process, with a journal of its own, has executed the order.
func TestABaselineYoungerThanTheKeyProvesNoAbsence(t *testing.T) {
	for _, journaled := range []bool{true, false} {
		rig.LiveTest(t, nil, nil, func(r rig.Rig) {
			first := r.Restart(rig.NewDisk(), trading.WithRecovery(trading.Recovery{WithoutBackground: true}))
			_ = first.Doubtful(tradingsim.CrashAfter(), rig.Buy("0.05"), rig.SharedBreakout)
			require.Equal(r.T, 1, first.Ran(trading.OpOrder))
			rig.CloseClient(r.T, first.Client)

			second := rig.Join(r.T, r.Sim)
			if journaled {
				second = second.Restart(rig.NewDisk())
			}
			for range 3 {
				second.ReadAll()
				_, err := second.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), rig.SharedBreakout)
				assert.NotEqual(r.T, trading.NotApplied, trading.OutcomeOf(err), "%v", err)
				time.Sleep(time.Minute)
			}
			assert.Equal(r.T, 1, second.Ran(trading.OpOrder))
		})
	}
}

// A named close whose 5xx was heard is not run again: not by the next take, not in
// other bytes, not after an orderly restart. Whoever takes it again joins it.
func TestAnExitIsNotRunAgainBehindA5xx(t *testing.T) {
	rig.DiskTest(t, nil, func(r rig.Rig, d *rig.Disk) {
		r.Open(rig.Buy("0.1"))
		closing := func(percent string) error {
			return rig.Only(r.Account().ClosePosition(r.T.Context(), "BTC", trading.Percent(rig.Dec(percent)), trading.WithClientOrderID("exit")))
		}
		r.Sim.Fault("POST /positions/close", tradingsim.FailAfter(500, "internal_error"))
		require.Error(r.T, closing("50"))
		for _, restart := range []bool{false, true} {
			if restart {
				r = r.Restart(d)
				r.Sim.SetFillError("BTC", "STALE_PRICE")
			}
			assert.Equal(r.T, trading.Unknown, trading.OutcomeOf(closing("50")), "the position was halved before")
			require.Error(r.T, closing("25"), "in other bytes")
			rig.EqualDec(r.T, "0.05", r.Sim.Position("acc_1", "BTC"))
		}
		assert.Equal(r.T, 1, r.Sent(trading.OpClose))
		assert.Equal(r.T, 1, r.Ran(trading.OpClose))
	})
}

// A given key of which nobody knows whether it is new begins in doubt: what refuses it
// in front does not say that it was not executed.
func TestAGivenKeyBeginsInDoubt(t *testing.T) {
	mine := trading.WithIdempotencyKey("mine")
	for name, fault := range map[string]tradingsim.Fault{
		"429":       tradingsim.RateLimit(time.Minute),
		"a cap":     tradingsim.Fail(400, "MAX_EXPOSURE"),
		"422":       tradingsim.Fail(422, "idempotency_key_reused"),
		"a refusal": tradingsim.Fail(400, "MIN_NOTIONAL"),
		"a guard":   nil,
	} {
		rig.LiveTest(t, nil, nil, func(r rig.Rig) {
			r.Open(rig.Buy("0.05"), mine)
			r = rig.Join(r.T, r.Sim) // a restart without a journal
			if fault == nil {
				r.Halt("lunch")
			} else {
				r.Sim.Fault("POST /orders", fault)
			}
			_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), mine)
			assert.NotEqual(r.T, trading.NotApplied, trading.OutcomeOf(err), "%s: %v", name, err)
			assert.Equal(r.T, 1, r.Ran(trading.OpOrder))
		})
	}
}

// A call that sends nothing says nothing of what an earlier run sent under the name.
func TestACallThatSendsNothingKnowsNothing(t *testing.T) {
	for name, prepare := range map[string]func(rig.Rig) (context.Context, []trading.CallOption){
		"closed": func(r rig.Rig) (context.Context, []trading.CallOption) {
			rig.CloseClient(r.T, r.Client)
			return r.T.Context(), nil
		},
		"a context that has ended": func(r rig.Rig) (context.Context, []trading.CallOption) {
			ctx, cancel := context.WithCancel(r.T.Context())
			cancel()
			return ctx, nil
		},
		"halted": func(r rig.Rig) (context.Context, []trading.CallOption) {
			r.Halt("lunch")
			return r.T.Context(), nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			rig.LiveTest(t, nil, nil, func(r rig.Rig) {
				r.Open(rig.Buy("0.05"), rig.Breakout)
				r = rig.Join(r.T, r.Sim)
				ctx, opts := prepare(r)
				_, err := r.Account().PlaceOrder(ctx, rig.Buy("0.05"), append(opts, rig.Breakout)...)
				require.Error(r.T, err)
				write := (*trading.WriteError)(nil)
				require.ErrorAs(r.T, err, &write)
				assert.Equal(r.T, trading.Unknown, write.Outcome, "%v", err)
				assert.True(r.T, write.NotSent)
				assert.Equal(r.T, 1, r.Sent(trading.OpOrder))
			})
		})
	}
}

// A first read right after a restart may lag behind the run before, and is no baseline:
// what that run bought is not the order that never arrived.
func TestAReadRightAfterARestartIsNoBaseline(t *testing.T) {
	rig.LiveTest(t, []tradingsim.Option{tradingsim.WithLag(4 * time.Second)}, nil, func(r rig.Rig) {
		r = r.Restart(rig.NewDisk(), rig.Sole)
		r.ReadAll()
		r.Open(rig.Buy("0.05"))
		r = r.Restart(rig.NewDisk(), rig.Sole)
		lost := r.Doubtful(tradingsim.DropRequest(), rig.Buy("0.05"))
		resolution, err := r.Within(time.Hour, lost)
		assert.NotEqual(r.T, trading.Applied, resolution.Outcome, "%v", err)
		assert.Equal(r.T, 1, r.Ran(trading.OpOrder))
	})
}

// A run edit that enlarges can add exposure: it is in the journal before its first byte.
func TestAnEnlargingRunEditIsInTheJournal(t *testing.T) {
	rig.DiskTest(t, nil, func(r rig.Rig, d *rig.Disk) {
		run, err := r.Account().PlacePro(r.T.Context(), rig.Buy("0.2"), trading.TWAP{Duration: time.Hour})
		require.NoError(r.T, err)
		before := len(d.Appended("begin"))
		r.Sim.Fault("POST /runs/edit", tradingsim.DropResponse())
		_, err = r.Account().EditRun(r.T.Context(), run.ID, rig.Dec("0.3"), rig.Once, trading.WithResolveTimeout(0))
		require.Equal(r.T, trading.Unknown, trading.OutcomeOf(err))
		assert.Len(r.T, d.Appended("begin"), before+1)
		assert.Len(r.T, d.Pending(), 1)
	})
}

// Half an hour is counted from the last byte that may have left, and not from the send
// TTL of the call that began it.
func TestGoneIsCountedFromTheLastByte(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		r.ReadAll()
		// The service claims the key and works on it for long; nothing is ever stored.
		r.Sim.FaultEach(tradingsim.Always(string(trading.OpCancelOrder), tradingsim.Fail(409, "idempotency_in_flight")))
		began := time.Now()
		lost := r.Doubtful(tradingsim.DropRequest(), rig.Buy("0.05"))
		time.Sleep(29 * time.Minute)
		assert.Len(r.T, r.PendingIDs(), 1)
		resolution, err := r.Within(time.Hour, lost)
		require.NoError(r.T, err)
		assert.Equal(r.T, trading.NotApplied, resolution.Outcome)
		assert.GreaterOrEqual(r.T, time.Since(began), 30*time.Minute)
	})
}

// A question for the stored answer is a byte that may have left too: the last of them is
// from which half an hour is counted.
func TestGoneIsCountedFromTheLastProbe(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		r.ReadAll()
		// A worker has died over it, and so does each that takes it over.
		r.Sim.FaultEach(tradingsim.Always(string(trading.OpOrder), tradingsim.Crash()))
		began := time.Now()
		_, lost := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), rig.Once, trading.WithResolveTimeout(0))
		require.Equal(r.T, trading.Unknown, trading.OutcomeOf(lost), "%v", lost)
		resolution, err := r.Within(2*time.Hour, lost)
		require.NoError(r.T, err)
		assert.Equal(r.T, trading.NotApplied, resolution.Outcome)
		last := time.Time{}
		for _, q := range r.Sim.Requests() {
			if q.Operation == string(trading.OpOrder) {
				last = q.At
			}
		}
		assert.Greater(r.T, last.Sub(began), 9*time.Minute, "it was asked for as long as that is safe")
		assert.GreaterOrEqual(r.T, time.Since(last), 30*time.Minute)
	})
}

// Recover places nothing, and the advice beside a pending write is to find out about it.
func TestRecoverPlacesNothing(t *testing.T) {
	rig.DiskTest(t, nil, func(r rig.Rig, d *rig.Disk) {
		r.ReadAll()
		_ = r.Doubtful(tradingsim.DropRequest(), rig.Buy("0.05"), trading.WithSendTTL(10*time.Minute), rig.Once)
		r = r.Restart(d)
		err := rig.EntryCall(r)
		require.ErrorIs(r.T, err, trading.ErrPendingWrite)
		assert.Equal(r.T, trading.AdviseResolve, trading.AdviceOf(err))
		pending := (*trading.PendingError)(nil)
		require.ErrorAs(r.T, err, &pending)
		assert.Len(r.T, pending.IDs, 1)
		_, err = r.Recover(r.T.Context())
		require.NoError(r.T, err)
		assert.Zero(r.T, r.Ran(trading.OpOrder))
	})
}

// A position that is gone because the account passed was not closed by the close that
// never arrived.
func TestAPassIsNotTheClose(t *testing.T) {
	rig.LiveTest(t, nil, []trading.Option{trading.WithExclusiveAccounts()}, func(r rig.Rig) {
		r.Open(rig.Buy("0.1"))
		r.ReadAll()
		r.ReadAll()
		r.Sim.Fault("POST /positions/close", tradingsim.DropRequest())
		_, lost := r.Account().ClosePosition(r.T.Context(), "BTC", trading.All, trading.WithSendTTL(0), trading.WithResolveTimeout(0))
		require.Equal(r.T, trading.Unknown, trading.OutcomeOf(lost))
		r.Sim.SetStatus("acc_1", "PASSED")
		r.Sim.Trade("acc_1", "short", "0.1", "BTC") // the service closes the book
		resolution, err := r.Within(time.Hour, lost)
		assert.NotEqual(r.T, trading.Applied, resolution.Outcome, "%v", err)
		assert.Zero(r.T, r.Ran(trading.OpClose))
	})
}

// The same on the paper account, where a close and a pass leave the same row.
func TestAPassIsNotTheCloseOnPaper(t *testing.T) {
	sim := []tradingsim.Option{tradingsim.WithSandbox(tradingsim.Sandbox{ProfitTarget: "100500"})}
	rig.LiveTest(t, sim, []trading.Option{trading.WithExclusiveAccounts()}, func(r rig.Rig) {
		r.Place(rig.Buy("0.1"))
		for range 2 {
			r.ReadPaper()
		}
		r.Sim.Fault("POST /sandbox/positions/close", tradingsim.DropRequest())
		_, lost := r.Sandbox.ClosePosition(r.T.Context(), "BTC", trading.All, trading.WithResolveTimeout(0))
		require.Equal(r.T, trading.Unknown, trading.OutcomeOf(lost))
		r.Sim.SetMark("BTC", "71000")
		require.Equal(r.T, trading.StatusSandboxPassed, r.State().Status)
		require.Empty(r.T, r.Positions(), "the service closed it")
		resolution, err := r.Within(time.Hour, lost)
		assert.NotEqual(r.T, trading.Applied, resolution.Outcome, "%v", err)
		assert.Zero(r.T, r.Ran(trading.OpSandboxClose))
	})
}

// Levels leave no closed trade. A row that is not theirs to take must not be taken off
// for them: it was the only trace of a close whose answer was lost.
func TestLevelsTakeNoClosedTradeOffAnother(t *testing.T) {
	for name, write := range map[string]func(rig.Rig) error{
		"close": func(r rig.Rig) error {
			return rig.Only(r.Account().ClosePosition(r.T.Context(), "BTC", trading.Percent(trading.Dec("50")), trading.WithSendTTL(0)))
		},
		"reduce-only order": func(r rig.Rig) error {
			return rig.Only(r.Account().PlaceOrder(r.T.Context(), rig.Sell("0.02", func(o *trading.Order) { o.ReduceOnly = true }), trading.WithSendTTL(0)))
		},
		"order on the other side": func(r rig.Rig) error {
			return rig.Only(r.Account().PlaceOrder(r.T.Context(), rig.Sell("0.05"), trading.WithSendTTL(0)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			rig.LiveTest(t, nil, nil, func(r rig.Rig) {
				t := r.T
				r.Open(rig.Buy("0.05"))
				r.ReadAll()
				r.ReadAll()
				_, err := r.Account().SetTPSL(t.Context(), "BTC", trading.TPSL{TakeProfit: trading.At(trading.Dec("90000")), StopLoss: trading.Clear})
				require.NoError(t, err)
				time.Sleep(time.Second)
				r.Sim.Fault("POST /orders", tradingsim.DropResponse())
				r.Sim.Fault("POST /positions/close", tradingsim.DropResponse())
				lost := write(r)
				require.Equal(t, trading.Unknown, trading.OutcomeOf(lost))
				resolution, _ := r.Resolved(lost)
				assert.Equal(t, trading.Unknown, resolution.Outcome, "nobody said that the account is exclusive")
				assert.ErrorContains(t, resolution.Err, "somebody else may have left it")
			})
		})
	}
}

// Where the service may keep idempotency keys by route, a fence proves nothing until that
// is known: a question that fails is asked again, and the order is found all the same.
func TestHowKeysAreKeptIsAskedUntilItIsKnown(t *testing.T) {
	for name, fault := range map[string]func(rig.Rig){
		"the first question fails": func(r rig.Rig) { r.Sim.Fault("POST /runs/cancel", tradingsim.Fail(500, "internal_error")) },
		"the first reply is lost":  func(r rig.Rig) { r.Sim.Fault("POST /runs/cancel", tradingsim.DropResponse()) },
		"the second question fails": func(r rig.Rig) {
			r.Sim.Fault("POST /orders/cancel", tradingsim.Pass())
			r.Sim.Fault("POST /orders/cancel", tradingsim.Fail(500, "internal_error"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			rig.LiveTest(t, []tradingsim.Option{tradingsim.WithInterpretation(49)}, []trading.Option{rig.Sole}, func(r rig.Rig) {
				r.ReadAll()
				r.ReadAll()
				fault(r)
				lost := r.Doubtful(tradingsim.DropRequest(), rig.Buy("0.05"))
				resolution, err := r.Resolved(lost)
				require.NoError(r.T, err)
				assert.Equal(r.T, trading.NotApplied, resolution.Outcome)
				assert.Greater(r.T, r.Sent(trading.OpCancelRun), 0)
			})
		})
	}
}
