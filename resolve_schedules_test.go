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

// Each of these is the shortest schedule of a crash in which the client once said
// what the ledger does not.

// Of two sends that nobody answered, a repeated refusal is the end of one alone.
func TestARepeatedRefusalSettlesOneSend(t *testing.T) {
	lost := func(f tradingsim.Fault) tradingsim.Fault { return tradingsim.Together(f, tradingsim.DropResponse()) }
	refused := lost(tradingsim.Fail(400, "MIN_NOTIONAL"))
	for _, row := range []struct {
		name     string
		faults   []tradingsim.Fault
		outcome  trading.Outcome
		executed int
	}{
		{"one", []tradingsim.Fault{refused}, trading.NotApplied, 0},
		{"two, the first of them executed", []tradingsim.Fault{lost(tradingsim.FailAfter(500, "internal_error")), refused}, trading.Unknown, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			liveTest(t, nil, nil, func(r rig) {
				r.readAll()
				r.sim.Fault("POST /orders", row.faults...)
				_, err := r.account().PlaceOrder(r.t.Context(), buy("0.05"))
				require.ErrorIs(r.t, err, trading.CodeMinNotional)
				assert.Equal(r.t, row.outcome, trading.OutcomeOf(err))
				assert.Equal(r.t, row.executed, r.ran(trading.OpOrder))
				resolution, err := r.resolve(err)
				assert.Equal(r.t, row.outcome, resolution.Outcome, "%v", err)
			})
		})
	}
}

// A resting order that somebody cancels leaves nothing behind, so that nothing is
// no proof, unless there is nobody. Once its key is held, an order that was never
// placed is told from one that was in either case: it neither rests nor filled.
func TestWhatRestedMayBeGone(t *testing.T) {
	limit := buy("0.05", func(o *trading.Order) { o.LimitPrice = at("60000") })
	for _, alone := range []bool{false, true} {
		fault := tradingsim.FailAfter(500, "internal_error")
		var opts []trading.Option
		if alone {
			fault, opts = tradingsim.Fail(500, "internal_error"), []trading.Option{sole}
		}
		liveTest(t, nil, opts, func(r rig) {
			r.readAll()
			r.sim.Fault("POST /orders/limit", fault)
			_, err := r.account().PlaceLimit(r.t.Context(), limit, trading.WithResolveTimeout(0))
			require.Equal(r.t, trading.Unknown, trading.OutcomeOf(err))
			cancelAll(r.t, r.sim)
			resolution, err := r.resolve(err)
			require.NotNil(r.t, resolution)
			// A limit that somebody has cancelled since reads the same as one that never was:
			// either way nothing rests, nothing filled, and nothing will.
			assert.NotEqual(r.t, trading.Applied, resolution.Outcome, "%v", err)
			if alone {
				require.NoError(r.t, err)
			}
		})
	}
}

// cancelAll cancels what rests, as somebody else would.
func cancelAll(t testing.TB, sim *tradingsim.Sim) {
	t.Helper()
	client, err := trading.New(sim.URL(), trading.WithLiveKey(sim.NewLiveKey()), trading.WithTransport(sim.Transport()))
	require.NoError(t, err)
	defer client.Close()
	account := client.Live.Account("acc_1")
	open, err := account.OpenOrders(context.Background())
	require.NoError(t, err)
	for _, o := range open.Limits {
		_, err := account.CancelOrder(context.Background(), o.ID)
		require.NoError(t, err)
	}
}

// What is refused for the API key is refused in front of the idempotency key, which
// can run still: beside a new one a late copy would be a second order.
func TestARefusedAPIKeySpendsNoIdempotencyKey(t *testing.T) {
	liveTest(t, nil, []trading.Option{trading.WithJournal(newDisk().open())}, func(r rig) {
		r.sim.SetAccess(false)
		_, err := r.account().PlaceOrder(r.t.Context(), buy("0.05"), breakout)
		require.ErrorIs(r.t, err, trading.CodeAPIAccessDenied)
		r.sim.SetAccess(true)
		time.Sleep(time.Minute) // the key's breaker
		r.open(buy("0.05"), breakout)
		keys := map[string]bool{}
		for _, key := range r.keysOf(trading.OpOrder) {
			keys[key] = true
		}
		assert.Len(r.t, keys, 1)
	})
}

// The account shows one close. Which of two it was, nobody can tell from the account
// alone: here the key of the first is not asked, or its answer is not stored.
func TestAChangeIsNotTheProofOfTwoWrites(t *testing.T) {
	for _, restart := range []bool{false, true} {
		for _, executed := range []bool{false, true} {
			liveTest(t, nil, nil, func(r rig) {
				d := newDisk()
				r = r.restart(d, sole)
				r.sim.Trade("acc_1", "long", "0.2", "BTC")
				r.readAll()
				fault := tradingsim.DropRequest()
				if executed {
					fault = tradingsim.DropResponse()
				}
				r.sim.Fault("POST /positions/close", fault)
				half := trading.Percent(dec("50"))
				_, lost := r.account().ClosePosition(r.t.Context(), "BTC", half, trading.WithSendTTL(0), trading.WithResolveTimeout(0))
				require.Equal(r.t, trading.Unknown, trading.OutcomeOf(lost))
				_, err := r.account().ClosePosition(r.t.Context(), "BTC", half)
				require.NoError(r.t, err)
				write := (*trading.WriteError)(nil)
				require.ErrorAs(r.t, lost, &write)
				if restart {
					r = r.restart(d, sole)
				}
				ctx, cancel := context.WithTimeout(r.t.Context(), time.Hour)
				defer cancel()
				resolution, err := r.ResolveID(ctx, write.Intent)
				require.NotNil(r.t, resolution)
				if resolution.Outcome != trading.Unknown {
					assert.Equal(r.t, executed, resolution.Outcome == trading.Applied, "restart %t: %v", restart, err)
				}
			})
		}
	}
}

