package journal

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"go.etcd.io/bbolt"
)

// TestLayers compares what is seen through layers with one map in which it is all
// done at once.
func TestLayers(t *testing.T) {
	db, err := bbolt.Open(filepath.Join(t.TempDir(), "tables.db"), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Update(makeTables); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(11, 12))
	want := map[string]string{}
	key := func() string { return fmt.Sprintf("%02d", random.IntN(60)) }
	const table = tableDecisions
	err = db.Update(func(tx *bbolt.Tx) error {
		for range 40 {
			key := key()
			want[key] = "in the file"
			if err := tx.Bucket(table.name()).Put([]byte(key), []byte(want[key])); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	check := func(s *snapshot, step int) {
		t.Helper()
		for _, from := range []string{"", key(), "99"} {
			var got, keys []string
			for key, value := range s.scan(table, []byte(from)) {
				got = append(got, string(key)+string(value))
			}
			for _, key := range slices.Sorted(maps.Keys(want)) {
				if key >= from {
					keys = append(keys, key+want[key])
				}
			}
			if !slices.Equal(got, keys) {
				t.Fatalf("step %d, from %q: %q\nwant %q", step, from, got, keys)
			}
		}
		for i := range 60 {
			key := fmt.Sprintf("%02d", i)
			if got := s.get(table, []byte(key)); string(got) != want[key] {
				t.Fatalf("step %d: %s is %q, want %q", step, key, got, want[key])
			}
		}
	}
	err = db.View(func(tx *bbolt.Tx) error {
		below := new(layer)
		var now totals
		for step := range 200 {
			seen := *below
			c := newChange(&snapshot{tx: tx, layers: []*layer{below}}, now)
			for i := range random.IntN(6) {
				key := key()
				if random.IntN(3) == 0 {
					c.remove(table, []byte(key))
					delete(want, key)
				} else {
					want[key] = fmt.Sprint(" of ", step, i)
					c.put(table, []byte(key), []byte(want[key]))
				}
			}
			check(&c.snapshot, step)
			merged := below.under(c.top())
			for t := range seen {
				if !slices.EqualFunc(seen[t], below[t], func(a, b row) bool { return bytes.Equal(a.key, b.key) && bytes.Equal(a.value, b.value) }) {
					return fmt.Errorf("step %d has changed what is below", step)
				}
			}
			below, now = merged, c.totals
			check(&snapshot{tx: tx, layers: []*layer{below}}, step)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
