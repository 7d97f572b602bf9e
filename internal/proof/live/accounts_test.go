package live

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

// What an account accepts in each status: by the service when the client has not
// seen the status, and by the client's own guard when it has. The two agree. One code stands for
// two states: a passed account takes exits, a failed one nothing.
func TestTrap_T37_WhatEachStatusAccepts(t *testing.T) {
	ctx := context.Background()
	for _, row := range []struct {
		status      string
		entry, exit bool
	}{
		{"ACTIVE", true, true}, {"PURCHASED", true, true}, {"FUNDED", true, true},
		{"PASSED", false, true}, {"FAILED", false, false}, {"EXPIRED", false, false},
	} {
		for _, seen := range []bool{false, true} {
			rig.LiveTest(t, nil, nil, func(r rig.Rig) {
				t, account := r.T, r.Account()
				r.Open(rig.Buy("0.5"))
				limit, err := account.PlaceLimit(ctx, rig.Buy("0.01", func(o *trading.Order) { o.LimitPrice = rig.At("60000") }))
				require.NoError(t, err)
				r.Sim.SetStatus("acc_1", row.status)
				if seen {
					state, err := account.State(ctx)
					require.NoError(t, err, "reading is open in every status")
					assert.Equal(t, trading.AccountStatus(row.status), state.Status)
				}
				sent := len(r.Sim.Requests())
				refused := func(err error, what string) {
					t.Helper()
					require.ErrorIs(t, err, trading.CodeAccountLocked, "%s, %s", row.status, what)
					assert.Equal(t, trading.NotApplied, trading.OutcomeOf(err))
				}
				entries := map[string]func() error{
					"order": func() error { _, err := account.PlaceOrder(ctx, rig.Buy("0.01")); return err },
					"limit": func() error {
						return rig.Only(account.PlaceLimit(ctx, rig.Buy("0.01", func(o *trading.Order) { o.LimitPrice = rig.At("60000") })))
					},
					"run": func() error {
						return rig.Only(account.PlacePro(ctx, rig.Buy("0.05"), trading.TWAP{Duration: time.Minute}))
					},
				}
				for name, entry := range entries {
					if err := entry(); row.entry {
						require.NoError(t, err, "%s, %s", row.status, name)
					} else {
						refused(err, name)
						assert.Equal(t, seen, rig.RefusalOf(t, err).Local, "what was seen is not asked again")
					}
				}
				if seen && !row.entry {
					assert.Len(t, r.Sim.Requests(), sent, "entries were not sent")
				}
				exits := []func() error{
					func() error {
						return rig.Only(account.PlaceOrder(ctx, rig.Sell("0.1", func(o *trading.Order) { o.ReduceOnly = true })))
					},
					func() error {
						return rig.Only(account.SetTPSL(ctx, "BTC", trading.TPSL{TakeProfit: trading.Clear, StopLoss: rig.At("63000")}))
					},
					func() error { _, err := account.CancelOrder(ctx, limit.Order.ID); return err },
					func() error { _, err := account.ClosePosition(ctx, "BTC", trading.All); return err },
				}
				for i, exit := range exits {
					if err := exit(); row.exit {
						// A resting order of an account that cannot trade may be gone.
						if i != 2 || row.entry {
							require.NoError(t, err, "%s, exit %d", row.status, i)
						}
					} else {
						refused(err, "an exit")
						assert.False(t, rig.RefusalOf(t, err).Local, "exits are asked of the service")
					}
				}
			})
		}
	}
}

// T82: a status that this version does not know takes no new exposure, and does not
// stand in the way of an exit.
func TestTrap_T82_AnUnknownStatus(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		r.Open(rig.Buy("0.5"))
		r.Sim.Fault("GET /accounts/{accountId}", tradingsim.RawAfter(200, nil,
			`{"account":{"id":"acc_1","status":"UNDER_REVIEW","balance":1,"equity":1}}`))
		state, err := r.Account().State(r.T.Context())
		require.NoError(r.T, err)
		assert.Equal(r.T, trading.AccountStatus("UNDER_REVIEW"), state.Status)
		err = rig.EntryCall(r)
		assert.True(r.T, rig.RefusalOf(r.T, err).Local)
		require.ErrorIs(r.T, err, trading.ErrAccountLocked)
		require.NoError(r.T, rig.ExitCall(r))
		_, err = r.Account().State(r.T.Context()) // ACTIVE again
		require.NoError(r.T, err)
		require.NoError(r.T, rig.EntryCall(r))
	})
}

