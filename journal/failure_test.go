package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.etcd.io/bbolt"

	"github.com/tradingapi/trading-go"
)

var errDisk = errors.New("the disk is gone")

func testFile(t testing.TB) string { return filepath.Join(t.TempDir(), "intents.db") }

func mustOpen(t testing.TB, path string) *Journal {
	t.Helper()
	j, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}

// noSync leaves out what changes no byte.
func noSync(j *Journal) {
	j.work.Wait()
	j.db.NoSync = true
	j.disk.sync = func(*os.File) error { return nil }
}

// countSyncs counts the syncs of the log, and two for each commit of the tables.
func countSyncs(j *Journal) *atomic.Int64 {
	j.work.Wait()
	var syncs atomic.Int64
	j.disk.sync = func(file *os.File) error {
		syncs.Add(1)
		return datasync(file)
	}
	j.disk.commit = func(tx *bbolt.Tx) error {
		syncs.Add(2)
		return tx.Commit()
	}
	return &syncs
}

func testIntent(id string) trading.Intent {
	created := time.Date(2026, time.January, 15, 9, 30, 0, 0, time.UTC)
	return trading.Intent{
		ID: trading.IntentID(id), Decision: "of " + id, Key: trading.Key("key-" + id),
		Body: []byte(`{"id":"` + id + `"}`), Created: created, Expires: created.Add(time.Second),
	}
}

func mustBegin(t testing.TB, j *Journal, ids ...string) {
	t.Helper()
	for _, id := range ids {
		if err := j.Begin(t.Context(), testIntent(id)); err != nil {
			t.Fatal(err)
		}
	}
}

func pendingIDs(t testing.TB, j *Journal) []string {
	t.Helper()
	var ids []string
	for in, err := range j.Pending(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, string(in.ID))
	}
	return ids
}

// wantFailed has every method return the first failure, and nothing else.
func wantFailed(t *testing.T, j *Journal, is error) {
	t.Helper()
	_, decision := j.Decision(t.Context(), "of a")
	var pending error
	for _, err := range j.Pending(t.Context()) {
		pending = err
	}
	for what, err := range map[string]error{
		"Begin":    j.Begin(t.Context(), testIntent("later")),
		"Settle":   j.Settle(t.Context(), "a", trading.Settlement{Outcome: trading.Applied}),
		"Decision": decision,
		"Pending":  pending,
	} {
		var failed *FailedError
		if !errors.As(err, &failed) || failed.Path != j.path || !errors.Is(err, is) {
			t.Errorf("%s after a failure: %v, want a FailedError because of %v", what, err, is)
		}
	}
}

// After a sync that failed nobody knows what the disk holds: the write is either
// there when the file is opened again or not, and until then nothing is taken.
func TestFailedSync(t *testing.T) {
	type write = func(*os.File, []byte, int64) error
	type sync = func(*os.File) error
	whole, synced := osDisk().write, osDisk().sync
	half := func(file *os.File, b []byte, at int64) error {
		return errors.Join(whole(file, b[:len(b)/2], at), errDisk)
	}
	for name, test := range map[string]struct {
		write write
		sync  sync
		after []string
	}{
		"nothing was written":       {func(*os.File, []byte, int64) error { return errDisk }, synced, []string{"a"}},
		"a half was written":        {half, synced, []string{"a"}},
		"all was written, in fact":  {whole, func(*os.File) error { return errDisk }, []string{"a", "b"}},
		"the file's memory is gone": {func(*os.File, []byte, int64) error { panic(errDisk) }, synced, []string{"a"}},
	} {
		t.Run(name, func(t *testing.T) {
			path := testFile(t)
			j := mustOpen(t, path)
			mustBegin(t, j, "a")
			j.work.Wait()
			j.disk.write, j.disk.sync = test.write, test.sync
			var failed *FailedError
			if err := j.Begin(t.Context(), testIntent("b")); !errors.As(err, &failed) {
				t.Fatalf("Begin: %v, want a FailedError", err)
			}
			j.disk = osDisk() // the disk is back, and that changes nothing
			wantFailed(t, j, failed.Err)
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			j = mustOpen(t, path)
			if got := pendingIDs(t, j); !slices.Equal(got, test.after) {
				t.Errorf("opened again, %q are pending, want %q", got, test.after)
			}
			mustBegin(t, j, "c")
		})
	}
}

