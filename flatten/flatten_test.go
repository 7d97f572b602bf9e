package flatten_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/flatten"
	"github.com/tradingapi/trading-go/tradingsim"
)

func TestAFlatAccountIsLookedAtTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		began := time.Now()
		report, err := r.flatten(time.Minute, flatten.Options{})
		require.NoError(t, err)
		assert.Len(t, report.Looks, 2)
		assert.Empty(t, report.Steps)
		assert.Equal(t, trading.AccountID("acc_1"), report.Account)
		assert.Equal(t, flatten.DefaultSettle, time.Since(began))
		assert.Contains(t, report.String(), "flat: account acc_1")
	})
}

// T95: what waits on the account goes first, or it fills into a closed position.
func TestTrap_T95_RunsThenLimitsThenPositions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.open(trading.Long, "0.1", "BTC")
		r.open(trading.Short, "1", "ETH")
		run := r.slice("10", "SOL")
		waits := r.rest(trading.Long, "0.1", "BTC", "63000")
		before := len(r.sim.Ledger())
		r.sim.FaultEach(func(operation string) tradingsim.Fault {
			if operation == string(trading.OpClose) {
				r.sim.SetMark("BTC", "62000") // the market comes to the limit while the position is closed
			}
			return nil
		})
		var told []flatten.Step
		report, err := r.flatten(time.Minute, flatten.Options{Progress: func(s flatten.Step) { told = append(told, s) }})
		require.NoError(t, err)
		r.holdsNothing("acc_1", "BTC", "ETH", "SOL")
		did := r.did(before)
		require.Len(t, did, 4, "nothing filled but the two closes: %v", did)
		assert.Equal(t, []string{"POST /runs/cancel SOL", "POST /orders/cancel BTC"}, did[:2])
		assert.ElementsMatch(t, []string{"POST /positions/close BTC", "POST /positions/close ETH"}, did[2:])
		assert.Equal(t, report.Steps, told)
		require.Len(t, told, 4)
		assert.Equal(t, flatten.CancelRun, told[0].Do)
		assert.Equal(t, string(run), told[0].Target)
		assert.Equal(t, flatten.CancelLimit, told[1].Do)
		assert.Equal(t, string(waits), told[1].Target)
		for _, s := range told {
			assert.Equal(t, trading.Applied, s.Outcome)
			assert.Equal(t, 200, s.Meta.Status)
			assert.Contains(t, s.String(), "applied")
		}
		assert.Len(t, report.Looks[0].Positions, 2)
		assert.Contains(t, report.Looks[0].String(), "run "+string(run)+" in SOL, limit "+string(waits)+" in BTC")
	})
}

// T96: the limit fills between the look and its cancel. Its 404 says that it is
// gone, not that nothing is open.
func TestTrap_T96_ACancelThatFindsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, []tradingsim.Option{tradingsim.WithLag(2 * time.Second)})
		r.rest(trading.Long, "0.1", "BTC", "63000")
		time.Sleep(3 * time.Second)
		r.sim.FaultEach(func(operation string) tradingsim.Fault {
			if operation == string(trading.OpCancelOrder) {
				r.sim.SetMark("BTC", "62000")
			}
			return nil
		})
		report, err := r.flatten(time.Minute, flatten.Options{})
		require.NoError(t, err)
		r.holdsNothing("acc_1", "BTC")
		assert.ErrorIs(t, report.Steps[0].Err, trading.CodeOrderNotFound)
		assert.Equal(t, 1, closes(report, trading.Applied), "%v", report.Steps)
	})
}

func closes(report *flatten.Report, outcome trading.Outcome) (n int) {
	for _, s := range report.Steps {
		if s.Do == flatten.Close && s.Outcome == outcome {
			n++
		}
	}
	return n
}

// T43: a degraded service holds back entries, and no way out.
func TestTrap_T43_TheWayOutIsOpenWhileDegraded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.open(trading.Long, "0.1", "BTC")
		r.rest(trading.Long, "0.1", "BTC", "63000")
		r.sim.SetHealth("degraded", "stale")
		time.Sleep(time.Minute)
		_, err := r.account.PlaceOrder(t.Context(), order(trading.Long, "0.1", "BTC"))
		require.ErrorIs(t, err, trading.ErrUnhealthy)

		_, err = r.flatten(time.Minute, flatten.Options{})
		require.NoError(t, err)
		r.holdsNothing("acc_1", "BTC")
	})
}

