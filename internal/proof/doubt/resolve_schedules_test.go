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
			rig.LiveTest(t, nil, nil, func(r rig.Rig) {
				r.ReadAll()
				r.Sim.Fault("POST /orders", row.faults...)
				_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"))
				require.ErrorIs(r.T, err, trading.CodeMinNotional)
				assert.True(r.T, rig.RefusalOf(r.T, err).Meta.Replayed)
				assert.Equal(r.T, len(row.faults)+1, rig.RefusalOf(r.T, err).Meta.Attempts)
				assert.Equal(r.T, row.outcome, trading.OutcomeOf(err))
				assert.Equal(r.T, row.executed, r.Ran(trading.OpOrder))
				resolution, err := r.Resolved(err)
				assert.Equal(r.T, row.outcome, resolution.Outcome, "%v", err)
			})
		})
	}
}

// A resting order that somebody cancels leaves nothing behind, so that nothing is
// no proof, unless there is nobody. Once its key is held, an order that was never
// placed is told from one that was in either case: it neither rests nor filled.
func TestWhatRestedMayBeGone(t *testing.T) {
	limit := rig.Buy("0.05", func(o *trading.Order) { o.LimitPrice = rig.At("60000") })
	for _, alone := range []bool{false, true} {
		fault := tradingsim.FailAfter(500, "internal_error")
		var opts []trading.Option
		if alone {
			fault, opts = tradingsim.Fail(500, "internal_error"), []trading.Option{rig.Sole}
		}
		rig.LiveTest(t, nil, opts, func(r rig.Rig) {
			r.ReadAll()
			r.Sim.Fault("POST /orders/limit", fault)
			_, err := r.Account().PlaceLimit(r.T.Context(), limit, trading.WithResolveTimeout(0))
			require.Equal(r.T, trading.Unknown, trading.OutcomeOf(err))
			cancelAll(r.T, r.Sim)
			r.Excepts(rig.Cancelled)
			resolution, err := r.Resolved(err)
			require.NotNil(r.T, resolution)
			// A limit that somebody has cancelled since reads the same as one that never was:
			// either way nothing rests, nothing filled, and nothing will.
			assert.NotEqual(r.T, trading.Applied, resolution.Outcome, "%v", err)
			if alone {
				require.NoError(r.T, err)
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
	rig.LiveTest(t, nil, []trading.Option{trading.WithJournal(rig.NewDisk().Open())}, func(r rig.Rig) {
		r.Sim.SetAccess(false)
		_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), rig.Breakout)
		require.ErrorIs(r.T, err, trading.CodeAPIAccessDenied)
		r.Sim.SetAccess(true)
		time.Sleep(time.Minute) // the key's breaker
		r.Open(rig.Buy("0.05"), rig.Breakout)
		keys := map[string]bool{}
		for _, key := range r.KeysOf(trading.OpOrder) {
			keys[key] = true
		}
		assert.Len(r.T, keys, 1)
	})
}

// The account shows one close. Which of two it was, nobody can tell from the account
// alone: here the key of the first is not asked, or its answer is not stored.
func TestAChangeIsNotTheProofOfTwoWrites(t *testing.T) {
	for _, restart := range []bool{false, true} {
		for _, executed := range []bool{false, true} {
			rig.DiskTest(t, []trading.Option{rig.Sole}, func(r rig.Rig, d *rig.Disk) {
				r.Sim.Trade("acc_1", "long", "0.2", "BTC")
				r.ReadAll()
				fault := tradingsim.DropRequest()
				if executed {
					fault = tradingsim.DropResponse()
				}
				r.Sim.Fault("POST /positions/close", fault)
				half := trading.Percent(rig.Dec("50"))
				_, lost := r.Account().ClosePosition(r.T.Context(), "BTC", half, trading.WithSendTTL(0), trading.WithResolveTimeout(0))
				require.Equal(r.T, trading.Unknown, trading.OutcomeOf(lost))
				_, err := r.Account().ClosePosition(r.T.Context(), "BTC", half)
				require.NoError(r.T, err)
				write := (*trading.WriteError)(nil)
				require.ErrorAs(r.T, lost, &write)
				if restart {
					r = r.Restart(d, rig.Sole)
				}
				ctx, cancel := context.WithTimeout(r.T.Context(), time.Hour)
				defer cancel()
				resolution, err := r.ResolveID(ctx, write.Intent)
				require.NotNil(r.T, resolution)
				if resolution.Outcome != trading.Unknown {
					assert.Equal(r.T, executed, resolution.Outcome == trading.Applied, "restart %t: %v", restart, err)
				}
			})
		}
	}
}

// What rested before the write may have filled meanwhile, by as much.
func TestARestingOrderMayHaveDoneIt(t *testing.T) {
	rig.LiveTest(t, nil, []trading.Option{rig.Sole}, func(r rig.Rig) {
		run := rig.Buy("0.5") // ten clips of as much as the order
		_, err := r.Account().PlacePro(r.T.Context(), run, trading.TWAP{Duration: 5 * time.Minute})
		require.NoError(r.T, err)
		time.Sleep(10 * time.Second)
		r.ReadAll()
		err = r.Doubtful(tradingsim.DropRequest(), rig.Buy("0.05"))
		time.Sleep(10 * time.Second) // before the next clip but one
		ctx, cancel := context.WithTimeout(r.T.Context(), time.Hour)
		defer cancel()
		resolution, err := r.Resolve(ctx, err)
		require.NotNil(r.T, resolution)
		assert.NotEqual(r.T, trading.Applied, resolution.Outcome, "%v", err)
		assert.Zero(r.T, r.Ran(trading.OpOrder))
	})
}

// A run of an earlier process that ends between the two reads of a baseline's lists is in
// neither, and so looks new.
func TestARunThatHasEndedIsNotTheOrder(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		_, err := r.Account().PlacePro(r.T.Context(), rig.Sell("0.5"), trading.TWAP{Duration: 5 * time.Minute})
		require.NoError(r.T, err)
		r = rig.Join(r.T, r.Sim, rig.Sole, trading.WithJournal(rig.NewDisk().Open()))
		time.Sleep(time.Minute)
		_, err = r.Account().FinishedRuns(r.T.Context())
		require.NoError(r.T, err)
		time.Sleep(5 * time.Minute)
		_, err = r.Account().OpenOrders(r.T.Context())
		require.NoError(r.T, err)
		_, err = r.Account().Positions(r.T.Context())
		require.NoError(r.T, err)
		_, err = r.Account().Trades(r.T.Context())
		require.NoError(r.T, err)
		_, err = r.Account().State(r.T.Context())
		require.NoError(r.T, err)
		r.Sim.Fault("POST /orders/twap", tradingsim.DropRequest())
		_, err = r.Account().PlacePro(r.T.Context(), rig.Buy("0.5"), trading.TWAP{Duration: 5 * time.Minute}, rig.Once, trading.WithResolveTimeout(0))
		resolution, err := r.Resolved(err)
		assert.NotEqual(r.T, trading.Applied, resolution.Outcome, "%v", err)
		assert.Equal(r.T, 1, r.Ran(trading.OpTWAP))
	})
}

