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
// and returns the file and what it holds before and after the last commit.
func written(t *testing.T) (before, after []byte, held, holds []trading.Entry) {
	t.Helper()
	path := testFile(t)
	j := mustOpen(t, path)
	j.db.NoSync = true
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
	before, held = used(t, path), all(t, j)
	mustBegin(t, j, "last")
	after, holds = used(t, path), all(t, j)
	if len(held) != 120 || len(holds) != 121 {
		t.Fatalf("there are %d and %d entries, want 120 and 121", len(held), len(holds))
	}
	return before, after, held, holds
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

func all(t *testing.T, j *Journal) []trading.Entry {
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
	j, err := Open(path, Options{})
	if err != nil {
		var damaged *DamagedError
		var version *VersionError
		if !errors.As(err, &damaged) && !errors.As(err, &version) {
			t.Errorf("Open: %v, want a DamagedError", err)
		}
		return nil, true
	}
	j.db.NoSync = true
	entries = all(t, j)
	mustBegin(t, j, "afterwards")
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	return entries, false
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
	before, after, _, want := written(t)
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

// TestPowerLoss tries what a disk can hold when the power goes during the last
// commit, before its first sync has returned: any of its pages, but not the one
// that makes them valid.
func TestPowerLoss(t *testing.T) {
	before, after, held, holds := written(t)
	path := filepath.Join(t.TempDir(), "copy.db")
	page := os.Getpagesize()
	random := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		image := bytes.Clone(after)
		copy(image, before[:2*page])
		for at := 2 * page; at+page <= len(before); at += page {
			if random.IntN(2) == 0 {
				copy(image[at:at+page], before[at:])
			}
		}
		if got, refused := openCopy(t, path, image); refused || !reflect.DeepEqual(got, held) {
			t.Fatalf("the journal opens with %d entries (refused: %t), and %d were committed", len(got), refused, len(held))
		}
	}
	if got, refused := openCopy(t, path, after); refused || !reflect.DeepEqual(got, holds) {
		t.Errorf("the journal opens with %d entries (refused: %t), and %d were committed", len(got), refused, len(holds))
	}
}

func TestNewerFormat(t *testing.T) {
	path := testFile(t)
	j := mustOpen(t, path)
	j.finish = func(tx *bbolt.Tx) error {
		newer := (&state{format: format + 1}).encode()
		return errors.Join(tx.Bucket(tableState).Put(keyState, append(newer, "more"...)), tx.Commit())
	}
	mustBegin(t, j, "a")
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
