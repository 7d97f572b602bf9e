package trading_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

// Each kind of write that can trade, lost on its way or on the way back, on an
// account that nobody else trades: found out, and the answer decoded where the
// write is still wanted.
func TestEachLostWriteIsFoundOut(t *testing.T) {
	ctx := context.Background()
	limit := func(o *trading.Order) { o.LimitPrice = at("60000") }
	for name, row := range map[string]struct {
		op   trading.Operation
		call func(*trading.Account, ...trading.CallOption) error
		into any
	}{
		"a buy": {trading.OpOrder, func(a *trading.Account, opts ...trading.CallOption) error {
			_, err := a.PlaceOrder(ctx, buy("0.05"), opts...)
			return err
		}, &trading.OrderResult{}},
		"a sale": {trading.OpOrder, func(a *trading.Account, opts ...trading.CallOption) error {
			_, err := a.PlaceOrder(ctx, sell("0.05"), opts...)
			return err
		}, &trading.OrderResult{}},
		"a limit": {trading.OpLimit, func(a *trading.Account, opts ...trading.CallOption) error {
			_, err := a.PlaceLimit(ctx, buy("0.05", limit), opts...)
			return err
		}, &trading.LimitResult{}},
		"a TWAP": {trading.OpTWAP, func(a *trading.Account, opts ...trading.CallOption) error {
			_, err := a.PlaceTWAP(ctx, buy("0.05"), trading.TWAP{Duration: time.Hour}, opts...)
			return err
		}, &trading.RunResult{}},
		"a close": {trading.OpClose, func(a *trading.Account, opts ...trading.CallOption) error {
			_, err := a.ClosePosition(ctx, "BTC", trading.All, opts...)
			return err
		}, &trading.CloseResult{}},
		"part of a close": {trading.OpClose, func(a *trading.Account, opts ...trading.CallOption) error {
			_, err := a.ClosePosition(ctx, "BTC", trading.Percent(dec("50")), opts...)
			return err
		}, &trading.CloseResult{}},
	} {
		for _, executed := range []bool{true, false} {
			for _, wanted := range []bool{true, false} {
				liveTest(t, nil, []trading.Option{sole}, func(r rig) {
					t := r.t
					r.open(buy("1"))
					r.readAll()
					fault, want := tradingsim.DropRequest(), trading.NotApplied
					if executed {
						fault, want = tradingsim.DropResponse(), trading.Applied
					}
					r.sim.Fault(string(row.op), fault)
					err := row.call(r.account(), trading.WithLifetime(0))
					require.Equal(t, trading.Unknown, trading.OutcomeOf(err))
					before := r.ran(row.op)
					if !wanted {
						verdict, verdictErr := r.verdict(err)
						require.NoError(t, verdictErr, "%s, executed %t", name, executed)
						assert.Equal(t, want, verdict.Outcome, name)
						require.Error(t, verdict.Into(row.into), "readings are no answer")
						assert.Equal(t, before, r.ran(row.op))
						return
					}
					verdict, verdictErr := r.verdict(err, trading.WithLifetime(time.Minute))
					require.NoError(t, verdictErr)
					assert.Equal(t, trading.Applied, verdict.Outcome, "it was still wanted")
					assert.Equal(t, executed, verdict.Basis == trading.BasisReplay)
					require.NoError(t, verdict.Into(row.into))
					require.Error(t, verdict.Into(&struct{}{}))
					keys := r.keysOf(row.op)
					assert.Equal(t, keys[len(keys)-1], string(verdict.Intent.Key))
					assert.Equal(t, keys[len(keys)-2], keys[len(keys)-1], "both times under one key")
					for _, other := range []any{&trading.OrderResult{}, &trading.LimitResult{}, &trading.RunResult{}, &trading.CloseResult{}} {
						_ = verdict.Into(other) // of another kind: an error or not, never a panic
					}
				})
			}
		}
	}
}