// Two looks show the same at two moments a lag apart, also where the first has waited for
// a rate limit, or for an answer.
func TestTheReadsOfTwoLooksAreALagApart(t *testing.T) {
	for slow, fault := range map[trading.Operation]tradingsim.Fault{
		trading.OpState: tradingsim.RateLimit(2 * time.Second), trading.OpTrades: tradingsim.Delay(2 * time.Second),
	} {
		rig.LiveTest(t, nil, nil, func(r rig.Rig) {
			r.Sim.Fault(string(slow), fault)
			_, err := r.Resolved(r.Doubtful(tradingsim.DropRequest(), rig.Buy("0.05")))
			require.NoError(r.T, err)
			last := map[string]time.Time{}
			for _, q := range r.Sim.Requests() {
				if q.Status != 200 || q.Operation == string(trading.OpHealth) {
					continue
				}
				if before, again := last[q.Operation]; again {
					assert.GreaterOrEqual(r.T, q.At.Sub(before), 5*time.Second, "%s, where %s is slow", q.Operation, slow)
				}
				last[q.Operation] = q.AnsweredAt
			}
			assert.Len(r.T, last, 5, "reads of a look")
		})
	}
}

// Who leaves while it is being found out learns nothing of it, and it is found out.
func TestLeavingWhileItIsFoundOut(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		lost := r.Doubtful(tradingsim.DropRequest(), rig.Buy("0.05"))
		ctx, cancel := context.WithTimeout(r.T.Context(), time.Second)
		defer cancel()
		resolution, err := r.Resolve(ctx, lost)
		require.ErrorIs(r.T, err, trading.ErrUndetermined)
		require.ErrorIs(r.T, err, context.DeadlineExceeded)
		assert.Equal(r.T, trading.Unknown, resolution.Outcome)
		time.Sleep(time.Minute)
		pending, err := r.Pending(r.T.Context())
		require.NoError(r.T, err)
		assert.Empty(r.T, pending)
		resolution, err = r.Resolve(r.T.Context(), lost)
		require.NoError(r.T, err)
		assert.Equal(r.T, trading.NotApplied, resolution.Outcome)
		assert.Zero(r.T, r.Ran(trading.OpOrder))
	})
}