// What rested before the write may have filled meanwhile, by as much.
func TestARestingOrderMayHaveDoneIt(t *testing.T) {
	liveTest(t, nil, []trading.Option{sole}, func(r rig) {
		run := buy("0.5") // ten clips of as much as the order
		_, err := r.account().PlaceTWAP(r.t.Context(), run, trading.TWAP{Duration: 5 * time.Minute})
		require.NoError(r.t, err)
		time.Sleep(10 * time.Second)
		r.readAll()
		err = r.doubtful(tradingsim.DropRequest(), buy("0.05"))
		time.Sleep(10 * time.Second) // before the next clip but one
		ctx, cancel := context.WithTimeout(r.t.Context(), time.Hour)
		defer cancel()
		resolution, err := r.Resolve(ctx, err)
		require.NotNil(r.t, resolution)
		assert.NotEqual(r.t, trading.Applied, resolution.Outcome, "%v", err)
		assert.Zero(r.t, r.ran(trading.OpOrder))
	})
}

// A run of an earlier process that ends between the two reads of a baseline's lists is in
// neither, and so looks new.
func TestARunThatHasEndedIsNotTheOrder(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		_, err := r.account().PlaceTWAP(r.t.Context(), sell("0.5"), trading.TWAP{Duration: 5 * time.Minute})
		require.NoError(r.t, err)
		r = join(r.t, r.sim, sole, trading.WithJournal(newDisk().open()))
		time.Sleep(time.Minute)
		_, err = r.account().FinishedRuns(r.t.Context())
		require.NoError(r.t, err)
		time.Sleep(5 * time.Minute)
		_, err = r.account().OpenOrders(r.t.Context())
		require.NoError(r.t, err)
		_, err = r.account().Positions(r.t.Context())
		require.NoError(r.t, err)
		_, err = r.account().Trades(r.t.Context())
		require.NoError(r.t, err)
		_, err = r.account().State(r.t.Context())
		require.NoError(r.t, err)
		r.sim.Fault("POST /orders/twap", tradingsim.DropRequest())
		_, err = r.account().PlaceTWAP(r.t.Context(), buy("0.5"), trading.TWAP{Duration: 5 * time.Minute}, once, trading.WithResolveTimeout(0))
		resolution, err := r.resolve(err)
		assert.NotEqual(r.t, trading.Applied, resolution.Outcome, "%v", err)
		assert.Equal(r.t, 1, r.ran(trading.OpTWAP))
	})
}

// Two looks show the same at two moments a lag apart, also where the first has waited for
// a rate limit, or for an answer.
func TestTheReadsOfTwoLooksAreALagApart(t *testing.T) {
	for slow, fault := range map[trading.Operation]tradingsim.Fault{
		trading.OpState: tradingsim.RateLimit(2 * time.Second), trading.OpTrades: tradingsim.Delay(2 * time.Second),
	} {
		liveTest(t, nil, nil, func(r rig) {
			r.sim.Fault(string(slow), fault)
			_, err := r.resolve(r.doubtful(tradingsim.DropRequest(), buy("0.05")))
			require.NoError(r.t, err)
			last := map[string]time.Time{}
			for _, q := range r.sim.Requests() {
				if q.Status != 200 || q.Operation == string(trading.OpHealth) {
					continue
				}
				if before, again := last[q.Operation]; again {
					assert.GreaterOrEqual(r.t, q.At.Sub(before), 5*time.Second, "%s, where %s is slow", q.Operation, slow)
				}
				last[q.Operation] = q.AnsweredAt
			}
			assert.Len(r.t, last, 5, "reads of a look")
		})
	}
}

// Who leaves while it is being found out learns nothing of it, and it is found out.
func TestLeavingWhileItIsFoundOut(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		lost := r.doubtful(tradingsim.DropRequest(), buy("0.05"))
		ctx, cancel := context.WithTimeout(r.t.Context(), time.Second)
		defer cancel()
		resolution, err := r.Resolve(ctx, lost)
		require.ErrorIs(r.t, err, trading.ErrUndetermined)
		require.ErrorIs(r.t, err, context.DeadlineExceeded)
		assert.Equal(r.t, trading.Unknown, resolution.Outcome)
		time.Sleep(time.Minute)
		pending, err := r.Pending(r.t.Context())
		require.NoError(r.t, err)
		assert.Empty(r.t, pending)
		resolution, err = r.Resolve(r.t.Context(), lost)
		require.NoError(r.t, err)
		assert.Equal(r.t, trading.NotApplied, resolution.Outcome)
		assert.Zero(r.t, r.ran(trading.OpOrder))
	})
}
