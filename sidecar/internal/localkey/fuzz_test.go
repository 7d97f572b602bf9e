package localkey

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/testing/jsontext"
)

// What is read lets in nobody that it does not list as valid, and is the same when it is written
// and read again.
func FuzzParse(f *testing.F) {
	path := filepath.Join(f.TempDir(), "keys.json")
	if _, err := Add(path, grid(), t0); err != nil {
		f.Fatal(err)
	}
	if _, err := Add(path, Key{Name: "paper", May: Read}, t0); err != nil {
		f.Fatal(err)
	}
	require.NoError(f, Remove(path, "grid", t0))
	text, err := os.ReadFile(path)
	require.NoError(f, err)
	jsontext.Add[[]byte](f, 300, jsontext.Spoiled(2, jsontext.Of(string(text), `{"version":1}`)))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := parse(text)
		if err != nil {
			return
		}
		for _, e := range d.Keys {
			if e.validate() != nil || e.Digest == (digest{}) {
				t.Fatalf("%+v was let in", e)
			}
		}
		first, err := json.Marshal(d)
		if err != nil {
			t.Skip(err) // a time that JSON cannot write
		}
		again, err := parse(first)
		require.NoError(t, err)
		if second, _ := json.Marshal(again); !bytes.Equal(second, first) {
			t.Fatalf("%s\nis read as\n%s", first, second)
		}
	})
}
