package answers

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/testing/jsontext"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/sidecar/internal/hearing"
)

// Whatever happens to a file, what is read from it was written, or it is not read at all.
func FuzzFile(f *testing.F) {
	path := filepath.Join(f.TempDir(), "answers")
	file, err := Open(f.Context(), path, t0)
	require.NoError(f, err)
	for _, id := range []string{"1", "2", "3"} {
		require.NoError(f, file.Begin(f.Context(), begun(id)))
	}
	require.NoError(f, file.Answer(f.Context(), "2", applied()))
	require.NoError(f, file.Heard(f.Context(), "2"))
	require.NoError(f, file.Close())
	good, err := os.ReadFile(path)
	require.NoError(f, err)
	good = bytes.TrimRight(good, "\x00")
	f.Add(uint16(len(good)), []byte{})
	for dice := range jsontext.Dice(50) {
		f.Add(uint16(dice.IntN(len(good)+10)), jsontext.String(dice))
	}
	f.Fuzz(func(t *testing.T, at uint16, over []byte) {
		text := append(bytes.Clone(good), make([]byte, 4096)...)
		copy(text[min(int(at), len(text)):], over)
		path := filepath.Join(t.TempDir(), "answers")
		require.NoError(t, os.WriteFile(path, text, 0o600))
		file, err := Open(t.Context(), path, t0)
		if err != nil {
			return
		}
		defer func() { _ = file.Close() }()
		for _, w := range file.Since("", t0) {
			full, ok, err := file.Get(t.Context(), w.ID)
			if !ok || err != nil || !reflect.DeepEqual(full.Begun, begun(w.ID)) {
				t.Fatalf("%+v was not written: %v", full, err)
			}
			if full.Answered && (w.ID != "2" || !reflect.DeepEqual(full.Answer, applied())) {
				t.Fatalf("%+v was not answered so", full)
			}
		}
	})
}

// An entry of another version, or of nobody, is an error or a write of that name.
func FuzzRecord(f *testing.F) {
	b, a := begun("1"), applied()
	for _, r := range []record{{Begun: &b}, {Answer: &a}, {&b, &a}} {
		data, err := r.encode()
		require.NoError(f, err)
		jsontext.Add[[]byte](f, 100, jsontext.Spoiled(2, jsontext.Of(string(data))))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var w Write
		if err := w.add(journal.History{Intent: "1", Name: "1", Records: [][]byte{data}}); err != nil {
			return
		}
		if w.ID != "1" {
			t.Fatalf("%+v is taken for 1", w)
		}
		if w.resolved() && w.Answer.Outcome == hearing.Unknown {
			t.Fatal("an unknown outcome is none")
		}
		data, err := record{&w.Begun, &w.Answer}.encode()
		if err != nil {
			t.Skip(err)
		}
		var again Write
		require.NoError(t, again.add(journal.History{Intent: "1", Name: "1", Records: [][]byte{data}}), "%s", data)
	})
}
