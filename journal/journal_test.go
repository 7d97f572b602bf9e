package journal_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/journaltest"
)

func open(t testing.TB, path string, o journal.Options) *journal.Journal {
	t.Helper()
	j, err := journal.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return j
}

func file(t testing.TB) string { return filepath.Join(t.TempDir(), "intents.db") }

func intent(id string) trading.Intent {
	created := time.Date(2026, time.January, 15, 9, 30, 0, 0, time.UTC)
	return trading.Intent{
		ID: trading.IntentID(id), Try: 1, Key: trading.Key("key-" + id), BaseURL: "https://example.com/v1",
		Operation: trading.OpSandboxOrder, Environment: trading.EnvLive, Account: "acc_1", Symbol: "BTC", Entry: true,
		Body:    []byte(`{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.01,"leverage":5,"stopLoss":60000}`),
		Created: created, Expires: created.Add(10 * time.Second),
	}
}

func settlement(in trading.Intent) trading.Settlement {
	return trading.Settlement{
		Outcome: trading.Applied, At: in.Created.Add(time.Second), Basis: trading.BasisAnswer,
		Answer: []byte(`{"success":true,"fill":{"price":64000,"size":0.01,"fee":0.288},"newBalance":10000}`),
	}
}

func TestJournal(t *testing.T) {
	paths := map[trading.Journal]string{}
	journaltest.Run(t, func(t *testing.T) trading.Journal {
		path := file(t)
		j := open(t, path, journal.Options{})
		paths[j] = path
		return j
	}, journaltest.Forgets(), journaltest.Reopen(func(t *testing.T, j trading.Journal) trading.Journal {
		if err := j.(*journal.Journal).Close(); err != nil {
			t.Fatal(err)
		}
		again := open(t, paths[j], journal.Options{})
		paths[again] = paths[j]
		return again
	}))
}

func TestKeep(t *testing.T) {
	if testing.Short() {
		t.Skip("all rules once more")
	}
	const keep = 25 * time.Hour
	journaltest.Run(t, func(t *testing.T) trading.Journal {
		return open(t, file(t), journal.Options{Keep: keep, History: 60})
	}, journaltest.Keep(keep), journaltest.Forgets())
}

