package doubt

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

// A newer setting of levels goes at once beside an older one in doubt. If the older one
// is carried out behind it, the levels last wanted are set again.
func TestANewerSettingOfLevelsStands(t *testing.T) {
	slow := tradingsim.Hang(2 * time.Second)
	for name, row := range map[string]struct {
		fault        tradingsim.Fault // of the older one
		older, newer trading.TPSL
		beside       func(rig.Rig) // after the newer one
		outcome      trading.Outcome
		overwritten  bool
		sent         int // settings, each under a key of its own
		tp, sl       string
		err          string
	}{
		"the older one runs behind it": {fault: slow, older: rig.Both("70000", "60000"), newer: rig.Both("71000", "61000"),
			outcome: trading.Applied, overwritten: true, sent: 3, tp: "71000", sl: "61000"},
		"each level by the newest that named it": {fault: slow,
			older: trading.TPSL{TakeProfit: rig.At("70000")}, newer: trading.TPSL{StopLoss: rig.At("61000")},
			outcome: trading.Applied, overwritten: true, sent: 3, tp: "70000", sl: "61000"},
		"each level by the newest that named it, the other way round": {fault: slow,
			older: trading.TPSL{StopLoss: rig.At("60000")}, newer: trading.TPSL{TakeProfit: rig.At("71000")},
			outcome: trading.Applied, overwritten: true, sent: 3, tp: "71000", sl: "60000"},
		"the older one runs before it": {fault: tradingsim.DropResponse(), older: rig.Both("70000", "60000"), newer: rig.Both("71000", "61000"),
			outcome: trading.Applied, sent: 2, tp: "71000", sl: "61000"},
		"the older one never arrives": {fault: tradingsim.DropRequest(), older: rig.Both("70000", "60000"), newer: rig.Both("71000", "61000"),
			outcome: trading.NotApplied, sent: 2, tp: "71000", sl: "61000"},
		"somebody else's levels stay": {fault: slow, older: rig.Both("70000", "60000"), newer: rig.Both("71000", "61000"),
			beside: func(r rig.Rig) {
				time.Sleep(3 * time.Second)
				_, err := r.Sim.Terminal("POST /positions/tpsl", `{"accountId":"acc_1","symbol":"BTC","takeProfitPrice":72000,"stopLossPrice":62000}`)
				require.NoError(r.T, err)
			},
			outcome: trading.Applied, sent: 2, tp: "72000", sl: "62000"},
		"the second try is heard": {fault: slow, older: rig.Both("70000", "60000"), newer: rig.Both("71000", "61000"),
			beside: func(r rig.Rig) {
				time.Sleep(3 * time.Second)
				r.Sim.Fault("POST /positions/tpsl", tradingsim.Pass()) // the probe
				r.Sim.Fault("POST /positions/tpsl", tradingsim.Fail(503, "no_price"))
			},
			outcome: trading.Applied, overwritten: true, sent: 4, tp: "71000", sl: "61000"},
		"three tries, and no more": {fault: slow, older: rig.Both("70000", "60000"), newer: rig.Both("71000", "61000"),
			beside: func(r rig.Rig) {
				time.Sleep(3 * time.Second)
				refused := tradingsim.Fail(400, "invalid_tpsl")
				r.Sim.Fault("POST /positions/tpsl", tradingsim.Pass(), refused, refused, refused)
			},
			outcome: trading.Applied, overwritten: true, sent: 5, tp: "70000", sl: "60000", err: "could not be set again"},
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var told []trading.Resolution
			hooks := trading.WithHooks(trading.Hooks{Resolved: func(_ context.Context, r trading.Resolution) {
				mu.Lock()
				defer mu.Unlock()
				told = append(told, r)
			}})
			rig.LiveTest(t, nil, []trading.Option{hooks}, func(r rig.Rig) {
				r.Open(rig.Buy("0.1"))
				r.Sim.Fault("POST /positions/tpsl", row.fault)
				err := r.Levels(row.older, rig.InDoubt...)
				require.Equal(r.T, trading.Unknown, trading.OutcomeOf(err), "%v", err)
				time.Sleep(300 * time.Millisecond)
				require.NoError(r.T, r.Levels(row.newer))
				if row.beside != nil {
					row.beside(r)
				}
				time.Sleep(2 * time.Minute)
				mu.Lock()
				defer mu.Unlock()
				require.NotEmpty(r.T, told)
				last := told[len(told)-1] // before it, a try that came into doubt
				assert.Equal(r.T, row.outcome, last.Outcome)
				assert.True(r.T, last.Superseded)
				assert.Equal(r.T, row.overwritten, last.Overwritten)
				if row.err != "" {
					require.ErrorContains(r.T, last.Err, row.err)
				}
				keys := map[string]bool{}
				for _, key := range r.KeysOf(trading.OpTPSL) {
					keys[key] = true
				}
				assert.Len(r.T, keys, row.sent)
				r.RequireLevels(row.tp, row.sl)
				assert.Empty(r.T, r.PendingIDs())
			})
		})
	}
}