// A strict gate holds back closes too. What it waits for may pass, so it is
// waited for, and nothing is claimed meanwhile.
func TestAStrictGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil, trading.WithHealthGate(trading.HealthGate{Strict: true}))
		r.open(trading.Long, "0.1", "BTC")
		r.sim.SetHealth("degraded", "stale")
		time.Sleep(time.Minute)
		report, err := r.flatten(time.Minute, flatten.Options{})
		require.ErrorIs(t, err, trading.ErrUnhealthy)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Zero(t, r.wrote(trading.OpClose))
		assert.Greater(t, len(report.Looks), 5)

		time.AfterFunc(20*time.Second, func() { r.sim.SetHealth("healthy", "live") })
		_, err = r.flatten(time.Minute, flatten.Options{})
		require.NoError(t, err)
		r.holdsNothing("acc_1", "BTC")
	})
}

// T37: one account_locked for an account that has passed, whose positions can be
// closed, and for one that accepts nothing. The status tells which.
func TestTrap_T37_PassedAndFailedAccounts(t *testing.T) {
	for _, tc := range []struct {
		name, status string
		reading      int
		limit, flat  bool
	}{
		{name: "passed", status: "PASSED", flat: true},
		{name: "passed, and takes cancels", status: "PASSED", limit: true, flat: true},
		{name: "passed, and takes no cancels", status: "PASSED", limit: true, reading: 37},
		{name: "failed", status: "FAILED"},
		{name: "expired", status: "EXPIRED"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var opts []tradingsim.Option
				if tc.reading > 0 {
					opts = append(opts, tradingsim.WithReading(tc.reading))
				}
				r := newRig(t, opts)
				r.open(trading.Long, "0.1", "BTC")
				if tc.limit {
					o := limit(trading.Short, "0.1", "BTC", "70000")
					o.ReduceOnly = true // of another, nothing is left once the account has passed
					_, err := r.account.PlaceLimit(t.Context(), o)
					require.NoError(t, err)
				}
				r.sim.FaultEach(func(operation string) tradingsim.Fault {
					if operation == string(trading.OpCancelOrder) || operation == string(trading.OpClose) {
						r.sim.SetStatus("acc_1", tc.status) // between the look and what it led to
					}
					return nil
				})
				began := time.Now()
				report, err := r.flatten(time.Hour, flatten.Options{})
				if tc.flat {
					require.NoError(t, err)
					r.holdsNothing("acc_1", "BTC")
					return
				}
				require.ErrorIs(t, err, flatten.ErrStuck)
				require.ErrorIs(t, err, trading.ErrAccountLocked)
				assert.ErrorContains(t, err, "the account is "+tc.status)
				assert.Less(t, time.Since(began), time.Minute, "nothing can be done, so it does not wait for the context")
				left, _ := report.Left()
				assert.Equal(t, tc.status == "PASSED", left.Positions == nil)
				assert.Equal(t, tc.limit, len(left.Limits) == 1)
				assert.Contains(t, report.String(), "NOT PROVEN FLAT")
			})
		})
	}
}

// An account that accepts nothing and holds nothing is flat, by looking.
func TestAFailedAccountThatHoldsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, []tradingsim.Option{tradingsim.WithAccount(tradingsim.Account{ID: "acc_1", Status: "FAILED", Archived: true})})
		_, err := r.flatten(time.Minute, flatten.Options{})
		require.NoError(t, err)
	})
}

// An account_locked that its own status does not bear out can pass.
func TestAnAccountThatIsLockedForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.open(trading.Long, "0.1", "BTC")
		for range 6 {
			r.sim.Fault(string(trading.OpClose), tradingsim.Fail(403, "account_locked"))
		}
		_, err := r.flatten(5*time.Minute, flatten.Options{})
		require.NoError(t, err)
		r.holdsNothing("acc_1", "BTC")
	})
}

