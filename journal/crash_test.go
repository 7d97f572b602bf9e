package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/tradingapi/trading-go"
)

// files are the bytes of a journal's files at some moment; nil is one that is not
// there.
type files struct{ tables, log []byte }

func filesAt(t testing.TB, path string) files {
	t.Helper()
	var tables []byte
	if _, err := os.Stat(path); err == nil {
		tables = used(t, path)
	}
	log, err := os.ReadFile(logPath(path))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return files{tables, log}
}

func (f files) write(t testing.TB, path string) {
	t.Helper()
	for path, b := range map[string][]byte{path: f.tables, logPath(path): f.log} {
		var err error
		if b != nil {
			err = os.WriteFile(path, b, 0o600)
		} else if err = os.Remove(path); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// crasher stops the world at each step that changes the disk, before it, after it
// and half way through it, and opens what is left in another place.
type crasher struct {
	t             *testing.T
	path, copy    string
	random        *rand.Rand
	synced        files             // what survives the loss of power
	before, after [][]trading.Entry // what may be there; after is that of the step under way
	crashes       map[string]int
}

func newCrasher(t *testing.T) *crasher {
	return &crasher{
		t: t, path: testFile(t), copy: filepath.Join(t.TempDir(), "copy.db"),
		random: rand.New(rand.NewPCG(7, 8)), crashes: map[string]int{},
	}
}

// check opens what a crash has left. It must hold what was answered for, and may
// hold what was under way.
func (c *crasher) check(step string, left files) {
	c.t.Helper()
	if left.tables == nil {
		return
	}
	left.write(c.t, c.copy)
	got, refused := openAgain(c.t, c.copy)
	c.crashes[step]++
	same := func(want []trading.Entry) bool { return slices.EqualFunc(got, want, sameEntry) }
	if refused || !slices.ContainsFunc(slices.Concat(c.before, c.after), same) {
		c.t.Errorf("a crash %s: there are %d entries (refused: %t), want %d", step, len(got), refused, len(c.before[0]))
	}
}

const sector = 512

// lose checks what the loss of power can leave: any sectors of what was written
// since the last sync, but not the first pages of the tables, which make the others
// valid.
func (c *crasher) lose(step string, now files, times int) {
	c.t.Helper()
	for range times {
		left := files{bytes.Clone(c.synced.tables), bytes.Clone(c.synced.log)}
		mix := func(old, new []byte, from int) {
			for at := from; at < min(len(old), len(new)); at += sector {
				if c.random.IntN(2) == 0 {
					copy(old[at:min(at+sector, len(old))], new[at:])
				}
			}
		}
		mix(left.tables, now.tables, 2*os.Getpagesize())
		mix(left.log, now.log, 0)
		c.check(step, left)
	}
}

func (c *crasher) disk() disk {
	d, system := osDisk(), osDisk()
	d.commit = func(tx *bbolt.Tx) error {
		now := filesAt(c.t, c.path)
		c.check("before a commit", now)
		tx.DB().NoSync = true
		err := tx.Commit()
		now.tables = filesAt(c.t, c.path).tables
		c.lose("in a commit", now, 10)
		c.check("after a commit", now)
		c.synced.tables = now.tables // the log is not synced with them
		return err
	}
	d.write = func(file *os.File, b []byte, at int64) error {
		for _, part := range []int{1, len(b) / 3, len(b) - 1} {
			if err := system.write(file, b[:part], at); err != nil {
				return err
			}
			c.check("in a write", filesAt(c.t, c.path))
		}
		err := system.write(file, b, at)
		now := filesAt(c.t, c.path)
		c.check("after a write", now)
		if c.synced.log != nil {
			c.lose("between a write and its sync", now, 5)
		}
		return err
	}
	d.sync = func(*os.File) error {
		now := filesAt(c.t, c.path)
		c.check("after a sync", now)
		c.synced.log = now.log
		return nil
	}
	d.rename = func(from, to string) error {
		err := system.rename(from, to)
		now := filesAt(c.t, c.path)
		c.check("after a rename", now)
		c.synced.log = now.log // its bytes have been synced under its other name
		return err
	}
	d.names = func(string) error { return nil }
	d.remove = func(path string) error {
		c.check("before a remove", filesAt(c.t, c.path))
		err := system.remove(path)
		now := filesAt(c.t, c.path)
		c.check("after a remove", now)
		c.synced = now
		return err
	}
	return d
}

// TestCrash ends a process, or the power, at every step of opening, writing,
// checkpoints and closing. What was answered for is there, and nothing that was
// never written.
func TestCrash(t *testing.T) {
	if raceDetector {
		t.Skip("one goroutine, and hundreds of crashes")
	}
	c := newCrasher(t)
	var entries []trading.Entry
	var reached []trading.Entry // by the step under way
	step := func(do func() error) {
		t.Helper()
		c.before, c.after = [][]trading.Entry{slices.Clone(entries)}, [][]trading.Entry{reached}
		if err := do(); err != nil {
			t.Fatal(err)
		}
		entries = slices.Clone(reached)
		c.before, c.after = [][]trading.Entry{entries}, nil // of what is tidied up
	}
	var j *Journal
	begin := func(id string, size int) {
		in := testIntent(id)
		in.Body = bytes.Repeat([]byte(id), size/len(id))
		reached = append(slices.Clone(entries), trading.Entry{Intent: in})
		step(func() error {
			err := j.Begin(t.Context(), in)
			j.work.Wait()
			return err
		})
	}
	settle := func(i int) {
		s := trading.Settlement{Outcome: trading.Applied, At: entries[i].Intent.Created, Answer: []byte("answer")}
		reached = slices.Clone(entries)
		reached[i].Settlement = trading.Some(s)
		step(func() error {
			err := j.Settle(t.Context(), entries[i].Intent.ID, s)
			j.work.Wait()
			return err
		})
	}
	for round := range 3 { // the last goes on from what was never closed
		reached = slices.Clone(entries)
		step(func() (err error) {
			c.synced = filesAt(t, c.path)
			j, err = openWith(c.disk(), c.path, Options{})
			return err
		})
		name := func(i int) string { return fmt.Sprintf("intent %d of round %d", i, round) }
		begin(name(0), 100)
		settle(len(entries) - 1)
		for i := range 3 { // over the limit, twice
			begin(name(i+1), logIdle*3/4)
		}
		begin(name(4), 2000) // over the torn end of a longer one
		settle(len(entries) - 2)
		begin(name(5), 50)
		if j.log.generation < 2 {
			t.Errorf("in round %d there was no checkpoint", round)
		}
		reached = slices.Clone(entries)
		left := filesAt(t, c.path)
		step(j.Close)
		if round == 1 {
			left.write(t, c.path)
		}
	}
	t.Logf("crashes: %v", c.crashes)
}

// TestKilled has a process end without closing, again and again.
func TestKilled(t *testing.T) {
	path := testFile(t)
	var want []string
	for i := range 10 {
		j := mustOpen(t, path)
		for k := range i {
			id := fmt.Sprint(i, k)
			mustBegin(t, j, id)
			want = append(want, id)
		}
		j.work.Wait()
		left := filesAt(t, path)
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		left.write(t, path)
	}
	if got := pendingIDs(t, mustOpen(t, path)); !slices.Equal(got, want) {
		t.Errorf("pending are %q, want %q", got, want)
	}
}
