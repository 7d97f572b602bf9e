package trading_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

// Schedules in which the first version of the client doubled a write, or said of one
// what is not so. Others are in the files of their subjects.

// A baseline younger than the first use of a key proves no absence: here another
// process, with a journal of its own, has executed the order.
func TestABaselineYoungerThanTheKeyProvesNoAbsence(t *testing.T) {
	for _, journaled := range []bool{true, false} {
		liveTest(t, nil, nil, func(r rig) {
			shared := trading.WithSharedOrderIDs()
			first := r.restart(newDisk(), shared, trading.WithoutBackground())
			_ = first.doubtful(tradingsim.CrashAfter(), buy("0.05"), breakout)
			require.Equal(r.t, 1, first.ran(trading.OpOrder))
			closeClient(r.t, first.Client)

			second := join(r.t, r.sim, shared)
			if journaled {
				second = second.restart(newDisk(), shared)
			}
			for range 3 {
				second.readAll()
				_, err := second.account().PlaceOrder(r.t.Context(), buy("0.05"), breakout)
				assert.NotEqual(r.t, trading.NotApplied, trading.OutcomeOf(err), "%v", err)
				time.Sleep(time.Minute)
			}
			assert.Equal(r.t, 1, second.ran(trading.OpOrder))
		})
	}
}

// A named close whose 5xx was heard is not run again: not by the next take, not in
// other bytes, not after an orderly restart.
func TestAnExitIsNotRunAgainBehindA5xx(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		d := newDisk()
		r = r.restart(d)
		r.open(buy("0.1"))
		closing := func(percent string) error {
			_, err := r.account().ClosePosition(r.t.Context(), "BTC", trading.Percent(dec(percent)), trading.WithClientOrderID("exit"))
			return err
		}
		r.sim.Fault("POST /positions/close", tradingsim.FailAfter(500, "internal_error"))
		require.Error(r.t, closing("50"))
		for _, restart := range []bool{false, true} {
			if restart {
				r = r.restart(d)
			}
			require.Error(r.t, closing("50"))
			require.Error(r.t, closing("25"), "in other bytes")
			equalDec(r.t, "0.05", r.sim.Position("acc_1", "BTC"))
		}
		assert.Equal(r.t, 1, r.ran(trading.OpClose))
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
		liveTest(t, nil, nil, func(r rig) {
			r.open(buy("0.05"), mine)
			r = join(r.t, r.sim) // a restart without a journal
			if fault == nil {
				r.Halt("lunch")
			} else {
				r.sim.Fault("POST /orders", fault)
			}
			_, err := r.account().PlaceOrder(r.t.Context(), buy("0.05"), mine)
			assert.NotEqual(r.t, trading.NotApplied, trading.OutcomeOf(err), "%s: %v", name, err)
			assert.Equal(r.t, 1, r.ran(trading.OpOrder))
		})
	}
}

// A call that sends nothing says nothing of what an earlier run sent under the name.
func TestACallThatSendsNothingKnowsNothing(t *testing.T) {
	for name, prepare := range map[string]func(rig) (context.Context, []trading.CallOption){
		"closed": func(r rig) (context.Context, []trading.CallOption) {
			closeClient(r.t, r.Client)
			return r.t.Context(), nil
		},
		"a context that has ended": func(r rig) (context.Context, []trading.CallOption) {
			ctx, cancel := context.WithCancel(r.t.Context())
			cancel()
			return ctx, nil
		},
		"halted": func(r rig) (context.Context, []trading.CallOption) {
			r.Halt("lunch")
			return r.t.Context(), nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			liveTest(t, nil, nil, func(r rig) {
				r.open(buy("0.05"), breakout)
				r = join(r.t, r.sim)
				ctx, opts := prepare(r)
				_, err := r.account().PlaceOrder(ctx, buy("0.05"), append(opts, breakout)...)
				require.Error(r.t, err)
				write := (*trading.WriteError)(nil)
				require.ErrorAs(r.t, err, &write)
				assert.Equal(r.t, trading.Unknown, write.Outcome, "%v", err)
				assert.True(r.t, write.NotSent)
				assert.Equal(r.t, 1, r.sent(trading.OpOrder))
			})
		})
	}
}