// A market without a price refuses closes until it has one again.
func TestAMarketWithoutAPrice(t *testing.T) {
	for _, trouble := range []string{"STALE_PRICE", "NO_PRICE", "no_price", "equity_unavailable"} {
		t.Run(trouble, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, nil)
				r.open(trading.Long, "0.1", "BTC")
				r.open(trading.Long, "1", "ETH")
				var priced atomic.Bool
				time.AfterFunc(30*time.Second, func() { priced.Store(true) })
				r.sim.FaultEach(func(operation string) tradingsim.Fault {
					if operation != string(trading.OpClose) || priced.Load() || r.sim.Position("acc_1", "ETH").IsZero() {
						return nil
					}
					return map[bool]tradingsim.Fault{true: tradingsim.Fail(409, trouble), false: tradingsim.Fail(503, trouble)}[trouble[0] < 'a']
				})
				report, err := r.flatten(5*time.Minute, flatten.Options{})
				require.NoError(t, err)
				r.holdsNothing("acc_1", "BTC", "ETH")
				assert.Greater(t, report.Ended.Sub(report.Began), 30*time.Second)
			})
		})
	}
}

// A position that cannot be closed keeps no other open.
func TestOnePositionKeepsNoOtherOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.open(trading.Long, "0.1", "BTC")
		r.open(trading.Long, "1", "ETH")
		r.sim.SetTrouble("BTC", "NO_PRICE")
		report, err := r.flatten(time.Minute, flatten.Options{})
		require.ErrorIs(t, err, trading.ErrNoPrice)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.NotErrorIs(t, err, flatten.ErrStuck)
		r.holdsNothing("acc_1", "ETH")
		left, _ := report.Left()
		require.Len(t, left.Positions, 1)
		assert.Equal(t, "BTC", left.Positions[0].Symbol)
	})
}

// Whatever happens to the first close, the position is closed in the end, at no
// size but its own, and it is claimed only when it is.
func TestFaultsOfAClose(t *testing.T) {
	for name, fault := range faultsOfWrites() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, []tradingsim.Option{tradingsim.WithLag(3 * time.Second)})
				r.open(trading.Long, "0.1", "BTC")
				time.Sleep(4 * time.Second)
				before := len(r.sim.Ledger())
				r.sim.Fault(string(trading.OpClose), fault, fault, fault, fault, fault)
				_, err := r.flatten(time.Hour, flatten.Options{})
				require.NoError(t, err)
				r.holdsNothing("acc_1", "BTC")
				assert.Len(t, r.did(before), 1, "a close cannot overshoot")
			})
		})
	}
}

// faultsOfWrites are what can happen to a write.
func faultsOfWrites() map[string]tradingsim.Fault {
	return map[string]tradingsim.Fault{
		"lost":              tradingsim.LoseRequest(),
		"answer lost":       tradingsim.LoseReply(),
		"answer cut":        tradingsim.TruncateReply(),
		"no connection":     tradingsim.RefuseConnection(),
		"edge page":         tradingsim.EdgePage(403),
		"edge page, 200":    tradingsim.EdgePage(200),
		"hidden by a page":  tradingsim.EdgePageAfter(200),
		"5xx before":        tradingsim.Fail(500, "internal_error"),
		"5xx after":         tradingsim.FailAfter(500, "internal_error"),
		"5xx after, lost":   tradingsim.Together(tradingsim.FailAfter(502, "unavailable"), tradingsim.LoseReply()),
		"crash":             tradingsim.Crash(),
		"crash after":       tradingsim.CrashAfter(),
		"slow":              tradingsim.Delay(9 * time.Second),
		"slow answer":       tradingsim.DelayReply(9 * time.Second),
		"late":              tradingsim.ArriveLate(8 * time.Second),
		"twice":             tradingsim.Repeat(),
		"a late copy":       tradingsim.LateCopy(4 * time.Second),
		"429":               tradingsim.RateLimit(20 * time.Second),
		"price":             tradingsim.Fail(409, "STALE_PRICE"),
		"nothing of ours":   tradingsim.Raw(200, nil, `{}`),
		"executed, unclear": tradingsim.RawAfter(200, http.Header{"Content-Type": {"application/json"}}, `{"success":true}`),
	}
}