// What was there before: from reads, from an order's own answer, from ReadBaseline;
// none where a read is missing or too near a write. Without one nothing is told.
func TestTrap_T19_Baselines(t *testing.T) {
	ctx := context.Background()
	for name, row := range map[string]struct {
		prepare func(rig)
		opts    []trading.CallOption
		known   bool
	}{
		"nothing was read": {func(rig) {}, nil, false},
		"all was read":     {func(r rig) { r.readAll() }, nil, true},
		"trades were not": {func(r rig) {
			_, err := r.account().Positions(ctx)
			require.NoError(r.t, err)
			_, err = r.account().OpenOrders(ctx)
			require.NoError(r.t, err)
		}, nil, false},
		"read, and then an order of ours": {func(r rig) { r.readAll(); r.open(buy("0.1")) }, nil, true},
		"read at once after an order of ours": {func(r rig) {
			r.open(buy("0.1"))
			readAllNow(r)
		}, nil, false},
		"read, and then a close of ours":       {func(r rig) { r.open(buy("0.1")); r.readAll(); require.NoError(r.t, exitCall(r)) }, nil, false},
		"ReadBaseline":                         {func(rig) {}, []trading.CallOption{trading.ReadBaseline()}, true},
		"ReadBaseline, all known":              {func(r rig) { r.readAll() }, []trading.CallOption{trading.ReadBaseline()}, true},
		"ReadBaseline at once after a write":   {func(r rig) { r.open(buy("0.1")) }, []trading.CallOption{trading.ReadBaseline()}, false},
		"ReadBaseline whose reads do not come": {func(r rig) { r.sim.Fault("GET /trades", tradingsim.Fail(400, "bad_request")) }, []trading.CallOption{trading.ReadBaseline()}, false},
	} {
		t.Run(name, func(t *testing.T) {
			liveTest(t, nil, nil, func(r rig) {
				row.prepare(r)
				executed := r.ran(trading.OpOrder)
				err := r.doubtful(tradingsim.DropRequest(), buy("0.05"), row.opts...)
				r.sim.ClearFaults()
				verdict, verdictErr := r.verdict(err)
				assert.Equal(r.t, row.known, verdictErr == nil, "%v", verdictErr)
				if row.known {
					assert.Equal(r.t, trading.NotApplied, verdict.Outcome)
				}
				assert.Equal(r.t, executed, r.ran(trading.OpOrder))
			})
		})
	}
	// Nothing is read that nobody asked for.
	liveTest(t, nil, nil, func(r rig) {
		r.open(buy("0.1"))
		assert.Zero(r.t, r.sent(trading.OpPositions)+r.sent(trading.OpTrades)+r.sent(trading.OpOpenOrders))
	})
	// A Pro order needs the finished runs too.
	liveTest(t, nil, []trading.Option{sole}, func(r rig) {
		r.sim.Fault("POST /orders/swarm", tradingsim.DropRequest())
		_, err := r.account().PlaceSwarm(ctx, buy("0.05"), trading.Swarm{Orders: 5}, trading.WithLifetime(0), trading.ReadBaseline())
		verdict, verdictErr := r.verdict(err)
		require.NoError(r.t, verdictErr)
		assert.Equal(r.t, trading.NotApplied, verdict.Outcome)
	})
}

func readAllNow(r rig) {
	ctx, account := r.t.Context(), r.account()
	_, err := account.Positions(ctx)
	require.NoError(r.t, err)
	_, err = account.Trades(ctx)
	require.NoError(r.t, err)
	_, err = account.OpenOrders(ctx)
	require.NoError(r.t, err)
}

