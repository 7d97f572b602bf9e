package doubt

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

// Two orders are lost, and the hook that hears of the first hangs. The second is found out about all
// the same, before the bot closes all, after which the account would show it no more.
func TestFound10_AHookThatHangs(t *testing.T) {
	for hang, name := range map[time.Duration]string{0: "it does not", 20 * time.Second: "for a while", 5 * time.Minute: "for long"} {
		t.Run(name, func(t *testing.T) {
			rig.LiveTest(t, nil, nil, func(r rig.Rig) {
				heard := new(atomic.Int32)
				r = r.Restart(rig.NewDisk(), rig.Sole, trading.WithHooks(trading.Hooks{Resolved: func(context.Context, trading.Resolution) {
					if heard.Add(1) == 1 {
						time.Sleep(hang)
					}
				}}))
				r.ReadAll()
				r.Sim.Fault("POST /orders", tradingsim.DropResponse(), tradingsim.Fail(500, "internal_error"))
				for _, size := range []string{"0.07", "0.05"} {
					_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy(size), append(rig.InDoubt, trading.AllowPending())...)
					require.Equal(r.T, trading.Unknown, trading.OutcomeOf(err), "%v", err)
				}
				time.Sleep(30 * time.Second)
				_, err := r.Account().ClosePosition(r.T.Context(), "BTC", trading.All)
				require.NoError(r.T, err)
				time.Sleep(8 * time.Minute)
				pending, err := r.Pending(r.T.Context())
				require.NoError(r.T, err)
				for _, w := range pending {
					assert.Fail(r.T, "it is still pending", w.Reason)
				}
				assert.EqualValues(r.T, 2, heard.Load())
			})
		})
	}
}

// An order is lost, and the program restarts while the journal hangs: until it is back, or, like a call
// over a connection that is dead, for as long as it is waited for. What became of the order is found out
// once the journal is back.
func TestFound10_ARestartIntoAHungJournal(t *testing.T) {
	for name, fault := range map[string]tradingsim.Fault{
		"its answer is lost": tradingsim.DropResponse(), "the request is lost": tradingsim.DropRequest(),
		"the service dies over it": tradingsim.Crash(), "500 after the work": tradingsim.FailAfter(500, "internal_error"),
	} {
		for _, waitedFor := range []bool{false, true} {
			for _, hangs := range []time.Duration{10 * time.Second, 10 * time.Minute} {
				t.Run(fmt.Sprintf("%s, %s, while it is waited for %t", name, hangs, waitedFor), func(t *testing.T) {
					rig.LiveTest(t, nil, nil, func(r rig.Rig) {
						disk := rig.NewDisk()
						r = r.Restart(disk, rig.Sole)
						r.ReadAll()
						_ = r.Lost(fault, rig.Buy("0.05"))
						rig.CloseClient(r.T, r.Client)
						hung := &stuck{Handle: rig.Handle{Store: disk.Open(), Disk: disk}, release: make(chan struct{})}
						hung.patient.Store(waitedFor)
						hung.hangs.Store(true)
						time.AfterFunc(hangs, func() {
							hung.hangs.Store(false)
							close(hung.release)
						})
						r = rig.Join(r.T, r.Sim, trading.WithJournal(hung), rig.Sole)
						ctx, cancel := context.WithTimeout(r.T.Context(), time.Hour)
						defer cancel()
						resolutions, err := r.Recover(ctx)
						for ; err != nil && ctx.Err() == nil; time.Sleep(time.Second) { // the journal cannot be read
							require.Empty(r.T, resolutions)
							resolutions, err = r.Recover(ctx)
						}
						require.NoError(r.T, err)
						require.Len(r.T, resolutions, 1)
						want := trading.NotApplied
						if r.Ran(trading.OpOrder) > 0 {
							want = trading.Applied
						}
						assert.Equal(r.T, want, resolutions[0].Outcome, "%v", resolutions[0].Err)
						r.Open(rig.Buy("0.02"))
					})
				})
			}
		}
	}
}

// The first write of a program is an exit, and its journal hangs in all that is asked of it.
func TestFound10_AnExitBesideAHungJournal(t *testing.T) {
	for name, row := range map[string]struct {
		opts []trading.CallOption
		most time.Duration
	}{"without an id": {nil, time.Second}, "with an id": {[]trading.CallOption{rig.Breakout}, 6 * time.Second}} {
		t.Run(name, func(t *testing.T) {
			rig.LiveTest(t, nil, nil, func(r rig.Rig) {
				r.Open(rig.Buy("0.1"))
				disk := rig.NewDisk()
				hung := &stuck{Handle: rig.Handle{Store: disk.Open(), Disk: disk}, release: make(chan struct{})}
				hung.patient.Store(true)
				hung.hangs.Store(true)
				r = rig.Join(r.T, r.Sim, trading.WithJournal(hung), rig.Sole)
				began := time.Now()
				require.NoError(r.T, rig.ExitCall(r, row.opts...))
				assert.LessOrEqual(r.T, time.Since(began), row.most)
				if row.opts == nil {
					return
				}
				rig.CloseClient(r.T, r.Client)
				require.NoError(r.T, rig.ExitCall(rig.Join(r.T, r.Sim), row.opts...))
				assert.Len(r.T, slices.Compact(r.KeysOf(trading.OpClose)), 1, "what cannot be read has its key by the id alone")
				assert.Equal(r.T, 1, r.Ran(trading.OpClose))
			})
		})
	}
}
