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
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/tradingapi/trading-go"
)

// TestOneSync counts what a lone writer pays: one sync for each write, and now and
// then the two of a checkpoint, which nobody waits for who has been answered.
func TestOneSync(t *testing.T) {
	j := mustOpen(t, testFile(t))
	syncs := countSyncs(j)
	var checkpoints int64
	for i := range 600 {
		id := trading.IntentID(fmt.Sprint(i / 2))
		before := syncs.Load()
		if i%2 == 0 {
			mustBegin(t, j, string(id))
		} else if err := j.Settle(t.Context(), id, trading.Settlement{Outcome: trading.Applied}); err != nil {
			t.Fatal(err)
		}
		generation := j.waitGeneration()
		checkpoints = int64(generation - 1)
		if paid := syncs.Load() - before; paid != 1 && paid != 3 {
			t.Fatalf("write %d took %d syncs, want 1, and 2 for a checkpoint", i, paid)
		}
	}
	if got, want := syncs.Load(), 600+2*checkpoints; got != want || checkpoints == 0 || checkpoints > 10 {
		t.Errorf("600 writes and %d checkpoints took %d syncs, want %d", checkpoints, got, want)
	}
}

// waitGeneration waits until the last write is tidied up.
func (j *Journal) waitGeneration() uint64 {
	j.work.Wait()
	return j.log.generation
}

// A checkpoint comes before the log takes more than it should, even if somebody
// always waits, and the log is used again from its start.
func TestLogIsBounded(t *testing.T) {
	path := testFile(t)
	j := mustOpen(t, path)
	noSync(j)
	const body, count = 10_000, 200
	var most int64
	next := 0
	more := func() *write {
		in := testIntent(fmt.Sprint(next))
		in.Body = make([]byte, body)
		record, err := encodeIntent(&in)
		if err != nil {
			t.Error(err)
		}
		next++
		return &write{done: make(chan struct{}), apply: func(c *change) error {
			return j.begin(c, in.ID, in.Decision, record, in.Created)
		}}
	}
	j.disk.sync = func(*os.File) error { // and meanwhile somebody has come
		most = max(most, j.log.end)
		j.mu.Lock()
		defer j.mu.Unlock()
		if next < count {
			j.queue = append(j.queue, more())
		}
		return nil
	}
	if err := j.submit(t.Context(), more().apply); err != nil {
		t.Fatal(err)
	}
	j.work.Wait()
	info, err := os.Stat(logPath(path))
	if err != nil || info.Size() != logRoom || most > framesAt+logFull || most < logFull-2*body {
		t.Errorf("the log has %d bytes, of which %d were used, %v; want %d and about %d", info.Size(), most, err, logRoom, logFull)
	}
	if got := len(all(t, j)); got != count {
		t.Errorf("there are %d entries, want %d", got, count)
	}
}