// T9: a key whose first request failed part-way is never sent again.
// T21: a change that others may have made decides nothing; Acknowledge does.
func TestTrap_T21_OthersMayHaveTraded(t *testing.T) {
	ctx := context.Background()
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New()
		intents := newSharedJournal()
		r := join(t, sim, trading.WithJournal(intents))
		r.readAll()
		sim.Fault("POST /orders", tradingsim.CrashAfter())
		_, err := r.account().PlaceOrder(ctx, buy("0.05"))
		require.ErrorIs(t, err, trading.CodeIdempotencyResultUnknown)
		sent := r.sent(trading.OpOrder)
		verdict, err := r.verdict(err)
		require.ErrorIs(t, err, trading.ErrUndetermined)
		assert.Equal(t, sent, r.sent(trading.OpOrder), "T9")
		id := verdict.Intent.ID

		r = join(t, sim, trading.WithJournal(intents)) // and nothing changes by a restart
		verdicts, err := r.Recover(ctx)
		require.ErrorIs(t, err, trading.ErrUndetermined)
		require.Len(t, verdicts, 1)
		assert.Equal(t, id, verdicts[0].Intent.ID)
		require.ErrorIs(t, entryCall(r), trading.ErrUnsettled)
		require.NoError(t, exitCall(r, trading.WithLifetime(time.Minute)))

		require.Error(t, r.Acknowledge(ctx, id, trading.Unknown, ""), "that is nothing that was found")
		require.ErrorIs(t, r.Acknowledge(ctx, "another", trading.Applied, ""), trading.ErrUnknownIntent)
		require.NoError(t, r.Acknowledge(ctx, id, trading.Applied, "seen in the terminal"))
		require.NoError(t, entryCall(r))
		verdicts, err = r.Recover(ctx)
		require.NoError(t, err)
		assert.Empty(t, verdicts)
		for _, entry := range intents.all() {
			if s, ok := entry.Settlement.Get(); entry.Intent.ID == id {
				require.True(t, ok)
				assert.Equal(t, trading.BasisPerson, s.Basis)
				assert.Equal(t, "seen in the terminal", s.Note)
			}
		}
	})
}

// A fence holds on accounts that take nothing any more, and not in front of an
// account that is another holder's; while it proves nothing, nothing is said.
func TestFences(t *testing.T) {
	for name, row := range map[string]struct {
		prepare func(rig)
		known   bool
		takes   time.Duration // at least
	}{
		"as it is":         {func(rig) {}, true, 0},
		"a failed account": {func(r rig) { r.sim.SetStatus("acc_1", "FAILED") }, true, time.Second},
		"a 429 in front": {func(r rig) {
			r.sim.Fault("POST /orders/cancel", tradingsim.Fail(429, "rate_limited"), tradingsim.Fail(429, "rate_limited"))
		}, true, time.Second},
		"pages and broken connections": {func(r rig) {
			r.sim.Fault("POST /orders/cancel", tradingsim.GatewayError(404), tradingsim.DropResponse(), tradingsim.RefuseConnection(), tradingsim.Fail(500, "internal_error"))
		}, true, time.Second},
		"a result that is not known": {func(r rig) {
			r.sim.Fault("POST /orders/cancel", tradingsim.Fail(409, "idempotency_result_unknown"))
		}, true, 0},
		"never answered": {func(r rig) {
			r.sim.FaultEach(func(op string) tradingsim.Fault {
				if op == string(trading.OpCancelOrder) {
					return tradingsim.GatewayError(502)
				}
				return nil
			})
		}, false, 16 * time.Minute},
		"access withdrawn": {func(r rig) {
			r.sim.FaultEach(func(op string) tradingsim.Fault {
				if op == string(trading.OpCancelOrder) {
					return tradingsim.Fail(404, "account_not_found")
				}
				return nil
			})
		}, false, 0},
		"reads that do not come": {func(r rig) {
			r.sim.Fault("GET /accounts/{accountId}/runs", tradingsim.Fail(404, "account_not_found"))
		}, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			liveTest(t, nil, nil, func(r rig) {
				r.readAll()
				err := r.doubtful(tradingsim.DropRequest(), buy("0.05"))
				row.prepare(r)
				began := time.Now()
				verdict, verdictErr := r.verdict(err)
				assert.Equal(r.t, row.known, verdictErr == nil, "%v", verdictErr)
				if row.known {
					assert.Equal(r.t, trading.NotApplied, verdict.Outcome)
				}
				assert.GreaterOrEqual(r.t, time.Since(began), row.takes)
				assert.Less(r.t, time.Since(began), 18*time.Minute, "its patience ends")
				for _, body := range r.bodiesOf(trading.OpCancelOrder) {
					assert.Equal(r.t, r.bodiesOf(trading.OpCancelOrder)[0], body, "all fences of a key are one request")
				}
				assert.Zero(r.t, r.ran(trading.OpOrder))
			})
		})
	}
}