// An answer that is not the service's, or not in its shape, is no look: what it
// does not show may be there all the same.
func TestAReadThatFailedIsNoLook(t *testing.T) {
	as := http.Header{"Content-Type": {"application/json"}}
	for name, fault := range map[string]tradingsim.Fault{
		"empty object":   tradingsim.Raw(200, as, `{}`),
		"null":           tradingsim.Raw(200, as, `null`),
		"null lists":     tradingsim.Raw(200, as, `{"positions":null,"orders":null,"runs":null}`),
		"nothing":        tradingsim.Raw(200, as, ``),
		"no content":     tradingsim.Raw(204, as, ``),
		"another's":      tradingsim.Raw(200, as, `{"orders":{},"runs":{},"positions":{}}`),
		"an error":       tradingsim.Raw(200, as, `{"error":"internal_error","message":"","positions":[],"orders":[],"runs":[]}`),
		"an edge page":   tradingsim.EdgePage(200),
		"a challenge":    tradingsim.EdgePage(403),
		"5xx":            tradingsim.Fail(500, "internal_error"),
		"cut":            tradingsim.TruncateReply(),
		"not found":      tradingsim.EdgePage(404),
		"429":            tradingsim.RateLimit(time.Second),
		"slow":           tradingsim.DelayReply(7 * time.Second),
		"no such route":  tradingsim.Fail(404, "not_found"),
		"no such a key":  tradingsim.Fail(401, "unauthorized"),
		"unknown to us":  tradingsim.Fail(404, "account_not_found"),
		"never answered": tradingsim.LoseReply(),
	} {
		for _, read := range []trading.Operation{trading.OpOpenOrders, trading.OpPositions} {
			t.Run(name+"/"+string(read), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := newRig(t, nil)
					r.open(trading.Long, "0.1", "BTC")
					r.rest(trading.Long, "0.1", "BTC", "63000")
					r.sim.FaultEach(func(operation string) tradingsim.Fault {
						if operation == string(read) {
							return fault
						}
						return nil
					})
					report, err := r.flatten(2*time.Minute, flatten.Options{})
					require.Error(t, err)
					assert.Empty(t, report.Looks)
					assert.NotEmpty(t, report.Steps)
					assert.Contains(t, report.String(), "could not be looked at")
				})
			})
		}
	}
}

// T83: an account that is not there is not flat.
func TestTrap_T83_AnAccountThatIsNotThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		report, err := flatten.Account(t.Context(), r.Live.Account("acc_2"), flatten.Options{})
		r.consistent(report, err, flatten.Options{})
		require.ErrorIs(t, err, flatten.ErrStuck)
		require.ErrorIs(t, err, trading.CodeAccountNotFound)
	})
}

// T85: a key that is refused can do nothing.
func TestTrap_T85_ARefusedKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.open(trading.Long, "0.1", "BTC")
		r.sim.RevokeKey(r.sim.LiveKey())
		_, err := flatten.Account(t.Context(), r.account, flatten.Options{})
		require.ErrorIs(t, err, flatten.ErrStuck)
		require.ErrorIs(t, err, trading.ErrKeyRefused)
	})
}

// Somebody who buys again and again is closed again and again, until the context
// ends; and it does not end before.
func TestRefilledForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, []tradingsim.Option{tradingsim.WithAccount(tradingsim.Account{ID: "acc_1", Balance: "100000000"})})
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		var terminal sync.WaitGroup
		terminal.Go(func() {
			for ctx.Err() == nil {
				r.sim.Trade("acc_1", "long", "0.01", "BTC")
				time.Sleep(4 * time.Second)
			}
		})
		report, err := flatten.Account(ctx, r.account, flatten.Options{})
		terminal.Wait()
		r.consistent(report, err, flatten.Options{})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.NotErrorIs(t, err, flatten.ErrStuck)
		assert.Greater(t, closes(report, trading.Applied), 600)
		assert.Greater(t, report.Ended.Sub(report.Began), 59*time.Minute)
	})
}

// A 429 of one class holds up nothing but that class, and nothing of it is sent
// before its Retry-After.
func TestARateLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.open(trading.Long, "0.1", "BTC")
		r.rest(trading.Long, "0.1", "BTC", "63000")
		r.sim.Fault(string(trading.OpCancelOrder), tradingsim.RateLimit(40*time.Second))
		began := time.Now()
		report, err := r.flatten(5*time.Minute, flatten.Options{})
		require.NoError(t, err)
		var cancels, closed []time.Duration
		for _, request := range r.sim.Requests() {
			switch request.Operation {
			case string(trading.OpCancelOrder):
				cancels = append(cancels, request.At.Sub(began))
			case string(trading.OpClose):
				closed = append(closed, request.At.Sub(began))
			}
		}
		require.Len(t, cancels, 2)
		assert.Zero(t, cancels[0])
		assert.GreaterOrEqual(t, cancels[1], 40*time.Second)
		assert.Less(t, cancels[1], 50*time.Second)
		require.NotEmpty(t, closed)
		assert.Less(t, closed[0], time.Second)
		assert.Len(t, report.Steps, 3, "what is held back is not a step")
	})
}