// unclosed makes a journal that a process has left without closing it: some entries
// in the tables, some in the log. It returns the files before and after the last
// write, and what they hold.
func unclosed(t testing.TB) (before, after files, held, holds []trading.Entry) {
	t.Helper()
	path := testFile(t)
	j := mustOpen(t, path)
	for i := 0; i < 30 || j.log.generation < 3; i++ {
		in := testIntent(fmt.Sprint("old ", i))
		in.Body = bytes.Repeat([]byte(in.ID), 500)
		if err := j.Begin(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		j.work.Wait()
	}
	for i := range 12 {
		mustBegin(t, j, fmt.Sprint(i))
		if i%2 == 0 {
			id := trading.IntentID(fmt.Sprint(i))
			if err := j.Settle(t.Context(), id, trading.Settlement{Outcome: trading.Applied, Note: "note"}); err != nil {
				t.Fatal(err)
			}
		}
	}
	j.work.Wait()
	before, held = filesAt(t, path), all(t, j)
	mustBegin(t, j, "last")
	j.work.Wait()
	after, holds = filesAt(t, path), all(t, j)
	if len(holds) != len(held)+1 || j.log.count != 19 {
		t.Fatalf("there are %d frames, want 19", j.log.count)
	}
	return before, after, held, holds
}

// open opens files in some other place.
func (f files) open(t *testing.T, path string) (entries []trading.Entry, refused bool) {
	t.Helper()
	f.write(t, path)
	return openAgain(t, path)
}

// bounds returns where the frames of the log begin, and where the last one ends.
func (f files) bounds(t testing.TB) []int {
	t.Helper()
	id, err := logID(f.log)
	first, ok := frameAt(f.log, id, framesAt)
	frames, also := readFrames(f.log, id, first.generation)
	if err != nil || also != nil || !ok {
		t.Fatal(err, also)
	}
	bounds := []int{framesAt}
	for _, f := range frames {
		bounds = append(bounds, f.end)
	}
	return bounds
}

// TestTornWrite cuts the last write at each byte, from either side, as one that the
// power has interrupted: it is left out, and all before it is there.
func TestTornWrite(t *testing.T) {
	before, after, held, holds := unclosed(t)
	path := filepath.Join(t.TempDir(), "copy.db")
	bounds := after.bounds(t)
	start, end := bounds[len(bounds)-2], bounds[len(bounds)-1]
	id, _ := logID(after.log)
	first, _ := frameAt(after.log, id, framesAt)
	_, length, _ := frameHeadAt(after.log, id, start)
	said := start + frameHead + int(length) // what follows is padding
	for cut := start; cut <= end; cut++ {
		head, tail := bytes.Clone(before.log), bytes.Clone(before.log)
		copy(head[start:], after.log[start:cut])
		copy(tail[cut:], after.log[cut:end])
		for what, torn := range map[string]files{"first": {after.tables, head}, "last": {after.tables, tail}} {
			want := held
			if bytes.Equal(torn.log[start:said], after.log[start:said]) { // the rest was there before
				want = holds
			}
			frames, err := readFrames(torn.log, id, first.generation)
			if err != nil || len(frames) != len(want)-len(held)+len(bounds)-2 {
				t.Errorf("with only the %s bytes of the last write, up to %d of %d: %d frames, %v", what, cut-start, end-start, len(frames), err)
			}
			if cut%16 != 0 {
				continue // the whole way takes its time
			}
			if got, refused := torn.open(t, path); refused || !slices.EqualFunc(got, want, sameEntry) {
				t.Errorf("with only the %s bytes of the last write, up to %d of %d: %d entries (refused: %t), want %d",
					what, cut-start, end-start, len(got), refused, len(want))
			}
		}
	}
}

// TestLogDamage damages a log in which every write was answered for: it is refused,
// or nothing is missing.
func TestLogDamage(t *testing.T) {
	_, after, _, want := unclosed(t)
	path := filepath.Join(t.TempDir(), "copy.db")
	random := rand.New(rand.NewPCG(9, 10))
	bounds := after.bounds(t)
	end := bounds[len(bounds)-1]
	each := func(name string, count int, damage func(i int, log []byte) []byte) {
		t.Run(name, func(t *testing.T) {
			refusals := 0
			for i := range count {
				got, refused := files{after.tables, damage(i, bytes.Clone(after.log))}.open(t, path)
				if refused {
					refusals++
				} else if !slices.EqualFunc(got, want, sameEntry) {
					t.Errorf("%s %d: the journal opens with %d entries, and %d were written", name, i, len(got), len(want))
				}
			}
			t.Logf("%d of %d were refused", refusals, count)
			if refusals == 0 {
				t.Error("none was refused, so nothing was tried")
			}
		})
	}
	each("cut", len(bounds)+4, func(i int, log []byte) []byte {
		return log[:append(bounds, 0, 1, noteAt, len(log)-1)[i]]
	})
	each("frame of zeros", len(bounds)-1, func(i int, log []byte) []byte {
		clear(log[bounds[i]:bounds[i+1]])
		return log
	})
	each("zeros from a frame on", len(bounds)-1, func(i int, log []byte) []byte {
		clear(log[bounds[i]:])
		return log
	})
	each("page of zeros", 1+end/4096, func(i int, log []byte) []byte {
		clear(log[i*4096 : (i+1)*4096])
		return log
	})
	each("bit of a frame", 150, func(_ int, log []byte) []byte {
		log[framesAt+random.IntN(end-framesAt)] ^= 1 << random.IntN(8)
		return log
	})
	each("bit of the head", headSize, func(i int, log []byte) []byte {
		log[i] ^= 1 << random.IntN(8)
		return log
	})
	each("frames exchanged", 30, func(_ int, log []byte) []byte {
		a, b := random.IntN(len(bounds)-2), random.IntN(len(bounds)-2)
		swapped := append(bytes.Clone(log[bounds[b]:bounds[b+1]]), log[bounds[a]:bounds[a+1]]...)
		copy(log[min(bounds[a], bounds[b]):], swapped)
		return log
	})
	// Without the note, what shows that a frame is missing is another one behind it.
	each("frame of zeros, and no note", len(bounds)-2, func(i int, log []byte) []byte {
		clear(log[noteAt : noteAt+noteSize])
		clear(log[bounds[i]:bounds[i+1]])
		return log
	})
	t.Run("bit of the note", func(t *testing.T) { // which says nothing then
		for i := range noteSize {
			log := bytes.Clone(after.log)
			log[noteAt+i] ^= 1 << random.IntN(8)
			if got, refused := (files{after.tables, log}).open(t, path); refused || !slices.EqualFunc(got, want, sameEntry) {
				t.Errorf("byte %d: %d entries (refused: %t), want %d", i, len(got), refused, len(want))
			}
		}
	})
}

// TestLogBelongs has the two files torn apart: each of these could hide what is
// pending.
func TestLogBelongs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "copy.db")
	_, mine, _, _ := unclosed(t)
	_, other, _, _ := unclosed(t)

	// A file that was copied while it was whole, and one generation later.
	old := testFile(t)
	j := mustOpen(t, old)
	mustBegin(t, j, "first")
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	whole := filesAt(t, old)
	j = mustOpen(t, old)
	mustBegin(t, j, "second")
	j.work.Wait()
	early := filesAt(t, old)
	large := testIntent("large")
	large.Body = make([]byte, logIdle)
	if err := j.Begin(t.Context(), large); err != nil {
		t.Fatal(err)
	}
	j.work.Wait()
	mustBegin(t, j, "third")
	j.work.Wait()
	late := filesAt(t, old)

	// A file that claims the log, and is not the one that it was written for.
	id, err := logID(mine.log)
	first, _ := frameAt(mine.log, id, framesAt)
	if err != nil {
		t.Fatal(err)
	}
	claims := files{tables: whole.tables}
	claims.write(t, path)
	db, err := openFile(os.OpenFile, path, false, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		now, err := readState(tx)
		return errors.Join(err, writeState(tx, now.logged(id, first.generation)))
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	claims.tables = used(t, path)

	text := []byte(strings.Repeat("not a log\n", 1000))
	for name, torn := range map[string]files{
		"no log":                             {mine.tables, nil},
		"an empty log":                       {mine.tables, []byte{}},
		"another journal's log":              {mine.tables, other.log},
		"tables of other rows":               {claims.tables, mine.log},
		"a log without tables":               {nil, mine.log},
		"a log beside an empty file":         {[]byte{}, mine.log},
		"a log beside older tables":          {early.tables, late.log},
		"a log beside tables that need none": {whole.tables, late.log},
		"text in the place of a log":         {mine.tables, text},
		"text beside whole tables":           {whole.tables, text},
	} {
		torn.write(t, path)
		j, err := Open(path, Options{Wait: -1})
		var damaged *DamagedError
		if !errors.As(err, &damaged) || damaged.Path != path {
			t.Errorf("%s: Open: %v, %v, want a DamagedError", name, j, err)
		}
		if now, err := os.ReadFile(logPath(path)); !bytes.Equal(now, torn.log) && (torn.log != nil || !errors.Is(err, fs.ErrNotExist)) {
			t.Errorf("%s: the log was written to (%v)", name, err)
		}
		if now, err := os.ReadFile(path); !bytes.Equal(now, torn.tables) && (torn.tables != nil || !errors.Is(err, fs.ErrNotExist)) {
			t.Errorf("%s: the tables were written to (%v)", name, err)
		}
	}
}

