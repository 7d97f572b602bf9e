package trading_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

// What an account accepts in each status: by the service when the client has not
// seen the status, and by the client's own guard when it has. The two agree.
func TestWhatEachStatusAccepts(t *testing.T) {
	ctx := context.Background()
	for _, row := range []struct {
		status      string
		entry, exit bool
	}{
		{"ACTIVE", true, true}, {"PURCHASED", true, true}, {"FUNDED", true, true},
		{"PASSED", false, true}, {"FAILED", false, false}, {"EXPIRED", false, false},
	} {
		for _, seen := range []bool{false, true} {
			liveTest(t, nil, nil, func(r rig) {
				t, account := r.t, r.account()
				r.open(buy("0.5"))
				limit, err := account.PlaceLimit(ctx, buy("0.01", func(o *trading.Order) { o.LimitPrice = at("60000") }))
				require.NoError(t, err)
				r.sim.SetStatus("acc_1", row.status)
				if seen {
					state, err := account.State(ctx)
					require.NoError(t, err, "reading is open in every status")
					assert.Equal(t, trading.AccountStatus(row.status), state.Status)
				}
				sent := len(r.sim.Requests())
				refused := func(err error, what string) {
					t.Helper()
					require.ErrorIs(t, err, trading.CodeAccountLocked, "%s, %s", row.status, what)
					assert.Equal(t, trading.NotApplied, trading.OutcomeOf(err))
				}
				entries := map[string]func() error{
					"order": func() error { _, err := account.PlaceOrder(ctx, buy("0.01")); return err },
					"limit": func() error {
						_, err := account.PlaceLimit(ctx, buy("0.01", func(o *trading.Order) { o.LimitPrice = at("60000") }))
						return err
					},
					"run": func() error {
						_, err := account.PlaceTWAP(ctx, buy("0.05"), trading.TWAP{Duration: time.Minute})
						return err
					},
				}
				for name, entry := range entries {
					if err := entry(); row.entry {
						require.NoError(t, err, "%s, %s", row.status, name)
					} else {
						refused(err, name)
						assert.Equal(t, seen, refusalOf(t, err).Local, "what was seen is not asked again")
					}
				}
				if seen && !row.entry {
					assert.Len(t, r.sim.Requests(), sent, "entries were not sent")
				}
				exits := []func() error{
					func() error {
						_, err := account.PlaceOrder(ctx, sell("0.1", func(o *trading.Order) { o.ReduceOnly = true }))
						return err
					},
					func() error {
						_, err := account.SetTPSL(ctx, "BTC", trading.TPSL{TakeProfit: trading.Clear, StopLoss: at("63000")})
						return err
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
						assert.False(t, refusalOf(t, err).Local, "exits are asked of the service")
					}
				}
			})
		}
	}
}

// T82: a status that this version does not know takes no new exposure, and does not
// stand in the way of an exit.
func TestTrap_T82_AnUnknownStatus(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		r.open(buy("0.5"))
		r.sim.Fault("GET /accounts/{accountId}", tradingsim.RawAfter(200, nil,
			`{"account":{"id":"acc_1","status":"UNDER_REVIEW","balance":1,"equity":1}}`))
		state, err := r.account().State(r.t.Context())
		require.NoError(r.t, err)
		assert.Equal(r.t, trading.AccountStatus("UNDER_REVIEW"), state.Status)
		err = entryCall(r)
		assert.True(r.t, refusalOf(r.t, err).Local)
		require.ErrorIs(r.t, err, trading.ErrAccountLocked)
		require.NoError(r.t, exitCall(r))
		_, err = r.account().State(r.t.Context()) // ACTIVE again
		require.NoError(r.t, err)
		require.NoError(r.t, entryCall(r))
	})
}

// T80: a close that passes or fails the account tells, and the guard knows at once.
func TestTrap_T80_ACloseCanEndTheAccount(t *testing.T) {
	for mark, status := range map[string]trading.AccountStatus{"76000": trading.StatusPassed, "52000": trading.StatusFailed} {
		liveTest(t, nil, nil, func(r rig) {
			r.open(buy("1"))
			r.sim.SetMark("BTC", mark)
			result, err := r.account().ClosePosition(r.t.Context(), "BTC", trading.All)
			require.NoError(r.t, err)
			assert.Equal(r.t, status, result.Status)
			sent := len(r.sim.Requests())
			err = entryCall(r)
			require.ErrorIs(r.t, err, trading.CodeAccountLocked)
			assert.True(r.t, refusalOf(r.t, err).Local)
			assert.Len(r.t, r.sim.Requests(), sent)
		})
	}
}

