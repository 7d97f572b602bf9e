package doubt

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
)

// A setting of levels in doubt survives the end of the process, with those that the
// program wanted after it: carried out behind them, it does not stand.
func TestLevelsOverARestart(t *testing.T) {
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
		"alone": {before: []setting{{late, rig.Both("70000", "60000")}},
			want: []found{{trading.Applied, false, false}}, tp: "70000", sl: "60000"},
		"behind a newer one": {before: []setting{{late, rig.Both("70000", "60000")}, {nil, rig.Both("71000", "61000")}},
			want: []found{{trading.Applied, true, true}}, tp: "71000", sl: "61000"},
		"each level by the newest that named it": {
			before: []setting{{late, rig.Both("70000", "60000")}, {nil, trading.TPSL{StopLoss: rig.At("61000")}}},
			want:   []found{{trading.Applied, true, true}}, tp: "70000", sl: "61000"},
		"behind one that was refused": {before: []setting{{late, rig.Both("70000", "60000")}, {refused, rig.Both("71000", "61000")}},
			want: []found{{trading.Applied, false, false}}, tp: "70000", sl: "60000"},
		"behind one that stood and one that was refused": {
			before: []setting{{late, rig.Both("70000", "60000")}, {nil, rig.Both("71000", "61000")}, {refused, rig.Both("72000", "62000")}},
			want:   []found{{trading.Applied, true, true}}, tp: "71000", sl: "61000"},
		"behind one that is in doubt too": {
			before: []setting{{late, rig.Both("70000", "60000")}, {tradingsim.DropResponse(), rig.Both("71000", "61000")}},
			want:   []found{{trading.Applied, true, true}, {trading.Applied, false, false}}, tp: "71000", sl: "61000"},
		"behind one of the next run": {before: []setting{{late, rig.Both("70000", "60000")}}, after: []setting{{nil, rig.Both("71000", "61000")}},
			want: []found{{trading.Applied, true, true}}, tp: "71000", sl: "61000"},
		"behind one of each run": {before: []setting{{late, rig.Both("70000", "60000")}, {nil, rig.Both("71000", "61000")}}, after: []setting{{nil, rig.Both("72000", "62000")}},
			want: []found{{trading.Applied, true, true}}, tp: "72000", sl: "62000"},
		"never carried out": {before: []setting{{tradingsim.DropRequest(), rig.Both("70000", "60000")}, {nil, rig.Both("71000", "61000")}},
			want: []found{{trading.NotApplied, true, false}}, tp: "71000", sl: "61000"},
	} {
		t.Run(name, func(t *testing.T) {
			rig.DiskTest(t, nil, func(r rig.Rig, d *rig.Disk) {
				r.Open(rig.Buy("0.1"))
				send := func(settings []setting) {
					for _, s := range settings {
						if s.fault != nil {
							r.Sim.Fault("POST /positions/tpsl", s.fault)
						}
						_ = r.Levels(s.levels, rig.InDoubt...)
						time.Sleep(10 * time.Millisecond)
					}
				}
				send(row.before)
				r = r.Restart(d)
				send(row.after)
				resolutions, err := r.Recover(r.T.Context())
				require.NoError(r.T, err)
				require.Len(r.T, resolutions, len(row.want))
				for i := range resolutions {
					assert.Equal(r.T, trading.OpTPSL, resolutions[i].Intent.Operation)
					assert.Equal(r.T, row.want[i], found{resolutions[i].Outcome, resolutions[i].Superseded, resolutions[i].Overwritten}, "number %d", i)
				}
				time.Sleep(time.Minute)
				r.RequireLevels(row.tp, row.sl)
				assert.Empty(r.T, d.Pending())
			})
		})
	}
}

// An older setting does not leave once a newer one is through for which the disk has kept it
// waiting. The process ends before its end is written: the next run, which takes it as sent,
// knows the newer one all the same.
func TestNewerLevelsWhileTheOlderOnesAreWritten(t *testing.T) {
	rig.DiskTest(t, nil, func(r rig.Rig, d *rig.Disk) {
		r.Open(rig.Buy("0.1"))
		first, through := atomic.Bool{}, atomic.Bool{}
		first.Store(true)
		d.FailOn(func(record journal.Record) error {
			switch {
			case first.Swap(false):
				time.Sleep(200 * time.Millisecond) // less than an exit waits
			case through.Load() && rig.IsOf(record, "end"):
				return context.Canceled
			}
			return nil
		})
		older := make(chan error)
		go func() {
			older <- r.Levels(rig.Both("70000", "60000"), rig.InDoubt...)
		}()
		time.Sleep(10 * time.Millisecond)
		require.NoError(r.T, r.Levels(rig.Both("71000", "61000")))
		through.Store(true)
		err := <-older
		require.ErrorIs(r.T, err, trading.ErrExpired)
		require.Equal(r.T, trading.NotApplied, trading.OutcomeOf(err), "%v", err)
		assert.Equal(r.T, 1, r.Sent(trading.OpTPSL))
		rig.CloseClient(r.T, r.Client)
		d.FailOn(nil)
		r = rig.Join(r.T, r.Sim, trading.WithJournal(d.Open()))
		found, err := r.Recover(r.T.Context())
		require.NoError(r.T, err)
		require.Len(r.T, found, 1)
		assert.True(r.T, found[0].Superseded)
		r.RequireLevels("71000", "61000")
	})
}