// A log of a newer version is not read as an empty one.
func TestNewerLog(t *testing.T) {
	_, after, _, _ := unclosed(t)
	path := filepath.Join(t.TempDir(), "copy.db")
	head := appendNumbers([]byte(logMagic), logVersion+1, number(after.log, 2), logRoom, 0)
	copy(after.log, appendChecksum(head, head))
	after.write(t, path)
	var version *VersionError
	if _, err := Open(path, Options{}); !errors.As(err, &version) || version.Path != path {
		t.Errorf("Open: %v, want a VersionError", err)
	}
}

// someLog is a log of some frames over longer ones of an earlier generation.
func someLog(id, generation uint64) (log []byte, bounds []int) {
	log = make([]byte, 2*framesAt)
	copy(log, encodeHead(id))
	for back := range uint64(2) {
		bounds = []int{framesAt}
		for i := range uint64(8) {
			at := bounds[i]
			payload := bytes.Repeat([]byte{byte('a' + i)}, 150-int(100*back+i))
			b := appendFrame(nil, id, generation-1+back, i+1, int64(at), payload)
			bounds = append(bounds, at+copy(log[at:], b))
		}
	}
	copy(log[noteAt:], encodeNote(id, generation, 8))
	return log, bounds
}

// FuzzReadFrames changes a log anywhere. What is read is the beginning of what was
// written, and the change shows unless only the end is missing.
func FuzzReadFrames(f *testing.F) {
	const id, generation = 0x0123456789abcdef, 3
	log, bounds := someLog(id, generation)
	want, err := readFrames(log, id, generation)
	if err != nil || len(want) != 8 {
		f.Fatal(len(want), err)
	}
	f.Add(uint16(framesAt), []byte{1}, uint16(noteAt), []byte{0})
	f.Add(uint16(bounds[3]), bytes.Clone(log[framesAt:bounds[1]]), uint16(0), []byte{})
	f.Add(uint16(bounds[7]), []byte{}, uint16(noteAt), make([]byte, noteSize))
	f.Fuzz(func(t *testing.T, at uint16, b []byte, also uint16, c []byte) {
		changed := bytes.Clone(log)
		copy(changed[int(at)%len(log):], b)
		copy(changed[int(also)%len(log):], c)
		got, err := readFrames(changed, id, generation)
		if err != nil {
			return
		}
		for i, frame := range got {
			if !bytes.Equal(frame.payload, want[i].payload) || frame.number != want[i].number {
				t.Fatalf("frame %d is not what was written", i+1)
			}
		}
		if len(got) < len(want) && bytes.Equal(changed[noteAt:noteAt+noteSize], log[noteAt:noteAt+noteSize]) {
			t.Errorf("%d of %d frames are read, and nobody says that some are missing", len(got), len(want))
		}
	})
}

// FuzzDecodeBatch reads anything without a panic, and what it can read is written
// as it was.
func FuzzDecodeBatch(f *testing.F) {
	var rows layer
	rows.put(tableEntries, []byte("key"), []byte("value"))
	rows.put(tableHistory, []byte("removed"), nil)
	f.Add(encodeBatch(nil, &rows, totals{1, 2, 3, 4}))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, payload []byte) {
		var rows layer
		now, err := decodeBatch(payload, func(table table, key, value []byte) { rows.put(table, key, value) })
		if err != nil {
			return
		}
		var again layer
		same, err := decodeBatch(encodeBatch(nil, &rows, now), func(table table, key, value []byte) { again.put(table, key, value) })
		if err != nil || same != now {
			t.Fatalf("%+v is read again as %+v, %v", now, same, err)
		}
		for table := range rows {
			if !slices.EqualFunc(rows[table], again[table], func(a, b row) bool {
				return bytes.Equal(a.key, b.key) && bytes.Equal(a.value, b.value)
			}) {
				t.Fatalf("table %d is read again as %v, want %v", table, again[table], rows[table])
			}
		}
	})
}