// T26: what a close reports is rounded to cents and written as text; the trade has
// the exact amounts.
func TestTrap_T26_CloseReportsCents(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		r.open(buy("0.0333"))
		r.sim.SetMark("BTC", "64001.23")
		result, err := r.account().ClosePosition(r.t.Context(), "BTC", trading.All)
		require.NoError(r.t, err)
		assert.Contains(r.t, string(result.Meta.Body), `"pnl":"0.04"`)
		equalDec(r.t, "0.04", result.PnL)
		trades, err := r.account().Trades(r.t.Context())
		require.NoError(r.t, err)
		require.Len(r.t, trades, 1)
		equalDec(r.t, "0.040959", trades[0].GrossPnL)
		assert.False(r.t, trades[0].RoundTripFee.Equal(result.Fee), "the fee of the trade is exact")
		equalDec(r.t, trades[0].RoundTripFee.Round(2).String(), result.Fee)
	})
}

// T81: the first account may be archived, failed or somebody's tournament entry;
// nothing is chosen for the caller. T47: createdAt is a time in both readings.
func TestTrap_T81_TheFirstAccountIsNotChosen(t *testing.T) {
	for _, reading := range []int{0, 42} {
		options := []tradingsim.Option{
			tradingsim.WithAccount(tradingsim.Account{ID: "challenge", Status: "PASSED", EvalType: "2-step", Phase: 2}),
			tradingsim.WithAccount(tradingsim.Account{ID: "funded", Status: "FUNDED", FundedFrom: "challenge", Balance: "50000.5"}),
			tradingsim.WithAccount(tradingsim.Account{ID: "old", Status: "PURCHASED", EvalType: "gauntlet"}),
			tradingsim.WithAccount(tradingsim.Account{ID: "cup", Tournament: true, TournamentName: "Winter", EvalType: "hyper"}),
			tradingsim.WithAccount(tradingsim.Account{ID: "trial", Trial: true, Archived: true, Status: "FAILED", EvalType: "free"}),
		}
		if reading > 0 {
			options = append(options, tradingsim.WithInterpretation(reading))
		}
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, options)
			accounts, err := r.Live.Accounts(t.Context())
			require.NoError(t, err)
			require.Len(t, accounts, 5)
			assert.Equal(t, trading.AccountID("trial"), accounts[0].ID, "the newest first, archived or not")
			assert.True(t, accounts[0].Archived)
			assert.True(t, accounts[0].Trial)
			assert.Equal(t, trading.EvalType("free"), accounts[0].EvalType, "an open vocabulary")
			assert.Equal(t, "Winter", accounts[1].TournamentName)
			assert.True(t, accounts[1].Tournament)
			assert.Equal(t, trading.StatusPurchased, accounts[2].Status)
			assert.Equal(t, trading.AccountID("challenge"), accounts[3].FundedFrom)
			equalDec(t, "50000.5", accounts[3].CurrentBalance)
			assert.Equal(t, 2, accounts[4].Phase)
			for i, a := range accounts {
				assert.WithinDuration(t, time.Now(), a.CreatedAt, time.Minute, "a time, as text or as a number")
				assert.Empty(t, a.Extra)
				if i > 0 {
					assert.False(t, a.CreatedAt.After(accounts[i-1].CreatedAt))
				}
			}
			// What the list has shown, the guard knows.
			sent := len(r.sim.Requests())
			_, err = r.Live.Account("trial").PlaceOrder(t.Context(), buy("0.01"))
			assert.True(t, refusalOf(t, err).Local)
			assert.Len(t, r.sim.Requests(), sent)
			_, err = r.Live.Account("old").PlaceOrder(t.Context(), buy("0.01"))
			require.NoError(t, err, "PURCHASED is like ACTIVE")
		})
	}
}