// What the client sets again by itself may be in doubt for longer than it waits with the
// end of the older setting. It is pending then like any other write, and found out about.
func TestTheClientsOwnSettingIsFoundOut(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		r.Open(rig.Buy("0.1"))
		r.Sim.Fault("POST /positions/tpsl", tradingsim.Hang(2*time.Second))
		lost := r.Levels(rig.Both("70000", "60000"), rig.InDoubt...)
		require.Equal(r.T, trading.Unknown, trading.OutcomeOf(lost), "%v", lost)
		time.Sleep(300 * time.Millisecond)
		require.NoError(r.T, r.Levels(rig.Both("71000", "61000")))
		time.Sleep(3 * time.Second)
		r.Sim.Fault("POST /positions/tpsl", tradingsim.Pass()) // the probe
		r.Sim.FaultEach(tradingsim.Always(string(trading.OpTPSL), tradingsim.Crash()))
		older, err := r.Resolved(lost)
		require.NoError(r.T, err)
		assert.Equal(r.T, trading.Applied, older.Outcome)
		require.ErrorContains(r.T, older.Err, "a newer setting is still in doubt")
		own := r.PendingIDs()
		require.Len(r.T, own, 1)
		resolution, err := r.ResolveID(r.T.Context(), own[0])
		require.NoError(r.T, err)
		assert.Equal(r.T, trading.NotApplied, resolution.Outcome)
		assert.Empty(r.T, r.PendingIDs())
	})
}

// An older setting in doubt is not sent again behind a newer one.
func TestAnOlderSettingOfLevelsIsNotSentAgain(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		r.Open(rig.Buy("0.1"))
		r.Sim.Fault("POST /positions/tpsl", tradingsim.DropRequest(), tradingsim.Pass(), tradingsim.Pass())
		older := make(chan error)
		go func() {
			err := r.Levels(rig.Both("70000", "60000"),
				trading.WithRetry(trading.Retry{Attempts: 4, MinWait: time.Second}))
			older <- err
		}()
		time.Sleep(time.Millisecond)
		require.NoError(r.T, r.Levels(rig.Both("71000", "61000")))
		err := <-older
		require.ErrorIs(r.T, err, trading.ErrExpired)
		assert.Equal(r.T, trading.Unknown, trading.OutcomeOf(err), "its wait was over before two looks")
		resolution, err := r.Resolved(err)
		require.NoError(r.T, err)
		assert.Equal(r.T, trading.NotApplied, resolution.Outcome)
		assert.True(r.T, resolution.Superseded)
		assert.Equal(r.T, 1, r.Ran(trading.OpTPSL))
	})
}

// Levels that the position has already are told as applied, whoever set them; a setting
// that was carried out, and replaced before anybody looked, is not.
func TestTheOutcomeOfLevelsIsWhatThePositionHas(t *testing.T) {
	for name, row := range map[string]struct {
		fault    tradingsim.Fault
		terminal string // the levels that somebody else sets
		want     trading.Outcome
	}{
		"had already":       {tradingsim.DropRequest(), `"takeProfitPrice":70000,"stopLossPrice":60000`, trading.Applied},
		"ran, and replaced": {tradingsim.CrashAfter(), `"takeProfitPrice":71000,"stopLossPrice":61000`, trading.NotApplied},
		"ran":               {tradingsim.CrashAfter(), "", trading.Applied},
		"never arrived":     {tradingsim.DropRequest(), "", trading.NotApplied},
	} {
		t.Run(name, func(t *testing.T) {
			rig.LiveTest(t, nil, nil, func(r rig.Rig) {
				r.Open(rig.Buy("0.1"))
				r.Sim.Fault("POST /positions/tpsl", row.fault)
				err := r.Levels(rig.Both("70000", "60000"), rig.InDoubt...)
				require.Equal(r.T, trading.Unknown, trading.OutcomeOf(err), "%v", err)
				if row.terminal != "" {
					_, err := r.Sim.Terminal("POST /positions/tpsl", `{"accountId":"acc_1","symbol":"BTC",`+row.terminal+`}`)
					require.NoError(r.T, err)
				}
				resolution, err := r.Resolved(err)
				require.NoError(r.T, err)
				assert.Equal(r.T, row.want, resolution.Outcome)
				assert.Equal(r.T, trading.EvidenceAccounting, resolution.Evidence)
				assert.False(r.T, resolution.Superseded)
				rig.EqualDec(r.T, "0.1", r.Sim.Position("acc_1", "BTC"))
			})
		})
	}
}

