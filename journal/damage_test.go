package journal

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/tradingapi/trading-go"
)

// written makes a journal of some commits, large enough for pages of every kind,
// and returns the file before and after the last commit, which has closed it, and
// what it holds.
func written(t *testing.T) (before, after []byte, holds []trading.Entry) {
	t.Helper()
	path := testFile(t)
	j := mustOpen(t, path)
	noSync(j)
	for i := range 120 {
		in := testIntent(fmt.Sprint(i))
		if i%3 == 0 {
			in.Decision = "one"
		}
		in.Body = bytes.Repeat([]byte{byte(i)}, 100+i%7*100)
		if i == 50 {
			in.Body = bytes.Repeat([]byte("large"), 3000) // over several pages
		}
		if err := j.Begin(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			s := trading.Settlement{Outcome: trading.Applied, At: in.Created, Answer: []byte("answer")}
			if err := j.Settle(t.Context(), in.ID, s); err != nil {
				t.Fatal(err)
			}
		}
	}
	j.work.Wait()
	before, holds = used(t, path), all(t, j)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if len(holds) != 120 || j.log.generation == 1 {
		t.Fatalf("there are %d entries after %d checkpoints, want 120 after some", len(holds), j.log.generation-1)
	}
	return before, used(t, path), holds
}

// used is the part of a file up to the last page that has ever been written.
func used(t testing.TB, path string) []byte {
	t.Helper()
	image := read(t, path)
	f := &pageFile{r: bytes.NewReader(image), seen: map[uint64]bool{}}
	if _, err := f.readMeta(int64(len(image))); err != nil {
		t.Fatal(err)
	}
	return image[:f.pages*f.pageSize]
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func all(t testing.TB, j *Journal) []trading.Entry {
	t.Helper()
	var entries []trading.Entry
	for entry, err := range j.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, entry)
	}
	return entries
}

// openCopy opens a file with these bytes. It reports what is in it, or that it
// was refused with an error that says so.
func openCopy(t *testing.T, path string, image []byte) (entries []trading.Entry, refused bool) {
	t.Helper()
	if err := os.WriteFile(path, image, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(logPath(path)); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return openAgain(t, path)
}

// openAgain opens what a crash has left, for reading, for writing, and once more. It
// reports what is in it, or that it was refused with an error that says so.
func openAgain(t *testing.T, path string) (entries []trading.Entry, refused bool) {
	t.Helper()
	entries, err := contents(t, path, true)
	var damaged *DamagedError
	var version *VersionError
	if err != nil && !errors.As(err, &damaged) && !errors.As(err, &version) {
		t.Errorf("Open: %v, want a DamagedError", err)
	}
	same, again := contents(t, path, false)
	if err != nil || again != nil {
		if err == nil || again == nil {
			t.Errorf("opened for reading: %v, and for writing: %v", err, again)
		}
		return nil, true
	}
	if !reflect.DeepEqual(entries, same) {
		t.Errorf("for reading there are %d entries, and for writing %d", len(entries), len(same))
	}
	if after, err := contents(t, path, true); err != nil || len(after) != len(same)+1 {
		t.Errorf("after another write to %d entries there are %d, %v", len(same), len(after), err)
	}
	return entries, false
}

// contents opens a journal without syncs, and adds an entry if it can.
func contents(t *testing.T, path string, readOnly bool) ([]trading.Entry, error) {
	t.Helper()
	d := osDisk()
	d.sync, d.names = func(*os.File) error { return nil }, func(string) error { return nil }
	d.commit = func(tx *bbolt.Tx) error {
		tx.DB().NoSync = true
		return tx.Commit()
	}
	j, err := openWith(d, path, Options{ReadOnly: readOnly})
	if err != nil {
		return nil, err
	}
	entries := all(t, j)
	if !readOnly {
		if err := j.Begin(t.Context(), testIntent("afterwards")); err != nil {
			t.Error(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	return entries, nil
}

// wantWhole has a damaged copy refused, or opened with every entry.
func wantWhole(t *testing.T, path, what string, image []byte, want []trading.Entry) (refused bool) {
	t.Helper()
	got, refused := openCopy(t, path, image)
	if !refused && !reflect.DeepEqual(got, want) {
		t.Errorf("%s: the journal opens with %d entries, and %d were written", what, len(got), len(want))
	}
	return refused
}

func TestDamage(t *testing.T) {
	before, after, want := written(t)
	path := filepath.Join(t.TempDir(), "copy.db")
	page := os.Getpagesize()
	pages := len(after) / page
	random := rand.New(rand.NewPCG(1, 2))
	each := func(name string, count int, damage func(i int, image []byte) []byte) {
		t.Run(name, func(t *testing.T) {
			refused := 0
			for i := range count {
				image := damage(i, bytes.Clone(after))
				if wantWhole(t, path, fmt.Sprint(name, " ", i), image, want) {
					refused++
				}
			}
			t.Logf("%d of %d were refused", refused, count)
			if refused == 0 {
				t.Error("none was refused, so nothing was tried")
			}
		})
	}
	each("cut", pages*2, func(i int, image []byte) []byte { return image[:max(1, i*page/2)] })
	each("page of zeros", pages, func(i int, image []byte) []byte {
		clear(image[i*page : (i+1)*page])
		return image
	})
	each("bit", 200, func(_ int, image []byte) []byte {
		image[random.IntN(len(image))] ^= 1 << random.IntN(8)
		return image
	})
	each("bit of a header", pages, func(i int, image []byte) []byte {
		image[i*page+random.IntN(64)] ^= 1 << random.IntN(8)
		return image
	})
	each("pages exchanged", 100, func(_ int, image []byte) []byte {
		a, b := random.IntN(pages)*page, random.IntN(pages)*page
		copy(image[a:a+page], after[b:])
		copy(image[b:b+page], after[a:])
		return image
	})
	each("tail of noise", 50, func(i int, image []byte) []byte {
		for k := len(image) * (i + 1) / 51; k < len(image); k++ {
			image[k] = byte(random.Uint32())
		}
		return image
	})
	// The last commit's pages, one by one, as if the disk had not written them. Its
	// meta page is not among them: without it the file is that of the commit before.
	each("page that was not written", pages-2, func(i int, image []byte) []byte {
		from := (i + 2) * page
		if from < len(before) {
			copy(image[from:from+page], before[from:])
		}
		return image
	})
}

func TestNewerFormat(t *testing.T) {
	path := testFile(t)
	j := mustOpen(t, path)
	j.disk.commit = func(tx *bbolt.Tx) error {
		newer := (&state{format: format + 1}).encode()
		return errors.Join(tx.Bucket(bucketState).Put(keyState, append(newer, "more"...)), tx.Commit())
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	var version *VersionError
	if _, err := Open(path, Options{}); !errors.As(err, &version) || version.Format != format+1 || version.Path != path {
		t.Errorf("Open of a newer format: %v, want a VersionError", err)
	}
}

// Other files are not taken for journals, and are not written to.
func TestOtherFiles(t *testing.T) {
	bolt := testFile(t)
	db, err := bbolt.Open(bolt, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "other")
	for name, image := range map[string][]byte{
		"text":                 []byte("not a journal\n"),
		"zeros":                make([]byte, 1<<16),
		"another's bbolt file": read(t, bolt),
	} {
		if _, refused := openCopy(t, path, image); !refused {
			t.Errorf("%s is opened as a journal", name)
		}
		if !bytes.Equal(read(t, path), image) {
			t.Errorf("%s was written to", name)
		}
	}
}
