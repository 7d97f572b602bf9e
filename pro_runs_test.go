package trading_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

// Every kind of Pro order is placed once, runs by itself, and trades its size.
// T107: while it runs it is among the open orders, and only then among the
// finished runs.
func TestTrap_T107_RunningAndFinishedRuns(t *testing.T) {
	ctx := context.Background()
	for name, row := range map[string]struct {
		place func(*trading.Account) (*trading.RunResult, error)
		move  string // what sets it off
		takes time.Duration
	}{
		"conditional": {func(a *trading.Account) (*trading.RunResult, error) {
			return a.PlaceConditional(ctx, buy("0.05"), trading.Conditional{Trigger: dec("65000")})
		}, "65100", time.Second},
		"stop-limit": {func(a *trading.Account) (*trading.RunResult, error) {
			o := buy("0.05", func(o *trading.Order) { o.LimitPrice = at("65200") })
			return a.PlaceConditional(ctx, o, trading.Conditional{Trigger: dec("65000"), Exec: trading.StopLimit})
		}, "65100", time.Second},
		"ladder": {func(a *trading.Account) (*trading.RunResult, error) {
			return a.PlaceLadder(ctx, buy("0.05"), trading.Ladder{From: dec("63900"), To: dec("63500"), Rungs: 5})
		}, "63000", time.Second},
		"TWAP": {func(a *trading.Account) (*trading.RunResult, error) {
			return a.PlaceTWAP(ctx, buy("0.05"), trading.TWAP{Duration: 2 * time.Minute})
		}, "", 2 * time.Minute},
		"chase": {func(a *trading.Account) (*trading.RunResult, error) {
			return a.PlaceChase(ctx, buy("0.05"), trading.Chase{To: at("64500")})
		}, "", 10 * time.Second},
		"chased TWAP": {func(a *trading.Account) (*trading.RunResult, error) {
			return a.PlaceChaseTWAP(ctx, buy("0.05"), trading.ChaseTWAP{Duration: 2 * time.Minute, To: at("64500")})
		}, "", 2 * time.Minute},
		"swarm": {func(a *trading.Account) (*trading.RunResult, error) {
			return a.PlaceSwarm(ctx, buy("0.05"), trading.Swarm{Orders: 5, Aggression: trading.Some(json.RawMessage(`"high"`)), Irregular: trading.Some(true)})
		}, "", 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			liveTest(t, nil, nil, func(r rig) {
				account := r.account()
				run, err := row.place(account)
				require.NoError(r.t, err)
				require.NotEmpty(r.t, run.ID)
				open, err := account.OpenOrders(ctx)
				require.NoError(r.t, err)
				require.Len(r.t, open.Runs, 1)
				assert.Equal(r.t, run.ID, open.Runs[0].ID)
				assert.Equal(r.t, trading.Long, open.Runs[0].Side)
				finished, err := account.FinishedRuns(ctx)
				require.NoError(r.t, err)
				assert.Empty(r.t, finished, "T107: no runs here does not mean that none is running")

				if row.move != "" {
					r.sim.SetMark("BTC", row.move)
				}
				time.Sleep(row.takes)
				open, err = account.OpenOrders(ctx)
				require.NoError(r.t, err)
				assert.Empty(r.t, open.Runs)
				finished, err = account.FinishedRuns(ctx)
				require.NoError(r.t, err)
				require.Len(r.t, finished, 1)
				assert.Equal(r.t, run.ID, finished[0].ID)
				equalDec(r.t, "0.05", r.sim.Position("acc_1", "BTC"))
				_, err = account.CancelRun(ctx, run.ID)
				require.ErrorIs(r.t, err, trading.CodeRunNotFound)
				assert.Equal(r.t, trading.AdviseRead, trading.AdviceOf(err), "it may have finished")
			})
		})
	}
}

// A TWAP grows, shrinks, and stops as a unit; what it has filled stays.
func TestATWAPIsEditedAndCancelled(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		ctx, account := r.t.Context(), r.account()
		run, err := account.PlaceTWAP(ctx, buy("0.2"), trading.TWAP{Duration: 5 * time.Minute})
		require.NoError(r.t, err)
		time.Sleep(150 * time.Second) // half of it
		_, err = account.EditRun(ctx, run.ID, trading.RunEdit{TotalSize: dec("0.05")})
		require.ErrorIs(r.t, err, trading.CodeSizeBelowExecuted)
		assert.Equal(r.t, trading.NotApplied, trading.OutcomeOf(err))
		_, err = account.EditRun(ctx, run.ID, trading.RunEdit{TotalSize: dec("0.3")})
		require.NoError(r.t, err)
		time.Sleep(30 * time.Second)
		ack, err := account.CancelRun(ctx, run.ID)
		require.NoError(r.t, err)
		assert.NotEmpty(r.t, ack.Meta.Key)
		held := r.sim.Position("acc_1", "BTC")
		equalDec(r.t, "0.14", held)
		time.Sleep(10 * time.Minute)
		assert.True(r.t, held.Equal(r.sim.Position("acc_1", "BTC")), "what has filled stays, and nothing comes")
	})
}

// An edit can add exposure, so it is an entry: halted, it does not go out. A cancel
// is an exit and does.
func TestEditsAreEntriesAndCancelsExits(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		ctx, account := r.t.Context(), r.account()
		run, err := account.PlaceTWAP(ctx, buy("0.2"), trading.TWAP{Duration: 5 * time.Minute})
		require.NoError(r.t, err)
		r.Halt("lunch")
		_, err = account.EditRun(ctx, run.ID, trading.RunEdit{TotalSize: dec("0.3")})
		require.ErrorIs(r.t, err, trading.ErrHalted)
		_, err = account.PlaceChase(ctx, buy("0.2"), trading.Chase{})
		require.ErrorIs(r.t, err, trading.ErrHalted)
		_, err = account.CancelRun(ctx, run.ID)
		require.NoError(r.t, err)
	})
}

// A Pro order whose answer was lost is found among the runs, whether it still runs
// or has ended; a run that leaves no fill leaves itself.
func TestALostProOrderIsFound(t *testing.T) {
	ctx := context.Background()
	for _, ended := range []bool{false, true} {
		for name, fault := range map[string]tradingsim.Fault{"executed": tradingsim.FailAfter(500, "internal_error"), "not executed": tradingsim.DropRequest()} {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, nil, sole)
				r.readAll()
				r.readAll() // one read does not show whether another run has just ended
				r.sim.Fault("POST /orders/swarm", fault)
				_, err := r.account().PlaceSwarm(ctx, buy("0.05"), trading.Swarm{Orders: 5}, trading.WithSendTTL(0), trading.WithResolveTimeout(0))
				require.Equal(t, trading.Unknown, trading.OutcomeOf(err))
				if ended {
					time.Sleep(time.Minute)
				}
				resolution, resolveErr := r.resolve(err)
				ran := r.ran(trading.OpSwarm) > 0
				assert.Equal(t, name == "executed", ran)
				if resolveErr == nil {
					assert.Equal(t, ran, resolution.Outcome == trading.Applied, "%s, ended %t: %s", name, ended, resolution.Outcome)
				}
				if !ran || ended {
					require.NoError(t, resolveErr, "%s, ended %t", name, ended)
				}
			})
		}
	}
}