// A checkpoint that fails takes nothing away from what was answered for: it is all
// in the log.
func TestFailedCheckpoint(t *testing.T) {
	for name, commit := range map[string]func(*bbolt.Tx) error{
		"nothing was committed":      func(*bbolt.Tx) error { return errDisk },
		"all was committed, in fact": func(tx *bbolt.Tx) error { return errors.Join(tx.Commit(), errDisk) },
		"bbolt panics":               func(*bbolt.Tx) error { panic(errDisk) },
	} {
		t.Run(name, func(t *testing.T) {
			path := testFile(t)
			j := mustOpen(t, path)
			mustBegin(t, j, "a")
			j.disk.commit = commit
			large := testIntent("large")
			large.Body = make([]byte, logIdle)
			if err := j.Begin(t.Context(), large); err != nil {
				t.Fatalf("the write before the checkpoint: %v", err)
			}
			j.work.Wait()
			if j.failed == nil {
				t.Fatal("the checkpoint has not failed")
			}
			wantFailed(t, j, j.failed.Err)
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			j = mustOpen(t, path)
			if got := pendingIDs(t, j); !slices.Equal(got, []string{"a", "large"}) {
				t.Errorf("opened again, %q are pending, want both", got)
			}
			mustBegin(t, j, "c")
		})
	}
}

// Close reports that it could not put everything into one file, and the next Open
// does it.
func TestFailedClose(t *testing.T) {
	path := testFile(t)
	j := mustOpen(t, path)
	mustBegin(t, j, "a")
	j.work.Wait()
	j.disk.commit = func(*bbolt.Tx) error { return errDisk }
	if err := j.Close(); !errors.Is(err, errDisk) {
		t.Errorf("Close: %v, want %v", err, errDisk)
	}
	if got := pendingIDs(t, mustOpen(t, path)); !slices.Equal(got, []string{"a"}) {
		t.Errorf("opened again, %q are pending, want a", got)
	}
}

// The file is really gone here: the process has lost it, as to a disk that was
// taken out.
func TestFailedWrite(t *testing.T) {
	path := testFile(t)
	var files []*os.File
	d := osDisk()
	d.open = func(path string, flag int, mode os.FileMode) (*os.File, error) {
		file, err := os.OpenFile(path, flag, mode)
		files = append(files, file)
		return file, err
	}
	j, err := openWith(d, path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	mustBegin(t, j, "a")
	j.work.Wait()
	if err := files[len(files)-1].Close(); err != nil {
		t.Fatal(err)
	}
	if err := j.Begin(t.Context(), testIntent("b")); !errors.Is(err, os.ErrClosed) {
		t.Fatalf("Begin without a file: %v, want %v", err, os.ErrClosed)
	}
	wantFailed(t, j, os.ErrClosed)
	_ = j.Close() // which cannot unlock what is gone
	if got := pendingIDs(t, mustOpen(t, path)); !slices.Equal(got, []string{"a"}) {
		t.Errorf("opened again, %q are pending, want a", got)
	}
}

// A lone writer is committed at once; those who come during a commit share the
// next one. No time passes for either, and no goroutine is left.
func TestGroupCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		j := mustOpen(t, testFile(t))
		gate, commits := make(chan bool), 0
		j.disk.sync = func(file *os.File) error {
			commits++
			<-gate
			return datasync(file)
		}
		const company = 50
		results := make(chan error, 1+company)
		begin := func(id string) { results <- j.Begin(t.Context(), testIntent(id)) }

		go begin("alone")
		synctest.Wait() // until the commit hangs
		for i := range company {
			go begin(fmt.Sprint(i))
		}
		synctest.Wait() // until all are waiting
		if commits != 1 || len(results) != 0 {
			t.Fatalf("%d commits and %d results before the first sync, want 1 and none", commits, len(results))
		}
		if got := pendingIDs(t, j); len(got) != 0 { // nobody acts on what can still be lost
			t.Errorf("%q are seen before they are on the disk", got)
		}
		gate <- true
		synctest.Wait()
		if commits != 2 || len(results) != 1 {
			t.Fatalf("%d commits and %d results after the first sync, want 2 and 1", commits, len(results))
		}
		gate <- true
		for range 1 + company {
			if err := <-results; err != nil {
				t.Error(err)
			}
		}
		if commits != 2 {
			t.Errorf("%d commits, want 2", commits)
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
		if waited := time.Since(start); waited != 0 {
			t.Errorf("somebody has waited for %v", waited)
		}
	})
}

