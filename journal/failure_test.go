package journal

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
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
			if fail < 100 {
				t.Error("want some hundred")
			}
			return
		}
		d.before = nil
		l, err := openLog(d, simPath, small)
		if err != nil {
			t.Fatalf("after a failed %s: %v", failed, err)
		}
		got := dump(l.state)
		again, err := openLog(d.powerCut(r, 0, 0), simPath, small)
		if err != nil {
			t.Fatalf("after a failed %s and a power cut: %v", failed, err)
		}
		if dump(again.state) != got {
			t.Fatalf("after a failed %s, what Open has found is gone after a power cut", failed)
		}
		ok := false
		for n := durable; n <= begun; n++ {
			ok = ok || got == want[n]
		}
		if !ok {
			t.Fatalf("after a failed %s there is no state between op %d and %d", failed, durable, begun)
		}
	}
}

// runUntilFailure returns how many ops were begun, and which were durable.
func runUntilFailure(t *testing.T, d *simDisk, ops []op) (begun, durable int) {
	l, err := openLog(d, simPath, small)
	if err != nil {
		if !errors.Is(err, errDisk) {
			t.Fatalf("Open: %v, want the disk's error", err)
		}
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
		if !errors.Is(err, ErrFailed) || !errors.Is(err, errDisk) {
			t.Fatalf("op %d: %v, want ErrFailed with the disk's error", i, err)
		}
		writes := countWrites(d)
		if err := l.Append(t.Context(), false, Record{Intent: "more"}); !errors.Is(err, ErrFailed) {
			t.Fatalf("Append after a failure: %v", err)
		}
		if err := l.Forget(t.Context(), "more"); !errors.Is(err, ErrFailed) {
			t.Fatalf("Forget after a failure: %v", err)
		}
		if err := l.Close(); !errors.Is(err, ErrFailed) {
			t.Fatalf("Close after a failure: %v", err)
		}
		if countWrites(d) != writes {
			t.Fatal("the log has written or synced after a failure")
		}
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
	l, err := openLog(d, simPath, usual)
	if err != nil {
		t.Fatal(err)
	}
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
		if len(done) != 0 {
			t.Fatal("a durable Append has returned before its sync")
		}
		if err := l.Append(t.Context(), false, Record{Intent: "not durable"}); err != nil {
			t.Fatal(err) // and has not waited
		}
		goOn <- nil
		synctest.Wait()
		if len(done) != 1 {
			t.Fatalf("%d appends have returned after the sync of one", len(done))
		}
		goOn <- nil
		synctest.Wait()
		for range 101 {
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
		if syncs := d.syncs - before; syncs != 2 {
			t.Errorf("there were %d syncs, want 2", syncs)
		}
		d.before = nil
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestLoneWriter counts syncs: one for each durable Append, none for the others.
func TestLoneWriter(t *testing.T) {
	d := newSimDisk()
	l, err := openLog(d, simPath, usual)
	if err != nil {
		t.Fatal(err)
	}
	before := d.syncs
	for i := range 100 {
		if err := l.Append(t.Context(), i%2 == 0, Record{Intent: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if syncs := d.syncs - before; syncs != 50 {
		t.Errorf("50 durable appends took %d syncs", syncs)
	}
	for range 2 { // the second has nothing to make durable
		if err := l.Append(t.Context(), true); err != nil {
			t.Fatal(err)
		}
	}
	if syncs := d.syncs - before; syncs != 51 {
		t.Errorf("an Append without records, twice, took %d syncs, want 1", syncs-50)
	}
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
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Append: %v, want the context's error", err)
		}
		goOn <- nil
		synctest.Wait()
		d.before = nil
		if got := len(l.state.pending); got != 1 {
			t.Errorf("%d intents are pending, want 1", got)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestContextDuringRewrite leaves a rewrite that hangs, before the record is there.
func TestContextDuringRewrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, d, goOn := held(t)
		l.sizes.growth = 0
		if err := l.Append(t.Context(), false, Record{Intent: "a"}, Record{Intent: "b", Final: true, Data: make([]byte, 1000)}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		for _, durable := range []bool{true, false} {
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- l.Append(ctx, durable, Record{Intent: "c"}) }()
			synctest.Wait()
			cancel()
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Errorf("Append: %v, want the context's error", err)
			}
		}
		l.sizes.growth = 1 << 20
		goOn <- nil
		synctest.Wait()
		d.before = nil
		if err := l.Close(); err != nil || len(l.state.pending) != 1 {
			t.Errorf("Close: %v; %d intents are pending, want 1", err, len(l.state.pending))
		}
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
			if err := <-done; !errors.Is(err, ErrFailed) || !errors.Is(err, errDisk) {
				t.Errorf("Append: %v, want ErrFailed with the disk's error", err)
			}
		}
		syncs := d.syncs
		if err := l.Close(); !errors.Is(err, ErrFailed) || d.syncs != syncs {
			t.Errorf("Close: %v, want ErrFailed and no sync", err)
		}
	})
}
