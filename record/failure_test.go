package record

import (
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
)

// newFaultyRig is a rig on a disk that a test can break.
func newFaultyRig(t *testing.T, o Options) (*rig, *faultyDisk) {
	t.Helper()
	d := &faultyDisk{room: -1}
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	a, err := openAudit(d.disk(), path, o)
	require.NoError(t, err)
	return join(t, a, path), d
}

// TestAFullDisk fills the disk up at each byte of what an exit writes, so that lines
// are left out, cut short, or there.
func TestAFullDisk(t *testing.T) {
	for room := 0; room < 1600; room += 37 {
		r, d := newFaultyRig(t, Options{})
		_, err := r.account().PlaceOrder(t.Context(), buy("0.02"))
		require.NoError(t, err)
		placed := len(r.sim.Ledger())

		d.set(func(d *faultyDisk) { d.room = room })
		_, err = r.account().ClosePosition(t.Context(), "BTC", trading.Percent(trading.Dec("50")))
		require.NoError(t, err, "an exit passes")
		require.Greater(t, len(r.sim.Ledger()), placed)
		placed = len(r.sim.Ledger())

		failed := (*FailedError)(nil)
		if room < 1200 { // what the close writes takes more than that
			require.ErrorAs(t, r.audit.Err(), &failed, "with room for %d", room)
			require.ErrorIs(t, failed, syscall.ENOSPC)
			require.False(t, failed.Final)
		}
		d.set(func(d *faultyDisk) { d.room = 0 })
		_, err = r.account().PlaceOrder(t.Context(), buy("0.01"))
		require.ErrorIs(t, err, trading.ErrGuard)
		require.ErrorAs(t, err, &failed)
		require.Equal(t, trading.NotApplied, trading.OutcomeOf(err))
		require.Len(t, r.sim.Ledger(), placed, "an entry that cannot be recorded is not placed")

		d.set(func(d *faultyDisk) { d.room = -1 })
		_, err = r.account().PlaceOrder(t.Context(), buy("0.01"))
		require.NoError(t, err, "it works again by itself")
		require.NoError(t, r.audit.Err())
		require.NoError(t, r.audit.Close())

		events := r.events() // which verifies
		assert.Equal(t, strings.Repeat("begun sent attempt done ", 2)+"begun done begun sent attempt done",
			kinds(events), "nothing is missing, with room for %d", room)
		resumed := only(eventsOf(t, r.path), KindResumed)
		require.NotEmpty(t, resumed)
		for _, e := range resumed {
			assert.Zero(t, e.Lost)
			assert.Contains(t, e.Err, "no space left")
			assert.False(t, e.Since.IsZero())
		}
	}
}

func TestADiskThatTakesNoNewFile(t *testing.T) {
	r, d := newFaultyRig(t, Options{MaxFile: 1500})
	d.set(func(d *faultyDisk) { d.noMake = true })
	_, err := r.account().PlaceOrder(t.Context(), buy("0.02"))
	require.NoError(t, err)
	for range 3 {
		_, err = r.account().ClosePosition(t.Context(), "BTC", trading.Percent(trading.Dec("10")))
		require.NoError(t, err)
	}
	require.ErrorIs(t, r.audit.Err(), syscall.ENOSPC)
	_, err = r.account().PlaceOrder(t.Context(), buy("0.01"))
	require.ErrorIs(t, err, trading.ErrGuard)
	d.set(func(d *faultyDisk) { d.noMake = false })
	_, err = r.account().PlaceOrder(t.Context(), buy("0.01"))
	require.NoError(t, err)
	assert.Len(t, only(r.events(), KindDone), 6)
}

// The guard tries to write: a client whose hooks have nothing to tell yet is not held
// back for ever.
func TestTheGuardTriesByItself(t *testing.T) {
	r, d := newFaultyRig(t, Options{})
	d.set(func(d *faultyDisk) { d.room = 0 })
	tellWrite(r.audit.Hooks(), "BTC")
	guard := r.audit.Guard()
	entry, exit := trading.Write{Entry: true}, trading.Write{}
	require.Error(t, guard(t.Context(), entry))
	require.NoError(t, guard(t.Context(), exit))
	d.set(func(d *faultyDisk) { d.room = -1 })
	require.NoError(t, guard(t.Context(), entry))
	require.NoError(t, r.audit.Err())
	assert.Equal(t, "begun sent attempt done", kinds(r.events()))
}

// Memory is bounded while nothing can be written, and what was not held is counted.
func TestWhatIsHeldIsBounded(t *testing.T) {
	r, d := newFaultyRig(t, Options{})
	d.set(func(d *faultyDisk) { d.room = 0 })
	const orders = 400
	for range orders {
		tellWrite(r.audit.Hooks(), "BTC")
	}
	assert.LessOrEqual(t, r.audit.heldB, maxHeld)
	d.set(func(d *faultyDisk) { d.room = -1 })
	tellWrite(r.audit.Hooks(), "ETH")
	require.NoError(t, r.audit.Err())
	assert.Zero(t, r.audit.heldB)
	assert.Empty(t, r.audit.held)
	resumed := only(eventsOf(t, r.path), KindResumed)
	require.Len(t, resumed, 1)
	assert.Positive(t, resumed[0].Lost)
	assert.Equal(t, 4*orders, resumed[0].Lost+resumed[0].Held)
	report, err := VerifyFile(r.path)
	require.NoError(t, err)
	assert.Equal(t, resumed[0].Lost, report.Lost)
}

