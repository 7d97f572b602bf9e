package journal

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/tradingapi/trading-go"
)

// TestFirstVersion opens a file of the first version, which knew of no log, and
// leaves one that it can open in its turn.
func TestFirstVersion(t *testing.T) {
	if native.Uint16([]byte{1, 0}) != 1 {
		t.Skip("the file was written by a little-endian machine")
	}
	packed, err := os.Open(filepath.Join("testdata", "tables.v1.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	path := testFile(t)
	files{tables: tables}.write(t, path)
	j := mustOpen(t, path)
	want := []trading.Entry{fullEntry(), {Intent: testIntent("pending")}}
	got := all(t, j)
	if len(got) != 2 || !sameEntry(got[0], want[0]) || !sameEntry(got[1], want[1]) {
		t.Errorf("there is %+v, want %+v", got, want)
	}
	mustBegin(t, j, "new")
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := openFile(os.OpenFile, path, true, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.View(func(tx *bbolt.Tx) error {
		row := tx.Bucket(bucketState).Get(keyState)
		if s, err := decodeState(row); err != nil || s.format != 1 || len(row) != 48 {
			t.Errorf("the state is %+v in %d bytes, %v, want format 1 in 48", s, len(row), err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
