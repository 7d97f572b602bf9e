package flatten_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/flatten"
	"github.com/tradingapi/trading-go/tradingsim"
)

// A 429 of one class holds up nothing but that class, and nothing of it is sent
// before its Retry-After.
func TestARateLimit(t *testing.T) {
	inBubble(t, func(t *testing.T, r rig) {
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
	inBubble(t, func(t *testing.T, r rig) {
		began := time.Now()
		report, err := r.flatten(flatten.DefaultProofInterval, flatten.Options{})
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
	inBubble(t, func(t *testing.T, r rig) {
		r.open(trading.Long, "0.1", "BTC")
		why := errors.New("the operator left")
		for _, after := range []time.Duration{0, time.Second, 3 * time.Second} {
			ctx, cancel := context.WithCancelCause(t.Context())
			if after == 0 {
				cancel(why)
			}
			r.sim.FaultEach(tradingsim.Always(string(trading.OpClose), tradingsim.Delay(2*time.Second)))
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
	inBubble(t, func(t *testing.T, r rig) {
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

		r.Resume()
		_, err = flatten.Account(t.Context(), r.account, flatten.Options{Halt: r.Client, ProofInterval: -1})
		require.ErrorIs(t, err, flatten.ErrNotFlat)
		_, halted := r.Halted()
		assert.True(t, halted, "even if the options are wrong")
	})
}

func TestOptionsThatAreRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, r rig) {
		for name, o := range map[string]flatten.Options{
			"no symbols":     {Symbols: []string{}},
			"a symbol of ''": {Symbols: []string{"BTC", ""}},
			"interval":       {ProofInterval: -time.Second},
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
	inBubble(t, func(t *testing.T, r rig) {
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
	inBubble(t, func(t *testing.T, r rig) {
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

// It gives up on refusals in a row alone, and over a proof interval: two are not
// enough, nor are those that came before something else.
func TestGivingUp(t *testing.T) {
	bad := tradingsim.Fail(400, "bad_request")
	for name, tc := range map[string]struct {
		faults []tradingsim.Fault
		stuck  bool
	}{
		"once":                  {faults: []tradingsim.Fault{bad}},
		"three times, too soon": {faults: []tradingsim.Fault{bad, bad, bad}},
		"four times":            {faults: []tradingsim.Fault{bad, bad, tradingsim.Fail(409, "conflict"), bad}, stuck: true},
		"with hope between":     {faults: []tradingsim.Fault{bad, bad, tradingsim.Fail(500, "internal_error"), bad, bad, tradingsim.Fail(404, "no_position"), bad, bad}},
		"locked for a while":    {faults: slices.Repeat([]tradingsim.Fault{tradingsim.Fail(403, "account_locked")}, 6)}, // which its status does not bear out
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r rig) {
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
	inBubble(t, func(t *testing.T, r rig) {
		r.open(trading.Long, "0.1", "BTC")
		r.sim.Fault(string(trading.OpClose), tradingsim.RateLimit(10*time.Minute))
		_, err := r.flatten(2*time.Minute, flatten.Options{})
		require.ErrorIs(t, err, trading.CodeRateLimited)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.ErrorContains(t, err, "long 0.1 BTC")
		assert.Equal(t, 1, r.wrote(trading.OpClose))
	})
}