// A first read right after a restart may lag behind the run before, and is no baseline:
// what that run bought is not the order that never arrived.
func TestAReadRightAfterARestartIsNoBaseline(t *testing.T) {
	liveTest(t, []tradingsim.Option{tradingsim.WithLag(4 * time.Second)}, nil, func(r rig) {
		r = r.restart(newDisk(), sole)
		r.readAll()
		r.open(buy("0.05"))
		r = r.restart(newDisk(), sole)
		lost := r.doubtful(tradingsim.DropRequest(), buy("0.05"))
		resolution, err := r.within(time.Hour, lost)
		assert.NotEqual(r.t, trading.Applied, resolution.Outcome, "%v", err)
		assert.Equal(r.t, 1, r.ran(trading.OpOrder))
	})
}

// A run edit that enlarges can add exposure: it is in the journal before its first byte.
func TestAnEnlargingRunEditIsInTheJournal(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		d := newDisk()
		r = r.restart(d)
		run, err := r.account().PlaceTWAP(r.t.Context(), buy("0.2"), trading.TWAP{Duration: time.Hour})
		require.NoError(r.t, err)
		before := len(d.appended("begin"))
		r.sim.Fault("POST /runs/edit", tradingsim.DropResponse())
		_, err = r.account().EditRun(r.t.Context(), run.ID, trading.RunEdit{TotalSize: dec("0.3")}, once, trading.WithResolveTimeout(0))
		require.Equal(r.t, trading.Unknown, trading.OutcomeOf(err))
		assert.Len(r.t, d.appended("begin"), before+1)
		assert.Len(r.t, d.pending(), 1)
	})
}

// Half an hour is counted from the last byte that may have left, and not from the send
// TTL of the call that began it.
func TestGoneIsCountedFromTheLastByte(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		r.readAll()
		// The service claims the key and works on it for long; nothing is ever stored.
		r.sim.FaultEach(func(op string) tradingsim.Fault {
			if op == string(trading.OpCancelOrder) {
				return tradingsim.Fail(409, "idempotency_in_flight")
			}
			return nil
		})
		began := time.Now()
		lost := r.doubtful(tradingsim.DropRequest(), buy("0.05"))
		time.Sleep(29 * time.Minute)
		assert.Len(r.t, r.pendingIDs(), 1)
		resolution, err := r.within(time.Hour, lost)
		require.NoError(r.t, err)
		assert.Equal(r.t, trading.NotApplied, resolution.Outcome)
		assert.GreaterOrEqual(r.t, time.Since(began), 30*time.Minute)
	})
}

// A question for the stored answer is a byte that may have left too: the last of them is
// from which half an hour is counted.
func TestGoneIsCountedFromTheLastProbe(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		r.readAll()
		// A worker has died over it, and so does each that takes it over.
		r.sim.FaultEach(func(op string) tradingsim.Fault {
			if op == string(trading.OpOrder) {
				return tradingsim.Crash()
			}
			return nil
		})
		began := time.Now()
		_, lost := r.account().PlaceOrder(r.t.Context(), buy("0.05"), once, trading.WithResolveTimeout(0))
		require.Equal(r.t, trading.Unknown, trading.OutcomeOf(lost), "%v", lost)
		resolution, err := r.within(2*time.Hour, lost)
		require.NoError(r.t, err)
		assert.Equal(r.t, trading.NotApplied, resolution.Outcome)
		last := time.Time{}
		for _, q := range r.sim.Requests() {
			if q.Operation == string(trading.OpOrder) {
				last = q.At
			}
		}
		assert.Greater(r.t, last.Sub(began), 9*time.Minute, "it was asked for as long as that is safe")
		assert.GreaterOrEqual(r.t, time.Since(last), 30*time.Minute)
	})
}

