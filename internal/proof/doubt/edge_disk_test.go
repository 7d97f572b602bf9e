package doubt

import (
	"context"
	"sync"
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

// hanging is a journal whose syncs hang.
type hanging struct {
	rig.Handle
	hangs atomic.Bool
}

func (h *hanging) Append(ctx context.Context, durable bool, records ...journal.Record) error {
	if durable && h.hangs.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	return h.Handle.Append(ctx, durable, records...)
}

// D 17: an exit waits for a disk that hangs as long as for one that fails, and goes out with
// the gap noted. An entry waits, and is not sent. Close does not wait for the disk.
func TestEdge17_AnExitDoesNotWaitForADiskThatHangs(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		d := rig.NewDisk()
		disk := &hanging{Handle: rig.Handle{Store: d.Kept, Disk: d}}
		r = rig.Join(r.T, r.Sim, trading.WithJournal(disk))
		r.Open(rig.Buy("0.1"))
		disk.hangs.Store(true)
		for n, exit := range map[string]func() error{
			"close": func() error { return rig.ExitCall(r) },
			"levels": func() error {
				return r.Levels(rig.Both("70000", "60000"))
			},
		} {
			began := time.Now()
			_ = exit()
			assert.LessOrEqual(r.T, time.Since(began), 300*time.Millisecond, n)
		}
		assert.Equal(r.T, 1, r.Ran(trading.OpClose))
		assert.True(r.T, d.Gap)
		began := time.Now()
		ctx, cancel := context.WithTimeout(r.T.Context(), 5*time.Second)
		defer cancel()
		_, err := r.Account().PlaceOrder(ctx, rig.Buy("0.05"))
		require.Error(r.T, err)
		assert.Equal(r.T, trading.NotApplied, trading.OutcomeOf(err))
		assert.Equal(r.T, 1, r.Ran(trading.OpOrder))
		assert.Greater(r.T, time.Since(began), time.Second)
		began = time.Now()
		rig.CloseClient(r.T, r.Client)
		assert.LessOrEqual(r.T, time.Since(began), time.Second)
	})
}

// An entry waits for a journal that hangs for as long as it may be sent, and no longer: its caller
// may wait forever.
func TestAnEntryWaitsForTheJournalWhileItMayBeSent(t *testing.T) {
	for _, ttl := range []time.Duration{0, 2 * time.Second, 10 * time.Second} {
		rig.LiveTest(t, nil, nil, func(r rig.Rig) {
			d := rig.NewDisk()
			disk := &hanging{Handle: rig.Handle{Store: d.Kept, Disk: d}}
			r = rig.Join(r.T, r.Sim, trading.WithJournal(disk), trading.WithSendTTL(ttl))
			disk.hangs.Store(true)
			began := time.Now()
			ctx, cancel := context.WithTimeout(r.T.Context(), time.Hour)
			defer cancel()
			_, err := r.Account().PlaceOrder(ctx, rig.Buy("0.05"))
			require.ErrorIs(r.T, err, trading.ErrJournal)
			assert.Equal(r.T, trading.NotApplied, trading.OutcomeOf(err))
			assert.LessOrEqual(r.T, time.Since(began), max(ttl, 5*time.Second)+time.Second)
			assert.GreaterOrEqual(r.T, time.Since(began), ttl)
			assert.Zero(r.T, r.Ran(trading.OpOrder))
		})
	}
}

// stuck is a journal that hangs in what nobody waits for, whatever its context says, or in
// everything until the context ends.
type stuck struct {
	rig.Handle
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
	return s.Handle.Append(ctx, durable, records...)
}

// Named hangs like the records that are waited for.
func (s *stuck) Named(ctx context.Context, name string) ([]journal.History, error) {
	if s.hangs.Load() && s.patient.Load() {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return s.Handle.Named(ctx, name)
}

// A journal that hangs in a record of an entry holds up no exit: not where it hangs for as long
// as it is let, in each record of the exit too, nor where it never comes back to the entry's.
func TestAnExitDoesNotWaitForTheRecordsOfOthers(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		d := rig.NewDisk()
		disk := &stuck{Handle: rig.Handle{Store: d.Kept, Disk: d}, release: make(chan struct{})}
		r = rig.Join(r.T, r.Sim, trading.WithJournal(disk))
		r.Open(rig.Buy("0.1"))
		disk.patient.Store(true)
		disk.hangs.Store(true)
		began := time.Now()
		require.NoError(r.T, rig.ExitCall(r))
		assert.LessOrEqual(r.T, time.Since(began), time.Second)
		disk.patient.Store(false)
		disk.hangs.Store(false)

		_ = r.Doubtful(tradingsim.DropRequest(), rig.Buy("0.05")) // its journal takes notes of those beside it
		disk.hangs.Store(true)
		var beside sync.WaitGroup
		beside.Go(func() {
			_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.01"), trading.AllowPending())
			assert.NoError(r.T, err)
		})
		time.Sleep(time.Second)
		assert.Equal(r.T, 2, r.Ran(trading.OpOrder))
		beside.Go(func() { assert.NoError(r.T, rig.ExitCall(r)) })
		time.Sleep(300 * time.Millisecond)
		assert.Equal(r.T, 2, r.Ran(trading.OpClose))
		close(disk.release)
		beside.Wait()
	})
}