// Resolve asks for the error of a write of its own account, and returns at once
// where there is nothing to find out.
func TestResolveOfOtherErrors(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		ctx, account := r.t.Context(), r.account()
		verdict, err := account.Resolve(ctx, nil)
		require.NoError(r.t, err)
		assert.Equal(r.t, trading.Applied, verdict.Outcome)
		_, err = account.Resolve(ctx, errors.New("another"))
		require.Error(r.t, err)
		_, refused := account.PlaceOrder(ctx, buy("0.0001"))
		verdict, err = account.Resolve(ctx, refused)
		require.NoError(r.t, err)
		assert.Equal(r.t, trading.NotApplied, verdict.Outcome)
		require.ErrorIs(r.t, verdict.Err, trading.CodeMinNotional)

		lost := r.doubtful(tradingsim.DropRequest(), buy("0.05"))
		_, err = r.Live.Account("acc_2").Resolve(ctx, lost)
		require.Error(r.t, err, "of another account")
		_, err = account.Resolve(ctx, lost, nil)
		require.Error(r.t, err, "a nil option")
		_, err = account.Resolve(ctx, lost, trading.WithAttemptTimeout(-1))
		require.Error(r.t, err)
		_, err = r.Recover(ctx, nil)
		require.Error(r.t, err)

		r.sim.Fault("POST /positions/tpsl", tradingsim.DropResponse())
		_, err = account.SetTriggers(ctx, "BTC", trading.Triggers{TakeProfit: trading.Clear, StopLoss: trading.Clear}, trading.WithLifetime(0))
		require.Equal(r.t, trading.Unknown, trading.OutcomeOf(err))
		_, err = account.Resolve(ctx, err)
		require.ErrorIs(r.t, err, trading.ErrUndetermined, "it shows in a read, and is no intent")

		closed := join(r.t, r.sim)
		require.NoError(r.t, closed.Close())
		_, err = closed.account().Resolve(ctx, lost)
		require.ErrorIs(r.t, err, trading.ErrUndetermined, "of another client")
	})
}

// A journal that cannot be read holds entries back and ends Recover; exits pass.
func TestAJournalThatCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		intents := newSharedJournal()
		intents.failRead = errors.New("damaged")
		r := newRig(t, nil, trading.WithJournal(intents))
		r.sim.Trade("acc_1", "long", "0.1", "BTC")
		require.ErrorIs(t, entryCall(r), trading.ErrJournal)
		require.ErrorIs(t, entryCall(r, trading.SkipUnsettled()), trading.ErrJournal)
		require.ErrorIs(t, entryCall(r, trading.WithDecision("a", "b")), trading.ErrJournal)
		_, err := r.Recover(t.Context())
		require.ErrorIs(t, err, intents.failRead)
		require.NoError(t, exitCall(r, trading.WithDecision("c", "d")))
		assert.Zero(t, r.ran(trading.OpOrder))
	})
}

// A request that the service received and that does not show half an hour after its
// last send has not run and never will, where nobody else trades the account.
func TestWhatDoesNotShowAfterHalfAnHour(t *testing.T) {
	for _, alone := range []bool{true, false} {
		var opts []trading.Option
		if alone {
			opts = append(opts, sole)
		}
		liveTest(t, nil, opts, func(r rig) {
			r.readAll()
			err := r.doubtful(tradingsim.Crash(), buy("0.05"))
			_, verdictErr := r.verdict(err)
			require.ErrorIs(r.t, verdictErr, trading.ErrUndetermined, "too early")
			time.Sleep(31 * time.Minute)
			verdict, verdictErr := r.verdict(err)
			assert.Equal(r.t, alone, verdictErr == nil)
			if alone {
				assert.Equal(r.t, trading.NotApplied, verdict.Outcome)
				assert.Equal(r.t, trading.BasisReads, verdict.Basis)
			}
			assert.Zero(r.t, r.ran(trading.OpOrder))
		})
	}
}