// Both are in doubt, and the older one is carried out last: each is told as the position
// has it.
func TestTwoSettingsOfLevelsInDoubt(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		r.Open(rig.Buy("0.1"))
		r.Sim.Fault("POST /positions/tpsl", tradingsim.Hang(10*time.Second), tradingsim.Together(tradingsim.Hang(time.Second), tradingsim.CrashAfter()))
		var lost [2]error
		for i, t := range []trading.TPSL{{TakeProfit: rig.At("70000"), StopLoss: rig.At("60000")}, {TakeProfit: rig.At("71000"), StopLoss: rig.At("61000")}} {
			_, lost[i] = r.Account().SetTPSL(r.T.Context(), "BTC", t, rig.InDoubt...)
			require.Equal(r.T, trading.Unknown, trading.OutcomeOf(lost[i]), "%v", lost[i])
			time.Sleep(300 * time.Millisecond)
		}
		older, err := r.Resolved(lost[0])
		require.NoError(r.T, err)
		assert.Equal(r.T, trading.Applied, older.Outcome)
		assert.True(r.T, older.Superseded)
		newer, err := r.Resolved(lost[1])
		require.NoError(r.T, err)
		assert.False(r.T, newer.Superseded)
		positions, err := r.Account().Positions(r.T.Context())
		require.NoError(r.T, err)
		p, _ := positions.In("BTC")
		assert.True(r.T, rig.At("70000").Equal(p.TakeProfit), "take-profit %s", p.TakeProfit)
		assert.Equal(r.T, trading.NotApplied, newer.Outcome, "the older one replaced it before it was known to have run")
		assert.False(r.T, older.Overwritten, "so nothing newer is wanted")
		assert.Equal(r.T, 2, r.Ran(trading.OpTPSL))
	})
}

// A setting of levels leaves nothing that accounting reads, answered or not: an order in
// doubt behind it is judged as without it.
func TestLevelsHideNoOrder(t *testing.T) {
	levels := func(r rig.Rig, opts ...trading.CallOption) error {
		err := r.Levels(rig.Both("70000", "60000"), opts...)
		return err
	}
	for name, set := range map[string]func(r rig.Rig){
		"none":     func(rig.Rig) {},
		"answered": func(r rig.Rig) { require.NoError(r.T, levels(r)) },
		"resolved": func(r rig.Rig) {
			r.Sim.Fault("POST /positions/tpsl", tradingsim.CrashAfter())
			_, err := r.Resolved(levels(r, rig.InDoubt...))
			require.NoError(r.T, err)
		},
	} {
		for want, fault := range map[trading.Outcome]tradingsim.Fault{
			trading.Applied: tradingsim.CrashAfter(), trading.NotApplied: tradingsim.DropRequest(),
		} {
			t.Run(name+", "+want.String(), func(t *testing.T) {
				rig.LiveTest(t, nil, nil, func(r rig.Rig) {
					r = r.Restart(rig.NewDisk(), trading.WithExclusiveAccounts("acc_1"), trading.WithRecovery(trading.Recovery{WithoutProbe: true}))
					time.Sleep(10 * time.Second)
					r.Open(rig.Buy("0.1"))
					time.Sleep(10 * time.Second)
					_, err := r.Account().Positions(r.T.Context())
					require.NoError(r.T, err)
					_, err = r.Account().Trades(r.T.Context())
					require.NoError(r.T, err)
					_, err = r.Account().OpenOrders(r.T.Context())
					require.NoError(r.T, err)
					set(r)
					r.Sim.Fault("POST /orders", fault)
					_, err = r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), rig.Once, trading.WithResolveTimeout(time.Hour))
					assert.Equal(r.T, want, trading.OutcomeOf(err), "%v", err)
				})
			})
		}
	}
}