// A wait that the context would not survive is not begun.
func TestWaitsThatDoNotFit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		began := time.Now()
		report, err := r.flatten(flatten.DefaultSettle, flatten.Options{})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Zero(t, time.Since(began))
		assert.Len(t, report.Looks, 1)

		r.sim.Fault(string(trading.OpPositions), tradingsim.RateLimit(time.Minute))
		_, err = r.flatten(50*time.Second, flatten.Options{})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, trading.CodeRateLimited)
		assert.Zero(t, time.Since(began))
	})
}

func TestTheContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.open(trading.Long, "0.1", "BTC")
		why := errors.New("the operator left")
		for _, after := range []time.Duration{0, time.Second, 3 * time.Second} {
			ctx, cancel := context.WithCancelCause(t.Context())
			if after == 0 {
				cancel(why)
			}
			r.sim.FaultEach(func(operation string) tradingsim.Fault {
				if operation == string(trading.OpClose) {
					return tradingsim.Delay(2 * time.Second)
				}
				return nil
			})
			time.AfterFunc(after, func() { cancel(why) })
			began := time.Now()
			report, err := flatten.Account(ctx, r.account, flatten.Options{})
			r.consistent(report, err, flatten.Options{})
			require.ErrorIs(t, err, why)
			assert.Equal(t, after, time.Since(began))
		}
	})
}

// The kill switch goes first, stays, and lets the exits pass.
func TestHalt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.open(trading.Long, "0.1", "BTC")
		r.sim.FaultEach(func(operation string) tradingsim.Fault {
			if _, halted := r.Halted(); !halted {
				t.Errorf("%s before the halt", operation)
			}
			return nil
		})
		_, err := r.flatten(time.Minute, flatten.Options{Halt: r.Client})
		require.NoError(t, err)
		r.holdsNothing("acc_1", "BTC")
		_, err = r.account.PlaceOrder(t.Context(), order(trading.Long, "0.1", "BTC"))
		require.ErrorIs(t, err, trading.ErrHalted)

		r.Client.Halt("an order is in the air")
		_, err = r.flatten(time.Minute, flatten.Options{Halt: r.Client, Symbols: []string{}})
		require.Error(t, err, "an empty list is a mistake")
		reason, _ := r.Halted()
		assert.Equal(t, "an order is in the air", reason, "a halt that stands keeps its reason")

		r.Unhalt()
		_, err = flatten.Account(t.Context(), r.account, flatten.Options{Halt: r.Client, Settle: -1})
		require.ErrorIs(t, err, flatten.ErrNotFlat)
		_, halted := r.Halted()
		assert.True(t, halted, "even if the options are wrong")
	})
}

func TestOptionsThatAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		for name, o := range map[string]flatten.Options{
			"no symbols":     {Symbols: []string{}},
			"a symbol of ''": {Symbols: []string{"BTC", ""}},
			"settle":         {Settle: -time.Second},
		} {
			report, err := r.flatten(time.Minute, o)
			require.ErrorIs(t, err, flatten.ErrNotFlat, name)
			assert.Empty(t, report.Looks)
			_, err = flatten.All(t.Context(), r.Live, o)
			require.ErrorIs(t, err, flatten.ErrNotFlat, name)
			_, err = flatten.Inspect(t.Context(), r.account, o)
			require.ErrorIs(t, err, flatten.ErrNotFlat, name)
		}
		report, err := flatten.Account(t.Context(), nil, flatten.Options{})
		require.ErrorIs(t, err, flatten.ErrNotFlat)
		require.NotNil(t, report)
		report, err = flatten.Sandbox(t.Context(), nil, flatten.Options{})
		require.ErrorIs(t, err, flatten.ErrNotFlat)
		require.NotNil(t, report)
		_, err = flatten.All(t.Context(), nil, flatten.Options{})
		require.ErrorIs(t, err, flatten.ErrNotFlat)
		_, err = flatten.Inspect(t.Context(), nil, flatten.Options{})
		require.Error(t, err)
		assert.Empty(t, r.sim.Requests())
	})
}

// The client is closed: nothing can be sent any more.
func TestAClosedClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		require.NoError(t, r.Close())
		_, err := flatten.Account(t.Context(), r.account, flatten.Options{})
		require.ErrorIs(t, err, flatten.ErrStuck)
		require.ErrorIs(t, err, trading.ErrClosed)
	})
}