// Live reads, in an envelope or bare (reading 43), with times as text or numbers
// (42): the same records, what is not shown in Extra, and neither ok nor success.
func TestLiveReadsInEveryReading(t *testing.T) {
	ctx := context.Background()
	read := func(t *testing.T, readings ...int) (out []any) {
		var options []tradingsim.Option
		for _, n := range readings {
			options = append(options, tradingsim.WithInterpretation(n))
		}
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, options)
			account := r.account()
			r.open(buy("0.5", func(o *trading.Order) { o.StopLoss = at("60000") }))
			_, err := account.ClosePosition(ctx, "BTC", trading.Percent(dec("50")))
			require.NoError(t, err)
			_, err = account.PlaceLimit(ctx, buy("0.01", func(o *trading.Order) { o.LimitPrice = at("60000") }))
			require.NoError(t, err)
			_, err = account.PlaceTWAP(ctx, buy("0.05"), trading.TWAP{Duration: time.Hour})
			require.NoError(t, err)
			r.sim.PayFunding("acc_1", "BTC", "-1.25")

			var meta trading.Meta
			keep := trading.ResponseInto(&meta)
			check := func(err error) {
				t.Helper()
				require.NoError(t, err)
				assert.NotContains(t, string(meta.Body), `"ok"`)
				assert.NotContains(t, string(meta.Body), `"success"`)
				assert.Equal(t, http.StatusOK, meta.Status)
				assert.Empty(t, meta.Key)
			}
			state, err := account.State(ctx, keep)
			check(err)
			assert.Equal(t, trading.EnvLive, state.Environment)
			equalOpt(t, "95000", state.DailyLossFloor)
			equalOpt(t, "90000", state.GlobalLossFloor)
			equalOpt(t, "110000", state.ProfitTarget)
			phase, ok := state.Phase.Get()
			assert.True(t, ok)
			assert.Equal(t, 1, phase)
			positions, err := account.Positions(ctx, keep)
			check(err)
			p, held := positions.In("BTC")
			require.True(t, held)
			assert.True(t, p.TakeProfit.IsClear())
			stop, ok := p.StopLoss.Value()
			assert.True(t, ok)
			equalDec(t, "60000", stop)
			trades, err := account.Trades(ctx, keep)
			check(err)
			require.Len(t, trades, 1)
			open, err := account.OpenOrders(ctx, keep)
			check(err)
			require.Len(t, open.Limits, 1)
			require.Len(t, open.Runs, 1)
			equalOpt(t, "60000", open.Limits[0].LimitPrice)
			assert.Equal(t, "BTC", open.Runs[0].Symbol)
			kind, ok := open.Runs[0].Extra.Text("type")
			assert.True(t, ok, "what is not shown is kept")
			assert.Equal(t, "twap", kind)
			finished, err := account.FinishedRuns(ctx, keep)
			check(err)
			assert.Empty(t, finished)
			funding, err := account.Funding(ctx, keep)
			check(err)
			require.Len(t, funding, 1)
			amount, ok := funding[0].Extra.Decimal("amount")
			assert.True(t, ok)
			equalDec(t, "-1.25", amount)
			out = []any{state.Balance.String(), state.Equity.String(), p.Size.String(), p.EntryPrice.String(), p.OpenedAt.UnixMilli(),
				trades[0].GrossPnL.String(), trades[0].RoundTripFee.String(), trades[0].ClosedAt.UnixMilli()}
		})
		return out
	}
	want := read(t)
	assert.Equal(t, want, read(t, 43), "bare")
	assert.Equal(t, want, read(t, 42, 43), "bare, with numbers for times")
}

// Writes whose answers the contract does not show are done all the same (reading 44).
func TestLiveAcksInEveryReading(t *testing.T) {
	for _, reading := range []int{0, 44} {
		var options []tradingsim.Option
		if reading > 0 {
			options = append(options, tradingsim.WithInterpretation(reading))
		}
		liveTest(t, options, nil, func(r rig) {
			ctx, account := r.t.Context(), r.account()
			r.open(buy("0.5"))
			limit, err := account.PlaceLimit(ctx, buy("0.01", func(o *trading.Order) { o.LimitPrice = at("60000") }))
			require.NoError(r.t, err)
			ack, err := account.CancelOrder(ctx, limit.Order.ID)
			require.NoError(r.t, err)
			assert.NotContains(r.t, ack.Extra, "success")
			triggers, err := account.SetTPSL(ctx, "BTC", trading.TPSL{TakeProfit: trading.Clear, StopLoss: at("63000")})
			require.NoError(r.t, err)
			_, told := triggers.Position.Get()
			assert.Equal(r.t, reading == 0, told)
			_, err = account.CancelOrder(ctx, limit.Order.ID)
			require.ErrorIs(r.t, err, trading.CodeOrderNotFound)
			assert.Equal(r.t, trading.AdviseRead, trading.AdviceOf(err), "it may have filled")
		})
	}
}

// T52: a live key has no prices; a live bot reads them with a sandbox key.
func TestTrap_T52_LiveKeysHaveNoPrices(t *testing.T) {
	sim := tradingsim.New()
	r := join(t, sim)
	assert.Equal(t, trading.CodeWrongEnvironment, r.rawAs(sim.LiveKey(), trading.OpPrices, "").Code)
	mark, err := r.Sandbox.Price(t.Context(), "BTC")
	require.NoError(t, err)
	assert.False(t, mark.IsZero())
	liveOnly, err := trading.New(sim.URL(), trading.WithLiveKey(sim.LiveKey()), trading.WithTransport(sim.Transport()))
	require.NoError(t, err)
	_, err = liveOnly.Sandbox.Price(t.Context(), "BTC")
	assert.True(t, refusalOf(t, err).Local, "and without one it is told so before anything is sent")
}
