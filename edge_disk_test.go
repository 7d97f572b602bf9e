package trading_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
)

// hanging is a journal whose syncs hang.
type hanging struct {
	handle
	hangs atomic.Bool
}

func (h *hanging) Append(ctx context.Context, durable bool, records ...journal.Record) error {
	if durable && h.hangs.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	return h.handle.Append(ctx, durable, records...)
}

// D 17: an exit waits for a disk that hangs as long as for one that fails, and goes out with
// the gap noted. An entry waits, and is not sent. Close does not wait for the disk.
func TestEdge17_AnExitDoesNotWaitForADiskThatHangs(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		d := newDisk()
		disk := &hanging{handle: handle{Store: d.kept, disk: d}}
		r = join(r.t, r.sim, trading.WithJournal(disk))
		r.open(buy("0.1"))
		disk.hangs.Store(true)
		for n, exit := range map[string]func() error{
			"close": func() error { return exitCall(r) },
			"levels": func() error {
				return r.levels(trading.TPSL{TakeProfit: at("70000"), StopLoss: at("60000")})
			},
		} {
			began := time.Now()
			_ = exit()
			assert.LessOrEqual(r.t, time.Since(began), 300*time.Millisecond, n)
		}
		assert.Equal(r.t, 1, r.ran(trading.OpClose))
		assert.True(r.t, d.gap)
		began := time.Now()
		ctx, cancel := context.WithTimeout(r.t.Context(), 5*time.Second)
		defer cancel()
		_, err := r.account().PlaceOrder(ctx, buy("0.05"))
		require.Error(r.t, err)
		assert.Equal(r.t, trading.NotApplied, trading.OutcomeOf(err))
		assert.Equal(r.t, 1, r.ran(trading.OpOrder))
		assert.Greater(r.t, time.Since(began), time.Second)
		began = time.Now()
		closeClient(r.t, r.Client)
		assert.LessOrEqual(r.t, time.Since(began), time.Second)
	})
}

// stuck is a journal that hangs in what nobody waits for, whatever its context says, or in
// everything until the context ends.
type stuck struct {
	handle
	hangs, patient atomic.Bool
	release        chan struct{}
}

func (s *stuck) Append(ctx context.Context, durable bool, records ...journal.Record) error {
	switch {
	case !s.hangs.Load() || durable && !s.patient.Load():
	case s.patient.Load():
		<-ctx.Done()
		return ctx.Err()
	default:
		<-s.release
	}
	return s.handle.Append(ctx, durable, records...)
}

// A journal that hangs in a record of an entry holds up no exit: not where it hangs for as long
// as it is let, in each record of the exit too, nor where it never comes back to the entry's.
func TestAnExitDoesNotWaitForTheRecordsOfOthers(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		d := newDisk()
		disk := &stuck{handle: handle{Store: d.kept, disk: d}, release: make(chan struct{})}
		r = join(r.t, r.sim, trading.WithJournal(disk))
		r.open(buy("0.1"))
		disk.patient.Store(true)
		disk.hangs.Store(true)
		began := time.Now()
		require.NoError(r.t, exitCall(r))
		assert.LessOrEqual(r.t, time.Since(began), time.Second)
		disk.patient.Store(false)
		disk.hangs.Store(false)

		r.doubtful(tradingsim.DropRequest(), buy("0.05")) // its journal takes notes of those beside it
		disk.hangs.Store(true)
		var beside sync.WaitGroup
		beside.Go(func() {
			_, err := r.account().PlaceOrder(r.t.Context(), buy("0.01"), trading.AllowPending())
			assert.NoError(r.t, err)
		})
		time.Sleep(time.Second)
		assert.Equal(r.t, 2, r.ran(trading.OpOrder))
		beside.Go(func() { assert.NoError(r.t, exitCall(r)) })
		time.Sleep(300 * time.Millisecond)
		assert.Equal(r.t, 2, r.ran(trading.OpClose))
		close(disk.release)
		beside.Wait()
	})
}