// A newer setting that was carried out stands after a restart too, where the older one's journal took no more than how the
// newer one ended.
func TestNewerLevelsOfWhichOnlyTheEndWasTaken(t *testing.T) {
	rig.DiskTest(t, nil, func(r rig.Rig, d *rig.Disk) {
		r.Open(rig.Buy("0.1"))
		r.Sim.Fault("POST /positions/tpsl", tradingsim.Hang(10*time.Second))
		require.Error(r.T, r.Levels(rig.Both("70000", "60000"), rig.InDoubt...))
		d.FailOn(func(record journal.Record) error {
			if rig.IsOf(record, "newer") {
				return errors.New("it hangs")
			}
			return nil
		})
		require.NoError(r.T, r.Levels(rig.Both("71000", "61000")))
		d.FailOn(nil)
		r = r.Restart(d)
		found, err := r.Recover(r.T.Context())
		require.NoError(r.T, err)
		require.Len(r.T, found, 1)
		assert.True(r.T, found[0].Superseded)
		time.Sleep(time.Minute)
		r.RequireLevels("71000", "61000")
	})
}

// A newer setting of which the process ended before it was in the journal was never sent,
// and so it is not set by the next run either.
func TestNewerLevelsThatNeverLeft(t *testing.T) {
	rig.DiskTest(t, nil, func(r rig.Rig, d *rig.Disk) {
		r.Open(rig.Buy("0.1"))
		r.Sim.Fault("POST /positions/tpsl", tradingsim.Hang(10*time.Second))
		require.Error(r.T, r.Levels(rig.Both("70000", "60000"), rig.InDoubt...))
		ctx, kill := context.WithCancel(r.T.Context())
		d.FailOn(func(record journal.Record) error {
			switch {
			case rig.IsOf(record, "begin"):
				kill()
				return context.Canceled
			case rig.IsOf(record, "newerEnd"): // the process has ended before it
				return context.Canceled
			}
			return nil
		})
		_, err := r.Account().SetTPSL(ctx, "BTC", rig.Both("71000", "61000"))
		require.ErrorIs(r.T, err, context.Canceled)
		require.Len(r.T, d.Appended("newer"), 1)
		d.FailOn(nil)
		r = r.Restart(d)
		found, err := r.Recover(r.T.Context())
		require.NoError(r.T, err)
		require.Len(r.T, found, 1)
		assert.Equal(r.T, trading.Applied, found[0].Outcome)
		assert.False(r.T, found[0].Superseded)
		r.RequireLevels("70000", "60000")
	})
}

// Levels under a client order id are set once, and the next run is told what came of it.
func TestNamedLevelsAreSetOnceOverARestart(t *testing.T) {
	id := trading.WithClientOrderID("levels of monday")
	wanted := rig.Both("70000", "60000")
	for name, fault := range map[string]tradingsim.Fault{"answered": tradingsim.Pass(), "its answer is lost": tradingsim.DropResponse()} {
		t.Run(name, func(t *testing.T) {
			rig.DiskTest(t, nil, func(r rig.Rig, d *rig.Disk) {
				r.Open(rig.Buy("0.1"))
				r.Sim.Fault("POST /positions/tpsl", fault)
				_ = r.Levels(wanted, append(rig.InDoubt, id)...)
				r = r.Restart(d)
				require.NoError(r.T, r.Levels(wanted, id, trading.WithResolveTimeout(time.Minute)))
				assert.Equal(r.T, 1, r.Ran(trading.OpTPSL))
				require.ErrorContains(r.T, r.Levels(rig.Both("71000", "60000"), id), "for another request")
			})
		})
	}
}

// Levels protect a position, so they go out without the journal as well; what the journal
// lacks of them matters to no other write.
func TestLevelsWithoutTheJournal(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		d, broken := rig.NewDisk(), errors.New("the disk is full")
		r = r.Restart(d)
		r.Open(rig.Buy("0.1"))
		d.FailOn(func(journal.Record) error { return broken })
		result, err := r.Account().SetTPSL(r.T.Context(), "BTC", rig.Both("70000", "60000"))
		require.NoError(r.T, err)
		require.ErrorIs(r.T, result.Meta.Unjournaled, broken)
		assert.False(r.T, d.Gap)
		r.RequireLevels("70000", "60000")
	})
}