// What is held is not the client's memory.
func TestWhatIsHeldIsACopy(t *testing.T) {
	r, d := newFaultyRig(t, Options{})
	d.set(func(d *faultyDisk) { d.room = 0 })
	h := r.audit.Hooks()
	body := []byte(`{"size":1}`)
	c := trading.Call{Operation: trading.OpOrder, Write: true, Body: body}
	ctx := h.CallStart(t.Context(), c)
	h.AttemptDone(ctx, c, trading.Attempt{Request: body, Response: body})
	copy(body, `{"size":9}`)
	d.set(func(d *faultyDisk) { d.room = -1 })
	h.CallDone(ctx, c, trading.Done{})
	events := r.events()
	require.Len(t, events, 3)
	assert.JSONEq(t, `{"size":1}`, string(events[0].Request))
	assert.JSONEq(t, `{"size":1}`, string(events[1].Response))
}

func TestClosingWhatCannotBeWritten(t *testing.T) {
	r, d := newFaultyRig(t, Options{})
	d.set(func(d *faultyDisk) { d.room = 0 })
	tellWrite(r.audit.Hooks(), "BTC")
	failed := (*FailedError)(nil)
	require.ErrorAs(t, r.audit.Close(), &failed)
	require.ErrorAs(t, r.audit.Err(), &failed)
}

// After a sync that failed nobody knows what the disk holds, and a second sync that
// goes well proves nothing.
func TestASyncThatFailsIsFinal(t *testing.T) {
	r, d := newFaultyRig(t, Options{Sync: SyncDone})
	d.set(func(d *faultyDisk) { d.noSync = true })
	_, err := r.account().PlaceOrder(t.Context(), buy("0.02"))
	require.NoError(t, err, "it was placed")
	d.set(func(d *faultyDisk) { d.noSync = false })
	_, err = r.account().PlaceOrder(t.Context(), buy("0.02"))
	failed := (*FailedError)(nil)
	require.ErrorAs(t, err, &failed)
	assert.True(t, failed.Final)
	require.ErrorIs(t, err, syscall.EIO)
	_, err = r.account().ClosePosition(t.Context(), "BTC", trading.All)
	require.NoError(t, err)
	require.Error(t, r.audit.Close())
	reopened(t, r.path, Options{})
	_, err = VerifyFile(r.path)
	require.NoError(t, err)
}

func TestWhenItIsSynced(t *testing.T) {
	for _, row := range []struct {
		sync Sync
		want int // by three orders
	}{{SyncNever, 0}, {SyncDone, 3}} {
		r, d := newFaultyRig(t, Options{Sync: row.sync})
		for _, symbol := range []string{"BTC", "ETH", "SOL"} {
			tellWrite(r.audit.Hooks(), symbol)
		}
		assert.Equal(t, row.want, d.syncs)
		require.NoError(t, r.audit.Close())
		assert.Equal(t, row.want+1, d.syncs, "Close syncs")
	}
}

// slowSync is a disk whose syncs wait until they are let go.
type slowSync struct {
	file
	began chan struct{}
	let   chan struct{}
	count *int
	mu    *sync.Mutex
}

func (s slowSync) Sync() error {
	s.mu.Lock()
	*s.count++
	s.mu.Unlock()
	s.began <- struct{}{}
	<-s.let
	return nil
}

func TestWritersShareASync(t *testing.T) {
	var count int
	s := slowSync{began: make(chan struct{}, 100), let: make(chan struct{}), count: &count, mu: new(sync.Mutex)}
	on := realDisk
	open := on.open
	on.open = func(path string, flag int) (file, error) {
		f, err := open(path, flag)
		if err != nil {
			return nil, err
		}
		s := s
		s.file = f
		return s, nil
	}
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	a, err := openAudit(on, path, Options{Sync: SyncDone})
	require.NoError(t, err)
	var writers sync.WaitGroup
	write := func() { writers.Go(func() { tellWrite(a.Hooks(), "BTC") }) }
	write()
	<-s.began // the first is being synced
	const more = 10
	for range more {
		write()
	}
	for { // until all of them have written their last line
		a.mu.Lock()
		seq := a.chain.seq
		a.mu.Unlock()
		if seq == 2+4*(more+1) {
			break
		}
		runtime.Gosched()
	}
	close(s.let)
	writers.Wait()
	assert.Equal(t, 2, count, "one for the first, and one for all others")
	require.NoError(t, a.Close())
}

// Orders, exits and a disk that fails now and then, from many goroutines: the audit
// verifies, and each call has its lines.
func TestConcurrency(t *testing.T) {
	r, d := newFaultyRig(t, Options{MaxFile: 8000, Sync: SyncDone})
	const workers, rounds = 8, 20
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range rounds {
				switch {
				case w == 0:
					d.set(func(d *faultyDisk) { d.room = []int{-1, 100, 0}[i%3] })
					_ = r.audit.Err()
					_, _ = r.audit.Head()
				case w%2 == 0:
					_, err := r.account().PlaceOrder(t.Context(), buy("0.01"))
					if err != nil && !errors.Is(err, trading.ErrGuard) {
						t.Error(err)
					}
				default:
					tellWrite(r.audit.Hooks(), "ETH")
				}
			}
		})
	}
	wg.Wait()
	d.set(func(d *faultyDisk) { d.room = -1 })
	require.NoError(t, r.audit.Close())
	events := r.events()
	calls := make(map[string][]Event)
	for _, e := range events {
		calls[e.Call] = append(calls[e.Call], e)
	}
	assert.Len(t, calls, (workers-1)*rounds)
	for name, events := range calls {
		assert.Contains(t, []string{"begun sent attempt done", "begun done"}, kinds(events), name)
	}
	report, err := VerifyFile(r.path)
	require.NoError(t, err)
	assert.Zero(t, report.Lost)
	assert.Greater(t, report.Files, 3)
}
