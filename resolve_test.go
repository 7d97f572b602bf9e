package trading_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

func TestResolve(t *testing.T) {
	for _, row := range []struct {
		name      string
		fault     tradingsim.Fault
		sole      bool
		foreign   bool // somebody else trades meanwhile
		opts      []trading.CallOption
		outcome   trading.Outcome
		basis     trading.Basis
		placed    int
		resolve   []trading.CallOption
		undecided bool
	}{
		{name: "never arrived", fault: tradingsim.DropRequest(), opts: []trading.CallOption{trading.WithLifetime(0)},
			outcome: trading.NotApplied, basis: trading.BasisFence},
		{name: "executed, nobody else trades", fault: tradingsim.DropResponse(), sole: true, opts: []trading.CallOption{trading.WithLifetime(0)},
			outcome: trading.Applied, basis: trading.BasisReads, placed: 1},
		{name: "executed, others may trade", fault: tradingsim.DropResponse(), opts: []trading.CallOption{trading.WithLifetime(0)},
			undecided: true, placed: 1},
		{name: "never arrived, and somebody traded", fault: tradingsim.DropRequest(), foreign: true, opts: []trading.CallOption{trading.WithLifetime(0)},
			undecided: true},
		{name: "500 before", fault: tradingsim.Fail(500, "internal_error"), outcome: trading.NotApplied, basis: trading.BasisFence},
		{name: "500 after, nobody else trades", fault: tradingsim.FailAfter(500, "internal_error"), sole: true,
			outcome: trading.Applied, basis: trading.BasisReads, placed: 1},
		{name: "still wanted, executed", fault: tradingsim.DropResponse(), opts: []trading.CallOption{trading.WithLifetime(0)},
			resolve: []trading.CallOption{trading.WithLifetime(time.Minute)}, outcome: trading.Applied, basis: trading.BasisReplay, placed: 1},
		{name: "still wanted, never arrived", fault: tradingsim.DropRequest(), opts: []trading.CallOption{trading.WithLifetime(0)},
			resolve: []trading.CallOption{trading.WithLifetime(time.Minute)}, outcome: trading.Applied, basis: trading.BasisAnswer, placed: 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := context.Background()
				sim := newSim()
				var opts []trading.Option
				if row.sole {
					opts = append(opts, trading.SoleActor("acc_1"))
				}
				_, account := live(t, sim, opts...)
				readAll(t, account)
				sim.Fault("POST /orders", row.fault)
				_, err := account.PlaceOrder(ctx, order, row.opts...)
				require.Equal(t, trading.Unknown, trading.OutcomeOf(err), "%v", err)
				if row.foreign {
					sim.Trade("acc_1", "long", "0.05", "BTC")
				}

				verdict, err := account.Resolve(ctx, err, row.resolve...)
				assert.Equal(t, row.placed, executed(sim), "Resolve places nothing unasked")
				if row.undecided {
					require.ErrorIs(t, err, trading.ErrUndetermined)
					assert.Equal(t, trading.Unknown, verdict.Outcome)
					assert.NotEmpty(t, verdict.Readings)
					_, err = account.PlaceOrder(ctx, order)
					require.ErrorIs(t, err, trading.ErrUnsettled)
					return
				}
				require.NoError(t, err)
				assert.Equal(t, row.outcome, verdict.Outcome)
				assert.Equal(t, row.basis, verdict.Basis)
				_, err = account.PlaceOrder(ctx, order)
				require.NoError(t, err, "the symbol is open again")
			})
		})
	}
}

func TestALateCopyCannotRunAfterTheFence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		sim := newSim()
		_, account := live(t, sim)
		readAll(t, account)
		sim.Fault("POST /orders", tradingsim.ArriveLate(time.Minute))
		_, err := account.PlaceOrder(ctx, order, trading.WithLifetime(0))
		require.Equal(t, trading.Unknown, trading.OutcomeOf(err))
		verdict, err := account.Resolve(ctx, err)
		require.NoError(t, err)
		assert.Equal(t, trading.NotApplied, verdict.Outcome)
		time.Sleep(2 * time.Minute) // the copy arrives
		readAll(t, account)
		assert.Zero(t, executed(sim))
	})
}

func TestRecoverAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		sim := newSim()
		intents := newSharedJournal()
		first, account := live(t, sim, trading.WithJournal(intents))
		readAll(t, account)
		sim.Fault("POST /orders", tradingsim.DropRequest())
		_, err := account.PlaceOrder(ctx, order, trading.WithLifetime(0))
		require.Equal(t, trading.Unknown, trading.OutcomeOf(err))
		require.NoError(t, first.Close()) // and the program is gone

		second, account := live(t, sim, trading.WithJournal(intents))
		_, err = account.PlaceOrder(ctx, order)
		require.ErrorIs(t, err, trading.ErrUnsettled, "what an earlier run left holds entries back")
		verdicts, err := second.Recover(ctx)
		require.NoError(t, err)
		require.Len(t, verdicts, 1)
		assert.Equal(t, trading.NotApplied, verdicts[0].Outcome)
		assert.Zero(t, executed(sim))
		_, err = account.PlaceOrder(ctx, order)
		require.NoError(t, err)

		verdicts, err = second.Recover(ctx)
		require.NoError(t, err)
		assert.Empty(t, verdicts, "twice is once")
	})
}

func TestResolveOnThePaperAccount(t *testing.T) {
	for _, row := range []struct {
		name      string
		fault     tradingsim.Fault
		outcome   trading.Outcome
		stopped   bool // a stop fires meanwhile
		undecided bool
	}{
		{"never arrived", tradingsim.DropRequest(), trading.NotApplied, false, false},
		{"executed", tradingsim.DropResponse(), trading.Applied, false, false},
		{"never arrived, and a stop fired", tradingsim.DropRequest(), trading.Unknown, true, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := context.Background()
				sim := newSim()
				client, _ := live(t, sim)
				var trader trading.Trader = client.Sandbox
				held := order
				if row.stopped {
					held.StopLoss = trading.At(trading.Dec("63000"))
				}
				_, err := trader.PlaceOrder(ctx, held)
				require.NoError(t, err)
				time.Sleep(10 * time.Second) // reads lag
				_, err = trader.Positions(ctx)
				require.NoError(t, err)
				_, err = trader.Trades(ctx)
				require.NoError(t, err)

				sim.Fault("POST /sandbox/orders", row.fault)
				_, err = trader.PlaceOrder(ctx, order)
				require.Equal(t, trading.Unknown, trading.OutcomeOf(err))
				if row.stopped {
					sim.SetMark("BTC", "62000")
				}
				verdict, err := trader.Resolve(ctx, err)
				if row.undecided {
					require.ErrorIs(t, err, trading.ErrUndetermined)
				} else {
					require.NoError(t, err)
				}
				assert.Equal(t, row.outcome, verdict.Outcome)
			})
		})
	}
}

// A caller who still wants the order does not get it twice: what the service failed
// with would run again, and what is held is not sent again.
func TestResolveDoesNotSendWhatWouldRunAgain(t *testing.T) {
	for name, row := range map[string]struct {
		fault    tradingsim.Fault
		executed int
		outcome  trading.Outcome
	}{
		"failed after the work":  {tradingsim.FailAfter(500, "internal_error"), 1, trading.Applied},
		"failed before the work": {tradingsim.Fail(500, "internal_error"), 0, trading.NotApplied},
		"failed part-way":        {tradingsim.Fail(409, "idempotency_result_unknown"), 0, trading.NotApplied},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := context.Background()
				sim := newSim()
				_, account := live(t, sim, trading.SoleActor("acc_1"))
				readAll(t, account)
				sim.Fault("POST /orders", row.fault)
				_, err := account.PlaceOrder(ctx, order)
				require.Equal(t, trading.Unknown, trading.OutcomeOf(err))
				verdict, err := account.Resolve(ctx, err, trading.WithLifetime(time.Minute))
				require.NoError(t, err)
				assert.Equal(t, row.outcome, verdict.Outcome)
				assert.Equal(t, row.executed, executed(sim))
			})
		})
	}
}
