package client

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/proof/rig"
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
			return a.PlaceConditional(ctx, rig.Buy("0.05"), trading.Conditional{Trigger: rig.Dec("65000")})
		}, "65100", time.Second},
		"stop-limit": {func(a *trading.Account) (*trading.RunResult, error) {
			o := rig.Buy("0.05", func(o *trading.Order) { o.LimitPrice = rig.At("65200") })
			return a.PlaceConditional(ctx, o, trading.Conditional{Trigger: rig.Dec("65000"), Exec: trading.StopLimit})
		}, "65100", time.Second},
		"ladder": {func(a *trading.Account) (*trading.RunResult, error) {
			return a.PlaceLadder(ctx, rig.Buy("0.05"), trading.Ladder{From: rig.Dec("63900"), To: rig.Dec("63500"), Rungs: 5})
		}, "63000", time.Second},
		"TWAP": {func(a *trading.Account) (*trading.RunResult, error) {
			return a.PlaceTWAP(ctx, rig.Buy("0.05"), trading.TWAP{Duration: 2 * time.Minute})
		}, "", 2 * time.Minute},
		"chase": {func(a *trading.Account) (*trading.RunResult, error) {
			return a.PlaceChase(ctx, rig.Buy("0.05"), trading.Chase{To: rig.At("64500")})
		}, "", 10 * time.Second},
		"chased TWAP": {func(a *trading.Account) (*trading.RunResult, error) {
			return a.PlaceChaseTWAP(ctx, rig.Buy("0.05"), trading.ChaseTWAP{Duration: 2 * time.Minute, To: rig.At("64500")})
		}, "", 2 * time.Minute},
		"swarm": {func(a *trading.Account) (*trading.RunResult, error) {
			return a.PlaceSwarm(ctx, rig.Buy("0.05"), trading.Swarm{Orders: 5, Aggression: trading.Some(json.RawMessage(`"high"`)), Irregular: trading.Some(true)})
		}, "", 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			rig.LiveTest(t, nil, nil, func(r rig.Rig) {
				account := r.Account()
				run, err := row.place(account)
				require.NoError(r.T, err)
				require.NotEmpty(r.T, run.ID)
				open, err := account.OpenOrders(ctx)
				require.NoError(r.T, err)
				require.Len(r.T, open.Runs, 1)
				assert.Equal(r.T, run.ID, open.Runs[0].ID)
				assert.Equal(r.T, trading.Long, open.Runs[0].Side)
				finished, err := account.FinishedRuns(ctx)
				require.NoError(r.T, err)
				assert.Empty(r.T, finished, "T107: no runs here does not mean that none is running")

				if row.move != "" {
					r.Sim.SetMark("BTC", row.move)
				}
				time.Sleep(row.takes)
				open, err = account.OpenOrders(ctx)
				require.NoError(r.T, err)
				assert.Empty(r.T, open.Runs)
				finished, err = account.FinishedRuns(ctx)
				require.NoError(r.T, err)
				require.Len(r.T, finished, 1)
				assert.Equal(r.T, run.ID, finished[0].ID)
				rig.EqualDec(r.T, "0.05", r.Sim.Position("acc_1", "BTC"))
				_, err = account.CancelRun(ctx, run.ID)
				require.ErrorIs(r.T, err, trading.CodeRunNotFound)
				assert.Equal(r.T, trading.AdviseRead, trading.AdviceOf(err), "it may have finished")
			})
		})
	}
}

// An edit can add exposure, so it is an entry: halted, it does not go out. A cancel
// is an exit and does.
func TestEditsAreEntriesAndCancelsExits(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		ctx, account := r.T.Context(), r.Account()
		run, err := account.PlaceTWAP(ctx, rig.Buy("0.2"), trading.TWAP{Duration: 5 * time.Minute})
		require.NoError(r.T, err)
		r.Halt("lunch")
		_, err = account.EditRun(ctx, run.ID, trading.RunEdit{TotalSize: rig.Dec("0.3")})
		require.ErrorIs(r.T, err, trading.ErrHalted)
		_, err = account.PlaceChase(ctx, rig.Buy("0.2"), trading.Chase{})
		require.ErrorIs(r.T, err, trading.ErrHalted)
		_, err = account.CancelRun(ctx, run.ID)
		require.NoError(r.T, err)
	})
}

// A Pro order whose answer was lost is found among the runs, whether it still runs
// or has ended; a run that leaves no fill leaves itself.
func TestALostProOrderIsFound(t *testing.T) {
	ctx := context.Background()
	for _, ended := range []bool{false, true} {
		for name, fault := range map[string]tradingsim.Fault{"executed": tradingsim.FailAfter(500, "internal_error"), "not executed": tradingsim.DropRequest()} {
			synctest.Test(t, func(t *testing.T) {
				r := rig.New(t, nil, rig.Sole)
				r.ReadAll()
				r.ReadAll() // one read does not show whether another run has just ended
				r.Sim.Fault("POST /orders/swarm", fault)
				_, err := r.Account().PlaceSwarm(ctx, rig.Buy("0.05"), trading.Swarm{Orders: 5}, trading.WithSendTTL(0), trading.WithResolveTimeout(0))
				require.Equal(t, trading.Unknown, trading.OutcomeOf(err))
				if ended {
					time.Sleep(time.Minute)
				}
				resolution, resolveErr := r.Resolved(err)
				ran := r.Ran(trading.OpSwarm) > 0
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