// A guard of the program's own that refuses closes is not argued with.
func TestAGuardOfTheProgram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil, trading.WithGuard(func(_ context.Context, w trading.Write) error {
			if w.Entry {
				return nil
			}
			return errors.New("dry run")
		}))
		r.open(trading.Long, "0.1", "BTC")
		_, err := flatten.Account(t.Context(), r.account, flatten.Options{})
		require.ErrorIs(t, err, flatten.ErrStuck)
		require.ErrorIs(t, err, trading.ErrGuard)
		assert.Zero(t, r.wrote(trading.OpClose))
	})
}

func TestInspectChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.open(trading.Long, "0.1", "BTC")
		r.rest(trading.Long, "0.1", "ETH", "3000")
		before := len(r.sim.Ledger())
		look, err := flatten.Inspect(t.Context(), r.account, flatten.Options{})
		require.NoError(t, err)
		assert.Len(t, look.Positions, 1)
		assert.Len(t, look.Limits, 1)
		assert.Empty(t, r.did(before))
		look, err = flatten.Inspect(t.Context(), r.account, flatten.Options{Symbols: []string{"SOL"}})
		require.NoError(t, err)
		assert.True(t, look.Empty())
		assert.Equal(t, "nothing", look.String())

		r.sim.Fault(string(trading.OpPositions), tradingsim.Fail(404, "account_not_found"))
		_, err = flatten.Inspect(t.Context(), r.account, flatten.Options{})
		require.ErrorIs(t, err, trading.CodeAccountNotFound)
	})
}

// What is not found may have filled, or been closed by somebody else; as long as
// the looks show it, it is tried again.
func TestWhatIsNotFoundIsLookedForAgain(t *testing.T) {
	for _, tc := range []struct {
		op   trading.Operation
		code string
	}{
		{trading.OpClose, "no_position"}, {trading.OpCancelOrder, "order_not_found"},
		{trading.OpCancelRun, "run_not_found"}, {trading.OpClose, "asset_disabled"},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			switch tc.op {
			case trading.OpClose:
				r.open(trading.Long, "0.1", "BTC")
			case trading.OpCancelOrder:
				r.rest(trading.Long, "0.1", "BTC", "63000")
			default:
				r.slice("10", "SOL")
			}
			for range 8 {
				r.sim.Fault(string(tc.op), tradingsim.Fail(404, tc.code))
			}
			_, err := r.flatten(5*time.Minute, flatten.Options{})
			require.NoError(t, err, tc.code)
			r.holdsNothing("acc_1", "BTC", "SOL")
			assert.Equal(t, 9, r.wrote(tc.op))
		})
	}
}

// It gives up on refusals in a row alone, and over a settle window: two are not
// enough, nor are those that came before something else.
func TestGivingUp(t *testing.T) {
	bad := tradingsim.Fail(400, "bad_request")
	for name, tc := range map[string]struct {
		faults []tradingsim.Fault
		stuck  bool
	}{
		"once":                  {faults: []tradingsim.Fault{bad}},
		"three times, too soon": {faults: []tradingsim.Fault{bad, bad, bad}},
		"four times":            {faults: []tradingsim.Fault{bad, bad, tradingsim.Fail(403, "forbidden"), bad}, stuck: true},
		"with hope between":     {faults: []tradingsim.Fault{bad, bad, tradingsim.Fail(500, "internal_error"), bad, bad, tradingsim.Fail(404, "no_position"), bad, bad}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, nil)
				r.open(trading.Long, "0.1", "BTC")
				r.sim.Fault(string(trading.OpClose), tc.faults...)
				_, err := r.flatten(5*time.Minute, flatten.Options{})
				assert.Equal(t, tc.stuck, errors.Is(err, flatten.ErrStuck), "%v", err)
				assert.Equal(t, tc.stuck, err != nil, "%v", err)
			})
		})
	}
}

// What stands in the way of an account whose time runs out is in the error, also
// what is held back for its Retry-After.
func TestTheErrorSaysWhatStandsInTheWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.open(trading.Long, "0.1", "BTC")
		r.sim.Fault(string(trading.OpClose), tradingsim.RateLimit(10*time.Minute))
		_, err := r.flatten(2*time.Minute, flatten.Options{})
		require.ErrorIs(t, err, trading.CodeRateLimited)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.ErrorContains(t, err, "long 0.1 BTC")
		assert.Equal(t, 1, r.wrote(trading.OpClose))
	})
}
