package journal

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var errDisk = errors.New("input/output error")

// TestFailingDisk has each step fail once. Nothing is taken from then on; what was
// durable is there when the journal is opened again, and what is there then, a
// power cut leaves.
func TestFailingDisk(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	ops := workload(r, 60)
	want := dumps(t, ops)
	for fail := 0; ; fail++ {
		d, steps, failed := newSimDisk(), 0, ""
		d.before = func(step string) error {
			if steps++; steps != fail+1 {
				return nil
			}
			failed = step
			if step == "sync" { // the system takes what it could not write for written
				for _, f := range d.names {
					f.writes = nil
				}
			}
			return errDisk
		}
		begun, durable := runUntilFailure(t, d, ops)
		if failed == "" {
			t.Logf("%d steps have failed", fail)
			assert.GreaterOrEqual(t, fail, 100, "want some hundred")
			return
		}
		d.before = nil
		l, err := openLog(d, simPath, small)
		require.NoError(t, err, "after a failed %s", failed)
		got := dump(l.state)
		again, err := openLog(d.powerCut(r, 0, 0), simPath, small)
		require.NoError(t, err, "after a failed %s and a power cut", failed)
		require.Equal(t, got, dump(again.state), "after a failed %s and a power cut", failed)
		require.Contains(t, want[durable:begun+1], got, "after a failed %s", failed)
	}
}

// runUntilFailure returns how many ops were begun, and which were durable.
func runUntilFailure(t *testing.T, d *simDisk, ops []op) (begun, durable int) {
	l, err := openLog(d, simPath, small)
	if err != nil {
		require.ErrorIs(t, err, errDisk)
		return 0, 0
	}
	for i, o := range ops {
		err := o.do(t.Context(), l)
		l.work.Wait()
		if err == nil {
			if o.durable {
				durable = i + 1
			}
			continue
		}
		require.ErrorIs(t, err, ErrFailed)
		require.ErrorIs(t, err, errDisk)
		writes := countWrites(d)
		require.ErrorIs(t, l.Append(t.Context(), false, Record{Intent: "more"}), ErrFailed)
		require.ErrorIs(t, l.Forget(t.Context(), "more"), ErrFailed)
		require.ErrorIs(t, l.Close(), ErrFailed)
		require.Equal(t, writes, countWrites(d), "the log has written or synced after a failure")
		return i + 1, durable
	}
	if err := l.Close(); err == nil {
		durable = len(ops)
	}
	return len(ops), durable
}

func countWrites(d *simDisk) int {
	count := d.syncs
	for _, f := range d.names {
		count += len(f.writes)
	}
	return count
}

// held is a log whose syncs wait until they are let go.
func held(t *testing.T) (l *Log, d *simDisk, goOn chan error) {
	d, goOn = newSimDisk(), make(chan error)
	l = openSim(t, d, usual)
	d.before = func(step string) error {
		if step == "sync" {
			return <-goOn
		}
		return nil
	}
	return l, d, goOn
}

// TestGroupCommit counts syncs: those who come during one share the next.
func TestGroupCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, d, goOn := held(t)
		before := d.syncs
		done := make(chan error, 101)
		write := func(intent string) { done <- l.Append(t.Context(), true, Record{Intent: intent}) }
		go write("first")
		synctest.Wait()
		for i := range 100 {
			go write(fmt.Sprint(i))
		}
		synctest.Wait()
		require.Empty(t, done, "a durable Append has returned before its sync")
		require.NoError(t, l.Append(t.Context(), false, Record{Intent: "not durable"})) // and has not waited
		goOn <- nil
		synctest.Wait()
		require.Len(t, done, 1)
		goOn <- nil
		synctest.Wait()
		for range 101 {
			require.NoError(t, <-done)
		}
		assert.Equal(t, before+2, d.syncs)
		d.before = nil
		require.NoError(t, l.Close())
	})
}

// TestLoneWriter counts syncs: one for each durable Append, none for the others.
func TestLoneWriter(t *testing.T) {
	d := newSimDisk()
	l := openSim(t, d, usual)
	before := d.syncs
	for i := range 100 {
		require.NoError(t, l.Append(t.Context(), i%2 == 0, Record{Intent: fmt.Sprint(i)}))
	}
	assert.Equal(t, before+50, d.syncs)
	for range 2 { // the second has nothing to make durable
		require.NoError(t, l.Append(t.Context(), true))
	}
	assert.Equal(t, before+51, d.syncs)
	l.work.Wait()
}

// TestContextDuringSync leaves a disk that hangs.
func TestContextDuringSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, d, goOn := held(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		done := make(chan error, 1)
		go func() { done <- l.Append(ctx, true, Record{Intent: "a"}) }()
		synctest.Wait()
		cancel(nil)
		assert.ErrorIs(t, <-done, context.Canceled)
		goOn <- nil
		synctest.Wait()
		d.before = nil
		assert.Len(t, l.state.pending, 1)
		require.NoError(t, l.Close())
	})
}

// TestContextDuringRewrite leaves a rewrite that hangs, before the record is there.
func TestContextDuringRewrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, d, goOn := held(t)
		l.sizes.growth = 0
		require.NoError(t, l.Append(t.Context(), false, Record{Intent: "a"}, Record{Intent: "b", Final: true, Data: make([]byte, 1000)}))
		synctest.Wait()
		for _, durable := range []bool{true, false} {
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- l.Append(ctx, durable, Record{Intent: "c"}) }()
			synctest.Wait()
			cancel()
			assert.ErrorIs(t, <-done, context.Canceled)
		}
		l.sizes.growth = 1 << 20
		goOn <- nil
		synctest.Wait()
		d.before = nil
		require.NoError(t, l.Close())
		assert.Len(t, l.state.pending, 1)
	})
}

// TestFailedSync tells everybody who waits, and believes no later sync.
func TestFailedSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, d, goOn := held(t)
		done := make(chan error, 3)
		write := func(intent string) { done <- l.Append(t.Context(), true, Record{Intent: intent}) }
		go write("a")
		synctest.Wait()
		go write("b")
		go write("c")
		synctest.Wait()
		goOn <- errDisk
		for range 3 {
			err := <-done
			require.ErrorIs(t, err, ErrFailed)
			require.ErrorIs(t, err, errDisk)
		}
		syncs := d.syncs
		require.ErrorIs(t, l.Close(), ErrFailed)
		assert.Equal(t, syncs, d.syncs)
	})
}
