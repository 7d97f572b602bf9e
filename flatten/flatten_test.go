package flatten_test

import (
	"context"
	"net/http"
	"slices"
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

// T95: what waits on the account goes first, or it fills into a closed position.
func TestTrap_T95_RunsThenLimitsThenPositions(t *testing.T) {
	inBubble(t, func(t *testing.T, r rig) {
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
	inBubble(t, func(t *testing.T, r rig) {
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

// A guard of the program's own can hold back closes too. What it waits for may pass, so it
// is waited for, and nothing is claimed meanwhile.
func TestAGuardOfCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var holds atomic.Bool
		r := newRig(t, nil, trading.WithGuard(func(context.Context, trading.Write) error {
			if holds.Load() {
				return &trading.GuardError{Kind: trading.ErrUnhealthy}
			}
			return nil
		}))
		r.open(trading.Long, "0.1", "BTC")
		holds.Store(true)
		time.Sleep(time.Minute)
		report, err := r.flatten(time.Minute, flatten.Options{})
		require.ErrorIs(t, err, trading.ErrUnhealthy)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Zero(t, r.wrote(trading.OpClose))
		assert.Greater(t, len(report.Looks), 5)

		time.AfterFunc(20*time.Second, func() { holds.Store(false) })
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
					opts = append(opts, tradingsim.WithInterpretation(tc.reading))
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

// A position that cannot be closed keeps no other open.
func TestOnePositionKeepsNoOtherOpen(t *testing.T) {
	inBubble(t, func(t *testing.T, r rig) {
		r.open(trading.Long, "0.1", "BTC")
		r.open(trading.Long, "1", "ETH")
		r.sim.SetFillError("BTC", "NO_PRICE")
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

// Whatever happens to the first closes, the position is closed in the end, at no size but its own,
// and it is claimed only when it is. Nothing protects a paper close from being sent twice, and
// nothing has to: it closes what is there.
func TestFaultsOfAClose(t *testing.T) {
	for name, fault := range faultsOfWrites() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, []tradingsim.Option{tradingsim.WithLag(3 * time.Second)})
				r.open(trading.Long, "0.1", "BTC")
				r.openPaper(trading.Long, "0.1", "BTC")
				time.Sleep(4 * time.Second)
				before := len(r.sim.Ledger())
				r.sim.Fault(string(trading.OpClose), slices.Repeat([]tradingsim.Fault{fault}, 5)...)
				_, err := r.flatten(time.Hour, flatten.Options{})
				require.NoError(t, err)
				r.holdsNothing("acc_1", "BTC")
				r.sim.Fault(string(trading.OpSandboxClose), fault, fault, fault)
				_, err = r.flattenPaper(time.Hour, flatten.Options{})
				require.NoError(t, err)
				r.holdsNothing("", "BTC")
				assert.Len(t, r.did(before), 2, "a close cannot overshoot")
			})
		})
	}
}

// faultsOfWrites are what can happen to a write.
func faultsOfWrites() map[string]tradingsim.Fault {
	return map[string]tradingsim.Fault{
		"lost":              tradingsim.DropRequest(),
		"answer lost":       tradingsim.DropResponse(),
		"answer cut":        tradingsim.TruncateResponse(),
		"no connection":     tradingsim.RefuseConnection(),
		"gateway page":      tradingsim.GatewayError(403),
		"gateway page, 200": tradingsim.GatewayError(200),
		"hidden by a page":  tradingsim.GatewayErrorAfter(200),
		"5xx before":        tradingsim.Fail(500, "internal_error"),
		"5xx after":         tradingsim.FailAfter(500, "internal_error"),
		"5xx after, lost":   tradingsim.Together(tradingsim.FailAfter(502, "unavailable"), tradingsim.DropResponse()),
		"crash":             tradingsim.Crash(),
		"crash after":       tradingsim.CrashAfter(),
		"slow":              tradingsim.Delay(9 * time.Second),
		"slow answer":       tradingsim.DelayResponse(9 * time.Second),
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
		"a gateway page": tradingsim.GatewayError(200),
		"a challenge":    tradingsim.GatewayError(403),
		"5xx":            tradingsim.Fail(500, "internal_error"),
		"cut":            tradingsim.TruncateResponse(),
		"not found":      tradingsim.GatewayError(404),
		"429":            tradingsim.RateLimit(time.Second),
		"slow":           tradingsim.DelayResponse(7 * time.Second),
		"no such route":  tradingsim.Fail(404, "not_found"),
		"no such a key":  tradingsim.Fail(401, "unauthorized"),
		"unknown to us":  tradingsim.Fail(404, "account_not_found"),
		"never answered": tradingsim.DropResponse(),
	} {
		for _, read := range []trading.Operation{trading.OpOpenOrders, trading.OpPositions} {
			t.Run(name+"/"+string(read), func(t *testing.T) {
				inBubble(t, func(t *testing.T, r rig) {
					r.open(trading.Long, "0.1", "BTC")
					r.rest(trading.Long, "0.1", "BTC", "63000")
					r.sim.FaultEach(tradingsim.Always(string(read), fault))
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
	inBubble(t, func(t *testing.T, r rig) {
		report, err := flatten.Account(t.Context(), r.Live.Account("acc_2"), flatten.Options{})
		r.consistent(report, err, flatten.Options{})
		require.ErrorIs(t, err, flatten.ErrStuck)
		require.ErrorIs(t, err, trading.CodeAccountNotFound)
	})
}

// T85: a key that is refused can do nothing.
func TestTrap_T85_ARefusedKey(t *testing.T) {
	inBubble(t, func(t *testing.T, r rig) {
		r.open(trading.Long, "0.1", "BTC")
		r.sim.RevokeKey(r.sim.LiveKey())
		_, err := flatten.Account(t.Context(), r.account, flatten.Options{})
		require.ErrorIs(t, err, flatten.ErrStuck)
		require.ErrorIs(t, err, trading.ErrKeyRefused)
	})
}
