package trading_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
)

func (r rig) levels(t trading.TPSL, opts ...trading.CallOption) error {
	_, err := r.account().SetTPSL(r.t.Context(), "BTC", t, opts...)
	return err
}

// requireLevels reads what the position has.
func (r rig) requireLevels(tp, sl string) {
	r.t.Helper()
	positions, err := r.account().Positions(r.t.Context())
	require.NoError(r.t, err)
	p, _ := positions.In("BTC")
	assert.True(r.t, at(tp).Equal(p.TakeProfit), "take-profit %s", p.TakeProfit)
	assert.True(r.t, at(sl).Equal(p.StopLoss), "stop-loss %s", p.StopLoss)
}

// A setting of levels in doubt survives the end of the process, with those that the
// program wanted after it: carried out behind them, it does not stand.
func TestLevelsOverARestart(t *testing.T) {
	both := func(tp, sl string) trading.TPSL {
		return trading.TPSL{TakeProfit: at(tp), StopLoss: at(sl)}
	}
	late := tradingsim.Hang(10 * time.Second)
	refused := tradingsim.Fail(400, "invalid_tpsl")
	type setting struct {
		fault  tradingsim.Fault
		levels trading.TPSL
	}
	type found struct {
		outcome                 trading.Outcome
		superseded, overwritten bool
	}
	for name, row := range map[string]struct {
		before, after []setting // the restart
		want          []found
		tp, sl        string
	}{
		"alone": {before: []setting{{late, both("70000", "60000")}},
			want: []found{{trading.Applied, false, false}}, tp: "70000", sl: "60000"},
		"behind a newer one": {before: []setting{{late, both("70000", "60000")}, {nil, both("71000", "61000")}},
			want: []found{{trading.Applied, true, true}}, tp: "71000", sl: "61000"},
		"each level by the newest that named it": {
			before: []setting{{late, trading.TPSL{TakeProfit: at("70000"), StopLoss: at("60000")}}, {nil, trading.TPSL{StopLoss: at("61000")}}},
			want:   []found{{trading.Applied, true, true}}, tp: "70000", sl: "61000"},
		"behind one that was refused": {before: []setting{{late, both("70000", "60000")}, {refused, both("71000", "61000")}},
			want: []found{{trading.Applied, false, false}}, tp: "70000", sl: "60000"},
		"behind one that stood and one that was refused": {
			before: []setting{{late, both("70000", "60000")}, {nil, both("71000", "61000")}, {refused, both("72000", "62000")}},
			want:   []found{{trading.Applied, true, true}}, tp: "71000", sl: "61000"},
		"behind one that is in doubt too": {
			before: []setting{{late, both("70000", "60000")}, {tradingsim.DropResponse(), both("71000", "61000")}},
			want:   []found{{trading.Applied, true, true}, {trading.Applied, false, false}}, tp: "71000", sl: "61000"},
		"behind one of the next run": {before: []setting{{late, both("70000", "60000")}}, after: []setting{{nil, both("71000", "61000")}},
			want: []found{{trading.Applied, true, true}}, tp: "71000", sl: "61000"},
		"behind one of each run": {before: []setting{{late, both("70000", "60000")}, {nil, both("71000", "61000")}}, after: []setting{{nil, both("72000", "62000")}},
			want: []found{{trading.Applied, true, true}}, tp: "72000", sl: "62000"},
		"never carried out": {before: []setting{{tradingsim.DropRequest(), both("70000", "60000")}, {nil, both("71000", "61000")}},
			want: []found{{trading.NotApplied, true, false}}, tp: "71000", sl: "61000"},
	} {
		t.Run(name, func(t *testing.T) {
			liveTest(t, nil, nil, func(r rig) {
				d := newDisk()
				r = r.restart(d)
				r.open(buy("0.1"))
				send := func(settings []setting) {
					for _, s := range settings {
						if s.fault != nil {
							r.sim.Fault("POST /positions/tpsl", s.fault)
						}
						_ = r.levels(s.levels, inDoubt...)
						time.Sleep(10 * time.Millisecond)
					}
				}
				send(row.before)
				r = r.restart(d)
				send(row.after)
				resolutions, err := r.Recover(r.t.Context())
				require.NoError(r.t, err)
				require.Len(r.t, resolutions, len(row.want))
				for i := range resolutions {
					assert.Equal(r.t, trading.OpTPSL, resolutions[i].Intent.Operation)
					assert.Equal(r.t, row.want[i], found{resolutions[i].Outcome, resolutions[i].Superseded, resolutions[i].Overwritten}, "number %d", i)
				}
				time.Sleep(time.Minute)
				r.requireLevels(row.tp, row.sl)
				assert.Empty(r.t, d.pending())
			})
		})
	}
}