// Recover places nothing, and the advice beside a pending write is to wait for it.
func TestRecoverPlacesNothing(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		d := newDisk()
		r = r.restart(d)
		r.readAll()
		_ = r.doubtful(tradingsim.DropRequest(), buy("0.05"), trading.WithSendTTL(10*time.Minute), once)
		r = r.restart(d)
		err := entryCall(r)
		require.ErrorIs(r.t, err, trading.ErrPendingWrite)
		assert.Equal(r.t, trading.AdviseWait, trading.AdviceOf(err))
		pending := (*trading.PendingError)(nil)
		require.ErrorAs(r.t, err, &pending)
		assert.Len(r.t, pending.IDs, 1)
		_, err = r.Recover(r.t.Context())
		require.NoError(r.t, err)
		assert.Zero(r.t, r.ran(trading.OpOrder))
	})
}

// Two programs place one named order at once, each with a journal of its own: they
// converge on the stored answer, or end Unknown.
func TestTwoProgramsPlaceOneNamedOrder(t *testing.T) {
	for name, fault := range map[string]tradingsim.Fault{
		"nothing goes wrong": tradingsim.Pass(), "reply lost": tradingsim.DropResponse(),
		"request lost": tradingsim.DropRequest(), "stale price": tradingsim.Fail(409, "STALE_PRICE"),
	} {
		t.Run(name, func(t *testing.T) {
			liveTest(t, nil, nil, func(r rig) {
				r.sim.Fault("POST /orders", fault)
				told := make(chan trading.Outcome, 2)
				for range 2 {
					program := join(r.t, r.sim, trading.WithJournal(newDisk().open()), trading.WithSharedOrderIDs())
					go func() {
						_, err := program.account().PlaceOrder(r.t.Context(), buy("0.05"), breakout)
						told <- trading.OutcomeOf(err)
					}()
				}
				for range 2 {
					outcome := <-told
					ran := r.ran(trading.OpOrder)
					assert.LessOrEqual(r.t, ran, 1)
					assert.False(r.t, outcome == trading.Applied && ran == 0)
				}
				time.Sleep(time.Hour)
				assert.LessOrEqual(r.t, r.ran(trading.OpOrder), 1)
			})
		})
	}
}

// A position that is gone because the account passed was not closed by the close that
// never arrived.
func TestAPassIsNotTheClose(t *testing.T) {
	liveTest(t, nil, []trading.Option{trading.WithExclusiveAccounts()}, func(r rig) {
		r.open(buy("0.1"))
		r.readAll()
		r.readAll()
		r.sim.Fault("POST /positions/close", tradingsim.DropRequest())
		_, lost := r.account().ClosePosition(r.t.Context(), "BTC", trading.All, trading.WithSendTTL(0), trading.WithResolveTimeout(0))
		require.Equal(r.t, trading.Unknown, trading.OutcomeOf(lost))
		r.sim.SetStatus("acc_1", "PASSED")
		r.sim.Trade("acc_1", "short", "0.1", "BTC") // the service closes the book
		resolution, err := r.within(time.Hour, lost)
		assert.NotEqual(r.t, trading.Applied, resolution.Outcome, "%v", err)
		assert.Zero(r.t, r.ran(trading.OpClose))
	})
}