// A refused write fails alone, and one that changes nothing costs no sync.
func TestMixedBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := mustOpen(t, testFile(t))
		mustBegin(t, j, "settled", "open")
		settlement := trading.Settlement{Outcome: trading.Applied}
		if err := j.Settle(t.Context(), "settled", settlement); err != nil {
			t.Fatal(err)
		}
		gate, commits := make(chan bool), 0
		j.disk.sync = func(file *os.File) error {
			commits++
			<-gate
			return datasync(file)
		}
		results := map[string]chan error{}
		run := func(what string, write func() error) {
			result := make(chan error, 1)
			results[what] = result
			go func() { result <- write() }()
		}
		run("first", func() error { return j.Begin(t.Context(), testIntent("first")) })
		synctest.Wait()
		run("begin settled", func() error { return j.Begin(t.Context(), testIntent("settled")) })
		run("settle unknown", func() error { return j.Settle(t.Context(), "unknown", settlement) })
		run("settle again", func() error { return j.Settle(t.Context(), "settled", settlement) })
		run("settle", func() error { return j.Settle(t.Context(), "open", settlement) })
		synctest.Wait()
		gate <- true
		gate <- true
		for what, want := range map[string]error{
			"first": nil, "begin settled": trading.ErrSettled, "settle unknown": trading.ErrUnknownIntent,
			"settle again": nil, "settle": nil,
		} {
			if err := <-results[what]; !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", what, err, want)
			}
		}
		if err := j.Settle(t.Context(), "open", settlement); err != nil || commits != 2 {
			t.Errorf("a second settlement: %v after %d commits, want none of its own beside 2", err, commits)
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A disk that hangs does not hold a caller whose time is over.
func TestContextEndsDuringCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := mustOpen(t, testFile(t))
		gate := make(chan bool)
		j.disk.sync = func(file *os.File) error {
			<-gate
			return datasync(file)
		}
		results := make(chan error, 2)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		go func() { results <- j.Begin(ctx, testIntent("taken")) }()
		synctest.Wait()
		go func() { results <- j.Begin(ctx, testIntent("waiting")) }()
		for range 2 {
			if err := <-results; !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Begin on a disk that hangs: %v, want %v", err, context.DeadlineExceeded)
			}
		}
		gate <- true
		synctest.Wait()
		if got := pendingIDs(t, j); !slices.Equal(got, []string{"taken"}) {
			t.Errorf("%q are pending, want the one that was being written", got)
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
}

// Close waits for what was taken.
func TestCloseDuringCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := testFile(t)
		j := mustOpen(t, path)
		gate := make(chan bool)
		j.disk.sync = func(file *os.File) error {
			<-gate
			return datasync(file)
		}
		results, closed := make(chan error, 2), make(chan error, 1)
		for _, id := range []string{"taken", "waiting"} {
			go func() { results <- j.Begin(t.Context(), testIntent(id)) }()
			synctest.Wait()
		}
		go func() { closed <- j.Close() }()
		synctest.Wait()
		if len(closed) != 0 {
			t.Fatal("Close has left a write behind")
		}
		close(gate)
		if err := errors.Join(<-results, <-results, <-closed); err != nil {
			t.Fatal(err)
		}
		if got := pendingIDs(t, mustOpen(t, path)); !slices.Equal(got, []string{"taken", "waiting"}) {
			t.Errorf("%q are pending, want both", got)
		}
	})
}