// An older setting does not leave once a newer one is through for which the disk has kept it
// waiting. The process ends before its end is written: the next run, which takes it as sent,
// knows the newer one all the same.
func TestNewerLevelsWhileTheOlderOnesAreWritten(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		d := newDisk()
		r = r.restart(d)
		r.open(buy("0.1"))
		first, through := atomic.Bool{}, atomic.Bool{}
		first.Store(true)
		d.failOn(func(record journal.Record) error {
			switch {
			case first.Swap(false):
				time.Sleep(200 * time.Millisecond) // less than an exit waits
			case through.Load() && isOf(record, "end"):
				return context.Canceled
			}
			return nil
		})
		older := make(chan error)
		go func() {
			older <- r.levels(trading.TPSL{TakeProfit: at("70000"), StopLoss: at("60000")}, inDoubt...)
		}()
		time.Sleep(10 * time.Millisecond)
		require.NoError(r.t, r.levels(trading.TPSL{TakeProfit: at("71000"), StopLoss: at("61000")}))
		through.Store(true)
		err := <-older
		require.ErrorIs(r.t, err, trading.ErrExpired)
		require.Equal(r.t, trading.NotApplied, trading.OutcomeOf(err), "%v", err)
		assert.Equal(r.t, 1, r.sent(trading.OpTPSL))
		d.failOn(nil)
		r = r.restart(d)
		found, err := r.Recover(r.t.Context())
		require.NoError(r.t, err)
		require.Len(r.t, found, 1)
		assert.True(r.t, found[0].Superseded)
		r.requireLevels("71000", "61000")
	})
}

// A newer setting of which the process ended before it was in the journal was never sent,
// and so it is not set by the next run either.
func TestNewerLevelsThatNeverLeft(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		d := newDisk()
		r = r.restart(d)
		r.open(buy("0.1"))
		r.sim.Fault("POST /positions/tpsl", tradingsim.Hang(10*time.Second))
		require.Error(r.t, r.levels(trading.TPSL{TakeProfit: at("70000"), StopLoss: at("60000")}, inDoubt...))
		ctx, kill := context.WithCancel(r.t.Context())
		d.failOn(func(record journal.Record) error {
			switch {
			case isOf(record, "begin"):
				kill()
				return context.Canceled
			case isOf(record, "newerEnd"): // the process has ended before it
				return context.Canceled
			}
			return nil
		})
		_, err := r.account().SetTPSL(ctx, "BTC", trading.TPSL{TakeProfit: at("71000"), StopLoss: at("61000")})
		require.ErrorIs(r.t, err, context.Canceled)
		require.Len(r.t, d.appended("newer"), 1)
		d.failOn(nil)
		r = r.restart(d)
		found, err := r.Recover(r.t.Context())
		require.NoError(r.t, err)
		require.Len(r.t, found, 1)
		assert.Equal(r.t, trading.Applied, found[0].Outcome)
		assert.False(r.t, found[0].Superseded)
		r.requireLevels("70000", "60000")
	})
}

// Levels under a client order id are set once, and the next run is told what came of it.
func TestNamedLevelsAreSetOnceOverARestart(t *testing.T) {
	id := trading.WithClientOrderID("levels of monday")
	wanted := trading.TPSL{TakeProfit: at("70000"), StopLoss: at("60000")}
	for name, fault := range map[string]tradingsim.Fault{"answered": tradingsim.Pass(), "its answer is lost": tradingsim.DropResponse()} {
		t.Run(name, func(t *testing.T) {
			liveTest(t, nil, nil, func(r rig) {
				d := newDisk()
				r = r.restart(d)
				r.open(buy("0.1"))
				r.sim.Fault("POST /positions/tpsl", fault)
				_ = r.levels(wanted, append(inDoubt, id)...)
				r = r.restart(d)
				require.NoError(r.t, r.levels(wanted, id, trading.WithResolveTimeout(time.Minute)))
				assert.Equal(r.t, 1, r.ran(trading.OpTPSL))
				require.ErrorContains(r.t, r.levels(trading.TPSL{TakeProfit: at("71000"), StopLoss: at("60000")}, id), "for another request")
			})
		})
	}
}

// Levels protect a position, so they go out without the journal as well; what the journal
// lacks of them matters to no other write.
func TestLevelsWithoutTheJournal(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		d, broken := newDisk(), errors.New("the disk is full")
		r = r.restart(d)
		r.open(buy("0.1"))
		d.failOn(func(journal.Record) error { return broken })
		result, err := r.account().SetTPSL(r.t.Context(), "BTC", trading.TPSL{TakeProfit: at("70000"), StopLoss: at("60000")})
		require.NoError(r.t, err)
		require.ErrorIs(r.t, result.Meta.Unjournaled, broken)
		assert.False(r.t, d.gap)
		r.requireLevels("70000", "60000")
	})
}