func TestAll(t *testing.T) {
	j := open(t, file(t), journal.Options{})
	const count = 150 // more than are read at once
	for i := range count {
		in := intent(fmt.Sprint(i))
		if err := j.Begin(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		if i%3 == 0 {
			if err := j.Settle(t.Context(), in.ID, settlement(in)); err != nil {
				t.Fatal(err)
			}
		}
	}
	i := 0
	for entry, err := range j.All(t.Context()) {
		_, settled := entry.Settlement.Get()
		if err != nil || entry.Intent.ID != trading.IntentID(fmt.Sprint(i)) || settled != (i%3 == 0) {
			t.Errorf("entry %d is %q, settled: %t, %v", i, entry.Intent.ID, settled, err)
		}
		i++
	}
	if i != count {
		t.Errorf("there are %d entries, want %d", i, count)
	}
}

// While it is open a journal is two files, and one again when it is closed. Nobody
// else may read them.
func TestFiles(t *testing.T) {
	path := file(t)
	j := open(t, path, journal.Options{})
	want := func(when string, names ...string) {
		t.Helper()
		files, err := os.ReadDir(filepath.Dir(path))
		if err != nil || len(files) != len(names) {
			t.Fatalf("%s there is %v, %v, want %q", when, files, err, names)
		}
		for i, file := range files {
			info, err := file.Info()
			if err != nil || file.Name() != names[i] || runtime.GOOS != "windows" && info.Mode() != 0o600 {
				t.Errorf("%s there is %s, %v, %v, want %s with mode 0600", when, file.Name(), info.Mode(), err, names[i])
			}
		}
	}
	want("open,", "intents.db", "intents.db-wal")
	if err := j.Begin(t.Context(), intent("a")); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	want("closed,", "intents.db")
}

// A file that something has made without writing to it is as good as none.
func TestEmptyFile(t *testing.T) {
	path := file(t)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := open(t, path, journal.Options{}).Begin(t.Context(), intent("a")); err != nil {
		t.Error(err)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	for name, test := range map[string]struct {
		path    string
		options journal.Options
		is      error
	}{
		"no directory":            {filepath.Join(dir, "none", "intents.db"), journal.Options{}, os.ErrNotExist},
		"nothing to read":         {filepath.Join(dir, "intents.db"), journal.Options{ReadOnly: true}, os.ErrNotExist},
		"a negative time":         {filepath.Join(dir, "intents.db"), journal.Options{Keep: -1}, nil},
		"a negative number":       {filepath.Join(dir, "intents.db"), journal.Options{History: -1}, nil},
		"a directory, no file":    {dir, journal.Options{}, nil},
		"a directory, to be read": {dir, journal.Options{ReadOnly: true}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if j, err := journal.Open(test.path, test.options); err == nil || test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("Open: %v, %v, want an error (%v)", j, err, test.is)
			}
		})
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != 0 {
		t.Errorf("what was refused has left %v, %v", names, err)
	}
}

func TestLocked(t *testing.T) {
	path := file(t)
	open(t, path, journal.Options{})
	for _, o := range []journal.Options{{Wait: -1}, {Wait: time.Millisecond}, {Wait: -1, ReadOnly: true}} {
		var locked *journal.LockedError
		if _, err := journal.Open(path, o); !errors.As(err, &locked) {
			t.Fatalf("Open of an open journal: %v, want a LockedError", err)
		}
		if locked.Path != path || !strings.Contains(locked.Error(), path) {
			t.Errorf("the error %q does not name %s", locked, path)
		}
	}
}

func TestReadOnly(t *testing.T) {
	path := file(t)
	j := open(t, path, journal.Options{})
	if err := j.Begin(t.Context(), intent("a")); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 { // beside each other
		j := open(t, path, journal.Options{ReadOnly: true})
		if err := j.Begin(t.Context(), intent("b")); !errors.Is(err, journal.ErrReadOnly) {
			t.Errorf("Begin: %v, want ErrReadOnly", err)
		}
		if err := j.Settle(t.Context(), "a", settlement(intent("a"))); !errors.Is(err, journal.ErrReadOnly) {
			t.Errorf("Settle: %v, want ErrReadOnly", err)
		}
		for in, err := range j.Pending(t.Context()) {
			if err != nil || in.ID != "a" {
				t.Errorf("pending is %q, %v, want a", in.ID, err)
			}
		}
	}
}

func TestClosed(t *testing.T) {
	j := open(t, file(t), journal.Options{})
	for i := range 200 {
		if err := j.Begin(t.Context(), intent(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	var last error
	for _, err := range j.Pending(t.Context()) {
		last = err
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	_, decision := j.Decision(t.Context(), "one")
	for what, err := range map[string]error{
		"an iteration that goes on": last,
		"Begin":                     j.Begin(t.Context(), intent("a")),
		"Settle":                    j.Settle(t.Context(), "0", settlement(intent("a"))),
		"Decision":                  decision,
	} {
		if !errors.Is(err, journal.ErrClosed) {
			t.Errorf("%s after Close: %v, want ErrClosed", what, err)
		}
	}
	if err := j.Close(); err != nil {
		t.Errorf("a second Close: %v", err)
	}
}

func TestTooLong(t *testing.T) {
	j := open(t, file(t), journal.Options{})
	long := strings.Repeat("a", 100_000)
	in := intent("a")
	in.Decision = long
	if j.Begin(t.Context(), intent(long)) == nil || j.Begin(t.Context(), in) == nil {
		t.Error("an ID or a decision that no table can hold is taken")
	}
	if _, err := j.Decision(t.Context(), long); err == nil {
		t.Error("such a decision has intents")
	}
	if err := j.Settle(t.Context(), trading.IntentID(long), settlement(in)); !errors.Is(err, trading.ErrUnknownIntent) {
		t.Errorf("Settle: %v, want ErrUnknownIntent", err)
	}
	if err := j.Begin(context.Background(), intent("b")); err != nil {
		t.Errorf("a journal that has refused something: %v", err)
	}
}