// The same on the paper account, where a close and a pass leave the same row.
func TestAPassIsNotTheCloseOnPaper(t *testing.T) {
	sim := []tradingsim.Option{tradingsim.WithSandbox(tradingsim.Sandbox{ProfitTarget: "100500"})}
	liveTest(t, sim, []trading.Option{trading.WithExclusiveAccounts()}, func(r rig) {
		r.place(buy("0.1"))
		for range 2 {
			time.Sleep(10 * time.Second)
			r.state()
			r.positions()
			r.trades()
		}
		r.sim.Fault("POST /sandbox/positions/close", tradingsim.DropRequest())
		_, lost := r.Sandbox.ClosePosition(r.t.Context(), "BTC", trading.All, trading.WithResolveTimeout(0))
		require.Equal(r.t, trading.Unknown, trading.OutcomeOf(lost))
		r.sim.SetMark("BTC", "71000")
		require.Equal(r.t, trading.StatusSandboxPassed, r.state().Status)
		require.Empty(r.t, r.positions(), "the service closed it")
		resolution, err := r.within(time.Hour, lost)
		assert.NotEqual(r.t, trading.Applied, resolution.Outcome, "%v", err)
		assert.Zero(r.t, r.ran(trading.OpSandboxClose))
	})
}

// Levels leave no closed trade. A row that is not theirs to take must not be taken off
// for them: it was the only trace of a close whose answer was lost.
func TestLevelsTakeNoClosedTradeOffAnother(t *testing.T) {
	for name, write := range map[string]func(rig) error{
		"close": func(r rig) error {
			_, err := r.account().ClosePosition(r.t.Context(), "BTC", trading.Percent(trading.Dec("50")), trading.WithSendTTL(0))
			return err
		},
		"reduce-only order": func(r rig) error {
			_, err := r.account().PlaceOrder(r.t.Context(), sell("0.02", func(o *trading.Order) { o.ReduceOnly = true }), trading.WithSendTTL(0))
			return err
		},
		"order on the other side": func(r rig) error {
			_, err := r.account().PlaceOrder(r.t.Context(), sell("0.05"), trading.WithSendTTL(0))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			liveTest(t, nil, nil, func(r rig) {
				t := r.t
				r.open(buy("0.05"))
				r.readAll()
				r.readAll()
				_, err := r.account().SetTPSL(t.Context(), "BTC", trading.TPSL{TakeProfit: trading.At(trading.Dec("90000")), StopLoss: trading.Clear})
				require.NoError(t, err)
				time.Sleep(time.Second)
				r.sim.Fault("POST /orders", tradingsim.DropResponse())
				r.sim.Fault("POST /positions/close", tradingsim.DropResponse())
				lost := write(r)
				require.Equal(t, trading.Unknown, trading.OutcomeOf(lost))
				resolution, _ := r.resolve(lost)
				assert.Equal(t, trading.Unknown, resolution.Outcome, "nobody said that the account is exclusive")
				assert.ErrorContains(t, resolution.Err, "somebody else may have left it")
			})
		})
	}
}

// Where the service may keep idempotency keys by route, a fence proves nothing until that
// is known: a question that fails is asked again, and the order is found all the same.
func TestHowKeysAreKeptIsAskedUntilItIsKnown(t *testing.T) {
	for name, fault := range map[string]func(rig){
		"the first question fails": func(r rig) { r.sim.Fault("POST /runs/cancel", tradingsim.Fail(500, "internal_error")) },
		"the first reply is lost":  func(r rig) { r.sim.Fault("POST /runs/cancel", tradingsim.DropResponse()) },
		"the second question fails": func(r rig) {
			r.sim.Fault("POST /orders/cancel", tradingsim.Pass())
			r.sim.Fault("POST /orders/cancel", tradingsim.Fail(500, "internal_error"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			liveTest(t, []tradingsim.Option{tradingsim.WithInterpretation(49)}, []trading.Option{sole}, func(r rig) {
				r.readAll()
				r.readAll()
				fault(r)
				lost := r.doubtful(tradingsim.DropRequest(), buy("0.05"))
				resolution, err := r.resolve(lost)
				require.NoError(r.t, err)
				assert.Equal(r.t, trading.NotApplied, resolution.Outcome)
				assert.Greater(r.t, r.sent(trading.OpCancelRun), 0)
			})
		})
	}
}