// T80: a close that passes or fails the account tells, and the guard knows at once.
func TestTrap_T80_ACloseCanEndTheAccount(t *testing.T) {
	for mark, status := range map[string]trading.AccountStatus{"76000": trading.StatusPassed, "52000": trading.StatusFailed} {
		rig.LiveTest(t, nil, nil, func(r rig.Rig) {
			r.Open(rig.Buy("1"))
			r.Sim.SetMark("BTC", mark)
			result, err := r.Account().ClosePosition(r.T.Context(), "BTC", trading.All)
			require.NoError(r.T, err)
			assert.Equal(r.T, status, result.Status)
			sent := len(r.Sim.Requests())
			err = rig.EntryCall(r)
			require.ErrorIs(r.T, err, trading.CodeAccountLocked)
			assert.True(r.T, rig.RefusalOf(r.T, err).Local)
			assert.Len(r.T, r.Sim.Requests(), sent)
		})
	}
}

// T26: what a close reports is rounded to cents and written as text; the trade has
// the exact amounts.
func TestTrap_T26_CloseReportsCents(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		r.Open(rig.Buy("0.0333"))
		r.Sim.SetMark("BTC", "64001.23")
		result, err := r.Account().ClosePosition(r.T.Context(), "BTC", trading.All)
		require.NoError(r.T, err)
		assert.Contains(r.T, string(result.Meta.Body), `"pnl":"0.04"`)
		rig.EqualDec(r.T, "0.04", result.PnL)
		trades, err := r.Account().Trades(r.T.Context())
		require.NoError(r.T, err)
		require.Len(r.T, trades, 1)
		rig.EqualDec(r.T, "0.040959", trades[0].GrossPnL)
		assert.False(r.T, trades[0].RoundTripFee.Equal(result.Fee), "the fee of the trade is exact")
		rig.EqualDec(r.T, trades[0].RoundTripFee.Round(2).String(), result.Fee)
	})
}

// T81: the first account may be archived, failed or somebody's tournament entry;
// nothing is chosen for the caller. T47: createdAt is a time in both readings.
func TestTrap_T81_TheFirstAccountIsNotChosen(t *testing.T) {
	for _, reading := range [][]tradingsim.Option{nil, {tradingsim.WithInterpretation(42)}} {
		rig.LiveTest(t, append(reading,
			tradingsim.WithAccount(tradingsim.Account{ID: "old", Status: "PURCHASED", EvalType: "gauntlet"}),
			tradingsim.WithAccount(tradingsim.Account{ID: "trial", Trial: true, Archived: true, Status: "FAILED", EvalType: "free"}),
		), []trading.Option{trading.WithGuard(trading.OnlyAccounts("old", "trial"))}, func(r rig.Rig) {
			accounts, err := r.Live.Accounts(r.T.Context())
			require.NoError(r.T, err)
			require.Len(r.T, accounts, 2)
			assert.Equal(r.T, trading.AccountID("trial"), accounts[0].ID, "the newest first, archived or not")
			assert.Equal(r.T, "free", accounts[0].EvalType, "an open vocabulary")
			for _, a := range accounts {
				assert.WithinDuration(r.T, time.Now(), a.CreatedAt, time.Minute, "a time, as text or as a number")
				assert.Empty(r.T, a.Extra)
			}
			// What the list has shown, the guard knows.
			sent := len(r.Sim.Requests())
			_, err = r.Live.Account("trial").PlaceOrder(r.T.Context(), rig.Buy("0.01"))
			assert.True(r.T, rig.RefusalOf(r.T, err).Local)
			assert.Len(r.T, r.Sim.Requests(), sent)
			_, err = r.Live.Account("old").PlaceOrder(r.T.Context(), rig.Buy("0.01"))
			require.NoError(r.T, err, "PURCHASED is like ACTIVE")
		})
	}
}

// T52: a live key has no prices; a live bot reads them with a sandbox key.
func TestTrap_T52_LiveKeysHaveNoPrices(t *testing.T) {
	sim := tradingsim.New()
	r := rig.Join(t, sim)
	assert.Equal(t, trading.CodeWrongEnvironment, r.RawAs(sim.LiveKey(), trading.OpPrices, "").Code)
	mark, err := r.Sandbox.Price(t.Context(), "BTC")
	require.NoError(t, err)
	assert.False(t, mark.IsZero())
	liveOnly, err := trading.New(sim.URL(), trading.WithLiveKey(sim.LiveKey()), trading.WithTransport(sim.Transport()))
	require.NoError(t, err)
	_, err = liveOnly.Sandbox.Price(t.Context(), "BTC")
	assert.True(t, rig.RefusalOf(t, err).Local, "and without one it is told so before anything is sent")
}
